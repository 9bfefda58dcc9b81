// X on the left, W above, X W where they meet. All three are drawn to one measure; every number was computed in core.

import { clip, make, sized, staged, within } from "../../../shared/pictures/live/base.js";
import { fill, quoted, Scale, short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} rows
 * @property {string} name
 * @property {number[]} steps
 * @property {Record<string, Anchors>} scales
 * @property {Colours} colours
 * @property {number} tall
 * @property {boolean} tools
 * @property {Words} words
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const GAP = 16;
const TITLE = 20; // px of the line over the product
const NUMBERS = 30; // a cell this wide has room for its number
const SPACIOUS = 230; // a corner this wide has room for the running sum

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const PRODUCT = {
  build(view) {
    staged(view);
    view.sum = make("div", { class: "note" });
    view.picture.append(view.sum);
  },

  update(view) {
    const { x, w } = view.arrays;
    view.sizes3 = { rows: x.shape[0], inner: x.shape[1], columns: w.shape[1] };
    const { cell } = view.state;
    if (cell && (cell[0] >= view.sizes3.rows || cell[1] >= view.sizes3.columns)) view.state.cell = null;
  },

  layout(view) {
    const { meta } = view, { rows, inner, columns } = view.sizes3;
    const probe = view.canvas.getContext("2d");
    probe.font = `13px ${view.font}`;
    const names = Math.max(...meta.rows.map((t) => probe.measureText(t).width));
    const left = Math.ceil(Math.min(names, view.width < 480 ? 54 : 90)) + 8;
    const room = view.width - left - GAP - 6;
    const few = inner <= 12;
    const step = few ? Math.min(52, meta.tall / 5, room / (inner + columns)) : Math.min(52, (0.36 * room) / inner);
    const wide = Math.min(52, (room - step * inner) / columns);
    const tall = Math.min(wide, few ? Math.min(step, 40) : 26, meta.tall / rows);
    const top = 24, down = top + step * inner + GAP + 18, right = left + step * inner + GAP;
    view.box = { left, top, right, down, step, wide, tall, width: right + wide * columns + 4, height: down + tall * rows + 4 };
    view.pen = sized(view.canvas, view.box.width, view.box.height, view.ratio);
    const scale = (s) => new Scale({ ...s, anchors: s[view.dark ? "dark" : "light"] });
    view.three = { x: scale(meta.scales.x), w: scale(meta.scales.w), y: scale(meta.scales.y) };
    view.images = {
      x: PRODUCT.image(view.three.x, view.arrays.x.values, rows, inner),
      w: PRODUCT.image(view.three.w, view.arrays.w.values, inner, columns),
    };
  },

  image(scale, values, rows, columns, from = 0, canvas = make("canvas", { width: columns, height: rows })) {
    const pixels = new ImageData(columns, rows);
    for (let k = 0, p = 0; k < rows * columns; k++, p += 4) {
      const i = 3 * scale.index(values[from + k]);
      pixels.data[p] = scale.bytes[i];
      pixels.data[p + 1] = scale.bytes[i + 1];
      pixels.data[p + 2] = scale.bytes[i + 2];
      pixels.data[p + 3] = 255;
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    return canvas;
  },

  value(view, [row, column]) {
    const { rows, columns } = view.sizes3;
    return view.arrays.partial.values[(view.frame * rows + row) * columns + column];
  },

  draw(view) {
    const { pen, box, sizes3, meta, images, three } = view, { rows, inner, columns } = sizes3;
    const { left, top, right, down, step, wide, tall } = box, done = meta.steps[view.frame];
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, box.width, box.height);
    view.small = PRODUCT.image(three.y, view.arrays.partial.values, rows, columns, view.frame * rows * columns, view.small?.width === columns && view.small?.height === rows ? view.small : undefined);
    pen.imageSmoothingEnabled = step < 1;
    pen.drawImage(images.x, left, down, step * inner, tall * rows);
    pen.drawImage(images.w, right, top, wide * columns, step * inner);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(view.small, right, down, wide * columns, tall * rows);
    PRODUCT.grids(view);
    pen.fillStyle = view.paper; // what is not added yet is pale
    pen.globalAlpha = 0.82;
    pen.fillRect(left + step * done, down, step * (inner - done), tall * rows);
    pen.fillRect(right, top + step * done, wide * columns, step * (inner - done));
    pen.globalAlpha = 1;
    PRODUCT.labels(view);
    const cell = view.cursor ?? view.state.cell;
    if (cell) PRODUCT.light(view, cell);
    view.sum.textContent = cell ? PRODUCT.spoken(view, cell) : "";
  },

  grids(view) {
    const { box, sizes3, arrays, three, pen, frame } = view, { left, top, right, down, step, wide, tall } = box;
    const { rows, inner, columns } = sizes3;
    const rule = (x, y, w, h, nx, ny) => {
      pen.fillStyle = view.paper;
      for (let i = 0; w / nx > 5 && i <= nx; i++) pen.fillRect(x + (i * w) / nx - 0.5, y, 1, h);
      for (let i = 0; h / ny > 5 && i <= ny; i++) pen.fillRect(x, y + (i * h) / ny - 0.5, w, 1);
    };
    const write = (values, from, scale, x, y, w, h, nx, ny) => {
      rule(x, y, w, h, nx, ny);
      if (w / nx < NUMBERS || h / ny < 16) return;
      pen.font = `12px ${view.font}`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      for (let k = 0; k < nx * ny; k++) {
        pen.fillStyle = scale.ink(values[from + k]);
        pen.fillText(short(values[from + k], 1), x + ((k % nx) + 0.5) * (w / nx), y + (Math.floor(k / nx) + 0.5) * (h / ny));
      }
    };
    write(arrays.x.values, 0, three.x, left, down, step * inner, tall * rows, inner, rows);
    write(arrays.w.values, 0, three.w, right, top, wide * columns, step * inner, columns, inner);
    write(arrays.partial.values, frame * rows * columns, three.y, right, down, wide * columns, tall * rows, columns, rows);
  },

  labels(view) {
    const { pen, box, sizes3, meta } = view, { left, top, right, down, step, tall } = box, { rows, inner, columns } = sizes3;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.font = `${tall < 12 ? 11 : 13}px ${view.font}`;
    pen.fillStyle = view.ink;
    for (let r = 0, n = Math.max(1, Math.ceil(13 / tall)); r < rows; r += n) pen.fillText(clip(pen, meta.rows[r], left - 8), left - 5, down + (r + 0.5) * tall);
    pen.textAlign = "left";
    pen.font = `600 14px ${view.font}`;
    pen.fillText(`X  ${rows} × ${inner}`, left, down - 10);
    pen.fillStyle = view.colours.made;
    pen.fillText(`W  ${inner} × ${columns}`, right, top - 11);
    pen.fillText(`${meta.name} = XW  ${rows} × ${columns}`, right, down - 10);
    const cell = view.cursor ?? view.state.cell;
    if (step * inner < SPACIOUS || !cell) return;
    pen.fillStyle = view.ink;
    pen.font = `700 30px ${view.font}`;
    pen.fillText(short(PRODUCT.value(view, cell)), left, top + 0.45 * step * inner);
    pen.font = `14px ${view.font}`;
    pen.fillText(`${meta.name}[${clip(pen, meta.rows[cell[0]], 90)}, ${cell[1]}]   Σ ${meta.steps[view.frame]} / ${inner}`, left, top + 0.45 * step * inner + 30);
  },

  light(view, [row, column]) { // the row and the column that meet in the cell
    const { pen, box, sizes3 } = view, { left, top, right, down, step, wide, tall } = box;
    pen.lineWidth = 2;
    pen.strokeStyle = view.ink;
    pen.strokeRect(left - 1, down + row * tall - 1, step * sizes3.inner + 2, tall + 2);
    pen.strokeStyle = view.colours.made;
    pen.strokeRect(right + column * wide - 1, top - 1, wide + 2, step * sizes3.inner + 2);
    pen.strokeStyle = view.accent;
    pen.lineWidth = 3;
    pen.strokeRect(right + column * wide - 1, down + row * tall - 1, wide + 2, tall + 2);
    pen.lineWidth = 1;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    const x = right + (column + 1) * wide, y = down + (row + 1) * tall; // between the numbers, and not through the title
    pen.moveTo(left + step * sizes3.inner, y);
    pen.lineTo(right + column * wide, y);
    pen.moveTo(x, top + step * sizes3.inner);
    pen.lineTo(x, down - TITLE);
    pen.moveTo(x, down);
    pen.lineTo(x, down + row * tall);
    pen.stroke();
    pen.setLineDash([]);
  },

  spoken(view, cell) {
    const { meta } = view;
    return fill(meta.words.tells, {
      name: meta.name, row: meta.rows[cell[0]], column: cell[1], done: meta.steps[view.frame], all: view.sizes3.inner, value: short(PRODUCT.value(view, cell), 4),
    });
  },

  under(view, x, y) {
    const { right, down, wide, tall } = view.box, { rows, columns } = view.sizes3;
    const c = Math.floor((x - right) / wide), r = Math.floor((y - down) / tall);
    return r >= 0 && r < rows && c >= 0 && c < columns ? [r, c] : null;
  },

  hand(_view, cell) {
    return cell ? "pointer" : "default";
  },

  choose(view, cell) {
    if (!cell) return;
    view.release("cell", cell);
    view.draw();
  },

  start(view) {
    return view.state.cell ?? [view.sizes3.rows - 1, 0];
  },

  step(view, now, [down, right]) {
    const { rows, columns } = view.sizes3, from = now ?? view.state.cell;
    return from ? [within(from[0] + down, rows), within(from[1] + right, columns)] : PRODUCT.start(view);
  },

  told(view) { // the sizes, and the chosen number as far as it has grown
    const { x, w, partial } = view.arrays, { meta, state } = view;
    const size = [x, w, partial].map(({ shape }) => shape.slice(-2).join(" × ")).join(", ");
    return state.cell ? `${size}; ${PRODUCT.spoken(view, state.cell)}` : `${size}; Σ ${meta.steps[view.frame]} / ${x.shape[1]}`;
  },

  csv(view) {
    const { rows, columns } = view.sizes3;
    const lines = Array.from({ length: rows }, (_, r) => [quoted(view.meta.rows[r]), ...Array.from({ length: columns }, (_c, c) => PRODUCT.value(view, [r, c]))].join(","));
    return [["", ...Array(columns).keys()].join(","), ...lines].join("\n") + "\n";
  },
};

export default PRODUCT;
