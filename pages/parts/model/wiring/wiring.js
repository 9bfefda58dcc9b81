// A block as its wiring: rows are lines of code, the stream runs down on the left, arcs skip ahead, bars are numbers.

import { clip, sized, staged } from "../../../shared/pictures/live/base.js";
import { quoted, sentences, short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {[string, string, string, string, boolean, boolean, boolean][]} rows
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 * @property {string} file
 * @property {number[][]} arcs
 * @property {number[]} ends
 * @property {string} measured
 * @property {boolean} whole
 * @property {number[] | null} lit
 * @property {number | null} cut
 * @property {number | null} tall
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const LINE = 25, CLOSE = 17, TITLE = 26, GUTTER = 44, NARROW = 440;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const WIRES = {
  build(view) {
    staged(view);
  },

  layout(view) {
    const { rows, arcs } = view.meta, pen = view.canvas.getContext("2d");
    let y = view.meta.measured ? 20 : 4;
    const titles = TITLE * rows.filter((row) => row[3]).length; // in front of a class lines move together, words stay large
    const narrow = view.width < NARROW, room = Math.min(view.ceiling, narrow ? Infinity : view.meta.tall ?? Infinity);
    view.line = Math.max(CLOSE, Math.min(LINE, (room - y - titles - 4) / rows.length));
    view.tops = rows.map((row) => {
      if (row[3]) y += TITLE;
      const top = y;
      y += view.line;
      return top;
    });
    view.full = y + 4;
    view.high = view.meta.lit ? Math.min(view.full, Math.max(view.ceiling, 8 * CLOSE)) : view.full; // too many: those around the lit one
    // each arc gets a lane of its own where arcs overlap
    const lanes = [];
    view.lanes = arcs.map(([from, to]) => {
      let lane = lanes.findIndex((end) => end <= from);
      if (lane < 0) lane = lanes.push(0) - 1;
      lanes[lane] = to;
      return lane;
    });
    const widest = (i, font, most) => {
      pen.font = font;
      return Math.min(most, Math.max(...rows.map((row) => pen.measureText(row[i]).width)) + 10);
    };
    const left = Math.min(GUTTER + 10 * Math.max(0, lanes.length - 2), 64);
    const name = widest(0, `600 14px ${view.font}`, 150);
    const text = narrow ? 0 : widest(1, `14px ${view.font}`, 0.36 * view.width);
    const shape = widest(2, `13px ${view.font}`, 150);
    view.at = { left, name, text: left + name, shape: left + name + text, bar: left + name + text + shape };
    view.wide = { name, text, shape, bar: view.width - left - name - text - shape - (view.meta.whole ? 104 : 58) };
    view.pen = sized(view.canvas, view.width, view.high, view.ratio);
  },

  length(view, x) {
    const [low, high] = view.meta.ends.map(Math.log10);
    return Math.max(0, Math.min(1, (Math.log10(Math.max(x, 1e-30)) - low) / (high - low)));
  },

  number(view, i) {
    return view.arrays.values.values[Math.min(view.frame, view.arrays.values.shape[0] - 1) * view.meta.rows.length + i];
  },

  written: (view, x) => (view.meta.whole ? Math.round(x).toLocaleString("en-US") : short(x, 3)),

  lit: (view) => (view.meta.lit ? view.meta.lit[view.frame] : -1),

  draw(view) {
    const { pen, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.textBaseline = "middle";
    const lit = WIRES.lit(view);
    if (lit >= 0) view.up = Math.max(0, Math.min(view.full - view.high, view.tops[lit] - view.high / 2));
    pen.save();
    pen.translate(0, -Math.min(view.up ?? 0, view.full - view.high));
    if (meta.measured && view.wide.bar > 30) {
      pen.fillStyle = view.colours.quiet;
      pen.font = `13px ${view.font}`;
      pen.textAlign = "right";
      pen.fillText(clip(pen, meta.measured, view.width - 4), view.width - 2, 9);
    }
    meta.rows.forEach((row, i) => WIRES.row(view, row, i, lit));
    WIRES.stream(view);
    meta.arcs.forEach((arc, i) => WIRES.arc(view, arc, view.lanes[i]));
    pen.restore();
  },

  row(view, [name, text, shape, group, , wire, off], i, lit) {
    const { pen, at, wide } = view, top = view.tops[i], y = top + view.line / 2;
    const chosen = view.state.row === i && wire, on = i === lit || chosen;
    if (group) {
      pen.fillStyle = view.colours.quiet;
      pen.font = `600 13px ${view.font}`;
      pen.textAlign = "left";
      pen.fillText(clip(pen, group, view.width - at.left), at.left, top - 11);
    }
    if (on || i === view.cursor) {
      pen.fillStyle = chosen ? view.colours.chosen : view.accent;
      pen.globalAlpha = on ? 0.16 : 0.07;
      pen.fillRect(at.left - 8, top, view.width - at.left + 8, view.line);
      pen.globalAlpha = 1;
      if (on) pen.fillRect(at.left - 8, top, 4, view.line);
    }
    pen.textAlign = "left";
    pen.fillStyle = view.ink;
    pen.font = `${wire || on ? 700 : 500} 14px ${view.font}`;
    pen.fillText(clip(pen, name, wide.name - 6), at.left, y);
    pen.font = `14px ${view.font}`;
    if (wide.text) pen.fillText(clip(pen, text, wide.text - 8), at.text, y);
    pen.fillStyle = view.colours.quiet;
    pen.font = `13px ${view.font}`;
    pen.fillText(clip(pen, shape, wide.shape - 4), at.shape, y);
    WIRES.bar(view, i, y);
    if (!off || wide.text) return; // no room for formulas: that a line is off stands where its bar would
    pen.textAlign = "right";
    pen.fillText(text, view.width - 2, y);
  },

  bar(view, i, y) {
    const { pen, at, wide } = view, x = WIRES.number(view, i), ghost = view.arrays.ghost?.values[i], thick = Math.min(16, view.line - 5);
    if (Number.isNaN(x)) return;
    pen.fillStyle = view.colours.bar;
    if (wide.bar >= 12) pen.fillRect(at.bar, y - thick / 2, Math.max(1, wide.bar * WIRES.length(view, x)), thick);
    if (ghost !== undefined && !Number.isNaN(ghost) && wide.bar >= 12) {
      pen.strokeStyle = view.ink;
      pen.lineWidth = 1.5;
      pen.setLineDash([3, 2]);
      pen.strokeRect(at.bar, y - thick / 2, Math.max(1, wide.bar * WIRES.length(view, ghost)), thick);
      pen.setLineDash([]);
    }
    pen.fillStyle = view.ink;
    pen.textAlign = "right";
    pen.font = `13px ${view.font}`;
    pen.fillText(WIRES.written(view, x), view.width - 2, y);
  },

  // The stream down the left edge of the lines, a joint wherever something is added.
  stream(view) {
    const { pen, meta } = view, x = view.at.left - 14;
    pen.strokeStyle = view.colours.wire;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x, view.tops[0] + 6);
    pen.lineTo(x, view.tops.at(-1) + view.line / 2);
    pen.stroke();
    meta.rows.forEach((row, i) => {
      const y = view.tops[i] + view.line / 2, big = row[4];
      pen.beginPath();
      pen.arc(x, y, big ? 8 : 3, 0, 7);
      pen.fillStyle = big ? view.paper : view.colours.wire;
      pen.fill();
      if (!big) return;
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x - 4, y);
      pen.lineTo(x + 4, y);
      pen.moveTo(x, y - 4);
      pen.lineTo(x, y + 4);
      pen.stroke();
    });
  },

  torn(view, to) { // by the slider: at its last stop the wire is whole
    return view.meta.cut === to && view.frame < view.arrays.values.shape[0] - 1;
  },

  arc(view, [from, to], lane) {
    const { pen } = view, x = view.at.left - 14, left = Math.max(3, x - 14 - 10 * lane);
    const y0 = view.tops[from] + view.line / 2, y1 = view.tops[to] + view.line / 2, torn = WIRES.torn(view, to);
    pen.strokeStyle = torn ? view.colours.chosen : view.colours.wire;
    pen.lineWidth = 2;
    pen.setLineDash(torn ? [3, 5] : []);
    pen.beginPath();
    pen.moveTo(x, y0);
    pen.lineTo(left + 5, y0);
    pen.quadraticCurveTo(left, y0, left, y0 + 5);
    pen.lineTo(left, y1 - 5);
    pen.quadraticCurveTo(left, y1, left + 5, y1);
    pen.lineTo(x - 9, y1);
    pen.stroke();
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(x - 8, y1);
    pen.lineTo(x - 14, y1 - 4);
    pen.lineTo(x - 14, y1 + 4);
    pen.closePath();
    pen.fillStyle = pen.strokeStyle;
    pen.fill();
  },

  items(view) {
    const lit = WIRES.lit(view);
    return view.meta.rows.map(([name, text, shape], i) => {
      const x = WIRES.number(view, i);
      return [i === lit ? "→" : "", name, text, shape, Number.isNaN(x) ? "" : WIRES.written(view, x)].filter(Boolean).join(" ");
    });
  },

  idle: (view) => !view.meta.rows.some((row) => row[5]),

  exists: (view, i) => Boolean(view.meta.rows[i]?.[5]),

  under(view, _x, y) {
    const i = view.tops.findIndex((top) => y >= top && y < top + view.line);
    return WIRES.exists(view, i) ? i : null;
  },

  hand: (_view, i) => (i === null ? "default" : "pointer"),

  start: (view) => view.state.row ?? null,

  step(view, now, [down]) { // to the next line that can be chosen
    let i = now ?? view.state.row ?? -1;
    do i += Math.sign(down);
    while (down && view.meta.rows[i] && !WIRES.exists(view, i));
    return WIRES.exists(view, i) ? i : null;
  },

  spoken: (view, i) => view.meta.rows[i].slice(0, 2).join(" "),

  choose(view, i) {
    if (i === null) return;
    view.release("row", i);
    WIRES.draw(view);
  },

  told(view) { // the line that is lit now, then every line with what leaves it
    const { rows, lit } = view.meta, { shape, values } = view.arrays.values, frame = shape[0] > 1 ? view.frame : 0;
    const size = (i) => (Number.isFinite(values[frame * rows.length + i]) ? short(values[frame * rows.length + i]) : "");
    const line = (row, i) => [row[0], row[2], size(i)].filter(Boolean).join(" ");
    const now = lit ? rows[lit[view.frame]] : null;
    return sentences(now && `${now[0]} ${now[1]}`, rows.map(line).join("; ").slice(0, 900));
  },

  csv(view) {
    const { rows, words, quantity } = view.meta;
    const lines = rows.map(([name, , shape], i) => [quoted(name), quoted(shape), WIRES.number(view, i)].join(","));
    return [[words.line, words.shape, quantity].map(quoted).join(","), ...lines].join("\n") + "\n";
  },
};

export default WIRES;
