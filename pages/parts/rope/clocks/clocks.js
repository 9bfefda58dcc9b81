// Clock faces: the hands of a query and a key, pair by pair, and the score while the words move. One frame a shift.

import { AFTER_KEYS, clip, make, sized } from "../../../shared/pictures/live/base.js";
import { fill, quoted, short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string} file
 * @property {string[]} names
 * @property {number[]} places
 * @property {number[]} theta
 * @property {string[][]} moves
 * @property {number[]} range
 * @property {boolean} pairs
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const WIDE_ENOUGH = 680, TAU = 2 * Math.PI;

function ticks(low, high) {
  const raw = (high - low) / 4, power = 10 ** Math.floor(Math.log10(raw)), unit = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
  const out = [];
  for (let k = Math.ceil(low / unit); k * unit <= high; k++) out.push(k * unit);
  return out;
}

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const CLOCKS = {
  build(view) {
    view.modes = make("div", { class: "modes", role: "group" });
    view.stage = make("div", { class: "stage", tabindex: 0, role: "application" });
    view.canvas = make("canvas", { role: "img" });
    view.stage.append(view.canvas);
    view.picture.append(view.modes, view.stage);
    view.canvas.addEventListener("click", (event) => CLOCKS.choose(view, CLOCKS.under(view, event.offsetX, event.offsetY)));
    view.canvas.addEventListener("pointermove", (event) => {
      view.canvas.style.cursor = CLOCKS.under(view, event.offsetX, event.offsetY) < 0 ? "default" : "pointer";
    });
    view.stage.addEventListener("keydown", (event) => CLOCKS.key(view, event));
  },

  update(view) {
    const { meta } = view;
    view.far = {}; // how far the words have been moved: the curve is drawn up to there, and what comes is not told
    view.modes.setAttribute("aria-label", meta.words.who);
    view.buttons = meta.moves.map(([token, name]) => {
      const button = make("button", { type: "button", "data-move": token }, name);
      button.addEventListener("click", () => {
        view.release("move", token);
        view.draw();
      });
      return button;
    });
    view.modes.replaceChildren(make("b", {}, meta.words.who), ...view.buttons);
    view.stage.setAttribute("aria-label", meta.pairs ? `${meta.label} ${meta.words.keys}` : meta.label);
  },

  layout(view) {
    const { width, meta } = view, pairs = meta.theta.length;
    view.wide = width >= WIDE_ENOUGH;
    const part = view.wide ? 0.6 * width : width;
    view.radius = Math.max(34, Math.min(92, part / 6 - 12));
    view.gap = part / 3;
    view.faces = 30 + 2 * view.radius + 44;
    const plot = view.wide ? { x: part + 44, y: 26, w: width - part - 56, h: view.faces - 50 } : { x: 40, y: view.faces + 26, w: width - 52, h: 120 };
    view.plot = plot;
    view.minisTop = (view.wide ? view.faces : plot.y + plot.h + 26) + 22;
    const most = Math.max(4, Math.floor(width / 40));
    view.each = Math.ceil(pairs / Math.ceil(pairs / most));
    view.step = width / view.each;
    view.mini = Math.min(19, view.step / 2 - 3);
    view.line = 2 * view.mini + 22;
    view.high = meta.pairs ? view.minisTop + Math.ceil(pairs / view.each) * view.line + 2 : view.minisTop - 16;
    if (view.wide && view.high > view.ceiling) view.high = Math.max(view.faces, view.ceiling); // the small clocks have no room
    view.pen = sized(view.canvas, width, view.high, view.ratio);
  },

  under(view, x, y) { // the pair whose small clock is there, -1 for none
    const row = Math.floor((y - view.minisTop) / view.line), column = Math.floor(x / view.step);
    const i = row * view.each + column;
    return !view.meta.pairs || y < view.minisTop || column >= view.each || i >= view.meta.theta.length ? -1 : i;
  },

  choose(view, i, wait = 0) {
    if (i < 0) return;
    view.release("pair", i, wait);
    view.draw();
    view.announce(fill(view.meta.words.pair, { i, theta: CLOCKS.theta(view, i) }));
  },

  key(view, event) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -view.each, ArrowDown: view.each }[event.key];
    if (!by || !view.meta.pairs) return;
    event.preventDefault();
    CLOCKS.choose(view, Math.max(0, Math.min(view.meta.theta.length - 1, view.state.pair + by)), AFTER_KEYS);
  },

  theta(view, i) {
    return String(Number(view.meta.theta[i].toPrecision(3)));
  },

  shifts(view) { // how far query and key have moved
    const { move } = view.state;
    return [move === "n" ? 0 : view.frame, move === "m" ? 0 : view.frame];
  },

  hand(view, name, shift, pair) {
    const { values, shape } = view.arrays[name], at = (shift * shape[1] + pair) * 2;
    return [values[at], values[at + 1]];
  },

  score(view, shift = view.frame) {
    const mode = view.meta.moves.findIndex(([token]) => token === view.state.move);
    return view.arrays.scores.values[mode * view.arrays.scores.shape[1] + shift];
  },

  part(view, shift = view.frame) {
    const { values, shape } = view.arrays.parts, mode = view.meta.moves.findIndex(([token]) => token === view.state.move);
    return values[(mode * shape[1] + shift) * shape[2] + view.state.pair];
  },

  draw(view) {
    const { pen, state } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    view.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.move === state.move)));
    view.range?.setAttribute("aria-valuetext", `${view.meta.slider.shown[view.frame]}, ${view.meta.words.score} = ${short(CLOCKS.score(view), 2)}`);
    CLOCKS.three(view);
    CLOCKS.curve(view);
    if (view.meta.pairs) CLOCKS.minis(view);
  },

  text(view, text, x, y, { size = 13, bold = false, colour = view.ink, align = "center", most = Infinity } = {}) {
    const { pen } = view;
    pen.font = `${bold ? 700 : 400} ${size}px ${view.font}`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    pen.fillText(most === Infinity ? text : clip(pen, text, most), x, y);
  },

  face(view, x, y, r, marks = 12) {
    const { pen } = view;
    pen.strokeStyle = view.colours.quiet;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.7;
    pen.beginPath();
    pen.arc(x, y, r, 0, TAU);
    for (let i = 0; i < marks; i++) {
      const [c, s] = [Math.cos((i * TAU) / marks), Math.sin((i * TAU) / marks)];
      pen.moveTo(x + r * c, y + r * s);
      pen.lineTo(x + 0.93 * r * c, y + 0.93 * r * s);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  },

  stroke(view, x, y, r, angle, colour, { wide = 4, faint = false } = {}) {
    const { pen } = view, [c, s] = [Math.cos(angle), -Math.sin(angle)];
    pen.strokeStyle = pen.fillStyle = colour;
    pen.globalAlpha = faint ? 0.35 : 1;
    pen.lineWidth = wide;
    pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + r * c, y + r * s);
    pen.stroke();
    if (wide > 2.5 && !faint) {
      pen.beginPath();
      pen.moveTo(x + r * c, y + r * s);
      for (const turn of [2.65, -2.65]) pen.lineTo(x + r * c + 13 * Math.cos(-angle + turn), y + r * s + 13 * Math.sin(-angle + turn));
      pen.fill();
    }
    pen.lineCap = "butt";
    pen.globalAlpha = 1;
  },

  // By how much a hand is turned: in as many words as there is room for wherever the slider stands.
  form({ pen, wide, font, state, meta: { words, places, theta, slider } }, size, most) {
    const n = Math.max(...places) + slider.stops.length - 1, told = { n, theta: String(Number(theta[state.pair].toPrecision(3))), angle: short(n * theta[state.pair], 2) };
    pen.font = `400 ${size}px ${font}`;
    const forms = wide ? [words.turned, words.product] : [];
    return forms.find((form) => pen.measureText(fill(form, told)).width <= most) ?? words.rad;
  },

  three(view) {
    const { meta, state, radius: r } = view, { words, names, places } = meta, y = 30 + r, shifts = CLOCKS.shifts(view);
    const small = view.wide ? 13 : 11, most = view.gap - 4, angles = [], form = CLOCKS.form(view, small - (view.wide ? 1 : 0), most);
    ["q", "k"].forEach((name, i) => {
      const x = view.gap * (i + 0.5), at = places[i] + shifts[i], now = CLOCKS.hand(view, name, shifts[i], state.pair);
      const angle = Math.atan2(now[1], now[0]), turn = at * meta.theta[state.pair];
      angles.push(angle);
      CLOCKS.face(view, x, y, r);
      CLOCKS.stroke(view, x, y, 0.88 * r, angle - turn, view.colours[name], { wide: 2, faint: true });
      CLOCKS.arc(view, x, y, 0.42 * r, angle - turn, turn, view.colours[name]);
      CLOCKS.stroke(view, x, y, 0.88 * r, angle, view.colours[name]);
      CLOCKS.text(view, `${name} · ${names[i]}`, x, 12, { bold: true, colour: view.colours[name], size: small + 2, most });
      CLOCKS.text(view, fill(words.at, { n: at }), x, y + r + 15, { size: small, most, bold: true });
      const told = fill(form, { n: at, theta: CLOCKS.theta(view, state.pair), angle: short(turn, 2) });
      CLOCKS.text(view, told, x, y + r + 33, { size: small - (view.wide ? 1 : 0), most });
    });
    const x = view.gap * 2.5, between = ((((angles[0] - angles[1]) % TAU) + 1.5 * TAU) % TAU) - TAU / 2;
    CLOCKS.face(view, x, y, r);
    CLOCKS.arc(view, x, y, 0.5 * r, angles[1], between, view.colours.score, true);
    CLOCKS.stroke(view, x, y, 0.88 * r, angles[1], view.colours.k);
    CLOCKS.stroke(view, x, y, 0.88 * r, angles[0], view.colours.q);
    CLOCKS.text(view, words.between, x, 12, { bold: true, colour: view.colours.score, size: small + 2, most });
    CLOCKS.text(view, fill(words.rad, { angle: short(between, 3) }), x, y + r + 15, { size: small, bold: true, most });
    CLOCKS.text(view, fill(words.part, { part: short(CLOCKS.part(view), 3) }), x, y + r + 33, { size: small, most });
  },

  arc(view, x, y, r, from, by, colour, filled = false) { // counter-clockwise is positive, as in mathematics
    const { pen } = view, turn = Math.abs(by) >= TAU ? TAU : by;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    if (filled) pen.moveTo(x, y);
    pen.arc(x, y, r, -from, -(from + turn), turn > 0);
    if (filled) {
      pen.globalAlpha = 0.22;
      pen.fill();
    }
    pen.globalAlpha = filled ? 1 : 0.6;
    pen.stroke();
    pen.globalAlpha = 1;
  },

  curve(view) {
    const { pen, meta, plot } = view, [low, high] = meta.range, n = view.arrays.scores.shape[1], { move } = view.state;
    const last = (view.far[move] = Math.max(view.far[move] ?? 0, view.frame));
    const px = (t) => plot.x + (plot.w * t) / (n - 1), py = (v) => plot.y + plot.h * (1 - (v - low) / (high - low));
    const line = (value, colour, wide, dash, until = last) => {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.setLineDash(dash);
      pen.beginPath();
      for (let t = 0; t <= until; t++) pen[t ? "lineTo" : "moveTo"](px(t), py(value(t)));
      pen.stroke();
      pen.setLineDash([]);
    };
    for (const y of ticks(low, high)) {
      pen.globalAlpha = y ? 0.25 : 0.6;
      line(() => y, view.colours.quiet, 1, [], n - 1);
      pen.globalAlpha = 1;
      CLOCKS.text(view, String(Number(y.toPrecision(3))).replace("-", "−"), plot.x - 6, py(y), { size: 12, align: "right" });
    }
    for (const end of [0, n - 1]) CLOCKS.text(view, `+${end}`, px(end), plot.y + plot.h + 10, { size: 12, align: end ? "right" : "left" });
    line((t) => CLOCKS.part(view, t), view.colours.quiet, 1.5, [5, 4]);
    line((t) => CLOCKS.score(view, t), view.colours.score, 2.5, []);
    pen.fillStyle = view.colours.score;
    pen.beginPath();
    pen.arc(px(view.frame), py(CLOCKS.score(view)), 6, 0, TAU);
    pen.fill();
    const now = `${meta.words.score} = ${short(CLOCKS.score(view), 3)}`;
    CLOCKS.text(view, now, plot.x, plot.y - 14, { size: view.wide ? 16 : 14, bold: true, colour: view.colours.score, align: "left" });
    const below = { size: 12, colour: view.colours.quiet, most: plot.w - 70 };
    CLOCKS.text(view, `- - ${meta.words.alone}`, plot.x + plot.w / 2, plot.y + plot.h + 10, below);
  },

  minis(view) {
    const { pen, meta, state } = view, shifts = CLOCKS.shifts(view), told = { i: state.pair, theta: CLOCKS.theta(view, state.pair) };
    CLOCKS.text(view, `${fill(meta.words.pair, told)} · ${meta.words.all}`, 0, view.minisTop - 12, { align: "left", size: 13, bold: true, most: view.width });
    meta.theta.forEach((_, i) => {
      const x = view.step * ((i % view.each) + 0.5), y = view.minisTop + Math.floor(i / view.each) * view.line + view.mini + 2;
      CLOCKS.face(view, x, y, view.mini, 0);
      if (i === state.pair) {
        pen.strokeStyle = view.ink;
        pen.lineWidth = 2.5;
        pen.strokeRect(x - view.mini - 2, y - view.mini - 2, 2 * view.mini + 4, 2 * view.mini + 4 + 14);
      }
      ["k", "q"].forEach((name, j) => {
        const [a, b] = CLOCKS.hand(view, name, shifts[1 - j], i);
        CLOCKS.stroke(view, x, y, 0.9 * view.mini, Math.atan2(b, a), view.colours[name], { wide: 2.2 });
      });
      CLOCKS.text(view, String(i), x, y + view.mini + 9, { size: 11, bold: i === state.pair });
    });
  },

  told(view) {
    const { words } = view.meta;
    return `${words.score} = ${short(CLOCKS.score(view), 2)}; ${fill(words.part, { part: short(CLOCKS.part(view), 2) })}`;
  },

  csv(view) {
    const { scores } = view.arrays, n = scores.shape[1], heads = view.meta.moves.map(([, name]) => quoted(name));
    const rows = Array.from({ length: n }, (_, t) => [t, ...view.meta.moves.map((_m, m) => scores.values[m * n + t])].join(","));
    return [["shift", ...heads].join(","), ...rows].join("\n") + "\n";
  },
};

export const styles = [new URL("clocks.css", import.meta.url)];
export default CLOCKS;
