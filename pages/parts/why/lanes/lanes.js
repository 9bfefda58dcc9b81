// The same words in several lanes: the way of one word to the last (hops), or how much each word has taken in (race).

import { clip, make, sized, steer } from "../../../shared/pictures/live/base.js";
import { quoted } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} tokens
 * @property {string[]} lanes
 * @property {string[][]} told
 * @property {number[] | null} levels
 * @property {string} column
 * @property {Colours} colours
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const LANE = { head: 28, box: 28, arcs: 40, level: 19, gap: 14, note: 24, named: 26, row: 17, name: 48, rows: 3 };

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const LANES = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    steer(view, view.canvas, (x, y, down) => LANES.stop(view, x, y, down));
  },

  // In a race nothing can be taken hold of; else the word under a finger is the one whose way is shown.
  stop(view, x, y, down) {
    if (view.meta.quantity !== "hops" || (down && !view.lanes.some(({ foot }) => y >= foot && y < foot + LANE.box + view.rows * LANE.row))) return null;
    const n = view.meta.tokens.length, distance = n - 1 - Math.floor(x / view.cell);
    return Math.max(1, Math.min(n - 1, distance)) - 1;
  },

  layout(view) {
    const { meta } = view, hops = meta.quantity === "hops";
    view.cell = view.width / meta.tokens.length;
    view.lanes = [];
    const rows = view.cell < LANE.named ? Math.ceil(LANE.name / view.cell) : 0;
    view.rows = rows > LANE.rows ? 0 : rows; // boxes too narrow for words have them below, in so many rows
    let y = 0;
    meta.lanes.forEach((_, i) => {
      const levels = hops ? meta.levels[i] : 0;
      const room = hops ? (levels > 1 ? levels * LANE.level + 10 : LANE.arcs) : 2;
      view.lanes.push({ top: y, foot: y + LANE.head + room, levels });
      y += LANE.head + room + LANE.box + view.rows * LANE.row + LANE.gap;
    });
    view.noted = hops && view.cell < LANE.named && !view.rows; // too many words even for that: the two are named below
    view.high = y + (view.noted ? LANE.note : 0);
    view.canvas.style.cursor = hops ? "ew-resize" : "default";
    view.pen = sized(view.canvas, view.width, view.high, view.ratio);
  },

  draw(view) {
    const { pen, meta } = view, hops = meta.quantity === "hops";
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.textBaseline = "middle";
    view.lanes.forEach((lane, i) => {
      const caption = meta.told[view.frame][i];
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.font = `700 16px ${view.font}`;
      pen.fillText(caption, view.width, lane.top + 14);
      const left = view.width - pen.measureText(caption).width - 12;
      pen.textAlign = "left";
      pen.font = `600 15px ${view.font}`;
      pen.fillStyle = view.colours[`lane${i}`];
      pen.fillText(clip(pen, meta.lanes[i], left), 0, lane.top + 14);
      if (view.cell <= 6) LANES.outline(view, lane);
      if (hops) LANES.way(view, lane, i);
      else LANES.shares(view, lane, i);
      if (view.rows) LANES.names(view, lane);
    });
    if (view.noted) LANES.note(view);
  },

  note(view) {
    const { pen, meta } = view, n = meta.tokens.length, far = meta.tokens[n - 1 - meta.slider.stops[view.frame]];
    pen.font = `600 15px ${view.font}`;
    pen.fillStyle = view.ink;
    pen.textAlign = "center";
    pen.fillText(clip(pen, `\u2068${far}\u2069 → \u2068${meta.tokens[n - 1]}\u2069`, view.width), view.width / 2, view.high - LANE.note / 2);
  },

  // The words below their boxes, one row lower from word to word; the two of a way are bold.
  names(view, { foot }) {
    const { pen, meta, rows, cell } = view, last = meta.tokens.length - 1;
    const start = meta.quantity === "hops" ? last - meta.slider.stops[view.frame] : null;
    pen.fillStyle = view.ink;
    pen.textAlign = "center";
    meta.tokens.forEach((token, t) => {
      pen.font = `${start !== null && (t === start || t === last) ? "700 " : ""}13px ${view.font}`;
      const text = clip(pen, token, rows * cell - 4), half = pen.measureText(text).width / 2;
      const x = Math.max(half, Math.min(view.width - half, LANES.middle(view, t)));
      pen.fillText(text, x, foot + LANE.box + (t % rows + 0.5) * LANE.row + 2);
    });
  },

  // Of very many words the boxes are too thin to be drawn one by one.
  outline(view, { foot }) {
    view.pen.strokeStyle = view.colours.quiet;
    view.pen.lineWidth = 0.8;
    view.pen.strokeRect(0.5, foot, view.width - 1, LANE.box);
  },

  middle: (view, token) => (token + 0.5) * view.cell,

  box(view, lane, token, { share = 0, ring = null, solid = false }, colour) {
    const { pen, cell } = view, pad = cell > 20 ? 2 : cell > 6 ? 1 : 0, x = token * cell + pad, w = Math.max(1, cell - 2 * pad);
    pen.fillStyle = colour;
    pen.globalAlpha = solid ? 1 : 0.3;
    const high = solid ? LANE.box : LANE.box * share;
    pen.fillRect(x, lane.foot + LANE.box - high, w, high);
    pen.globalAlpha = ring || pad > 1 ? 1 : 0.5;
    pen.strokeStyle = ring ?? view.colours.quiet;
    pen.lineWidth = ring ? 2.5 : 0.8;
    if (ring || pad) pen.strokeRect(x, lane.foot, w, LANE.box);
    pen.globalAlpha = 1;
    if (cell < LANE.named) return;
    pen.font = `${cell < 44 ? 12 : 14}px ${view.font}`;
    pen.textAlign = "center";
    pen.fillStyle = solid ? view.paper : view.ink;
    pen.fillText(clip(pen, view.meta.tokens[token], w - 4), x + w / 2, lane.foot + LANE.box / 2 + 1);
  },

  shares(view, lane, i) {
    const n = view.meta.tokens.length, from = (view.frame * view.lanes.length + i) * n, { values } = view.arrays.shares;
    const colour = view.colours[`lane${i}`];
    for (let t = 0; t < n; t++) {
      const share = values[from + t] / 255;
      LANES.box(view, lane, t, { share, ring: share === 1 ? colour : null }, colour);
    }
  },

  way(view, lane, i) {
    const { pen, meta } = view, colour = view.colours[`lane${i}`], n = meta.tokens.length;
    const start = n - 1 - meta.slider.stops[view.frame], { shape, values } = view.arrays[`way${i}`];
    const hops = view.arrays.hops.values[view.frame * view.lanes.length + i], from = view.frame * shape[1] * 2;
    const points = Array.from({ length: hops + 1 }, (_, k) => [start + values[from + 2 * k], values[from + 2 * k + 1]]);
    const level = (l) => (lane.levels > 1 ? lane.foot - 4 - l * LANE.level : lane.foot);
    if (lane.levels > 1) {
      pen.fillStyle = view.colours.quiet;
      pen.globalAlpha = 0.45;
      const dot = Math.min(3, view.cell / 3);
      for (let l = 1; l <= lane.levels; l++) for (let t = 0; t < n; t++) pen.fillRect(LANES.middle(view, t) - dot / 2, level(l) - dot / 2, dot, dot);
      pen.globalAlpha = 1;
    }
    const passed = new Set(lane.levels ? [] : points.map(([t]) => t));
    for (let t = 0; t < n; t++) {
      const end = t === start || t === n - 1;
      LANES.box(view, lane, t, { solid: end, ring: !end && passed.has(t) ? colour : null }, colour);
    }
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2.5;
    for (let k = 1; k < points.length; k++) {
      const [[a, la], [b, lb]] = [points[k - 1], points[k]];
      const x0 = LANES.middle(view, a), x1 = LANES.middle(view, b);
      if (lane.levels > 1) LANES.line(view, x0, level(la), x1, level(lb));
      else LANES.arc(view, x0, x1, lane.foot);
    }
  },

  line(view, x0, y0, x1, y1) {
    const { pen } = view;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.arc(x1, y1, 4.5, 0, 7);
    pen.fill();
  },

  arc(view, x0, x1, y) {
    const { pen } = view, high = Math.min(2 * LANE.arcs - 12, 22 + 0.25 * (x1 - x0));
    pen.beginPath();
    pen.moveTo(x0, y);
    pen.quadraticCurveTo((x0 + x1) / 2, y - high, x1, y - 1);
    pen.stroke();
    if (x1 - x0 < 9) return;
    const turn = Math.atan2(high, (x1 - x0) / 2);
    pen.beginPath();
    pen.moveTo(x1, y);
    for (const side of [-0.45, 0.45]) pen.lineTo(x1 - 9 * Math.cos(turn + side), y - 9 * Math.sin(turn + side));
    pen.fill();
  },

  items(view) {
    return view.meta.told[view.frame].map((caption, i) => `${view.meta.lanes[i]}: ${caption}`);
  },

  told(view) {
    return LANES.items(view).join("; ");
  },

  csv(view) {
    const { lanes, told, slider, column } = view.meta;
    const rows = told.map((row, f) => [slider.stops[f], ...row.map(quoted)].join(","));
    return [[slider.label || column, ...lanes].map(quoted).join(","), ...rows].join("\n") + "\n";
  },
};

export default LANES;
