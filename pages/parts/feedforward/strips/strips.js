// Strips of words, each on a ground that tells its number. One frame a stop.

import { clip, make, sized } from "../../../shared/pictures/live/base.js";
import { quoted, short, signed } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {{ title: string, names: string[], marked: number | null }} Strip */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {Strip[]} strips
 * @property {Anchors} scale
 * @property {boolean} choose
 * @property {boolean} only
 * @property {{ light: string[], dark: string[] } | null} fills
 * @property {Colours} colours
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const BOX = 42, LOW = 27, TITLE = 21, GAP = 8, ROWS = 4, LETTER = 17;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const STRIPS = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    view.canvas.addEventListener("click", (event) => {
      const i = STRIPS.under(view, event.offsetX, event.offsetY);
      if (i < 0) return;
      view.release("token", i);
      view.draw();
    });
    view.canvas.addEventListener("pointermove", (event) => {
      view.canvas.style.cursor = STRIPS.under(view, event.offsetX, event.offsetY) < 0 ? "default" : "pointer";
    });
  },

  layout(view) {
    const { meta, width } = view, pen = view.canvas.getContext("2d");
    let y = 0, at = 0;
    view.laid = meta.strips.map(({ title, names, marked }) => {
      const tall = (name, i) => (meta.only && i !== marked ? LOW : BOX), boxes = [], top = y + (title ? TITLE : 0);
      let x = 0, row = 0;
      names.forEach((name, i) => {
        pen.font = `15px ${view.font}`;
        const least = meta.fills ? LETTER : meta.only && i !== marked ? 10 : 40;
        const wide = Math.min(width, Math.max(least, pen.measureText(name).width + (meta.fills ? 4 : 10)));
        if (x && x + wide > width) [x, row] = [0, row + 1];
        boxes.push({ x, y: top + row * (BOX + 4), wide, tall: tall(name, i), row });
        x += wide + 3;
      });
      const rows = Math.min(meta.fills ? Infinity : ROWS, row + 1), from = at;
      at += names.length;
      y = top + rows * (BOX + 4) + GAP;
      return { title, top: top - TITLE, boxes: boxes.map((box) => ({ ...box, hidden: box.row >= rows })), from, names, marked };
    });
    view.high = Math.max(1, y - GAP);
    view.count = at;
    view.pen = sized(view.canvas, width, view.high, view.ratio);
  },

  under(view, x, y) { // the word of the first strip that is there, -1 for none
    if (!view.meta.choose) return -1;
    return view.laid[0].boxes.findIndex((box) => !box.hidden && x >= box.x && x < box.x + box.wide && y >= box.y && y < box.y + box.tall);
  },

  value(view, i) {
    const { values, shape } = view.arrays.values;
    return values[Math.min(view.frame, shape[0] - 1) * view.count + i];
  },

  written(view, value) {
    if (view.meta.fills) return String(value + 1);
    return Math.abs(value) >= 0.005 ? signed(value.toFixed(2)) : value ? "≈ 0" : "0";
  },

  draw(view) {
    const { pen, width, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, view.high);
    pen.textBaseline = "middle";
    for (const { title, top, boxes, from, names, marked } of view.laid) {
      pen.font = `600 14px ${view.font}`;
      pen.textAlign = "left";
      pen.fillStyle = view.ink;
      if (title) pen.fillText(clip(pen, title, width), 0, top + 9);
      boxes.forEach((box, i) => {
        if (box.hidden) return;
        const value = STRIPS.value(view, from + i), here = i === (meta.choose ? view.state.token : marked);
        pen.fillStyle = meta.fills ? meta.fills[view.dark ? "dark" : "light"][value] : view.scale.css(value);
        pen.fillRect(box.x, box.y, box.wide, box.tall);
        pen.fillStyle = meta.fills ? view.ink : view.scale.ink(value);
        pen.textAlign = "center";
        pen.font = `${here ? 700 : 400} 15px ${view.font}`;
        pen.fillText(clip(pen, names[i], box.wide - 2), box.x + box.wide / 2, box.y + 14);
        pen.font = `12px ${view.font}`;
        if (box.tall === BOX) pen.fillText(STRIPS.written(view, value), box.x + box.wide / 2, box.y + 32);
        if (!here) return;
        pen.strokeStyle = view.colours.mark;
        pen.lineWidth = 2.5;
        pen.strokeRect(box.x + 1, box.y + 1, box.wide - 2, box.tall - 2);
      });
    }
  },

  told(view) {
    return view.laid.map(({ title, names, from }) => `${title}: ` + names.slice(0, 40).map((name, i) => `${name} ${view.meta.fills ? STRIPS.written(view, STRIPS.value(view, from + i)) : short(STRIPS.value(view, from + i), 2)}`).join(", ")).join("; ");
  },

  csv(view) {
    const rows = view.laid.flatMap(({ title, names, from }) => names.map((name, i) => [quoted(title), i, quoted(name), STRIPS.value(view, from + i) + Number(Boolean(view.meta.fills))].join(",")));
    return ["strip,place,token,value", ...rows].join("\n") + "\n";
  },
};

export default STRIPS;
