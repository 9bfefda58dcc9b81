// Cards with words on their places. Under each card the change of its output as a bar, and the output itself as a strip.

import { clip, make, sized } from "../../../shared/pictures/live/base.js";
import { quoted } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} tokens
 * @property {Anchors} scale
 * @property {number} most
 * @property {{ light: string[], dark: string[] }} cards
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const CARDS = { place: 18, card: 34, gap: 8, bar: 46, number: 18, strip: 150, left: 78 };

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const ORDER = {
  build(view) {
    view.canvas = make("canvas", { role: "application", tabindex: 0 });
    view.canvas.style.touchAction = "pan-y";
    view.picture.append(view.canvas);
    view.canvas.addEventListener("pointerdown", (event) => {
      const place = ORDER.place(view, event.offsetX);
      if (event.offsetY > view.tops.bar || place < 1) return;
      view.canvas.setPointerCapture(event.pointerId);
      ORDER.lift(view, place, place);
    });
    view.canvas.addEventListener("pointermove", (event) => {
      const place = ORDER.place(view, event.offsetX);
      view.canvas.style.cursor = event.offsetY <= view.tops.bar && place > 0 ? "grab" : "default";
      if (view.canvas.hasPointerCapture(event.pointerId)) ORDER.lift(view, view.lifted.from, Math.max(1, place));
    });
    view.canvas.addEventListener("lostpointercapture", () => ORDER.lay(view));
    view.canvas.addEventListener("keydown", (event) => ORDER.key(view, event));
    view.canvas.addEventListener("blur", () => ORDER.lay(view));
  },

  update(view) {
    view.lifted = null;
  },

  place(view, x) {
    return Math.max(0, Math.min(view.meta.tokens.length - 1, Math.floor((x - view.margin) / view.cell)));
  },

  lift(view, from, to) {
    view.lifted = { from, to };
    view.draw();
  },

  order(view) { // the place in this frame that each shown place is taken from
    const all = view.meta.tokens.map((_, p) => p);
    if (view.lifted) all.splice(view.lifted.to, 0, ...all.splice(view.lifted.from, 1));
    return all;
  },

  lay(view) { // Python is told once the card lies; until it answers, the card stays where the hand has put it
    const { lifted, frame } = view, n = view.meta.tokens.length;
    if (!lifted) return;
    if (lifted.from === lifted.to) return ORDER.drop(view);
    view.setTriggerValue("order", ORDER.order(view).map((p) => view.arrays.places.values[frame * n + p]));
  },

  drop(view) {
    view.lifted = null;
    view.draw();
  },

  key(view, event) { // arrows choose a card, with Shift they carry it, Enter lays it
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], n = view.meta.tokens.length;
    if (event.key === "Escape") ORDER.drop(view);
    if (event.key === "Enter") ORDER.lay(view);
    if (!step || n < 3) return;
    event.preventDefault();
    const now = view.lifted ?? { from: 1, to: 1 }, next = Math.max(1, Math.min(n - 1, (event.shiftKey ? now.to : now.from) + step));
    ORDER.lift(view, event.shiftKey ? now.from : next, next);
    const token = view.meta.tokens[view.arrays.places.values[view.frame * n + view.lifted.from]];
    view.status.textContent = `${token}, ${view.meta.words.place} ${next}`;
  },

  layout(view) {
    const { place, card, gap, bar, number, strip } = CARDS;
    view.margin = view.width < 560 ? 0 : CARDS.left; // no room for titles on a narrow screen
    view.cell = (view.width - view.margin) / view.meta.tokens.length;
    view.tops = { card: place, bar: place + card + gap, number: place + card + gap + bar, strip: place + card + 2 * gap + bar + number };
    view.high = view.tops.strip + strip;
    view.pen = sized(view.canvas, view.width, view.high, view.ratio);
  },

  draw(view) {
    const { pen, meta, tops } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.textBaseline = "middle";
    if (view.margin) {
      pen.textAlign = "left";
      pen.font = `600 12px ${view.font}`;
      pen.fillStyle = view.ink;
      const { place, changed, output } = meta.words;
      for (const [text, y] of [[place, CARDS.place / 2], [changed, tops.number + 9], [output, tops.strip + 10]]) pen.fillText(clip(pen, text, view.margin - 6), 0, y);
    }
    ORDER.order(view).forEach((from, p) => ORDER.column(view, p, from));
    if (view.margin || view.cell > 30) return;
    pen.fillStyle = view.ink;
    pen.textAlign = "left"; // on a narrow screen no number fits under its bar, but the name of the bars does
    pen.font = `600 12px ${view.font}`;
    pen.fillText(clip(pen, meta.words.changed, view.width), 0, tops.number + 9);
  },

  column(view, p, from) {
    const { pen, meta, tops, cell } = view, n = meta.tokens.length, at = view.frame * n + from;
    const token = view.arrays.places.values[at], changed = view.arrays.changed.values[at];
    const x = view.margin + p * cell, wide = cell - (cell > 8 ? 3 : 1), cards = meta.cards[view.dark ? "dark" : "light"];
    pen.textAlign = "center";
    pen.font = `12px ${view.font}`;
    pen.fillStyle = view.colours.quiet;
    if (cell > 13) pen.fillText(p, x + wide / 2, CARDS.place / 2);
    pen.fillStyle = cards[token % cards.length];
    pen.fillRect(x, tops.card, wide, CARDS.card);
    pen.fillStyle = view.ink;
    ORDER.name(view, meta.tokens[token], x + wide / 2, wide);
    if (view.lifted?.to === p) {
      pen.strokeStyle = view.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, tops.card + 1, wide - 2, CARDS.card - 2);
    }
    const high = Math.min(1, changed / meta.most) * CARDS.bar;
    pen.fillStyle = view.colours.bar;
    pen.fillRect(x, tops.bar + CARDS.bar - high, wide, high);
    pen.fillStyle = view.colours.quiet;
    pen.fillRect(x, tops.bar + CARDS.bar, wide, 1);
    pen.fillStyle = view.ink;
    pen.font = `12px ${view.font}`;
    if (cell > 30) pen.fillText(changed < 0.005 ? "0" : changed.toFixed(2), x + wide / 2, tops.number + 9);
    const { values, shape } = view.arrays.outputs, numbers = shape[2], tall = CARDS.strip / numbers;
    for (let i = 0; i < numbers; i++) {
      pen.fillStyle = view.scale.css(values[at * numbers + i]);
      pen.fillRect(x, tops.strip + i * tall, wide, tall + 0.5);
    }
  },

  name(view, text, x, wide) { // a word that does not fit is written upright
    const { pen, tops } = view, y = tops.card + CARDS.card / 2;
    pen.font = `600 ${wide < 40 ? 11 : 14}px ${view.font}`;
    if (pen.measureText(text).width <= wide - 2) return pen.fillText(text, x, y);
    if (wide >= 40) return pen.fillText(clip(pen, text, wide - 4), x, y);
    pen.save();
    pen.translate(x, y);
    pen.rotate(-Math.PI / 2);
    pen.font = `${wide < 12 ? 8 : 11}px ${view.font}`;
    pen.fillText(clip(pen, text, CARDS.card), 0, 0);
    pen.restore();
  },

  told(view) { // the words as they stand now
    const { tokens } = view.meta, n = tokens.length;
    return Array.from(view.arrays.places.values.subarray(view.frame * n, (view.frame + 1) * n), (token) => tokens[token]).join(" ");
  },

  csv(view) {
    const { meta } = view, n = meta.tokens.length, { values, shape } = view.arrays.outputs, numbers = shape[2];
    const rows = Array.from({ length: n }, (_, p) => {
      const at = view.frame * n + p;
      return [p, quoted(meta.tokens[view.arrays.places.values[at]]), view.arrays.changed.values[at], ...values.slice(at * numbers, (at + 1) * numbers)].join(",");
    });
    const head = [meta.words.place, meta.words.name, meta.words.changed, ...Array.from({ length: numbers }, (_, i) => i)];
    return [head.map(quoted).join(","), ...rows].join("\n") + "\n";
  },
};

export default ORDER;
