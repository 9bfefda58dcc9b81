// Lines over a common axis, frame by frame: values, names at the line's end, marks, and the numbers under the pointer.

import { clip, legend, make, sized, staged, svgOf, within } from "../live/base.js";
import { escaped, quoted, short } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Colours} Colours */
/** @typedef {import("../live/base.js").Words} Words */
/** @typedef {{ title: string, log: boolean, low: number, high: number }} Axis */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {{ name: string, dash: boolean, dots: boolean }[]} series
 * @property {Colours} colours
 * @property {Axis} x
 * @property {Axis} y
 * @property {{ at: number, name: string }[]} marks
 * @property {boolean} choose
 * @property {number} tall
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const LOW = 150; // px: no picture is lower, however little room there is
const ROOM = { left: 58, right: 14, top: 24, bottom: 40 }; // above: the title of the upright axis, then its highest number

function ticks(low, high, log, most) {
  if (log && high / low < 100) { // less than two tens: 1, 2 and 5 of each
    const out = [];
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
      out.push(...[1, 2, 5].map((m) => Number((m * power).toPrecision(1))).filter((x) => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9)));
    if (out.length > 1) return out;
  } else if (log) {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9), step = Math.max(1, Math.ceil((to - from + 1) / most));
    return Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) }, (_, i) => 10 ** (from + i * step));
  }
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw)), units = [0.2, 0.5, 1, 2, 5, 10], unit = units.findIndex((m, i) => i > 1 && m * power >= raw);
  const every = (step) => {
    const out = [];
    for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + step * 1e-6; x += step) out.push(Math.abs(x) < step * 1e-6 ? 0 : x);
    return out;
  };
  const found = [unit, unit - 1, unit - 2].map((i) => every(units[i] * power));
  return found.find((out) => out.length > 1) ?? found[2]; // one number alone tells no scale
}

function tick(x) {
  const a = Math.abs(x);
  const text = a !== 0 && (a < 1e-3 || a >= 1e5) ? x.toExponential(0).replace("e+", "e") : String(Number(x.toPrecision(4)));
  return text.replace("-", "−");
}

function closest(xs, x) {
  let best = 0;
  for (let i = 1; i < xs.length; i++) if (Math.abs(xs[i] - x) < Math.abs(xs[best] - x)) best = i;
  return best;
}

