// Bars with names, largest first as Python ordered them, and behind each the bar of the untouched model.

import { clip, make, sized, steer } from "../live/base.js";
import { quoted, short } from "../live/numbers.js";

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
 * @property {Colours} colours
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const ROW = 30;

/** @type {import("../live/base.js").Painter<Meta>} */
const BARS = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.list = make("ul", { class: "unseen" });
    view.picture.append(view.canvas, view.list);
    steer(view, view.canvas, (x, y, down) => (view.meta.grab ? BARS.grabbed(view, x, y, down) : null));
    view.canvas.addEventListener("pointermove", () => (view.canvas.style.cursor = view.meta.grab ? "ew-resize" : "default"));
  },

  grabbed(view, x, y, down) { // the frame in which the marked bar ends at the hand
    const { names, marked, high } = view.meta, row = Math.floor((y - 3) / ROW);
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
    const n = view.meta.names.length;
    view.box = { name: Math.min(110, view.width * 0.3), number: 62 };
    view.pen = sized(view.canvas, view.width, n * ROW + 6, view.ratio);
  },

  draw(view) {
    const { pen, width, meta } = view, { name, number } = view.box;
    const n = meta.names.length, { values } = view.arrays.values, ghost = view.arrays.ghost?.values;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, n * ROW + 6);
    pen.textBaseline = "middle";
    const space = width - name - 8 - number;
    const spoken = [];
    for (let i = 0; i < n; i++) {
      const x = values[view.frame * n + i], y = i * ROW + ROW / 2 + 3, part = Math.max(0, Math.min(1, x / meta.high));
      const marked = meta.marked === i;
      pen.font = `${marked ? 700 : 400} 15px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.fillText(clip(pen, meta.names[i], name - 4), name, y);
      pen.fillStyle = marked ? view.colours.marked : view.colours.bar;
      pen.fillRect(name + 8, y - 10, Math.max(1, space * part), 20);
      if (ghost) {
        const before = space * Math.max(0, Math.min(1, ghost[i] / meta.high));
        pen.strokeStyle = view.ink;
        pen.lineWidth = 1.5;
        pen.setLineDash([3, 2]);
        pen.strokeRect(name + 8, y - 10, Math.max(1, before), 20);
        pen.setLineDash([]);
      }
      pen.fillStyle = view.ink;
      pen.textAlign = "left";
      const after = space * Math.max(part, ghost ? Math.min(1, ghost[i] / meta.high) : 0);
      pen.fillText(BARS.number(view, x), name + 8 + Math.max(1, after) + 6, y);
      spoken.push(`${meta.names[i]} ${BARS.number(view, x)}`);
    }
    const text = spoken.join(", ");
    if (view.list.dataset.text !== text) {
      view.list.dataset.text = text;
      view.list.replaceChildren(...spoken.map((line) => make("li", {}, line)));
    }
  },

  told(view) {
    const { names } = view.meta, { values } = view.arrays.values;
    return names.slice(0, 10).map((name, i) => `${name} ${BARS.number(view, values[view.frame * names.length + i])}`).join(", ");
  },

  number(view, x) {
    return view.meta.percent ? `${(100 * x).toFixed(1)}%` : short(x);
  },

  csv(view) {
    const { names } = view.meta, { values } = view.arrays.values;
    const rows = names.map((name, i) => `${quoted(name)},${values[view.frame * names.length + i]}`);
    return [`${quoted(view.meta.column)},${quoted(view.meta.quantity)}`, ...rows].join("\n") + "\n";
  },
};

export default BARS;
