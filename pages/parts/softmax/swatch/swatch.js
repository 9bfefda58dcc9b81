// A bar of coloured parts, each as wide as its share, and under it the colour they make together.

import { clip, make, sized } from "../../../shared/pictures/live/base.js";
import { quoted } from "../../../shared/pictures/live/numbers.js";

/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} names
 * @property {string} column
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const PARTS = 64, MIXED = 120, BETWEEN = 26;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const SWATCH = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
  },

  layout(view) {
    view.pen = sized(view.canvas, view.width, PARTS + BETWEEN + MIXED, view.ratio);
  },

  draw(view) {
    const { pen, width } = view, { names } = view.meta, n = names.length;
    const shares = view.arrays.shares.values, colours = view.arrays.colours.values, mixed = view.arrays.mixed.values;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, PARTS + BETWEEN + MIXED);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let i = 0, x = 0; i < n; i++) {
      const wide = width * shares[view.frame * n + i];
      pen.fillStyle = SWATCH.css(colours, i);
      pen.fillRect(x, 0, Math.max(0, wide - (wide > 3 ? 1 : 0)), PARTS);
      pen.fillStyle = SWATCH.ink(colours, i);
      pen.font = `600 14px ${view.font}`;
      if (wide > 34) {
        pen.fillText(clip(pen, names[i], wide - 6), x + wide / 2, PARTS / 2 - 9);
        pen.font = `13px ${view.font}`;
        pen.fillText(shares[view.frame * n + i].toFixed(2), x + wide / 2, PARTS / 2 + 10);
      }
      x += wide;
    }
    pen.strokeStyle = view.ink;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(width / 2 - 9, PARTS + 7);
    pen.lineTo(width / 2, PARTS + BETWEEN - 7);
    pen.lineTo(width / 2 + 9, PARTS + 7);
    pen.stroke();
    pen.fillStyle = SWATCH.css(mixed, view.frame);
    pen.fillRect(0, PARTS + BETWEEN, width, MIXED);
  },

  css(values, i) {
    return `rgb(${[0, 1, 2].map((c) => Math.round(values[3 * i + c])).join(",")})`;
  },

  ink(values, i) {
    const [r, g, b] = [0, 1, 2].map((c) => (values[3 * i + c] / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19 ? "#111" : "#fff";
  },

  told(view) {
    const { names } = view.meta, shares = view.arrays.shares.values, n = names.length;
    const parts = names.map((name, i) => `${name} ${shares[view.frame * n + i].toFixed(2)}`).join(", ");
    return `${parts}; ${SWATCH.css(view.arrays.mixed.values, view.frame)}`;
  },

  csv(view) {
    const { names } = view.meta, n = names.length, { shares, colours, mixed } = view.arrays;
    const row = (name, share, rgb, i) => [quoted(name), share, ...[0, 1, 2].map((c) => rgb[3 * i + c])].join(",");
    const rows = names.map((name, i) => row(name, shares.values[view.frame * n + i], colours.values, i));
    return [`${quoted(view.meta.column)},share,red,green,blue`, ...rows, row("=", 1, mixed.values, view.frame)].join("\n") + "\n";
  },
};

export default SWATCH;