/** @type {import("../live/base.js").Painter<Meta>} */
const LINES = {
  ticks,

  build(view) {
    legend(view, []);
    staged(view, view.legend);
  },

  layout(view) {
    const { meta } = view, { x, y } = meta;
    legend(view, meta.series.map(({ name, dash }, i) => [name, LINES.colour(view, i), dash]));
    view.legend.hidden = meta.series.length < 2 && !meta.series[0]?.name;
    const room = view.ceiling - view.legend.offsetHeight - 10; // on a slide curves are as tall as it
    view.tall = Number.isFinite(room) ? Math.max(LOW, room) : meta.tall;
    const inner = [Math.max(80, view.width - ROOM.left - ROOM.right), view.tall - ROOM.top - ROOM.bottom];
    const part = (value, { low, high, log }) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    view.px = (value) => ROOM.left + inner[0] * part(value, x);
    view.py = (value) => ROOM.top + inner[1] * (1 - part(value, y));
    view.inner = inner;
    view.pen = sized(view.canvas, view.width, view.tall, view.ratio);
    view.still = LINES.axes(view);
  },

  colour(view, i) {
    return view.colours[`series${i}`] ?? view.ink;
  },

  axes(view) {
    const { meta } = view, still = make("canvas", { width: view.canvas.width, height: view.canvas.height }), pen = still.getContext("2d");
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.tall);
    pen.font = `12px ${view.font}`;
    pen.strokeStyle = view.colours.quiet;
    const foot = view.tall - ROOM.bottom;
    const rule = (x0, y0, x1, y1, alpha) => {
      pen.globalAlpha = alpha;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      pen.globalAlpha = 1;
    };
    pen.fillStyle = view.ink;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const y of ticks(meta.y.low, meta.y.high, meta.y.log, 6)) {
      rule(ROOM.left, view.py(y), view.width - ROOM.right, view.py(y), 0.22);
      pen.fillText(tick(y), ROOM.left - 6, view.py(y));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const x of ticks(meta.x.low, meta.x.high, meta.x.log, Math.max(3, view.width / 110))) {
      rule(view.px(x), foot, view.px(x), foot + 4, 0.7);
      pen.fillText(tick(x), view.px(x), foot + 6);
    }
    rule(ROOM.left, foot, view.width - ROOM.right, foot, 0.7);
    pen.font = `600 12px ${view.font}`;
    pen.textAlign = "right";
    pen.fillText(meta.x.title, view.width - ROOM.right, foot + 22);
    pen.textAlign = "left";
    pen.fillText(clip(pen, meta.y.title, view.width - 20), 4, 3);
    pen.font = `12px ${view.font}`;
    for (const { at, name, x, y, anchor } of LINES.marked(view, pen)) {
      pen.setLineDash([4, 4]);
      rule(view.px(at), ROOM.top, view.px(at), foot, 0.8);
      pen.setLineDash([]);
      pen.textAlign = anchor === "end" ? "right" : "left";
      pen.fillText(name, x, y);
    }
    return still;
  },

  marked(view, pen) { // where the name of each mark stands, so that none is written over another
    const rows = [];
    return view.meta.marks.map(({ at, name }) => {
      const end = view.px(at) > view.width * 0.7, long = pen.measureText(name).width + 8, from = view.px(at) - (end ? long : 0);
      let row = rows.findIndex((taken) => taken.every(([a, b]) => from >= b || from + long <= a));
      if (row < 0) row = rows.push([]) - 1;
      rows[row].push([from, from + long]);
      return { at, name, x: view.px(at) + (end ? -5 : 5), y: ROOM.top + 12 + 15 * row, anchor: end ? "end" : "start" };
    });
  },

  shown(view, s, i) { // a value that has a place in the picture
    const y = LINES.value(view, s, i);
    return Number.isFinite(y) && !(view.meta.y.log && y <= 0);
  },

  bands(view, s) { // the corners of what lies around a line, out along its top and back along its foot
    if (!view.arrays.low) return [];
    const xs = view.arrays.xs.values, at = Array.from(xs.keys()).filter((i) => LINES.shown(view, s, i));
    const edge = (name) => at.map((i) => [view.px(xs[i]), view.py(LINES.value(view, s, i, name))]);
    return [...edge("high"), ...edge("low").reverse()];
  },

  value(view, s, i, name = "values") {
    const { shape, values } = view.arrays[name], n = shape[shape.length - 1], lines = shape[shape.length - 2];
    const frame = shape.length === 3 && shape[0] > 1 ? view.frame : 0;
    return values[(frame * lines + s) * n + i];
  },

  draw(view) {
    const { pen, meta } = view, xs = view.arrays.xs.values;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(view.still, 0, 0);
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    pen.save();
    pen.beginPath();
    pen.rect(ROOM.left - 4, ROOM.top - 6, view.inner[0] + 12, view.inner[1] + 12); // a dot at an end is whole
    pen.clip();
    meta.series.forEach((_, s) => {
      pen.fillStyle = LINES.colour(view, s);
      pen.globalAlpha = 0.18;
      pen.beginPath();
      for (const [x, y] of LINES.bands(view, s)) pen.lineTo(x, y);
      pen.fill();
      pen.globalAlpha = 1;
    });
    meta.series.forEach(({ dash, dots }, s) => {
      pen.strokeStyle = pen.fillStyle = LINES.colour(view, s);
      pen.lineWidth = 2.5;
      pen.setLineDash(dash ? [6, 4] : []);
      pen.beginPath();
      let down = false;
      for (let i = 0; i < xs.length; i++) {
        const y = LINES.value(view, s, i), drawn = LINES.shown(view, s, i);
        if (drawn) pen[down ? "lineTo" : "moveTo"](view.px(xs[i]), view.py(y));
        if (drawn && dots) pen.fillRect(view.px(xs[i]) - 3, view.py(y) - 3, 6, 6);
        down = drawn;
      }
      pen.stroke();
    });
    pen.setLineDash([]);
    pen.restore();
    const moving = view.arrays.moving?.values[view.frame];
    if (moving !== undefined) LINES.stand(view, moving, view.ink);
    const chosen = view.state.at;
    if (Number.isInteger(chosen) && chosen < xs.length) LINES.stand(view, xs[chosen], view.accent);
    if (view.cursor !== null) LINES.stand(view, xs[view.cursor], view.ink);
  },

  stand(view, x, colour) { // an upright line, and a dot where it meets each curve
    const { pen, meta } = view, xs = view.arrays.xs.values;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(view.px(x), ROOM.top);
    pen.lineTo(view.px(x), view.tall - ROOM.bottom);
    pen.stroke();
    const i = closest(xs, x);
    meta.series.forEach((_, s) => {
      const y = LINES.value(view, s, i);
      if (!LINES.shown(view, s, i)) return;
      pen.beginPath();
      pen.arc(view.px(xs[i]), view.py(y), 4, 0, 7);
      pen.fill();
    });
  },

  under(view, offset) {
    const xs = view.arrays.xs.values;
    if (offset < ROOM.left - 8) return null;
    let best = 0;
    for (let i = 1; i < xs.length; i++) if (Math.abs(view.px(xs[i]) - offset) < Math.abs(view.px(xs[best]) - offset)) best = i;
    return best;
  },

  spoken(view, i) {
    const head = `${view.meta.x.title} ${tick(view.arrays.xs.values[i])}`;
    const lines = view.meta.series.map(({ name }, s) => (LINES.shown(view, s, i) ? `${name} ${short(LINES.value(view, s, i))}` : ""));
    return [head, ...lines].filter(Boolean).join("\n"); // a line that is not drawn there says nothing there
  },

  spot(view, i) {
    return [view.px(view.arrays.xs.values[i]), ROOM.top + 60];
  },

  start(view) {
    return view.state.at ?? 0;
  },

  step(view, now, [, right]) {
    return right ? within(now === null ? LINES.start(view) : now + right, view.arrays.xs.values.length) : null;
  },

  choose(view, i) {
    if (i === null || !view.meta.choose) return;
    view.release("at", i);
    view.draw();
  },

  told(view) { // from where to where each line goes, and what it is where the slider stands
    const xs = view.arrays.xs.values, n = xs.length, moving = view.arrays.moving?.values[view.frame];
    const ends = view.meta.series.slice(0, 6).map(({ name }, s) => {
      const drawn = Array.from(xs.keys()).filter((i) => LINES.shown(view, s, i));
      return drawn.length ? `${name}: ${[drawn[0], drawn.at(-1)].map((i) => short(LINES.value(view, s, i))).join(" … ")}` : "";
    });
    const told = [`${view.meta.x.title} ${tick(xs[0])} … ${tick(xs[n - 1])}`, ...ends].filter(Boolean).join("; ");
    return moving === undefined ? told : `${told}. ${LINES.spoken(view, closest(xs, moving)).replaceAll("\n", ", ")}`;
  },

  csv(view) {
    const xs = view.arrays.xs.values, { series, x } = view.meta;
    const known = (y) => (Number.isNaN(y) ? "" : y); // not drawn yet: an empty cell
    const rows = Array.from(xs, (value, i) => [value, ...series.map((_, s) => known(LINES.value(view, s, i)))].join(","));
    return [[quoted(x.title), ...series.map(({ name }) => quoted(name))].join(","), ...rows].join("\n") + "\n";
  },

  svg(view) {
    const { meta } = view, parts = [], entries = view.legendNow;
    const above = entries.length ? view.legend.offsetHeight + 10 : 0, foot = view.tall - ROOM.bottom;
    const text = (x, y, t, anchor) => parts.push(`<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(t)}</text>`);
    const path = (d, colour, more) => parts.push(`<path d="${d}" fill="none" stroke="${colour}" ${more}/>`);
    for (const y of ticks(meta.y.low, meta.y.high, meta.y.log, 6)) {
      path(`M${ROOM.left} ${view.py(y)}H${view.width - ROOM.right}`, view.colours.quiet, 'stroke-opacity="0.3"');
      text(ROOM.left - 6, view.py(y) + 4, tick(y), "end");
    }
    for (const x of ticks(meta.x.low, meta.x.high, meta.x.log, Math.max(3, view.width / 110))) text(view.px(x), foot + 16, tick(x), "middle");
    text(view.width - ROOM.right, foot + 32, meta.x.title, "end");
    text(4, 12, meta.y.title, "start");
    for (const { at, name, x, y, anchor } of LINES.marked(view, view.pen)) {
      path(`M${view.px(at)} ${ROOM.top}V${foot}`, view.colours.quiet, 'stroke-dasharray="4 4"');
      text(x, y + 9, name, anchor);
    }
    meta.series.forEach(({ dash, dots }, s) => {
      const colour = LINES.colour(view, s), [line, squares] = LINES.path(view, s);
      const corners = LINES.bands(view, s).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
      if (corners.length) parts.push(`<path d="M${corners.join("L")}Z" fill="${colour}" fill-opacity="0.18"/>`);
      path(line, colour, `stroke-width="2.5"${dash ? ' stroke-dasharray="6 4"' : ""}`);
      if (dots) path(squares, colour, 'stroke-width="6"');
    });
    parts.push(`</g><g>`);
    for (const [colour, dash, name, x, y] of entries) {
      path(`M${x} ${y + 13}h18`, colour, `stroke-width="3"${dash ? ' stroke-dasharray="6 3"' : ""}`);
      text(x + 24, y + 17, name, "start");
    }
    text(4, above + view.tall + 16, view.captionNow, "start");
    return svgOf(view, view.width, above + view.tall + 26, 12, [`<g transform="translate(0 ${above})">`, ...parts, "</g>"]);
  },

  path(view, s) { // the line, and a square at each of its points
    let line = "", squares = "", down = false;
    view.arrays.xs.values.forEach((at, i) => {
      const drawn = LINES.shown(view, s, i), x = view.px(at), y = drawn ? view.py(LINES.value(view, s, i)) : NaN;
      if (drawn) line += `${down ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      if (drawn) squares += `M${(x - 3).toFixed(1)} ${y.toFixed(1)}h6`;
      down = drawn;
    });
    return [line, squares];
  },
};

export const styles = [new URL("lines.css", import.meta.url)];
export default LINES;
