// Bars with names, largest first as Python ordered them, and behind each the bar of the untouched model.

import { clip, hatched, make, sized, steer } from "../live/base.js";
import { alike, quoted } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Colours} Colours */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} names
 * @property {number} high
 * @property {number | null} marked
 * @property {boolean} percent
 * @property {string} column
 * @property {boolean} grab
 * @property {number} row
 * @property {boolean} hatched
 * @property {string[]} heads
 * @property {Colours} colours
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const HEADS = 26; // px of the line over the columns between names and bars

/** @type {import("../live/base.js").Painter<Meta>} */
const BARS = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    steer(view, view.canvas, (x, y, down) => (view.meta.grab ? BARS.grabbed(view, x, y, down) : null));
    view.canvas.addEventListener("pointermove", () => (view.canvas.style.cursor = view.meta.grab ? "ew-resize" : "default"));
  },

  update(view) { // one picture, one way to write its numbers, at every stop of its slider
    view.wrote = alike(view.arrays.values.values);
  },

  grabbed(view, x, y, down) { // the frame in which the marked bar ends at the hand
    const { names, marked, high } = view.meta, row = Math.floor((y - 3 - view.box.top) / view.meta.row);
    if (down && row !== marked) {
      if (row >= 0 && row < names.length) view.release("bar", row);
      return null;
    }
    const { name, number } = view.box, wanted = (high * (x - name - 8)) / (view.width - name - 8 - number);
    const { values, shape } = view.arrays.values;
    let best = 0;
    for (let f = 1; f < shape[0]; f++) {
      if (Math.abs(values[f * names.length + marked] - wanted) < Math.abs(values[best * names.length + marked] - wanted)) best = f;
    }
    return best;
  },

  layout(view) {
    const { names, heads, row } = view.meta, column = view.width > 460 ? 84 : 56;
    view.box = { name: Math.min(110, view.width * 0.3), number: 62, top: heads.length ? HEADS : 0, column };
    view.tall = names.length * row + 6 + view.box.top;
    view.pen = sized(view.canvas, view.width, view.tall, view.ratio);
    if (!heads.length) return;
    view.pen.font = `700 15px ${view.font}`;
    const widest = Math.max(...[view.meta.column, ...names].map((text) => view.pen.measureText(text).width));
    view.box.name = Math.min(view.box.name, widest + 6) + heads.length * column; // what stands left of the bars
  },

  // What each score becomes on its way to its bar: one column a step, in numbers that are written alike.
  beside(view) {
    const { pen, meta, box } = view, { values, shape } = view.arrays.beside, [, n, steps] = shape;
    pen.textAlign = "right";
    for (let j = -1; j < steps; j++) {
      const x = box.name - (steps - 1 - j) * box.column;
      pen.font = `600 14px ${view.font}`;
      pen.fillStyle = view.colours.head;
      pen.fillText(j < 0 ? meta.column : meta.heads[j], x, HEADS / 2);
      if (j < 0) continue;
      pen.font = `15px ${view.font}`;
      pen.fillStyle = view.ink;
      const column = Array.from({ length: n }, (_, i) => values[(view.frame * n + i) * steps + j]), wrote = alike(column);
      for (let i = 0; i < n; i++) pen.fillText(wrote(column[i]), x, (i + 0.5) * meta.row + 3 + box.top);
    }
  },

  draw(view) {
    const { pen, width, meta } = view, { name, number, top, column } = view.box, thick = Math.min(34, meta.row - 10);
    const n = meta.names.length, { values } = view.arrays.values, ghost = view.arrays.ghost?.values;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, view.tall);
    pen.textBaseline = "middle";
    const space = width - name - 8 - number;
    const label = name - meta.heads.length * column; // where names end
    if (meta.heads.length) BARS.beside(view);
    for (let i = 0; i < n; i++) {
      const x = values[view.frame * n + i], y = (i + 0.5) * meta.row + 3 + top, part = Math.max(0, Math.min(1, x / meta.high));
      const marked = meta.marked === i;
      pen.font = `${marked ? 700 : 400} 15px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.fillText(clip(pen, meta.names[i], label - 4), label, y);
      pen.fillStyle = marked ? view.colours.marked : view.colours.bar;
      pen.fillRect(name + 8, y - thick / 2, Math.max(1, space * part), thick);
      if (ghost) {
        const before = space * Math.max(0, Math.min(1, ghost[i] / meta.high));
        pen.strokeStyle = view.ink;
        pen.lineWidth = 1.5;
        if (meta.hatched && !x) hatched(pen, name + 8, y - thick / 2, Math.max(1, before), thick, view.colours.cut);
        pen.setLineDash([3, 2]);
        pen.strokeRect(name + 8, y - thick / 2, Math.max(1, before), thick);
        pen.setLineDash([]);
      }
      pen.fillStyle = view.ink;
      pen.textAlign = "left";
      const after = space * Math.max(part, ghost ? Math.min(1, ghost[i] / meta.high) : 0);
      pen.fillText(BARS.number(view, x), name + 8 + Math.max(1, after) + 6, y);
    }
  },

  items(view) {
    const { names } = view.meta, { values } = view.arrays.values;
    return names.map((name, i) => `${name} ${BARS.number(view, values[view.frame * names.length + i])}`);
  },

  told(view) {
    return BARS.items(view).slice(0, 10).join(", ");
  },

  number(view, x) {
    return view.meta.percent ? `${(100 * x).toFixed(1)}%` : view.wrote(x);
  },

  csv(view) {
    const { names } = view.meta, { values } = view.arrays.values;
    const rows = names.map((name, i) => `${quoted(name)},${values[view.frame * names.length + i]}`);
    return [`${quoted(view.meta.column)},${quoted(view.meta.quantity)}`, ...rows].join("\n") + "\n";
  },
};

export default BARS;
