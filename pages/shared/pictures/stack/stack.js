// Stacked bars: each row is a whole, each piece a part of it, and the total is always what the pieces add up to.

import { clip, legend, sized, staged, within } from "../live/base.js";
import { quoted, short } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Colours} Colours */
/** @typedef {import("../live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} rows
 * @property {string[]} parts
 * @property {string} format
 * @property {number | null} high
 * @property {{ at: number, name: string } | null} mark
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const BAR = 34, PITCH = 62;
const CLOSE = 20, SPACE = 3; // px of a row, and between two, where name, bar and total stand side by side

function written(x, format) {
  if (format === "bytes") {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let k = 0, y = x;
    while (y >= 1024 && k < units.length - 1) { y /= 1024; k++; }
    return `${k && y < 100 ? y.toFixed(y < 10 ? 2 : 1) : Math.round(y).toLocaleString("en-US")} ${units[k]}`;
  }
  return format === "integer" ? Math.round(x).toLocaleString("en-US") : short(x);
}

/** @type {import("../live/base.js").Painter<Meta>} */
const STACK = {
  build(view) {
    legend(view, []);
    staged(view, view.legend);
  },

  layout(view) {
    const { meta } = view, rows = meta.rows.length, foot = meta.mark ? 18 : 4;
    legend(view, meta.parts.map((name, i) => [name, STACK.colour(view, i), null]));
    const room = view.ceiling - view.legend.offsetHeight - foot;
    view.box = rows * PITCH > room ? STACK.beside(view, room / rows) : { pitch: PITCH, bar: BAR, up: 22, line: 11, left: 0, wide: view.width };
    view.pen = sized(view.canvas, view.width, rows * view.box.pitch + foot, view.ratio);
  },

  // In front of a class many rows are one line each, instead of small: the name, the bar, the total.
  beside(view, room) {
    const { meta, arrays } = view, pen = view.canvas.getContext("2d"), pitch = Math.max(CLOSE, Math.min(PITCH, room));
    pen.font = `600 14px ${view.font}`;
    const widest = (texts) => Math.max(...texts.map((text) => pen.measureText(text).width)) + 10;
    const frames = arrays.values.shape[0], totals = meta.rows.map((_, r) => Math.max(...Array.from({ length: frames }, (_none, f) => STACK.total(view, r, f))));
    const left = Math.min(widest(meta.rows), 0.3 * view.width), right = widest(totals.map((x) => written(x, meta.format)));
    const bar = Math.min(BAR, pitch - SPACE);
    return { pitch, bar, up: (pitch - bar) / 2, line: pitch / 2, left, wide: view.width - left - right };
  },

  colour(view, i) {
    return view.colours[`part${i}`];
  },

  value(view, row, part, at = view.frame) {
    const { shape, values } = view.arrays.values, rows = shape[1], parts = shape[2], frame = shape[0] > 1 ? at : 0;
    return values[(frame * rows + row) * parts + part];
  },

  total(view, row, at = view.frame) {
    return view.meta.parts.reduce((sum, _, part) => sum + STACK.value(view, row, part, at), 0);
  },

  draw(view) {
    const { pen, meta, width } = view, rows = meta.rows.length, { pitch, bar, up, line, left, wide: space } = view.box;
    const high = meta.high ?? Math.max(...meta.rows.map((_, r) => STACK.total(view, r)), 1e-12);
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, rows * pitch + 18);
    pen.textBaseline = "middle";
    view.places = [];
    for (let r = 0; r < rows; r++) {
      const y = r * pitch, total = STACK.total(view, r);
      pen.font = `600 14px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "left";
      pen.fillText(clip(pen, meta.rows[r], left ? left - 8 : width * 0.55), 0, y + line);
      pen.textAlign = "right";
      pen.fillText(written(total, meta.format), width, y + line);
      let x = left;
      meta.parts.forEach((name, p) => {
        const value = STACK.value(view, r, p), wide = Math.max(0, (space * value) / high);
        view.places.push([r, p, x, wide]);
        pen.fillStyle = STACK.colour(view, p);
        pen.fillRect(x, y + up, wide, bar);
        if (view.cursor && view.cursor[0] === r && view.cursor[1] === p) {
          pen.strokeStyle = view.ink;
          pen.lineWidth = 2.5;
          pen.strokeRect(x + 1, y + up + 1, Math.max(1, wide - 2), bar - 2);
        }
        const label = value === total ? name : `${name} ${((100 * value) / total).toFixed(1)}%`; // a part that is all needs no share
        pen.font = `13px ${view.font}`;
        if (pen.measureText(label).width < wide - 10) {
          pen.fillStyle = view.dark ? "#111" : "#fff";
          pen.textAlign = "left";
          pen.fillText(label, x + 6, y + up + bar / 2);
        }
        x += wide;
        pen.fillStyle = view.paper;
        pen.fillRect(x - 0.75, y + up, 1.5, bar);
      });
    }
    if (meta.mark) STACK.mark(view, meta.mark.at / high, rows * pitch);
  },

  mark(view, share, foot) { // a limit or a reference, as an upright line
    const { pen, width, meta } = view, { left, wide } = view.box, x = Math.min(width - 1, left + wide * share);
    pen.strokeStyle = pen.fillStyle = view.ink;
    pen.setLineDash([5, 4]);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x, left ? 0 : 16);
    pen.lineTo(x, foot);
    pen.stroke();
    pen.setLineDash([]);
    pen.font = `12px ${view.font}`;
    pen.textAlign = x > width * 0.6 ? "right" : "left";
    pen.fillText(meta.mark.name, x, foot + 8);
  },

  under(view, x, y) {
    const { pitch, up } = view.box, r = Math.floor(y / pitch), inside = y - r * pitch >= up - 2;
    const hit = inside ? view.places?.find(([row, , left, wide]) => row === r && x >= left && x < left + wide) : null;
    return hit ? [hit[0], hit[1]] : null;
  },

  spoken(view, [r, p]) {
    const value = STACK.value(view, r, p), total = STACK.total(view, r);
    return `${view.meta.rows[r]}, ${view.meta.parts[p]}: ${written(value, view.meta.format)} (${total ? ((100 * value) / total).toFixed(2) : 0}%)`;
  },

  spot(view, [row, part]) {
    const [, , left, wide] = view.places.find(([r, p]) => r === row && p === part);
    return [left + wide / 2, row * view.box.pitch + view.box.up];
  },

  step(view, now, [down, right]) {
    const { rows, parts } = view.meta, [r, p] = now ?? [0, -right];
    return [within(r + down, rows.length), within(p + right, parts.length)];
  },

  told(view) { // every whole, and its parts
    const { rows, parts, format } = view.meta;
    const part = (r) => parts.map((name, p) => `${name} ${written(STACK.value(view, r, p), format)}`).join(", ");
    return rows.map((name, r) => `${name}: ${written(STACK.total(view, r), format)} (${part(r)})`).join("; ");
  },

  csv(view) {
    const { rows, parts } = view.meta;
    const lines = rows.map((row, r) => [quoted(row), ...parts.map((_, p) => STACK.value(view, r, p)), STACK.total(view, r)].join(","));
    return [["", ...parts.map(quoted), "total"].join(","), ...lines].join("\n") + "\n";
  },
};

export const styles = [new URL("stack.css", import.meta.url)];
export default STACK;
