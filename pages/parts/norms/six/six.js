// Numbers as bars from a zero line, the vector first, then what each norm makes of it. The vector's bars follow the hand.

import { clip, make, sized, steer } from "../../../shared/pictures/live/base.js";
import { quoted, short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} titles
 * @property {number[]} bounds
 * @property {number | null} marked
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const TOP = 26, ROW = 30, GAP = 22;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const SIX = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    steer(view, view.canvas, (x, y, down) => SIX.grabbed(view, x, y, down));
    view.canvas.addEventListener("pointermove", (event) => {
      view.canvas.style.cursor = event.offsetX < view.wide && event.offsetY > TOP ? "ew-resize" : "default";
    });
  },

  grabbed(view, x, y, down) { // the frame in which the bar under the hand ends nearest to it
    const { marked, bounds } = view.meta, n = view.arrays.values.shape[2], row = Math.floor((y - TOP) / ROW);
    if (down) {
      if (x > view.wide || row < 0 || row >= n) return null;
      if (marked !== null && row !== marked) {
        view.release("bar", row);
        return null;
      }
      view.grip = row;
    }
    const wanted = (bounds[0] * (x - view.wide / 2)) / view.half;
    let best = 0;
    for (let f = 1; f < view.arrays.values.shape[0]; f++) {
      if (Math.abs(SIX.value(view, f, 0, view.grip) - wanted) < Math.abs(SIX.value(view, best, 0, view.grip) - wanted)) best = f;
    }
    return best;
  },

  value(view, frame, panel, i) {
    const { values, shape } = view.arrays.values;
    return values[(frame * shape[1] + panel) * shape[2] + i];
  },

  layout(view) {
    const panels = view.meta.titles.length;
    view.wide = (view.width - GAP * (panels - 1)) / panels;
    view.half = view.wide / 2 - 26; // px of the longest bar; its number stands beyond it
    view.tall = TOP + view.arrays.values.shape[2] * ROW + 4;
    view.pen = sized(view.canvas, view.width, view.tall, view.ratio);
  },

  draw(view) {
    const { pen, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.tall);
    pen.textBaseline = "middle";
    meta.titles.forEach((_title, panel) => SIX.panel(view, panel));
  },

  panel(view, panel) {
    const { pen, meta, wide, half } = view, n = view.arrays.values.shape[2], left = panel * (wide + GAP), zero = left + wide / 2;
    const at = (x) => zero + (half * x) / meta.bounds[panel];
    let mean = 0;
    for (let i = 0; i < n; i++) mean += SIX.value(view, view.frame, panel, i) / n;
    pen.font = `700 14px ${view.font}`;
    pen.textAlign = "center";
    pen.fillStyle = view.ink;
    pen.fillText(clip(pen, meta.titles[panel], wide), zero, 10);
    pen.fillStyle = view.colours.quiet;
    pen.fillRect(zero - 0.5, TOP - 4, 1, n * ROW + 4);
    for (let i = 0; i < n; i++) {
      const x = SIX.value(view, view.frame, panel, i), y = TOP + i * ROW, to = at(x), own = panel === 0 && (meta.marked === null || meta.marked === i);
      pen.fillStyle = panel ? view.colours.made : own ? view.colours.marked : view.colours.x;
      pen.fillRect(Math.min(zero, to), y + 3, Math.max(1, Math.abs(to - zero)), ROW - 8);
      if (own) {
        pen.beginPath();
        pen.arc(to, y + ROW / 2 - 1, 6, 0, 7);
        pen.fill();
      }
    }
    pen.strokeStyle = view.colours.mean;
    pen.lineWidth = 2;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.moveTo(at(mean), TOP - 4);
    pen.lineTo(at(mean), TOP + n * ROW);
    pen.stroke();
    pen.setLineDash([]);
    SIX.numbers(view, panel, zero);
  },

  numbers(view, panel, zero) { // over the mean's line, on paper of their own: else a dash looks like a minus sign
    const { pen } = view, n = view.arrays.values.shape[2];
    pen.font = `13px ${view.font}`;
    for (let i = 0; i < n; i++) {
      const x = SIX.value(view, view.frame, panel, i), y = TOP + i * ROW + ROW / 2 - 1, text = short(x, 2), wide = pen.measureText(text).width;
      const from = x < 0 ? zero + 5 : zero - 5 - wide; // on the side of the zero line where no bar is
      pen.fillStyle = view.paper;
      pen.fillRect(from - 3, y - 9, wide + 6, 18);
      pen.fillStyle = view.ink;
      pen.textAlign = "left";
      pen.fillText(text, from, y);
    }
  },

  told(view) {
    const n = view.arrays.values.shape[2];
    return view.meta.titles.map((title, p) => `${title} ${Array.from({ length: n }, (_, i) => short(SIX.value(view, view.frame, p, i), 2)).join(" ")}`).join("; ");
  },

  csv(view) {
    const n = view.arrays.values.shape[2], { titles, words } = view.meta;
    const rows = Array.from({ length: n }, (_, i) => [i, ...titles.map((_t, p) => SIX.value(view, view.frame, p, i))].join(","));
    return [[words.number, ...titles].map(quoted).join(","), ...rows].join("\n") + "\n";
  },
};

export default SIX;
