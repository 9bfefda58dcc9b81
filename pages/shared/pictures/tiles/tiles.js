// Many small matrices in one canvas. A click, or Enter on the keyboard, chooses one, where somebody listens.

import { make, sized, staged, within } from "../live/base.js";
import { fill, short } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Anchors} Anchors */
/** @typedef {import("../live/base.js").Colours} Colours */
/** @typedef {import("../live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {number} columns
 * @property {string[]} names
 * @property {number} most
 * @property {Anchors} scale
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const GAP = 8, NAME = 16;

/** @type {import("../live/base.js").Painter<Meta>} */
const TILES = {
  build(view) {
    staged(view);
  },

  layout(view) {
    const { columns } = view.meta, [n, rows, cells] = view.arrays.values.shape;
    const side = Math.max(36, Math.min(view.meta.most, (view.width - (columns - 1) * GAP) / columns));
    Object.assign(view, { side, n, lines: Math.ceil(n / columns), cells: [rows, cells] });
    view.high = view.lines * (side + NAME + GAP);
    view.pen = sized(view.canvas, columns * (side + GAP) - GAP, view.high, view.ratio);
    TILES.paint(view);
  },

  paint(view) { // all maps once, at one pixel a cell
    const [rows, columns] = view.cells, { values } = view.arrays.values;
    view.maps = Array.from({ length: view.n }, (_, i) => {
      const small = make("canvas", { width: columns, height: rows }), pixels = new ImageData(columns, rows);
      for (let k = 0; k < rows * columns; k++) {
        const c = 3 * view.scale.index(values[i * rows * columns + k]);
        pixels.data.set([view.scale.bytes[c], view.scale.bytes[c + 1], view.scale.bytes[c + 2], 255], 4 * k);
      }
      small.getContext("2d").putImageData(pixels, 0, 0);
      return small;
    });
  },

  place(view, i) {
    const { columns } = view.meta;
    return [(i % columns) * (view.side + GAP), Math.floor(i / columns) * (view.side + NAME + GAP)];
  },

  draw(view) {
    const { pen, side, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width + 400, view.high);
    pen.imageSmoothingEnabled = false;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    for (let i = 0; i < view.n; i++) {
      const [x, y] = TILES.place(view, i), on = i === view.state.tile;
      pen.font = `${on ? 700 : 400} 12px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.fillText(meta.names[i], x + 1, y + NAME / 2);
      pen.drawImage(view.maps[i], x, y + NAME, side, side);
      pen.strokeStyle = on ? view.accent : i === view.cursor ? view.ink : view.colours.quiet;
      pen.globalAlpha = on || i === view.cursor ? 1 : 0.4;
      pen.lineWidth = on ? 3 : 1;
      pen.strokeRect(x + 0.5, y + NAME + 0.5, side - 1, side - 1);
      pen.globalAlpha = 1;
    }
  },

  under(view, x, y) {
    const { columns } = view.meta, step = view.side + GAP, down = view.side + NAME + GAP;
    const i = Math.floor(y / down) * columns + Math.floor(x / step);
    return x % step < view.side && Math.floor(x / step) < columns && i >= 0 && i < view.n ? i : null;
  },

  hand(view, i) {
    return i !== null && "tile" in view.meta.state ? "pointer" : "default";
  },

  choose(view, i) {
    if (i === null || !("tile" in view.meta.state)) return;
    view.release("tile", i);
    view.draw();
    view.announce(TILES.spoken(view, i));
  },

  start(view) {
    return view.state.tile ?? 0;
  },

  step(view, now, [down, right]) {
    return within((now ?? TILES.start(view)) + down * view.meta.columns + within(right + 1, 3) - 1, view.n);
  },

  spoken(view, i) { // which it is, and its largest cell: what a glance would tell
    const [rows, columns] = view.cells, { values } = view.arrays.values, { names, words } = view.meta;
    let best = 0;
    for (let k = 1; k < rows * columns; k++) if (values[i * rows * columns + k] > values[i * rows * columns + best]) best = k;
    const place = { row: Math.floor(best / columns), column: best % columns, value: short(values[i * rows * columns + best]) };
    return fill(words.tells, { name: names[i], i: i + 1, n: view.n, ...place });
  },

  told(view) {
    const { tile } = view.state;
    return Number.isInteger(tile) && tile < view.n ? TILES.spoken(view, tile) : String(view.n);
  },
};

export default TILES;
