// One neuron: its value under every word, three gauges at the last one, and the next word at every factor of its write.

import { clip, make, sized } from "../../../shared/pictures/live/base.js";
import { quoted, short, signed } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/** @typedef {{ name: string, value: number, high: number, moves: boolean }} Gauge */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[][]} names
 * @property {Gauge[]} gauges
 * @property {string[]} candidates
 * @property {string[]} beside
 * @property {number} asked
 * @property {Anchors} scale
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const WIDE = 640, BOX = 42, HEAD = 20, BAR = 25, GAUGE = 48, ROWS = 2, GAP = 10;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const NEURON = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
  },

  layout(view) {
    const { meta, width } = view, pen = view.canvas.getContext("2d"), wide = width >= WIDE;
    const half = wide ? Math.round(0.46 * width) : width;
    view.here = NEURON.lay(view, pen, meta.names[0], width);
    view.there = NEURON.lay(view, pen, meta.names[1], wide ? half - 28 : width);
    const first = HEAD + view.here.rows * (BOX + 4) + GAP, gauges = meta.gauges.length * GAUGE, bars = HEAD + meta.candidates.length * BAR;
    view.gauges = { x: 0, y: first, w: wide ? half - 28 : width };
    view.bars = wide ? { x: half, y: first, w: width - half } : { x: 0, y: first + gauges + GAP, w: width };
    const second = wide ? first + Math.max(gauges, bars) + GAP : view.bars.y + bars + GAP;
    const strip = HEAD + view.there.rows * (BOX + 4);
    view.twin = { y: second, x: wide ? half : 0, top: wide ? second + HEAD - 4 : second + strip + 4, w: wide ? width - half : width };
    view.high = wide ? second + Math.max(strip, HEAD + meta.beside.length * BAR) : second + strip + meta.beside.length * BAR + 6;
    view.pen = sized(view.canvas, width, view.high, view.ratio);
  },

  // The last words that fit into a few rows: [from, [x, row, width] of each].
  lay(view, pen, names, width) {
    pen.font = `15px ${view.font}`;
    const wides = names.map((name) => Math.min(width - 20, Math.max(38, pen.measureText(name).width + 12)));
    const rows = (from) => {
      const boxes = [];
      let x = from ? 18 : 0, row = 0;
      for (let i = from; i < names.length; i++) {
        if (x && x + wides[i] > width) [x, row] = [0, row + 1];
        boxes.push([x, row, wides[i]]);
        x += wides[i] + 3;
      }
      return { from, boxes, rows: row + 1 };
    };
    let from = 0, found = rows(0);
    while (found.rows > ROWS && from < names.length - 1) found = rows(++from);
    return found;
  },

  text(view, text, x, y, { size = 14, bold = false, colour = view.ink, align = "left", most = Infinity } = {}) {
    const { pen } = view;
    pen.font = `${bold ? 700 : 400} ${size}px ${view.font}`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    pen.fillText(most === Infinity ? text : clip(pen, text, most), x, y);
  },

  draw(view) {
    const { pen, meta, width, arrays } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, view.high);
    NEURON.strip(view, view.here, meta.names[0], arrays.here.values, 0, meta.words.value, width);
    NEURON.strip(view, view.there, meta.names[1], arrays.there.values, view.twin.y, meta.words.twin, width);
    meta.gauges.forEach((gauge, i) => NEURON.gauge(view, gauge, view.gauges.y + i * GAUGE));
    NEURON.nextWords(view);
    const two = meta.beside.length, { values } = arrays.twin, calm = NEURON.calm(view);
    meta.beside.forEach((name, i) => {
      NEURON.bar(view, name, values[view.frame * two + i], values[calm * two + i], i === 0, { ...view.twin, y: view.twin.top + i * BAR });
    });
  },

  calm(view) { // the stop at which the neuron writes what it wrote
    return view.arrays.factors.values.findIndex((factor) => Math.abs(factor - 1) < 1e-6);
  },

  strip(view, { from, boxes }, names, values, top, title, width) {
    const { pen } = view;
    NEURON.text(view, title, 0, top + HEAD / 2 - 2, { size: 13, colour: view.colours.quiet, most: width });
    if (from) NEURON.text(view, "…", 0, top + HEAD + 14);
    boxes.forEach(([x, row, wide], k) => {
      const y = top + HEAD + row * (BOX + 4), value = values[from + k], last = from + k === names.length - 1;
      pen.fillStyle = view.scale.css(value);
      pen.fillRect(x, y, wide, BOX);
      const ink = view.scale.ink(value);
      NEURON.text(view, names[from + k], x + wide / 2, y + 13, { size: 15, bold: last, colour: ink, align: "center", most: wide - 4 });
      NEURON.text(view, Math.abs(value) >= 0.005 ? signed(value.toFixed(2)) : "0", x + wide / 2, y + 31, { size: 12, colour: ink, align: "center" });
      if (!last) return;
      pen.strokeStyle = view.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, wide - 2, BOX - 2);
    });
  },

  // A bar to both sides of nothing; what the slider multiplies shows what it was as an outline.
  gauge(view, { name, value, high, moves }, y) {
    const { pen, gauges: { x, w } } = view, factor = moves ? view.arrays.factors.values[view.frame] : 1, now = value * factor;
    const middle = x + w / 2, scaled = (v) => (w / 2) * Math.max(-1, Math.min(1, v / high));
    NEURON.text(view, name, x, y + 9, { size: 14, bold: moves, most: w - 70 });
    NEURON.text(view, short(now, 2), x + w, y + 9, { size: 15, bold: true, align: "right" });
    pen.fillStyle = now < 0 ? view.colours.low : view.colours.high;
    pen.globalAlpha = moves ? 1 : 0.6;
    pen.fillRect(Math.min(middle, middle + scaled(now)), y + 21, Math.abs(scaled(now)), 17);
    pen.globalAlpha = 1;
    if (moves) NEURON.outline(view, Math.min(middle, middle + scaled(value)), y + 21, Math.abs(scaled(value)), 17);
    pen.strokeStyle = view.colours.quiet;
    pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 20.5, w - 1, 18);
    pen.beginPath();
    pen.moveTo(middle, y + 17);
    pen.lineTo(middle, y + 42);
    pen.stroke();
  },

  outline(view, x, y, w, h) {
    const { pen } = view;
    pen.strokeStyle = view.ink;
    pen.lineWidth = 1.5;
    pen.setLineDash([3, 2]);
    pen.strokeRect(x, y, Math.max(1, w), h);
    pen.setLineDash([]);
  },

  nextWords(view) {
    const { meta, bars } = view, n = meta.candidates.length, { values } = view.arrays.probs, calm = NEURON.calm(view);
    NEURON.text(view, meta.words.next, bars.x, bars.y + HEAD / 2 - 2, { size: 13, colour: view.colours.quiet });
    meta.candidates.forEach((name, i) => {
      const at = { ...bars, y: bars.y + HEAD + i * BAR };
      NEURON.bar(view, name, values[view.frame * n + i], values[calm * n + i], i === meta.asked, at);
    });
  },

  bar(view, name, p, before, marked, { x, y, w }) {
    const { pen } = view, label = Math.min(86, 0.26 * w), space = w - label - 66, left = x + label + 8, middle = y + BAR / 2;
    NEURON.text(view, name, x + label, middle, { size: 15, bold: marked, align: "right", most: label });
    pen.fillStyle = marked ? view.colours.marked : view.colours.bar;
    pen.fillRect(left, y + 4, Math.max(1, space * p), BAR - 9);
    NEURON.outline(view, left, y + 4, space * before, BAR - 9);
    NEURON.text(view, `${(100 * p).toFixed(1)}%`, left + space * Math.max(p, before) + 6, middle, { bold: marked });
  },

  told(view) {
    const { meta, arrays } = view, n = meta.candidates.length;
    const said = meta.candidates.map((name, i) => `${name} ${(100 * arrays.probs.values[view.frame * n + i]).toFixed(1)}%`);
    const next = meta.beside.map((name, i) => `${name} ${(100 * arrays.twin.values[view.frame * meta.beside.length + i]).toFixed(1)}%`);
    const twin = `${meta.words.twin}: ${next.join(", ")}`;
    const gauges = meta.gauges.map(({ name, value, moves }) => `${name} ${short(value * (moves ? arrays.factors.values[view.frame] : 1), 2)}`);
    return [...gauges, ...said, twin].join(", ");
  },

  csv(view) {
    const { meta, arrays } = view, n = meta.candidates.length;
    const rows = Array.from(arrays.factors.values, (factor, f) => [short(factor), ...meta.candidates.map((_, i) => arrays.probs.values[f * n + i])].join(","));
    return [["factor", ...meta.candidates.map(quoted)].join(","), ...rows].join("\n") + "\n";
  },
};

export default NEURON;
