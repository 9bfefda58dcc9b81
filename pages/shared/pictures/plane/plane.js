// Points, arrows and lines in a plane, with names, and what moves among them frame by frame.

import { AFTER_KEYS, clip, keep, make, ruler, sized, staged, within, write } from "../live/base.js";
import { quoted, short } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Colours} Colours */
/** @typedef {import("../live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} names
 * @property {string[]} movers
 * @property {number[]} hull
 * @property {boolean} arrows
 * @property {boolean} pointed
 * @property {string} xTitle
 * @property {string} yTitle
 * @property {number} most
 * @property {number} tall
 * @property {{ name: string, width: number, dash: boolean, fill: boolean }[]} shapes
 * @property {string[]} tips
 * @property {string[]} readout
 * @property {number[]} first
 * @property {number[]} bounds
 * @property {Colours} colours
 * @property {{ name: string, label: string, stops: number[], shown: string[] } | null} second
 * @property {boolean} stretched
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const MARGIN = 34;
const DOT = 5, MOVER = 8; // px, the radius of a point and of what moves
const CLEAR = 2; // px between a dot and a name, its own or another's
const SHARE = { left: 0, center: 0.5, right: 1 }; // of a name, left of where it is written
/** @typedef {[number, number, number, number]} Box */

// Where the name of a dot may stand, the best place first.
/** @type {(r: number) => [number, number, CanvasTextAlign][]} */
const beside = (r) => {
  const out = r + 4, high = r + CLEAR + 8;
  const corners = [[out, -out, "left"], [out, out, "left"], [-out, -out, "right"], [-out, out, "right"]];
  return /** @type {any} */ ([...corners, [0, -high, "center"], [0, high, "center"], [out, 0, "left"], [-out, 0, "right"]]);
};

/** @type {(a: Box, b: Box) => boolean} */
const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
/** @type {(box: Box, dot: number[]) => boolean} */
const covers = ([x0, y0, x1, y1], [x, y, r]) => Math.hypot(x - Math.max(x0, Math.min(x1, x)), y - Math.max(y0, Math.min(y1, y))) < r;

