// A text, the words in reach of its last one, and the next word. One frame for each window.

import { clip, make, sized, steer } from "../../../shared/pictures/live/base.js";
import { fill, quoted, sentences } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string} file
 * @property {string[]} tokens
 * @property {number} earlier
 * @property {number[]} windows
 * @property {string[]} names
 * @property {string[]} best
 * @property {number[]} top
 * @property {boolean[]} right
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const CHIP = { high: 32, pad: 8, gap: 5, row: 40 }, BAR = 27, ARCS = 74, WIDE = 640;

const percent = (p) => `${(100 * p).toFixed(1)}%`;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const REACH = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    steer(view, view.canvas, (x, y) => REACH.stop(view, x, y));
    view.canvas.style.cursor = "pointer";
  },

  // The stop at which the word under a finger is the first in reach.
  stop(view, x, y) {
    const { windows, tokens, earlier } = view.meta, first = view.texts.length - tokens.length;
    const i = view.boxes.findIndex((box) => x >= box.x && x < box.x + box.w + CHIP.gap && y >= box.y && y < box.y + CHIP.row);
    if (i < 0) return null;
    const wanted = i < first ? tokens.length + earlier : tokens.length - (i - first);
    return windows.reduce((best, w, f) => (Math.abs(w - wanted) < Math.abs(windows[best] - wanted) ? f : best), 0);
  },

  layout(view) {
    const { meta, width } = view, pen = view.canvas.getContext("2d");
    const measure = (text, font) => ((pen.font = `${font} ${view.font}`), pen.measureText(text).width);
    const texts = meta.earlier ? [`+${meta.earlier}`, ...meta.tokens] : meta.tokens;
    view.fontSize = texts.length > 24 ? 14 : 16;
    const most = Math.max(60, width - 2);
    const widths = texts.map((t) => Math.min(most, Math.max(22, measure(t, `${view.fontSize}px`) + 2 * CHIP.pad)));
    view.answerWidth = Math.min(most, Math.max(...meta.best.map((t) => measure(`${t} 100%`, `700 ${view.fontSize}px`))) + 2 * CHIP.pad + 6);
    const whole = widths.reduce((a, w) => a + w + CHIP.gap, 0) + view.answerWidth;
    view.arcs = whole <= width ? ARCS : 0;
    let x = 1, y = view.arcs + 4;
    const place = (w) => {
      if (x > 1 && x + w > width) [x, y] = [1, y + CHIP.row];
      const box = { x, y, w };
      x += w + CHIP.gap;
      return box;
    };
    view.boxes = widths.map(place);
    view.texts = texts;
    view.answer = place(view.answerWidth);
    view.wide = width >= WIDE;
    view.below = y + CHIP.high + 18 + (view.wide ? 0 : 30);
    view.pen = sized(view.canvas, width, view.below + (meta.names.length + 1) * BAR + 4, view.ratio);
  },

  draw(view) {
    const { pen, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.canvas.height);
    pen.textBaseline = "middle";
    const reach = meta.windows[view.frame], n = meta.tokens.length, first = view.texts.length - n;
    view.boxes.forEach((box, i) => {
      const inside = i < first ? reach >= n + meta.earlier : n - (i - first) <= reach;
      if (inside && view.arcs && i < view.boxes.length - 1) REACH.arc(view, box);
      REACH.chip(view, box, view.texts[i], inside, i === view.boxes.length - 1);
    });
    REACH.says(view);
    REACH.bars(view);
  },

  chip(view, { x, y, w }, text, inside, last) {
    const { pen } = view;
    pen.beginPath();
    pen.roundRect(x + 1, y + 1, w - 2, CHIP.high - 2, 7);
    pen.setLineDash(inside ? [] : [3, 4]);
    pen.lineWidth = inside ? 2 : 1.2;
    pen.strokeStyle = inside ? view.colours.reach : view.colours.quiet;
    pen.fillStyle = inside ? view.colours.reach : view.paper;
    pen.globalAlpha = last ? 1 : inside ? 0.18 : 1;
    pen.fill();
    pen.globalAlpha = 1;
    pen.stroke();
    pen.setLineDash([]);
    pen.font = `${inside ? 600 : 400} ${view.fontSize}px ${view.font}`;
    pen.fillStyle = last ? view.paper : inside ? view.ink : view.colours.quiet;
    pen.textAlign = "center";
    pen.fillText(clip(pen, text, w - 6), x + w / 2, y + CHIP.high / 2 + 1);
  },

  arc(view, box) {
    const { pen } = view, to = view.boxes[view.boxes.length - 1];
    const x0 = to.x + to.w / 2, x1 = box.x + box.w / 2, high = Math.min(2 * view.arcs - 16, 26 + 0.16 * (x0 - x1));
    pen.strokeStyle = view.colours.reach;
    pen.globalAlpha = 0.6;
    pen.lineWidth = 1.8;
    pen.beginPath();
    pen.moveTo(x0, to.y);
    pen.quadraticCurveTo((x0 + x1) / 2, to.y - high, x1, box.y);
    pen.stroke();
    pen.globalAlpha = 1;
  },

  says(view) {
    const { pen, meta } = view, { x, y, w } = view.answer, f = view.frame, p = view.arrays.best.values[f];
    const colour = meta.right[f] ? view.colours.answer : view.colours.wrong;
    pen.strokeStyle = colour;
    pen.lineWidth = 2.5;
    pen.setLineDash([]);
    pen.strokeRect(x + 2, y + 1.5, w - 4, CHIP.high - 3);
    pen.fillStyle = colour;
    pen.font = `700 ${view.fontSize}px ${view.font}`;
    pen.textAlign = "center";
    pen.fillText(clip(pen, `${meta.best[f]} ${(100 * p).toFixed(0)}%`, w - 6), x + w / 2, y + CHIP.high / 2 + 1);
    pen.textAlign = "left";
    const sees = fill(meta.words.sees, { n: meta.windows[f], all: meta.tokens.length + meta.earlier });
    pen.fillStyle = view.ink;
    if (!view.wide) {
      pen.font = `14px ${view.font}`;
      pen.fillText(clip(pen, `${sees} · ${fill(meta.words.named, { word: meta.best[f] })}`, view.width), 0, view.below - 22);
      return;
    }
    const left = view.width * 0.6, top = view.below;
    const line = (text, font, ink, at) => {
      pen.font = `${font} ${view.font}`;
      pen.fillStyle = ink;
      pen.fillText(clip(pen, text, view.width - left), left, top + at);
    };
    line(sees, "16px", view.ink, 14);
    line(meta.words.says, "16px", view.ink, 52);
    line(meta.best[f], "700 38px", colour, 92);
    line(percent(p), "600 22px", colour, 132);
    line(`p(${meta.names[0]}) = ${percent(REACH.chances(view)[0])}`, "600 18px", view.colours.answer, 170);
    line(meta.words.dashed, "14px", view.colours.quiet, 200);
  },

  // The bars, and last of all what is left over.
  chances(view) {
    const { names } = view.meta, from = view.frame * names.length;
    const p = Array.from(names, (_, i) => view.arrays.values.values[from + i]);
    return [...p, Math.max(0, 1 - p.reduce((a, b) => a + b, 0))];
  },

  bars(view) {
    const { pen, meta } = view, space = (view.wide ? view.width * 0.54 : view.width) - 100 - 66;
    REACH.chances(view).forEach((p, i) => {
      const y = view.below + i * BAR + BAR / 2, rest = i === meta.names.length, name = rest ? meta.words.rest : meta.names[i];
      const top = i === meta.top[view.frame];
      pen.font = `${top ? 700 : 400} 15px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.fillText(clip(pen, name, 88), 92, y);
      pen.fillStyle = top ? (meta.right[view.frame] ? view.colours.answer : view.colours.wrong) : view.colours.quiet;
      pen.globalAlpha = rest ? 0.5 : 1;
      pen.fillRect(100, y - 9, Math.max(1, space * p), 18);
      pen.globalAlpha = 1;
      pen.fillStyle = view.ink;
      pen.textAlign = "left";
      pen.fillText(percent(p), 100 + Math.max(1, space * p) + 6, y);
    });
  },

  sees(view) {
    const { meta } = view;
    return fill(meta.words.sees, { n: meta.windows[view.frame], all: meta.tokens.length + meta.earlier });
  },

  items(view) {
    const names = [...view.meta.names, view.meta.words.rest];
    return [REACH.sees(view), ...REACH.chances(view).map((p, i) => `${names[i]} ${percent(p)}`)];
  },

  told(view) {
    const { meta } = view, p = view.arrays.best.values[view.frame];
    return sentences(REACH.sees(view), `${meta.words.says} ${meta.best[view.frame]} ${(100 * p).toFixed(0)}%`);
  },

  csv(view) {
    const { names, windows, words } = view.meta, { values } = view.arrays.values;
    const rows = windows.map((w, f) => [w, ...names.map((_, i) => values[f * names.length + i])].join(","));
    return [[words.window, ...names].map(quoted).join(","), ...rows].join("\n") + "\n";
  },
};

export default REACH;
