// A plane on which points are set by hand, and the lines that core draws through them, frame by frame.

import { clip, legend, sized, staged, svgOf, within } from "../../../shared/pictures/live/base.js";
import { escaped, quoted, short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {{ name: string, dash: boolean }[]} curves
 * @property {Colours} colours
 * @property {number} edge
 * @property {number} grid
 * @property {number} most
 * @property {number} reach
 * @property {number} tall
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const ROOM = 24; // px around the plane
const NEAR = 12; // px: so near to a point one means it

const points = (view) => (view.state.points ? view.state.points.split(";").map((pair) => pair.split(",").map(Number)) : []);

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const BOARD = {
  build(view) {
    legend(view, []);
    staged(view, view.legend);
  },

  layout(view) {
    const { meta } = view, { edge } = meta;
    const width = view.width, height = Math.max(180, Math.min(meta.tall, view.ceiling, width));
    const unit = [(width - 2 * ROOM) / (2 * edge), (height - 2 * ROOM) / (2 * edge)];
    view.px = (x) => ROOM + (x + edge) * unit[0];
    view.py = (y) => height - ROOM - (y + edge) * unit[1];
    view.from = (px, py) => [(px - ROOM) / unit[0] - edge, (height - ROOM - py) / unit[1] - edge];
    view.box = { width, height };
    view.pen = sized(view.canvas, width, height, view.ratio);
    legend(view, meta.curves.map(({ name, dash }, i) => [name, view.colours[`curve${i}`], dash]));
  },

  value(view, c, i) {
    const { shape, values } = view.arrays.values, frame = shape[0] > 1 ? view.frame : 0;
    return values[(frame * shape[1] + c) * shape[2] + i];
  },

  draw(view) {
    const { pen, meta, box, colours } = view, { reach } = meta;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, box.width, box.height);
    if (reach) {
      pen.fillStyle = colours.quiet;
      pen.globalAlpha = 0.1;
      pen.fillRect(view.px(-reach), ROOM, view.px(reach) - view.px(-reach), box.height - 2 * ROOM);
      pen.globalAlpha = 1;
    }
    BOARD.axes(view);
    pen.save();
    pen.beginPath();
    pen.rect(ROOM, ROOM, box.width - 2 * ROOM, box.height - 2 * ROOM);
    pen.clip();
    meta.curves.forEach(({ dash }, c) => {
      pen.strokeStyle = colours[`curve${c}`];
      pen.lineWidth = 2.5;
      pen.setLineDash(dash ? [6, 4] : []);
      pen.beginPath();
      view.arrays.xs.values.forEach((x, i) => pen[i ? "lineTo" : "moveTo"](view.px(x), view.py(BOARD.value(view, c, i))));
      pen.stroke();
    });
    pen.restore();
    pen.setLineDash([]);
    pen.fillStyle = colours.point;
    for (const [x, y] of points(view)) {
      pen.beginPath();
      pen.arc(view.px(x / meta.grid), view.py(y / meta.grid), 6, 0, 7);
      pen.fill();
    }
    if (view.cursor === null) return;
    const [x, y] = view.cursor;
    pen.strokeStyle = view.accent;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(view.px(x / meta.grid), view.py(y / meta.grid), 9, 0, 7);
    pen.stroke();
  },

  axes(view) {
    const { pen, meta, box } = view, { edge } = meta;
    pen.strokeStyle = pen.fillStyle = view.colours.quiet;
    pen.lineWidth = 1;
    pen.font = `12px ${view.font}`;
    for (let at = -edge; at <= edge; at++) {
      pen.globalAlpha = at ? 0.15 : 0.5;
      pen.beginPath();
      pen.moveTo(view.px(at), ROOM);
      pen.lineTo(view.px(at), box.height - ROOM);
      pen.moveTo(ROOM, view.py(at));
      pen.lineTo(box.width - ROOM, view.py(at));
      pen.stroke();
      pen.globalAlpha = 1;
      const text = String(at).replace("-", "−");
      pen.textAlign = "center";
      pen.textBaseline = "top";
      pen.fillText(text, view.px(at), box.height - ROOM + 5);
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(text, ROOM - 5, view.py(at));
    }
    if (!meta.reach) return;
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    pen.fillText(clip(pen, meta.words.trained, view.px(meta.reach) - view.px(-meta.reach) - 8), view.px(-meta.reach) + 4, ROOM - 3);
  },

  // A place is a pair of whole numbers, as a point is. Near a point it is the point.
  under(view, px, py) {
    const { grid, edge } = view.meta, at = (p) => Math.hypot(view.px(p[0] / grid) - px, view.py(p[1] / grid) - py);
    const near = points(view).filter((p) => at(p) < NEAR).sort((a, b) => at(a) - at(b))[0];
    if (near) return near;
    const [x, y] = view.from(px, py).map((v) => Math.round(v * grid));
    return Math.max(Math.abs(x), Math.abs(y)) <= edge * grid ? [x, y] : null;
  },

  start() {
    return [0, 0];
  },

  step(view, now, [down, right]) {
    const { grid, edge } = view.meta, most = edge * grid, [x, y] = now ?? BOARD.start(view);
    const to = (v) => within(v + most, 2 * most + 1) - most;
    return [to(x + right), to(y - down)];
  },

  spot(view, [x, y]) {
    return [view.px(x / view.meta.grid), view.py(y / view.meta.grid)];
  },

  has(view, [x, y]) {
    return points(view).some((p) => p[0] === x && p[1] === y);
  },

  spoken(view, place) {
    const { words, grid, most } = view.meta, [x, y] = place.map((v) => short(v / grid, 1));
    const does = BOARD.has(view, place) ? words.take : points(view).length < most ? words.set : words.full;
    return `(${x}, ${y})\n${does}`;
  },

  hand(view, place) {
    return place === null ? "default" : "crosshair";
  },

  exists() {
    return true;
  },

  choose(view, place) {
    if (place === null) return;
    const now = points(view), others = now.filter((p) => p[0] !== place[0] || p[1] !== place[1]);
    if (others.length === now.length && now.length >= view.meta.most) return void view.announce(view.meta.words.full);
    const next = others.length < now.length ? others : [...now, place];
    view.release("points", next.map((p) => p.join(",")).join(";"));
    view.draw();
  },

  told(view) {
    const { meta } = view, ends = meta.curves.map(({ name }, c) => {
      const n = view.arrays.xs.values.length;
      return `${name}: ${[0, n - 1].map((i) => short(BOARD.value(view, c, i), 2)).join(" … ")}`;
    });
    return [meta.words.points.replace("{n}", String(points(view).length)), ...ends].join("; ");
  },

  csv(view) {
    const head = ["x", ...view.meta.curves.map(({ name }) => quoted(name))].join(",");
    const rows = Array.from(view.arrays.xs.values, (x, i) => [x, ...view.meta.curves.map((_, c) => BOARD.value(view, c, i))].join(","));
    return [head, ...rows, quoted(view.state.points ?? "")].join("\n") + "\n";
  },

  svg(view) {
    const { meta, box } = view, parts = [], entries = view.legendNow, above = entries.length ? view.legend.offsetHeight + 10 : 0;
    const path = (d, colour, more) => parts.push(`<path d="${d}" fill="none" stroke="${colour}" ${more}/>`);
    const text = (x, y, t, anchor) => parts.push(`<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(t)}</text>`);
    for (let at = -meta.edge; at <= meta.edge; at++) {
      path(`M${view.px(at)} ${ROOM}V${box.height - ROOM}M${ROOM} ${view.py(at)}H${box.width - ROOM}`, view.colours.quiet, 'stroke-opacity="0.3"');
      text(view.px(at), box.height - ROOM + 16, String(at), "middle");
    }
    meta.curves.forEach(({ dash }, c) => {
      const d = Array.from(view.arrays.xs.values, (x, i) => `${view.px(x).toFixed(1)} ${view.py(BOARD.value(view, c, i)).toFixed(1)}`).join("L");
      path(`M${d}`, view.colours[`curve${c}`], `stroke-width="2.5"${dash ? ' stroke-dasharray="6 4"' : ""} clip-path="inset(0)"`);
    });
    for (const [x, y] of points(view)) parts.push(`<circle cx="${view.px(x / meta.grid)}" cy="${view.py(y / meta.grid)}" r="6" fill="${view.colours.point}"/>`);
    parts.push(`</g><g>`);
    for (const [colour, dash, name, x, y] of entries) {
      path(`M${x} ${y + 13}h18`, colour, `stroke-width="3"${dash ? ' stroke-dasharray="6 3"' : ""}`);
      text(x + 24, y + 17, name, "start");
    }
    text(4, above + box.height + 16, view.captionNow, "start");
    return svgOf(view, box.width, above + box.height + 26, 12, [`<g transform="translate(0 ${above})">`, ...parts, "</g>"]);
  },
};

export const styles = [new URL("../../../shared/pictures/lines/lines.css", import.meta.url)];
export default BOARD;
