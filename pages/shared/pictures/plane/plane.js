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
/** @type {[number, number, CanvasTextAlign][]} */
const BESIDE = [[9, -9, "left"], [9, 10, "left"], [-9, -9, "right"], [-9, 10, "right"]]; // where a name may stand

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
    PLANE.names(view);
    for (let i = 0; i < n; i++) { // after the names: the paper around a name must not rub out a dot
      const [x, y] = PLANE.spot(view, i), size = view.arrays.sizes?.values[now * n + i];
      PLANE.dot(view, x, y, size === undefined ? 5 : 3.5 + 8 * Math.sqrt(size), view.colours.point);
    }
    for (let k = 0; k < m; k++) {
      const [x, y] = PLANE.mover(view, k), colour = view.colours["mover" + k] ?? view.colours.mover;
      if (meta.pointed) PLANE.arrow(view, view.place(0, 0), [x, y], colour);
      if (!meta.pointed || meta.arrows) PLANE.dot(view, x, y, 8, colour);
      pen.font = `700 14px ${view.font}`;
      pen.textAlign = "left";
      pen.textBaseline = "middle";
      PLANE.written(view, meta.movers[k], x + 12, y + 10, colour);
    }
    PLANE.readout(view, now);
  },

  // A name stands where no other does; where there is no room it is left out, and the tip still tells it.
  names(view) {
    const { pen, meta } = view, taken = [];
    pen.font = `13px ${view.font}`;
    pen.textBaseline = "middle";
    for (const i of view.order) {
      const [x, y] = PLANE.spot(view, i), text = clip(pen, meta.names[i], 90), wide = pen.measureText(text).width;
      const free = ([dx, dy, side]) => {
        const x0 = side === "left" ? x + dx : x + dx - wide, y0 = y + dy - 7;
        const box = [x0, y0, x0 + wide, y0 + 14];
        const outside = box[0] < 0 || box[2] > view.box.width || box[1] < 0 || box[3] > view.box.height;
        return !outside && !taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]) && box;
      };
      const spot = BESIDE.find(free);
      if (!spot) continue;
      taken.push(free(spot));
      pen.textAlign = spot[2];
      PLANE.written(view, text, x + spot[0], y + spot[1], view.ink);
    }
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

  readout(view, now) {
    const { pen, meta, box } = view;
    pen.font = `600 15px ${view.font}`;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    meta.readout.forEach((name, r) => {
      const x = view.arrays["read" + r].values[now];
      PLANE.written(view, `${name} = ${Math.abs(x) < 5e-4 ? "0.000" : short(x)}`, box.width - 8, 16 + 22 * r, view.ink);
    });
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
