// A line of code with blanks, the pieces that fit into them, five lamps, and the weights of a real head at every fill value.

import { clip, folded, sized, staged, within } from "../../../shared/pictures/live/base.js";
import { quoted } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/** @typedef {{ name: string, asks: string, pieces: string[][], stops: number[] }} Blank */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[][][]} code
 * @property {Blank[]} blanks
 * @property {string[]} lamps
 * @property {string[][]} said
 * @property {string} waits
 * @property {string[]} tokens
 * @property {Anchors} scale
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const WIDE = 720, LINE = 26, CHIP = 34, LAMP = 44, HEAD = 20, GAP = 14, MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const BLANKS = {
  build(view) {
    staged(view);
  },

  layout(view) {
    const { meta, width } = view, wide = width >= WIDE, left = wide ? Math.round(0.45 * width) : width;
    const lines = meta.code.length * LINE + 6, chips = meta.blanks.length * CHIP, lamp = wide ? LAMP : 30;
    const lamps = 5 * lamp, room = wide ? width - left - 2 * GAP : width;
    view.code = { x: 0, y: 0, w: left };
    view.chipsAt = lines + 4;
    const first = lines + chips + 8;
    view.lamps = wide ? { x: left + GAP, y: 0, w: Math.round(0.44 * room), h: lamp } : { x: 0, y: first, w: width, h: lamp };
    const side = Math.min(wide ? first - HEAD : 190, wide ? room - view.lamps.w - 60 : width - 80);
    view.map = wide ? { x: view.lamps.x + view.lamps.w + 58, y: HEAD, side } : { x: 70, y: first + lamps + HEAD + 4, side };
    view.high = wide ? Math.max(first, lamps, HEAD + side + 4) : first + lamps + HEAD + side + 8;
    view.pen = sized(view.canvas, width, view.high, view.ratio);
    view.chips = BLANKS.lay(view, left);
  },

  lay(view, width) { // where each piece stands: (blank, piece) -> x, y, width
    const { pen, meta } = view, asks = Math.min(118, 0.29 * width);
    view.asks = asks;
    pen.font = `15px ${MONO}`;
    return meta.blanks.map((blank, row) => {
      let x = asks + 6;
      const wides = blank.pieces.map(([, text]) => pen.measureText(text).width + 18), over = wides.reduce((a, b) => a + b + 6, 0) / (width - asks - 6);
      return blank.pieces.map((_, i) => {
        const w = wides[i] / Math.max(1, over), box = { x, y: view.chipsAt + row * CHIP, w };
        x += w + 6;
        return box;
      });
    });
  },

  chosen(view, row) { // the place of the piece that is in, null where the slider stands between two
    const blank = view.meta.blanks[row];
    const at = blank.stops.length ? blank.stops.indexOf(view.frame) : blank.pieces.findIndex(([word]) => word === view.state[blank.name]);
    return at < 0 ? null : at;
  },

  written(view, name) { // what stands in a blank of the code
    const row = view.meta.blanks.findIndex((one) => one.name === name), at = BLANKS.chosen(view, row);
    return at === null ? view.meta.slider.shown[view.frame] : view.meta.blanks[row].pieces[at][1];
  },

  text(view, text, x, y, { size = 14, bold = false, colour = view.ink, align = "left", most = Infinity, face = view.font } = {}) {
    const { pen } = view;
    pen.font = `${bold ? 700 : 400} ${size}px ${face}`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    pen.fillText(most === Infinity ? text : clip(pen, text, most), x, y);
    return pen.measureText(text).width;
  },

  draw(view) {
    const { pen, width } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, view.high);
    BLANKS.lines(view);
    view.meta.blanks.forEach((_, row) => BLANKS.row(view, row));
    if (view.meta.lamps.length) view.meta.lamps.forEach((_, i) => BLANKS.lamp(view, i));
    else BLANKS.dark(view);
    BLANKS.weights(view);
  },

  lines(view) {
    const size = view.width < 380 ? 13 : 15;
    view.meta.code.forEach((parts, i) => {
      let x = 0;
      const y = i * LINE + LINE / 2;
      for (const [text, blank] of parts) {
        const shown = blank ? BLANKS.written(view, blank) : text;
        const from = x;
        x += BLANKS.text(view, shown, x, y, { size, face: MONO, bold: Boolean(blank), colour: blank ? view.colours.blank : view.ink });
        if (!blank) continue;
        view.pen.strokeStyle = view.colours.blank;
        view.pen.lineWidth = 1.5;
        view.pen.beginPath();
        view.pen.moveTo(from, y + 10);
        view.pen.lineTo(x, y + 10);
        view.pen.stroke();
      }
    });
  },

  row(view, row) {
    const { pen, meta } = view, blank = meta.blanks[row], at = BLANKS.chosen(view, row);
    BLANKS.text(view, blank.asks, 0, view.chipsAt + row * CHIP + CHIP / 2 - 2, { size: 13, colour: view.colours.quiet, most: view.asks });
    blank.pieces.forEach(([, text], i) => {
      const { x, y, w } = view.chips[row][i], on = i === at, here = view.cursor && view.cursor[0] === row && view.cursor[1] === i;
      pen.beginPath();
      pen.roundRect(x + 0.5, y + 1.5, w - 1, CHIP - 8, 6);
      pen.fillStyle = on ? view.colours.blank : view.paper;
      pen.fill();
      pen.strokeStyle = here ? view.ink : on ? view.colours.blank : view.colours.quiet;
      pen.lineWidth = here ? 2.5 : 1;
      pen.stroke();
      pen.font = `700 14px ${MONO}`; // on paper a row may be too narrow for its pieces: they are written smaller, not cut off
      const size = Math.min(14, (14 * (w - 7)) / pen.measureText(text).width);
      BLANKS.text(view, text, x + w / 2, y + (CHIP - 6) / 2, { size, face: MONO, bold: on, colour: on ? view.paper : view.ink, align: "center", most: w - 6 });
    });
  },

  lamp(view, i) {
    const { pen, lamps: { x, y, w, h }, meta } = view, top = y + i * h, middle = top + h / 2, tall = h > 36;
    const lit = view.arrays.lit.values[view.frame * meta.lamps.length + i], said = meta.said[view.frame][i];
    pen.beginPath();
    pen.arc(x + 12, middle, 9, 0, 7);
    pen.lineWidth = 2;
    pen.strokeStyle = lit ? view.colours.lit : view.colours.quiet;
    pen.fillStyle = lit ? view.colours.lit : view.paper;
    pen.fill();
    pen.stroke();
    if (lit) BLANKS.text(view, "!", x + 12, middle + 1, { size: 14, bold: true, colour: view.paper, align: "center" });
    BLANKS.text(view, meta.lamps[i], x + 30, tall ? top + 13 : middle, { bold: true, most: tall ? w - 30 : 92 });
    BLANKS.text(view, said, tall ? x + 30 : x + 126, tall ? top + 32 : middle, { size: 13, colour: lit ? view.colours.lit : view.ink, most: tall ? w - 30 : w - 128 });
  },

  dark(view) { // before the guess nobody knows which one will be lit
    const { pen, lamps: { x, y, w, h }, meta } = view;
    for (let i = 0; i < 5; i++) {
      pen.beginPath();
      pen.arc(x + 12, y + (i + 0.5) * h, 9, 0, 7);
      pen.lineWidth = 2;
      pen.strokeStyle = view.colours.quiet;
      pen.stroke();
      BLANKS.text(view, "?", x + 12, y + (i + 0.5) * h + 1, { size: 13, colour: view.colours.quiet, align: "center" });
    }
    pen.font = `14px ${view.font}`;
    folded(pen, meta.waits, w - 44).forEach((line, i) => BLANKS.text(view, line, x + 36, y + h / 2 + i * 20));
  },

  weights(view) {
    const { pen, map: { x, y, side }, meta } = view, n = meta.tokens.length, cell = side / n, { values } = view.arrays.maps;
    BLANKS.text(view, meta.words.weights, x, y - HEAD / 2 - 1, { size: 13, colour: view.colours.quiet, most: view.width - x });
    for (let r = 0; r < n; r++) {
      if (cell >= 9) BLANKS.text(view, meta.tokens[r], x - 5, y + (r + 0.5) * cell, { size: Math.min(14.5, cell + 1.25), colour: view.colours.row, align: "right", most: 54 });
      for (let c = 0; c < n; c++) {
        const value = values[(view.frame * n + r) * n + c];
        pen.fillStyle = Number.isFinite(value) ? view.scale.css(value) : view.colours.lit;
        pen.fillRect(x + c * cell, y + r * cell, cell + 0.4, cell + 0.4);
      }
    }
    pen.strokeStyle = view.colours.quiet;
    pen.lineWidth = 1;
    pen.strokeRect(x - 0.5, y - 0.5, side + 1, side + 1);
    pen.beginPath(); // what lies to the right of these stairs is still ahead
    for (let r = 0; r < n; r++) {
      pen.moveTo(x + (r + 1) * cell, y + r * cell);
      pen.lineTo(x + (r + 1) * cell, y + (r + 1) * cell);
      if (r < n - 1) pen.lineTo(x + (r + 2) * cell, y + (r + 1) * cell);
    }
    pen.stroke();
  },

  under(view, x, y) {
    const row = Math.floor((y - view.chipsAt) / CHIP), i = view.chips[row]?.findIndex((box) => x >= box.x && x < box.x + box.w) ?? -1;
    return i < 0 ? null : [row, i];
  },

  exists(view, [row, i]) {
    return i < (view.meta.blanks[row]?.pieces.length ?? 0);
  },

  hand(_view, place) {
    return place ? "pointer" : "default";
  },

  start() {
    return [0, 0];
  },

  step(view, now, [down, right]) {
    if (!now) return [0, BLANKS.chosen(view, 0) ?? 0];
    const row = within(now[0] + down, view.meta.blanks.length), last = view.meta.blanks[row].pieces.length;
    return [row, down ? within(BLANKS.chosen(view, row) ?? 0, last) : within(now[1] + right, last)];
  },

  choose(view, place) {
    if (!place) return;
    const [row, i] = place, { name, pieces, stops } = view.meta.blanks[row];
    if (stops.length) {
      view.range.value = stops[i];
      view.moved();
      view.let_go();
    } else view.release(name, pieces[i][0]);
    view.draw();
    view.announce(BLANKS.spoken(view, place));
  },

  spoken(view, [row, i]) {
    const { asks, pieces } = view.meta.blanks[row], on = BLANKS.chosen(view, row) === i;
    return `${asks}: ${pieces[i][1]}${on ? `, ${view.meta.words.chosen}` : ""}`;
  },

  told(view) {
    const { meta } = view, code = meta.code.map((parts) => parts.map(([text, blank]) => (blank ? BLANKS.written(view, blank) : text)).join("")).join("; ");
    const lamps = meta.lamps.map((name, i) => {
      const lit = view.arrays.lit.values[view.frame * meta.lamps.length + i];
      return `${name} ${lit ? meta.words.lit : meta.words.dark}, ${meta.said[view.frame][i]}`;
    });
    return [code, ...(lamps.length ? lamps : [meta.waits])].join(". ");
  },

  csv(view) {
    const { meta } = view, rows = meta.said.map((said, f) => [quoted(meta.slider.shown[f]), ...said.map((one) => quoted(one))].join(","));
    return [[quoted(meta.slider.label), ...meta.lamps.map(quoted)].join(","), ...rows].join("\n") + "\n";
  },
};

export default BLANKS;
