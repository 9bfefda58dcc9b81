// The stream of one token as columns, one after each part; what that part wrote is their top. Below, the logit lens.

import { clip, legend, sized, staged, within } from "../../../shared/pictures/live/base.js";
import { fill, quoted, short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} names
 * @property {string[]} short
 * @property {string[]} kinds
 * @property {string[]} said
 * @property {string} answer
 * @property {number} station
 * @property {string[]} times
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const TOP = 34, TALL = 118, AXIS = 18, TITLE = 18;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const COLUMNS = {
  build(view) {
    legend(view, []);
    staged(view, view.legend);
  },

  layout(view) {
    const { meta } = view, { attn, ffn, quiet } = view.colours;
    legend(view, [[meta.words.was, quiet, null], [meta.words.attn, attn, null], [meta.words.ffn, ffn, null]]);
    view.cell = view.width / meta.names.length;
    view.upright = view.cell < 36;
    view.lensTall = view.upright ? 58 : 22;
    view.foot = TOP + TALL;
    view.tall = view.foot + AXIS + TITLE + view.lensTall + 2;
    view.pen = sized(view.canvas, view.width, view.tall, view.ratio);
  },

  at(view, name, place) {
    return view.arrays[name].values[view.frame * view.meta.names.length + place];
  },

  word(view, place) {
    return view.meta.said[COLUMNS.at(view, "lens", place)];
  },

  draw(view) {
    const { pen, meta } = view, n = meta.names.length;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.tall);
    let high = 1e-12; // the tallest column of this stop fills the height
    for (let p = 0; p < n; p++) high = Math.max(high, COLUMNS.at(view, "sizes", p));
    for (let p = 0; p < n; p++) COLUMNS.column(view, p, high);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.font = `600 12px ${view.font}`;
    pen.fillStyle = view.colours.quiet;
    pen.fillText(clip(pen, meta.words.lens, view.width), 0, view.foot + AXIS + TITLE / 2 + 1);
    COLUMNS.turned(view, high);
  },

  column(view, p, high) {
    const { pen, meta, cell } = view, wide = Math.max(3, cell - (cell > 40 ? 10 : 5)), x = p * cell + (cell - wide) / 2;
    const size = COLUMNS.at(view, "sizes", p), write = Math.min(size, COLUMNS.at(view, "writes", p));
    const tall = (TALL * size) / high, part = (TALL * write) / high;
    pen.fillStyle = view.colours.quiet;
    pen.globalAlpha = 0.45;
    pen.fillRect(x, view.foot - tall, wide, tall);
    pen.globalAlpha = 1;
    pen.fillStyle = view.colours[meta.kinds[p]];
    if (p) pen.fillRect(x, view.foot - tall, wide, Math.max(1, part));
    pen.fillStyle = view.colours.quiet;
    pen.fillRect(x - 1, view.foot, wide + 2, 1);
    pen.fillStyle = view.ink;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `11px ${view.font}`;
    if (cell > 36 || p === meta.names.length - 1) pen.fillText(short(size, 2), Math.min(x + wide / 2, view.width - 14), view.foot - tall - 8);
    pen.font = `12px ${view.font}`;
    pen.fillStyle = view.colours[meta.kinds[p]];
    pen.fillText(meta.short[p], x + wide / 2, view.foot + AXIS / 2 + 1);
    if (view.cursor === p) {
      pen.strokeStyle = view.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x - 1, view.foot - tall - 1, wide + 2, tall + 2);
    }
    COLUMNS.lens(view, p, x + wide / 2);
  },

  lens(view, p, x) { // what the head would say here; the untouched model's answer stands out
    const { pen, meta } = view, word = COLUMNS.word(view, p), top = view.foot + AXIS + TITLE, right = word === meta.answer;
    pen.save();
    pen.font = `${right ? 700 : 400} ${view.upright ? 13 : 14}px ${view.font}`;
    pen.fillStyle = right ? view.colours.answer : view.ink;
    if (view.upright) {
      pen.translate(x, top + 2);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "right";
      pen.fillText(clip(pen, word, view.lensTall - 4), 0, 0);
    } else pen.fillText(clip(pen, word, view.cell - 4), x, top + view.lensTall / 2);
    pen.restore();
  },

  turned(view, high) { // where the stream is multiplied
    const { pen, meta, cell } = view, text = meta.times[view.frame], x = cell * (meta.station + 0.5);
    const wide = Math.max(3, cell - (cell > 40 ? 10 : 5)), tall = (TALL * COLUMNS.at(view, "sizes", meta.station)) / high;
    pen.strokeStyle = pen.fillStyle = view.colours.cut;
    pen.lineWidth = 2.5;
    pen.strokeRect(x - wide / 2 - 1.5, view.foot - tall - 1.5, wide + 3, tall + 3);
    pen.lineWidth = 1.5;
    pen.setLineDash([4, 3]);
    pen.beginPath();
    pen.moveTo(x, 18);
    pen.lineTo(x, view.foot - tall - (cell > 36 ? 16 : 3));
    if (tall < TALL - 4) pen.stroke();
    pen.setLineDash([]);
    pen.font = `700 15px ${view.font}`;
    pen.textAlign = "center";
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.max(half, Math.min(view.width - half, x)), 9);
  },

  under(view, x, y) {
    return y > view.tall ? null : within(Math.floor(x / view.cell), view.meta.names.length);
  },

  hand(view, place) {
    return place === null ? "default" : "pointer";
  },

  exists(view, place) {
    return place < view.meta.names.length;
  },

  start(view) {
    return view.meta.station;
  },

  step(view, now, [, right]) {
    return within((now ?? view.meta.station - right) + right, view.meta.names.length);
  },

  choose(view, place, byKey = false) {
    if (place !== null) view.release("station", Math.ceil(place / 2), byKey ? 300 : 0);
  },

  spoken(view, place) {
    const { meta } = view;
    return fill(meta.words.tells, {
      name: meta.names[place],
      size: short(COLUMNS.at(view, "sizes", place)),
      write: short(COLUMNS.at(view, "writes", place)),
      word: COLUMNS.word(view, place),
      sure: `${(100 * COLUMNS.at(view, "sure", place)).toFixed(0)}%`,
    });
  },

  spot(view, place) {
    return [(place + 0.5) * view.cell, TOP];
  },

  told(view) {
    return view.meta.names.map((name, p) => `${name} ${short(COLUMNS.at(view, "sizes", p), 2)} ${COLUMNS.word(view, p)}`).join(", ");
  },

  csv(view) {
    const rows = view.meta.names.map((name, p) => [
      quoted(name), COLUMNS.at(view, "sizes", p), COLUMNS.at(view, "writes", p), quoted(COLUMNS.word(view, p)), COLUMNS.at(view, "sure", p),
    ].join(","));
    return ["place,size,written,lens,p", ...rows].join("\n") + "\n";
  },
};

export const styles = [new URL("../../../shared/pictures/stack/stack.css", import.meta.url)];
export default COLUMNS;
