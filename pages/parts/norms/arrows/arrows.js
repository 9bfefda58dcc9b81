// A sum as arrows: each starts where the one before it ended, up for one side and down for the other.

import { clip, sized, staged, within } from "../../../shared/pictures/live/base.js";
import { fill, quoted, signed } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} names
 * @property {string[]} short
 * @property {string[]} kinds
 * @property {string[]} told
 * @property {string} marked
 * @property {string} below
 * @property {string[]} ends
 * @property {string} chooses
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const TOP = 30, TALL = 170, AXIS = 20;

const plus = (x) => (x > 0 ? "+" : "") + signed(x.toFixed(2));

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const ARROWS = {
  build(view) {
    staged(view);
  },

  layout(view) {
    const { meta } = view, { values } = view.arrays.values;
    view.sums = [0];
    for (const value of values) view.sums.push(view.sums.at(-1) + value);
    const low = Math.min(...view.sums), high = Math.max(...view.sums), room = 0.09 * (high - low || 1);
    view.y = (sum) => TOP + (TALL * (high + room - sum)) / (high - low + 2 * room || 1);
    view.cell = view.width / (values.length + 1); // the last place is the sum's
    view.upright = view.cell < 34;
    view.lensTall = !meta.told.length ? 0 : 18 + (view.upright ? 58 : 22);
    view.foot = TOP + TALL;
    view.tall = view.foot + AXIS + view.lensTall + 2;
    view.pen = sized(view.canvas, view.width, view.tall, view.ratio);
  },

  draw(view) {
    const { pen, meta, cell } = view, { values } = view.arrays.values, n = values.length;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.tall);
    pen.textBaseline = "middle";
    pen.fillStyle = view.colours.quiet;
    pen.fillRect(0, view.y(0), view.width, 1);
    pen.font = `600 12px ${view.font}`;
    pen.textAlign = "left";
    pen.fillText(clip(pen, meta.ends[0], view.width * 0.7), 0, 8);
    pen.fillText(clip(pen, meta.ends[1], view.width * 0.7), 0, view.foot - 6);
    for (let i = 0; i < n; i++) ARROWS.arrow(view, i, values[i]);
    const total = view.sums[n], x = (n + 0.5) * cell, y = view.y(total), wide = Math.min(44, Math.max(3, cell - 4));
    pen.fillStyle = view.colours.answer;
    pen.fillRect(x - wide / 2, Math.min(y, view.y(0)), wide, Math.max(1, Math.abs(y - view.y(0))));
    pen.font = `700 13px ${view.font}`;
    pen.textAlign = "right";
    pen.fillText(plus(total), Math.min(view.width - 1, x + 24), total < 0 ? y + 10 : y - 9);
    pen.fillText("=", x + 4, view.foot + AXIS / 2);
    if (!meta.told.length) return;
    pen.font = `600 12px ${view.font}`;
    pen.fillStyle = view.colours.quiet;
    pen.textAlign = "left";
    pen.fillText(clip(pen, meta.below, view.width), 0, view.foot + AXIS + 9);
  },

  arrow(view, i, value) {
    const { pen, meta, cell } = view, x = (i + 0.5) * cell, from = view.y(view.sums[i]), to = view.y(view.sums[i + 1]);
    const way = Math.sign(to - from), head = Math.min(9, Math.abs(to - from)), colour = view.colours[meta.kinds[i]], thick = Math.min(12, cell * 0.4);
    pen.fillStyle = pen.strokeStyle = colour;
    pen.globalAlpha = 0.5;
    pen.fillRect(x, to - 0.5, cell, 1); // the level that the next arrow starts from
    pen.globalAlpha = 1;
    pen.fillRect(x - thick / 2, Math.min(from, to - way * head), thick, Math.max(1, Math.abs(to - from) - head));
    pen.beginPath();
    pen.moveTo(x, to);
    pen.lineTo(x - thick, to - way * head);
    pen.lineTo(x + thick, to - way * head);
    pen.fill();
    if (view.cursor === i) {
      pen.lineWidth = 2;
      pen.strokeStyle = view.ink;
      pen.strokeRect(x - thick - 2, Math.min(from, to) - 2, 2 * thick + 4, Math.abs(to - from) + 4);
    }
    pen.textAlign = "center";
    pen.font = `12px ${view.font}`;
    pen.fillText(clip(pen, meta.short[i], cell), x, view.foot + AXIS / 2);
    pen.fillStyle = view.ink;
    pen.font = `${Math.abs(value) > 1 ? 700 : 400} 12px ${view.font}`;
    if (cell > 36 || Math.abs(value) > 1) pen.fillText(plus(value), x, value < 0 ? Math.max(from, to) + 10 : Math.min(from, to) - 9);
    if (meta.told.length) ARROWS.word(view, meta.told[i], x);
  },

  word(view, word, x) {
    const { pen, meta } = view, top = view.foot + AXIS + 18, right = word === meta.marked;
    pen.save();
    pen.font = `${right ? 700 : 400} ${view.upright ? 13 : 14}px ${view.font}`;
    pen.fillStyle = right ? view.colours.answer : view.ink;
    if (view.upright) {
      pen.translate(x, top + 2);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "right";
      pen.fillText(clip(pen, word, 54), 0, 0);
    } else pen.fillText(clip(pen, word, view.cell - 4), x, top + 11);
    pen.restore();
  },

  under(view, x) {
    const i = Math.floor(x / view.cell);
    return i < view.arrays.values.values.length ? i : null;
  },

  hand(view, place) {
    return place !== null && view.meta.chooses ? "pointer" : "default";
  },

  exists(view, place) {
    return place < view.meta.names.length;
  },

  start() {
    return 0;
  },

  step(view, now, [, right]) {
    return within((now ?? -right) + right, view.meta.names.length);
  },

  choose(view, place, byKey = false) {
    if (place !== null && view.meta.chooses) view.release(view.meta.chooses, place, byKey ? 300 : 0);
  },

  spoken(view, i) {
    return fill(view.meta.words.tells, { name: view.meta.names[i], value: plus(view.arrays.values.values[i]), sum: plus(view.sums[i + 1]) });
  },

  spot(view, i) {
    return [(i + 0.5) * view.cell, Math.min(view.y(view.sums[i]), view.y(view.sums[i + 1])) - 4];
  },

  told(view) {
    return view.meta.names.map((name, i) => `${name} ${plus(view.arrays.values.values[i])}`).join(", ");
  },

  csv(view) {
    const rows = view.meta.names.map((name, i) => `${quoted(name)},${view.arrays.values.values[i]},${view.sums[i + 1]}`);
    return ["part,adds,sum", ...rows].join("\n") + "\n";
  },
};

export default ARROWS;
