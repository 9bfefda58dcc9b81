// A treemap of two levels: columns as wide as a part's share, in each its tensors as tall as theirs. Areas are exact.

import { sized, staged, svgOf, within } from "../../../shared/pictures/live/base.js";
import { escaped, quoted } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} names
 * @property {number[]} partOf
 * @property {string[]} parts
 * @property {number} tall
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const HEAD = 20;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const TREEMAP = {
  build(view) {
    staged(view);
  },

  layout(view) {
    view.pen = sized(view.canvas, view.width, view.meta.tall, view.ratio);
  },

  row(view) {
    const { shape, values } = view.arrays.values, n = shape[1], frame = shape[0] > 1 ? view.frame : 0;
    return values.subarray(frame * n, frame * n + n);
  },

  boxes(view) { // [x, y, wide, high] of every leaf, and the columns' heads
    const { partOf, parts, tall } = view.meta, row = TREEMAP.row(view);
    const sums = parts.map((_, p) => row.reduce((sum, v, i) => (partOf[i] === p ? sum + v : sum), 0));
    const total = sums.reduce((a, b) => a + b, 0) || 1, high = tall - HEAD;
    const left = [], filled = parts.map(() => HEAD);
    sums.reduce((x, sum, p) => ((left[p] = x), x + (view.width * sum) / total), 0);
    view.total = total;
    view.columns = parts.map((_, p) => [left[p], (view.width * sums[p]) / total, sums[p]]);
    return Array.from(row, (v, i) => {
      const p = partOf[i], tallness = sums[p] ? (high * v) / sums[p] : 0, y = filled[p];
      filled[p] += tallness;
      return [left[p], y, view.columns[p][1], tallness];
    });
  },

  draw(view) {
    const { pen, meta, width } = view;
    const boxes = (view.boxes = TREEMAP.boxes(view));
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, meta.tall);
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    view.columns.forEach(([x, wide, sum], p) => {
      pen.font = `600 13px ${view.font}`;
      pen.fillStyle = view.ink;
      const label = `${meta.parts[p]} ${((100 * sum) / view.total).toFixed(1)}%`;
      if (pen.measureText(label).width < wide - 4) pen.fillText(label, x + 2, HEAD / 2);
    });
    boxes.forEach(([x, y, wide, high], i) => {
      pen.fillStyle = view.colours[`part${meta.partOf[i]}`];
      pen.fillRect(x, y, wide, high);
      pen.fillStyle = view.paper;
      pen.fillRect(x + wide - 1, y, 1.5, high);
      pen.fillRect(x, y + high - 0.75, wide, 1.5);
      pen.font = `13px ${view.font}`;
      if (high > 17 && pen.measureText(meta.names[i]).width < wide - 12) {
        pen.fillStyle = view.dark ? "#111" : "#fff";
        pen.fillText(meta.names[i], x + 6, y + high / 2);
      }
    });
    if (view.cursor === null) return;
    const [x, y, wide, high] = boxes[view.cursor];
    pen.strokeStyle = view.ink;
    pen.lineWidth = 2.5;
    pen.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), Math.max(1, high - 3));
  },

  under(view, x, y) {
    const i = (view.boxes ?? []).findIndex(([left, top, wide, high]) => x >= left && x < left + wide && y >= top && y < top + high);
    return i < 0 ? null : i;
  },

  spoken(view, i) {
    const value = TREEMAP.row(view)[i], { meta } = view;
    return `${meta.parts[meta.partOf[i]]}, ${meta.names[i]}: ${Math.round(value).toLocaleString("en-US")} (${((100 * value) / view.total).toFixed(3)}%)`;
  },

  spot(view, i) {
    const [x, y, wide] = view.boxes[i];
    return [x + wide / 2, Math.max(40, y)];
  },

  step(view, now, [down, right]) {
    return now === null ? 0 : within(now + down + right, view.meta.names.length);
  },

  told(view) {
    const { parts, partOf } = view.meta, row = TREEMAP.row(view), total = row.reduce((a, b) => a + b, 0) || 1;
    const share = (p) => (100 * row.reduce((sum, v, i) => (partOf[i] === p ? sum + v : sum), 0)) / total;
    return parts.map((name, p) => `${name} ${share(p).toFixed(1)}%`).join(", ");
  },

  svg(view) {
    const boxes = TREEMAP.boxes(view), { meta } = view;
    const leaf = ([x, y, wide, high], i) =>
      `<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${wide.toFixed(2)}" height="${high.toFixed(2)}" fill="${view.colours[`part${meta.partOf[i]}`]}" stroke="${view.paper}"><title>${escaped(TREEMAP.spoken(view, i))}</title></rect>` +
      (high > 17 && wide > 60 ? `<text x="${x + 6}" y="${y + high / 2 + 4}" fill="${view.dark ? "#111" : "#fff"}">${escaped(meta.names[i])}</text>` : "");
    return svgOf(view, view.width, meta.tall, 13, boxes.map(leaf));
  },

  csv(view) {
    const { meta } = view, row = TREEMAP.row(view);
    return [["", quoted(meta.words.column), "parameters"].join(","), ...meta.names.map((name, i) => [quoted(meta.parts[meta.partOf[i]]), quoted(name), row[i]].join(","))].join("\n") + "\n";
  },
};

export default TREEMAP;