/** @type {import("../live/base.js").Painter<Meta>} */
const PLANE = {
  build(view) {
    staged(view);
    view.canvas.addEventListener("pointerdown", (event) => PLANE.grab(view, event));
    view.canvas.addEventListener("pointermove", (event) => view.grabbed && PLANE.pull(view, event));
    view.canvas.addEventListener("pointerup", () => PLANE.let(view));
    view.canvas.addEventListener("pointercancel", () => PLANE.let(view));
  },

  update(view) {
    const { second } = view.meta;
    if (second && !view.range2) PLANE.buildSecond(view);
    if (view.box2) view.box2.hidden = !second;
    if (!second || view.held2) return;
    view.caption2.textContent = second.label;
    keep(view, view.value2, second.shown);
    view.range2.max = second.stops.length - 1;
    view.range2.dataset.slider = second.name;
    view.range2.setAttribute("aria-label", second.label);
    PLANE.turn(view, Math.max(0, second.stops.indexOf(view.state[second.name])));
  },

  buildSecond(view) { // a slider for the second mover, above the one that every picture may have
    const { range, caption, value, label } = ruler();
    Object.assign(view, { range2: range, caption2: caption, value2: value, box2: make("div", { class: "dial" }, label) });
    view.dial.after(view.box2);
    let keyed = false;
    view.range2.addEventListener("pointerdown", () => ([view.held2, keyed] = [true, false]));
    view.range2.addEventListener("keydown", () => (keyed = true));
    view.range2.addEventListener("input", () => {
      PLANE.turn(view, Number(view.range2.value));
      view.draw();
    });
    view.range2.addEventListener("change", () => {
      PLANE.rest(view, keyed ? AFTER_KEYS : 0);
      view.held2 = keyed = false;
    });
  },

  turn(view, stop) {
    view.frame2 = stop;
    view.range2.value = stop;
    write(view.value2, view.meta.second.shown[stop]);
    view.range2.setAttribute("aria-valuetext", view.meta.second.shown[stop]);
  },

  rest(view, wait = 0) {
    view.release(view.meta.second.name, view.meta.second.stops[view.frame2], wait);
  },

  index(view, frame = view.frame, second = view.frame2 ?? 0) { // of the arrays' frame
    return view.meta.second ? frame * view.meta.second.stops.length + second : frame;
  },

  spot(view, i) {
    const { points } = view.arrays, n = view.meta.names.length;
    const base = points.shape.length === 3 ? PLANE.index(view) * 2 * n : 0;
    return view.place(points.values[base + 2 * i], points.values[base + 2 * i + 1]);
  },

  mover(view, k, index = PLANE.index(view)) {
    const { values } = view.arrays.moving, at = 2 * (index * view.meta.movers.length + k);
    return view.place(values[at], values[at + 1]);
  },

  // A mover may be taken by the hand: the frame in which it comes nearest to the hand is shown.
  grab(view, event) {
    if (!view.meta.slider || !view.meta.movers.length) return;
    view.canvas.setPointerCapture(event.pointerId);
    view.point(null);
    const far = (k) => Math.hypot(PLANE.mover(view, k)[0] - event.offsetX, PLANE.mover(view, k)[1] - event.offsetY);
    view.grabbed = view.meta.second && far(1) < far(0) ? 2 : 1;
    PLANE.pull(view, event);
  },

  pull(view, event) {
    const one = view.grabbed === 1, { slider, second } = view.meta;
    const now = one ? view.frame : view.frame2;
    let best = now, near = Infinity;
    for (let f = 0; f < (one ? slider : second).stops.length; f++) {
      const [x, y] = PLANE.mover(view, one ? 0 : 1, one ? PLANE.index(view, f) : PLANE.index(view, view.frame, f));
      const d = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (d < near) [near, best] = [d, f];
    }
    if (best === now) return;
    if (one) {
      view.go(best);
      view.lead();
    } else PLANE.turn(view, best);
    view.draw();
  },

  let(view) {
    if (!view.grabbed) return;
    if (view.grabbed === 1) view.let_go();
    else PLANE.rest(view);
    view.grabbed = 0;
  },

  // ---- the cursor: one of the points ----
  idle: (view) => !view.meta.names.length,

  exists: (view, i) => i < view.meta.names.length,

  under(view, x, y) {
    let best = null, near = 16;
    for (let i = 0; !view.grabbed && i < view.meta.names.length; i++) {
      const [px, py] = PLANE.spot(view, i), d = Math.hypot(px - x, py - y);
      if (d < near) [near, best] = [d, i];
    }
    return best;
  },

  hand: (view) => (PLANE.held(view) ? "grab" : "default"),

  start: () => 0,

  step(view, now, by) {
    return now === null ? 0 : within(now + by[0] + by[1], view.meta.names.length);
  },

  spoken(view, i) {
    const n = view.meta.names.length, now = PLANE.index(view);
    const told = view.meta.tips.map((name, t) => `${name} ${short(view.arrays["tip" + t].values[now * n + i])}`);
    return [view.meta.names[i], ...told].join("\n");
  },

  held: (view) => view.meta.slider && view.meta.movers.length,

  layout(view) {
    const { meta } = view, [x0, x1, y0, y1] = meta.bounds;
    const width = Math.min(view.width, meta.most);
    const room = [(width - 2 * MARGIN) / (x1 - x0), (Math.min(meta.tall, view.ceiling) - 2 * MARGIN) / (y1 - y0)];
    const [across, up] = meta.stretched ? room : room.fill(Math.min(...room));
    const height = Math.max(160, (y1 - y0) * up + 2 * MARGIN);
    view.pen = sized(view.canvas, width, height, view.ratio);
    view.canvas.style.cursor = PLANE.hand(view);
    view.canvas.style.touchAction = PLANE.held(view) ? "none" : "";
    const left = (width - (x1 - x0) * across) / 2;
    view.place = (x, y) => [left + (x - x0) * across, height - MARGIN - (y - y0) * up];
    view.box = { width, height };
    const rest = meta.names.map((_, i) => i).filter((i) => !meta.first.includes(i));
    view.order = [...meta.first, ...rest]; // whose name is written first, where there is room for a few
  },

  draw(view) {
    const { pen, meta, box } = view, { pull } = view.arrays, now = PLANE.index(view);
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, box.width, box.height);
    PLANE.axes(view);
    meta.shapes.forEach((shape, s) => PLANE.shape(view, shape, s, now));
    const n = meta.names.length, m = meta.movers.length;
    if (meta.hull.length > 2) {
      pen.beginPath();
      meta.hull.forEach((i, k) => pen[k ? "lineTo" : "moveTo"](...PLANE.spot(view, i)));
      pen.closePath();
      pen.fillStyle = view.colours.point;
      pen.globalAlpha = 0.1;
      pen.fill();
      pen.globalAlpha = 1;
    }
    for (let k = 0; pull && k < m; k++) {
      for (let i = 0; i < n; i++) PLANE.line(view, PLANE.mover(view, k), PLANE.spot(view, i), pull.values[(now * m + k) * n + i]);
    }
    for (let i = 0; meta.arrows && i < n; i++) PLANE.arrow(view, view.place(0, 0), PLANE.spot(view, i), view.colours.point);
    const { names, ends } = PLANE.labels(view);
    names.forEach((name) => PLANE.name(view, name));
    for (let i = 0; i < n; i++) { // after the names: the paper around a name must not rub out a dot
      PLANE.dot(view, ...PLANE.spot(view, i), PLANE.radius(view, i), view.colours.point);
    }
    for (let k = 0; k < m; k++) {
      const at = PLANE.mover(view, k), colour = PLANE.tint(view, k);
      if (meta.pointed) PLANE.arrow(view, view.place(0, 0), at, colour);
      if (!meta.pointed || meta.arrows) PLANE.dot(view, ...at, MOVER, colour);
    }
    ends.forEach((name) => PLANE.name(view, name));
    PLANE.readout(view);
  },

  radius(view, i) {
    const size = view.arrays.sizes?.values[PLANE.index(view) * view.meta.names.length + i];
    return size === undefined ? DOT : 3.5 + 8 * Math.sqrt(size);
  },

  tint: (view, k) => view.colours["mover" + k] ?? view.colours.mover,

  // Names stand where there is neither a dot nor another name: those of what moves first, as they are always written.
  // Where there is no room for the name of a point it is left out, and the tip still tells it.
  labels(view) {
    const { pen, meta } = view, { taken, dots } = PLANE.kept(view), ends = [];
    pen.font = `700 14px ${view.font}`;
    for (let k = 0; k < meta.movers.length; k++) {
      const places = beside(MOVER).map(([dx, dy, side]) => [dx, -dy, side]); // below rather than above
      const room = [[taken, dots], [taken, []], [[], []]]; // over a dot rather than over a name, and somewhere at last
      const name = room.map((kept) => PLANE.free(view, meta.movers[k], PLANE.mover(view, k), places, ...kept)).find(Boolean);
      if (!name) continue;
      taken.push(name.box);
      ends.push({ ...name, font: pen.font, colour: PLANE.tint(view, k) });
    }
    pen.font = `13px ${view.font}`;
    const names = view.order.flatMap((i) => {
      const name = PLANE.free(view, clip(pen, meta.names[i], 90), PLANE.spot(view, i), beside(PLANE.radius(view, i)), taken, dots);
      if (!name) return [];
      taken.push(name.box);
      return [{ ...name, font: pen.font, colour: view.ink }];
    });
    return { names, ends };
  },

  // What names keep away from: every dot, and what is written in the corners.
  kept(view) {
    const { pen, meta, box } = view, { xTitle, yTitle } = meta;
    const points = meta.names.map((_, i) => [...PLANE.spot(view, i), PLANE.radius(view, i) + CLEAR]);
    const movers = meta.movers.map((_, k) => [...PLANE.mover(view, k), MOVER + CLEAR]);
    pen.font = `12px ${view.font}`;
    const wide = (text) => pen.measureText(text).width;
    const taken = [xTitle && [box.width - 4 - wide(xTitle), box.height - 18, box.width, box.height], yTitle && [0, 0, 4 + wide(yTitle), 18]];
    pen.font = `600 15px ${view.font}`;
    PLANE.corner(view).forEach((text, r) => taken.push([box.width - 8 - wide(text), 6 + 22 * r, box.width, 26 + 22 * r]));
    return { taken: taken.filter(Boolean), dots: [...points, ...movers].filter(([x, y]) => Number.isFinite(x + y)) };
  },

  // A text at the first of its places that is in the picture and free of all these.
  free(view, text, [x, y], places, taken, dots) {
    const wide = view.pen.measureText(text).width;
    if (!Number.isFinite(x + y)) return null; // not there yet
    for (const [dx, dy, side] of places) {
      const left = x + dx - SHARE[side] * wide;
      const box = /** @type {Box} */ ([left, y + dy - 7, left + wide, y + dy + 7]);
      const outside = box[0] < 0 || box[2] > view.box.width || box[1] < 0 || box[3] > view.box.height;
      if (!outside && !taken.some((one) => meet(box, one)) && !dots.some((dot) => covers(box, dot))) return { text, x: x + dx, y: y + dy, side, box };
    }
    return null;
  },

  name(view, { text, x, y, side, font, colour }) {
    Object.assign(view.pen, { font, textAlign: side, textBaseline: "middle" });
    PLANE.written(view, text, x, y, colour);
  },

  written(view, text, x, y, colour) { // on a thin border of paper, so that lines behind it do not hurt
    const { pen } = view;
    pen.lineJoin = "round";
    pen.lineWidth = 3;
    pen.strokeStyle = view.paper;
    pen.strokeText(text, x, y);
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  },

  shape(view, { name, width, dash, fill }, s, now) {
    const { pen } = view, { shape, values } = view.arrays["shape" + s];
    const [lines, points] = shape.slice(-3), base = shape.length === 4 ? now * lines * points * 2 : 0;
    pen.strokeStyle = pen.fillStyle = view.colours["shape" + s];
    pen.lineWidth = width;
    pen.setLineDash(dash ? [5, 4] : []);
    let middle = [0, 0];
    for (let l = 0, at = base; l < lines; l++) {
      pen.beginPath();
      for (let p = 0; p < points; p++, at += 2) {
        const [x, y] = view.place(values[at], values[at + 1]);
        pen[p ? "lineTo" : "moveTo"](x, y);
        middle = [middle[0] + x / (lines * points), middle[1] + y / (lines * points)];
      }
      pen.stroke();
      if (fill) {
        pen.globalAlpha = 0.14;
        pen.fill();
        pen.globalAlpha = 1;
      }
    }
    pen.setLineDash([]);
    if (!name) return;
    pen.font = `600 13px ${view.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    name.split("\n").forEach((row, i, all) => PLANE.written(view, row, middle[0], middle[1] + (i - (all.length - 1) / 2) * 17, view.colours["shape" + s]));
  },

  corner(view) { // what stands there, line by line
    const now = PLANE.index(view);
    return view.meta.readout.map((name, r) => {
      const x = view.arrays["read" + r].values[now];
      return `${name} = ${Math.abs(x) < 5e-4 ? "0.000" : short(x)}`;
    });
  },

  readout(view) {
    const font = `600 15px ${view.font}`;
    PLANE.corner(view).forEach((text, r) => PLANE.name(view, { text, x: view.box.width - 8, y: 16 + 22 * r, side: "right", font, colour: view.ink }));
  },

  axes(view) {
    const { pen, meta, box } = view;
    pen.strokeStyle = view.colours.quiet;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 1;
    const [ox, oy] = view.place(0, 0);
    pen.beginPath();
    pen.moveTo(0, oy);
    pen.lineTo(box.width, oy);
    pen.moveTo(ox, 0);
    pen.lineTo(ox, box.height);
    pen.stroke();
    pen.globalAlpha = 1;
    pen.fillStyle = view.colours.quiet;
    pen.font = `12px ${view.font}`;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "right";
    pen.fillText(meta.xTitle, box.width - 4, box.height - 6);
    pen.textAlign = "left";
    pen.fillText(meta.yTitle, 4, 14);
  },

  line(view, [x0, y0], [x1, y1], strength) {
    if (!(strength > 0.01)) return;
    const { pen } = view;
    pen.strokeStyle = view.colours.mover;
    pen.globalAlpha = 0.25 + 0.75 * strength;
    pen.lineWidth = 0.5 + 6 * strength;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.globalAlpha = 1;
  },

  arrow(view, [x0, y0], [x1, y1], colour) {
    const { pen } = view, a = Math.atan2(y1 - y0, x1 - x0);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    if (Math.hypot(x1 - x0, y1 - y0) < 2) return;
    pen.beginPath();
    pen.moveTo(x1, y1);
    for (const turn of [2.7, -2.7]) pen.lineTo(x1 + 12 * Math.cos(a + turn), y1 + 12 * Math.sin(a + turn));
    pen.closePath();
    pen.fill();
  },

  dot(view, x, y, radius, colour) {
    view.pen.fillStyle = colour;
    view.pen.beginPath();
    view.pen.arc(x, y, radius, 0, 7);
    view.pen.fill();
  },

  told(view) { // where the movers are, and what stands in the corner
    const { meta, arrays } = view, now = PLANE.index(view), m = meta.movers.length;
    const at = (k) => [0, 1].map((c) => short(arrays.moving.values[2 * (now * m + k) + c], 2)).join(", ");
    const movers = meta.movers.map((name, k) => `${name} (${at(k)})`);
    const readout = meta.readout.map((name, r) => `${name} = ${short(arrays["read" + r].values[now])}`);
    return [...movers, ...readout].join("; ") || meta.names.slice(0, 60).join(", ");
  },

  csv(view) {
    const { meta } = view, { points } = view.arrays, n = meta.names.length, now = PLANE.index(view);
    const base = points.shape.length === 3 ? now * 2 * n : 0;
    const told = (i) => meta.tips.map((_, t) => view.arrays["tip" + t].values[now * n + i]);
    const rows = meta.names.map((name, i) => [quoted(name), points.values[base + 2 * i], points.values[base + 2 * i + 1], ...told(i)].join(","));
    const moved = meta.movers.map((name, k) => {
      const at = 2 * (now * meta.movers.length + k);
      return [quoted(name), view.arrays.moving.values[at], view.arrays.moving.values[at + 1]].join(",");
    });
    return [["name", quoted(meta.xTitle), quoted(meta.yTitle), ...meta.tips.map(quoted)].join(","), ...rows, ...moved].join("\n") + "\n";
  },
};

export default PLANE;
