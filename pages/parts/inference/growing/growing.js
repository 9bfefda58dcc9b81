// A text that grows: the pairs of tokens that a step computes, with a cache and without, and the candidates of the newest token.

import { clip, hatched, make, sized } from "../../../shared/pictures/live/base.js";
import { fill, quoted, sentences } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string} file
 * @property {number} start
 * @property {string[][]} candidates
 * @property {number[]} taken
 * @property {number[]} kept
 * @property {number} each
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const BAR = 25, WIDE = 640, HEAD = 26, SHELF = 26, SIDE = 156;

const percent = (p) => `${(100 * p).toFixed(1)}%`;
const mega = (x) => (x / 1e6).toLocaleString("en-US", { maximumFractionDigits: x < 1e8 ? 1 : 0 });
const bytes = (n) => (n < 1e6 ? `${(n / 1000).toFixed(0)} kB` : `${(n / 1e6).toFixed(2)} MB`);

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const GROWING = {
  build(view) {
    view.canvas = make("canvas", { role: "application", tabindex: 0 });
    view.picture.append(view.canvas);
    view.canvas.addEventListener("click", (event) => GROWING.take(view, GROWING.under(view, event.offsetX, event.offsetY)));
    view.canvas.addEventListener("pointermove", (event) => {
      view.canvas.style.cursor = GROWING.under(view, event.offsetX, event.offsetY) === null ? "default" : "pointer";
    });
    view.canvas.addEventListener("keydown", (event) => {
      const at = "12345678".indexOf(event.key); // the first candidate is 1
      if (event.key.length === 1 && at >= 0 && view.frame) GROWING.take(view, at);
    });
  },

  layout(view) {
    const { width, meta } = view;
    view.wide = width >= WIDE;
    view.most = meta.start + meta.candidates.length;
    view.side = Math.min(SIDE, (view.wide ? width * 0.58 : width) / 2 - 16);
    view.unit = view.side / view.most;
    view.tops = { shelf: HEAD + view.side + 46 };
    const low = view.tops.shelf + SHELF + 24, bars = 34 + BAR * (view.arrays.chances.shape[1] ?? 1);
    view.barsAt = view.wide ? [2 * view.side + 62, 0] : [0, low];
    view.high = view.wide ? Math.max(low, bars) : low + bars;
    view.pen = sized(view.canvas, width, view.high, view.ratio);
  },

  // Tokens that stand there in this frame.
  length(view) {
    return view.meta.start + view.frame;
  },

  draw(view) {
    const { pen, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.textBaseline = "middle";
    GROWING.triangle(view, 0, meta.words.with, "cached", true);
    GROWING.triangle(view, view.side + 30, meta.words.without, "whole", false);
    GROWING.shelf(view);
    GROWING.bars(view);
  },

  // What this step and all steps up to it have cost, in FLOPs. The text itself is read once either way.
  spent(view, which) {
    const { values } = view.arrays[which], whole = view.arrays.whole.values;
    if (!view.frame) return [0, 0];
    const of = (step) => (step ? values[step] : whole[0]);
    let sum = 0;
    for (let step = 0; step < view.frame; step++) sum += of(step);
    return [of(view.frame - 1), sum];
  },

  triangle(view, x, title, which, keeps) {
    const { pen, meta, unit } = view, n = GROWING.length(view) - 1, [now, sum] = GROWING.spent(view, which);
    pen.textAlign = "left";
    pen.fillStyle = view.ink;
    pen.font = `600 13px ${view.font}`;
    pen.fillText(clip(pen, title, view.side), x, HEAD / 2);
    pen.strokeStyle = view.colours.quiet;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, HEAD);
    pen.lineTo(x, HEAD + view.side);
    pen.lineTo(x + view.side, HEAD + view.side);
    pen.closePath();
    pen.stroke();
    const first = !keeps || view.frame <= 1; // the text itself is read whole
    for (let i = 0; i < n && view.frame; i++) {
      const fresh = first || i === n - 1;
      pen.fillStyle = fresh ? view.colours.new : view.colours.quiet;
      pen.globalAlpha = fresh ? 1 : 0.25;
      pen.fillRect(x, HEAD + i * unit, (i + 1) * unit, Math.max(unit - (unit > 4 ? 1 : 0), fresh && keeps ? 2 : 0.5));
    }
    pen.globalAlpha = 1;
    pen.fillStyle = view.ink;
    pen.font = `14px ${view.font}`;
    pen.fillText(clip(pen, fill(meta.words.step, { n: mega(now) }), view.side + 24), x, HEAD + view.side + 14);
    pen.fillText(clip(pen, fill(meta.words.sum, { n: mega(sum) }), view.side + 24), x, HEAD + view.side + 34);
  },

  shelf(view) { // one slot a token: its key and its value
    const { pen, meta } = view, n = Math.max(0, GROWING.length(view) - 1), top = view.tops.shelf, wide = 2 * view.side + 30, slot = wide / view.most;
    pen.strokeStyle = view.colours.quiet;
    pen.lineWidth = 1;
    pen.strokeRect(0.5, top + 0.5, wide - 1, SHELF - 1);
    for (let i = 0; i < n && view.frame; i++) {
      const w = Math.max(0.8, slot - (slot > 4 ? 1.5 : 0.3));
      pen.fillStyle = view.colours.key;
      pen.fillRect(i * slot + 1, top + 3, w, SHELF / 2 - 3);
      pen.fillStyle = view.colours.value;
      pen.fillRect(i * slot + 1, top + SHELF / 2, w, SHELF / 2 - 3);
    }
    const held = view.frame ? n : 0;
    pen.fillStyle = view.ink;
    pen.textAlign = "left";
    pen.font = `14px ${view.font}`;
    pen.fillText(clip(pen, fill(meta.words.cache, { n: held, bytes: bytes(held * meta.each) }), wide), 0, top + SHELF + 14);
  },

  title(view) {
    const { words, kept } = view.meta, step = view.frame - 1;
    if (step < 0) return words.first;
    return fill(kept[step] > 1 ? words.from : words.one, { i: step + 1, n: kept[step].toLocaleString("en-US") });
  },

  bars(view) {
    const { pen, meta } = view, [left, top] = view.barsAt, step = view.frame - 1, shown = view.arrays.chances.shape[1];
    pen.textAlign = "left";
    pen.fillStyle = view.ink;
    pen.font = `600 13px ${view.font}`;
    pen.fillText(clip(pen, GROWING.title(view), view.width - left), left, top + 13);
    if (step < 0) return;
    const name = 84, space = view.width - left - name - 100;
    meta.candidates[step].forEach((token, i) => {
      const y = top + 32 + (i + 0.5) * BAR, p = view.arrays.chances.values[step * shown + i], out = !view.arrays.shares.values[step * shown + i];
      const taken = meta.taken[step] === i, long = Math.max(1, space * p);
      pen.font = `${taken ? 700 : 400} 15px ${view.font}`;
      pen.textAlign = "right";
      pen.fillStyle = view.ink;
      pen.fillText(clip(pen, token, name - 8), left + name - 6, y);
      pen.textAlign = "left";
      pen.fillStyle = taken ? view.colours.new : view.colours.quiet;
      if (out && !taken) hatched(view.pen, left + name, y - 8, long, 16, view.colours.cut);
      else pen.fillRect(left + name, y - 8, long, 16);
      pen.fillStyle = view.ink;
      pen.fillText(out && !taken ? `${percent(p)} · ${meta.words.cut}` : percent(p), left + name + long + 6, y);
    });
  },

  under(view, x, y) {
    const [left, top] = view.barsAt, i = Math.floor((y - top - 32) / BAR);
    const step = view.frame - 1;
    return step >= 0 && x >= left && i >= 0 && i < view.meta.candidates[step].length ? i : null;
  },

  take(view, i) { // from here on the text goes another way
    const step = view.frame - 1;
    if (i === null || step < 0 || i >= view.meta.candidates[step].length || i === view.meta.taken[step]) return;
    view.setTriggerValue("take", [step, i]);
  },

  told(view) {
    const { meta } = view, step = view.frame - 1;
    const word = step < 0 ? "" : `${meta.candidates[step][meta.taken[step]]} ${percent(view.arrays.chances.values[step * view.arrays.chances.shape[1] + meta.taken[step]])}`;
    return sentences(GROWING.title(view), word, `${meta.words.with} ${fill(meta.words.sum, { n: mega(GROWING.spent(view, "cached")[1]) })}`,
      `${meta.words.without} ${fill(meta.words.sum, { n: mega(GROWING.spent(view, "whole")[1]) })}`, meta.words.keys);
  },

  csv(view) {
    const { meta } = view, { cached, whole } = view.arrays;
    const rows = meta.candidates.map((all, i) => [i + 1, quoted(all[meta.taken[i]]), i ? cached.values[i] : whole.values[0], whole.values[i]].join(","));
    return [["", meta.words.token, meta.words.with, meta.words.without].map(quoted).join(","), ...rows].join("\n") + "\n";
  },
};

export default GROWING;
