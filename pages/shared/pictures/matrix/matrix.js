// The live matrix: tokens on both axes, numbers in the cells when there is room, a cell cursor, frames under a slider.
// Everything it draws was computed in core; it adds no number of its own.

import { clip, make, sized, staged, svgOf, within } from "../live/base.js";
import { escaped, exact, fill, quoted, Scale, short, signed } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Anchors} Anchors */
/** @typedef {import("../live/base.js").Colours} Colours */
/** @typedef {import("../live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[] | null} rows
 * @property {string[] | null} columns
 * @property {number} packed
 * @property {number | number[] | null} row
 * @property {boolean} paint
 * @property {{ cell: number[], strip: string } | null} cut
 * @property {string} rowTitle
 * @property {string} columnTitle
 * @property {Anchors} scale
 * @property {Anchors[] | null} scales
 * @property {Colours} colours
 * @property {number} digits
 * @property {number} cellWidth
 * @property {number | null} cellHeight
 * @property {number | null} rowHeight
 * @property {number} tall
 * @property {string} strip
 * @property {boolean} legible
 * @property {number[][]} point
 * @property {boolean} tools
 * @property {Words} words
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const GAP_BELOW = 48; // more rows or columns than this are drawn without gaps between the cells
const LEGIBLE = 64; // a row of more numbers than this is no longer read one by one
const LOW = 2.5; // px of a row where a screen has no room for more: words stay large, shown larger still in front of a class
const NUMBERS_FROM = 30; // a cell this wide has room for its number

function at(view, row, column) {
  const { values, packed, rows, columns, alike } = view.cells, frame = alike ? 0 : view.frame;
  if (row === view.cutRow) return view.arrays.cut.values[view.frame * columns + column];
  if (packed) return column > row ? NaN : values[frame * packed + (row * (row + 1)) / 2 + column];
  return values[frame * rows * columns + row * columns + column];
}

function open(view, row, column) { // what may not be looked at is left blank
  const { rows, columns, packed } = view.cells, shut = view.arrays.shut, cell = row * columns + column;
  const brushed = view.stroke?.get(cell);
  if (brushed !== undefined) return brushed;
  return !(packed && column > row) && !shut?.values[moving(view) ? view.frame * rows * columns + cell : cell];
}

function moving(view) { // what is shut changes with the slider
  return view.arrays.shut?.shape.length === 3;
}

function heard(view) { // somebody listens which cell is chosen, and the address keeps it
  return "cell" in (view.meta.state ?? {});
}

// The chosen cell's row; under a strip for which none can be chosen the one that is pointed at; else the one that Python
// follows, perhaps from frame to frame.
function followed(view) {
  const { row } = view.meta, pointed = view.meta.strip && !heard(view) ? view.cursor : null;
  return (view.state.cell ?? pointed)?.[0] ?? (Array.isArray(row) ? row[view.frame] : row);
}

// A row is shown as it is after the cut while its cell is chosen: between a click and Python's answer it is not.
function isCut(view) {
  const cell = view.meta.cut?.cell, chosen = view.state.cell;
  return Boolean(cell && chosen && cell[0] === chosen[0] && cell[1] === chosen[1]);
}

function name(view, axis, i) {
  return view.meta[axis]?.[i] ?? String(i);
}

function spoken(view, row, column) {
  const x = at(view, row, column);
  const value = open(view, row, column) ? exact(x) : view.meta.words.closed;
  return fill(view.meta.words.tells, { row: name(view, "rows", row), column: name(view, "columns", column), value, i: row, j: column });
}

function written(view, x) { // a number in its cell
  const size = Math.abs(x), text = size >= 1e5 ? x.toExponential(0).replace("+", "") : x.toFixed(size >= 100 ? 0 : (view.meta.digits ?? 2));
  return Number.isFinite(x) ? signed(text.replace(/^-(?=0\.?0*$)/, "")) : short(x);
}

function numbered(view) { // the cells have room for their numbers
  return view.box.cell >= (view.meta.digits === 0 ? 18 : NUMBERS_FROM) && view.box.height >= (view.zoom > 1 ? 13 : 16) && view.cells.rows * view.cells.columns <= 900;
}

function every(view, step) { // of names this close, only these have room
  return Math.max(1, Math.ceil((view.box.size + 2) / step));
}

/** @type {import("../live/base.js").Painter<Meta>} */
const MATRIX = {
  build(view) {
    staged(view);
    const cell = (event) => MATRIX.under(view, event.offsetX, event.offsetY);
    view.canvas.addEventListener("pointerdown", (event) => event.button || MATRIX.press(view, cell(event), event.pointerId));
    view.canvas.addEventListener("pointermove", (event) => MATRIX.brush(view, cell(event)));
    view.canvas.addEventListener("pointerup", () => MATRIX.lift(view));
    view.canvas.addEventListener("pointercancel", () => MATRIX.lift(view, false));
  },

  update(view) {
    const { meta, arrays } = view;
    const { shape, values } = arrays.values;
    const square = meta.packed;
    const [rows, columns] = square ? [square, square] : shape.slice(-2);
    view.cells = { values, packed: (square * (square + 1)) / 2, rows, columns, alike: shape[0] === 1 };
    view.cutRow = -1;
    if (!view.painting) view.stroke = null;
    if (!heard(view)) view.state.cell = null;
    if (view.state.cell && (view.state.cell[0] >= rows || view.state.cell[1] >= columns)) view.state.cell = null;
  },

  // Sizes follow the width: labels as long as they need, cells as large as they may.
  layout(view) {
    const { meta } = view, { rows, columns } = view.cells;
    const narrow = view.width < 480, size = narrow ? 12 : 13;
    const probe = view.canvas.getContext("2d");
    probe.font = `${size}px ${view.font}`;
    const longest = (names) => Math.min(names ? Math.max(...names.map((t) => probe.measureText(t).width)) : 16, narrow ? 60 : 96);
    const left = Math.ceil(longest(meta.rows)) + 26, top = Math.ceil(longest(meta.columns)) + 26;
    const fit = Math.min(meta.cellWidth, (view.width - left - 4) / columns, meta.rowHeight ? Infinity : Math.max(3, meta.tall / rows));
    const legible = meta.legible && narrow && columns <= LEGIBLE; // the numbers are the point: the picture scrolls
    const cell = legible ? Math.max(NUMBERS_FROM + 2, Math.floor(fit)) : fit >= 3 ? Math.floor(fit) : fit;
    view.stage.classList.toggle("wide", legible && left + cell * columns + 4 > view.width);
    const strip = meta.strip && view.ceiling === Infinity ? 86 : 0;
    const room = Math.max(LOW, (view.ceiling - top - (meta.scales ? 8 : strip || 36)) / rows);
    const height = Math.min(meta.rowHeight ?? Math.min(cell, meta.cellHeight ?? cell), room);
    view.box = { left, top, cell, height, size, strip, bottom: top + height * rows };
    view.tallness = view.box.bottom + (strip || (meta.scales ? 8 : 36));
    view.pen = sized(view.canvas, Math.max(left + cell * columns + 4, Math.min(view.width, 300)), view.tallness, view.ratio);
    view.still = MATRIX.stillOf(view);
    view.pixels = new ImageData(columns, rows);
    view.small = make("canvas", { width: columns, height: rows });
    view.scales = view.meta.scales?.map((s) => new Scale({ ...s, anchors: s[view.dark ? "dark" : "light"] }));
  },

  scale(view, row) { // rows of different kinds have scales of their own
    return view.scales?.[row] ?? view.scale;
  },

  // What stays while the slider moves: labels, titles, colour bar.
  stillOf(view) {
    const still = make("canvas", { width: view.canvas.width, height: view.canvas.height });
    const pen = still.getContext("2d");
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    const { left, top, cell, height: tall, size } = view.box, { rows, columns } = view.cells, { meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.canvas.width, view.tallness);
    pen.fillStyle = view.ink;
    pen.textBaseline = "middle";
    pen.font = `${size}px ${view.font}`;
    pen.textAlign = "right";
    for (let r = 0, n = every(view, tall); r < rows; r += n) pen.fillText(clip(pen, name(view, "rows", r), left - 26), left - 6, top + (r + 0.5) * tall);
    pen.textAlign = "left";
    for (let c = 0, n = every(view, cell); c < columns; c += n) {
      pen.save();
      pen.translate(left + (c + 0.5) * cell, top - 6);
      pen.rotate(-Math.PI / 2);
      pen.fillText(clip(pen, name(view, "columns", c), top - 26), 0, 0);
      pen.restore();
    }
    pen.font = `600 ${size}px ${view.font}`;
    pen.fillStyle = view.colours.column ?? view.ink;
    if (meta.columnTitle) pen.fillText(meta.columnTitle + " →", left, 9);
    pen.save();
    pen.translate(9, top);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "right";
    pen.fillStyle = view.colours.row ?? view.ink;
    if (meta.rowTitle) pen.fillText("← " + meta.rowTitle, 0, 0);
    pen.restore();
    if (!moving(view)) MATRIX.hatch(view, pen);
    if (!meta.scales) MATRIX.colourBar(view, pen, view.box.bottom + 8);
    return still;
  },

  hatch(view, pen) { // where nothing may be: thin slanted lines
    const { left, top, cell, height: tall } = view.box, { rows, columns } = view.cells;
    pen.save();
    pen.beginPath();
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) if (!open(view, r, c)) pen.rect(left + c * cell, top + r * tall, cell, tall);
    pen.clip();
    pen.strokeStyle = view.ink;
    pen.globalAlpha = 0.16;
    pen.beginPath();
    const end = columns * cell + rows * tall;
    for (let d = 0; d < end; d += 7) {
      pen.moveTo(left + d, top);
      pen.lineTo(left + d - rows * tall, top + rows * tall);
    }
    pen.stroke();
    pen.restore();
  },

  colourBar(view, pen, y) { // at the right, beside the name of the followed row
    const { low, high } = view.scale;
    const width = Math.min(120, Math.max(60, view.box.cell * view.cells.columns - 260));
    const x = Math.max(view.box.left, view.pen.canvas.width / view.ratio - width - 110);
    for (let i = 0; i < width; i++) {
      pen.fillStyle = view.scale.css(low + ((high - low) * i) / (width - 1));
      pen.fillRect(x + 46 + i, y, 1.5, 12);
    }
    pen.fillStyle = view.ink;
    pen.font = `12px ${view.font}`;
    pen.textAlign = "right";
    pen.fillText(short(low, 2), x + 40, y + 6);
    pen.textAlign = "left";
    pen.fillText(short(high, 2), x + width + 52, y + 6);
  },

  draw(view) {
    const { pen, box, still, pixels, small } = view, { rows, columns } = view.cells;
    const { left, top, cell, height: tall } = box;
    const data = pixels.data;
    view.cutRow = isCut(view) ? view.state.cell[0] : -1;
    for (let r = 0, k = 0; r < rows; r++) {
      const scale = MATRIX.scale(view, r);
      for (let c = 0; c < columns; c++, k += 4) {
        const x = at(view, r, c);
        const finite = Number.isFinite(x) && open(view, r, c);
        const i = 3 * scale.index(finite ? x : 0);
        data[k] = scale.bytes[i];
        data[k + 1] = scale.bytes[i + 1];
        data[k + 2] = scale.bytes[i + 2];
        data[k + 3] = finite ? 255 : 0;
      }
    }
    small.getContext("2d").putImageData(pixels, 0, 0);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(still, 0, 0);
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, left, top, cell * columns, tall * rows);
    if (Math.max(rows, columns) <= GAP_BELOW) MATRIX.grid(view);
    if (moving(view)) MATRIX.hatch(view, pen);
    if (numbered(view)) MATRIX.numbers(view);
    MATRIX.marks(view);
    if (view.box.strip) MATRIX.row(view);
  },

  grid(view) {
    const { left, top, cell, height: tall } = view.box, { rows, columns } = view.cells, { pen } = view;
    pen.fillStyle = view.paper;
    for (let r = 0; r <= rows; r++) pen.fillRect(left, top + r * tall - 0.5, columns * cell, 1);
    for (let c = 0; c <= columns; c++) pen.fillRect(left + c * cell - 0.5, top, 1, rows * tall);
  },

  numbers(view) {
    const { left, top, cell, height: tall } = view.box, { rows, columns } = view.cells, { pen } = view;
    pen.font = `${cell >= 40 ? 12 : 11}px ${view.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        if (!open(view, r, c)) continue;
        const x = at(view, r, c);
        pen.fillStyle = Number.isFinite(x) ? MATRIX.scale(view, r).ink(x) : view.ink;
        pen.fillText(written(view, x), left + (c + 0.5) * cell, top + (r + 0.5) * tall);
      }
    }
  },

  // The followed row, the chosen cell, cells that Python points at, the cursor.
  marks(view) {
    const { left, top, cell, height: tall } = view.box, { columns } = view.cells, { pen, meta } = view;
    const frame = (r, c, w, colour, thick) => {
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      const around = Math.min(cell, tall) < 4 * thick ? thick / 2 : 0; // a frame as wide as its cell would hide it
      pen.strokeRect(left + c * cell - around, top + r * tall - around, w * cell + 2 * around, tall + 2 * around);
    };
    const chosen = view.state.cell, row = followed(view);
    if (Number.isInteger(row) && row < view.cells.rows) frame(row, 0, columns, view.colours.row ?? view.accent, 2);
    for (const [r, c] of meta.point ?? []) frame(r, c, 1, view.ink, 1.5);
    if (chosen) {
      frame(chosen[0], chosen[1], 1, view.accent, 3);
      if (isCut(view)) MATRIX.cross(view, chosen);
    }
    if (view.cursor) frame(view.cursor[0], view.cursor[1], 1, view.ink, 2);
  },

  cross(view, [r, c]) {
    const { left, top, cell, height: tall } = view.box, { pen } = view;
    const x = left + c * cell, y = top + r * tall;
    pen.beginPath();
    pen.moveTo(x + 2, y + tall - 2);
    pen.lineTo(x + cell - 2, y + 2);
    pen.stroke();
  },

  // The followed row once more as columns under the picture, and how spread out it is.
  row(view) {
    const { pen, meta } = view, { left, cell, bottom, strip, size } = view.box, { columns } = view.cells;
    const r = followed(view) ?? view.cells.rows - 1, foot = bottom + strip - 4, most = strip - 32;
    pen.font = `600 ${size}px ${view.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillStyle = view.colours.row ?? view.ink;
    const cut = r === view.cutRow;
    const entropy = cut ? view.arrays.cutEntropy?.values[view.frame] : view.arrays.entropy?.values[view.frame * view.cells.rows + r];
    pen.fillText(fill(cut ? meta.cut.strip : meta.strip, { row: name(view, "rows", r), entropy: entropy === undefined ? "" : entropy.toFixed(2) }), left, bottom + 14);
    pen.fillStyle = view.colours.bar;
    const scale = MATRIX.scale(view, r), high = Math.max(scale.high, -scale.low);
    for (let c = 0; c < columns; c++) {
      const x = open(view, r, c) ? at(view, r, c) : 0;
      if (!Number.isFinite(x)) continue;
      const tall = most * Math.min(1, Math.abs(x) / high);
      pen.globalAlpha = x < 0 ? 0.45 : 1;
      pen.fillRect(left + c * cell + (cell > 6 ? 2 : 0), foot - tall, cell > 6 ? cell - 4 : cell, Math.max(tall, 1));
    }
    pen.globalAlpha = 1;
  },

  under(view, x, y) {
    const { left, top, cell, height: tall } = view.box, { rows, columns } = view.cells;
    const c = Math.floor((x - left) / cell), r = Math.floor((y - top) / tall);
    return r >= 0 && r < rows && c >= 0 && c < columns ? [r, c] : null;
  },

  exists(view, [row, column]) {
    return row < view.cells.rows && column < view.cells.columns;
  },

  hand(view, cell) {
    return !cell ? "default" : view.meta.paint ? "crosshair" : heard(view) ? "pointer" : "default";
  },

  spot(view, [row, column]) {
    const { left, top, cell, height } = view.box;
    return [left + (column + 0.5) * cell, top + row * height];
  },

  spoken(view, cell) {
    return spoken(view, ...cell);
  },

  start(view) {
    return view.state.cell ?? [view.cells.rows - 1, 0];
  },

  step(view, now, [down, right]) {
    const { rows, columns } = view.cells, from = now ?? view.state.cell;
    return from ? [within(from[0] + down, rows), within(from[1] + right, columns)] : MATRIX.start(view);
  },

  told(view) { // the size, and the largest cell: what a glance would tell
    const { rows, columns } = view.cells;
    let best = null, most = -Infinity;
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
      const x = open(view, r, c) ? at(view, r, c) : NaN;
      if (Number.isFinite(x) && x > most) [best, most] = [[r, c], x];
    }
    if (!best) return "";
    const [row, column] = [name(view, "rows", best[0]), name(view, "columns", best[1])];
    return fill(view.meta.words.told, { rows, columns, row, column, value: short(most) });
  },

  // Painting: the first cell decides whether the brush opens or closes; what it did is told once it is lifted.
  press(view, cell, pointer) {
    if (!view.meta.paint || !cell) return;
    if (pointer !== undefined) view.canvas.setPointerCapture(pointer);
    view.stroke ??= new Map();
    view.painting = { opens: !open(view, ...cell), rows: new Map(), last: cell };
    MATRIX.brush(view, cell);
  },

  brush(view, cell) {
    const painting = view.painting;
    if (!painting || !cell) return;
    const [r0, c0] = painting.last, [r1, c1] = cell, steps = Math.max(1, Math.abs(r1 - r0), Math.abs(c1 - c0));
    for (let k = 0; k <= steps; k++) { // a fast hand skips no cell
      const r = Math.round(r0 + ((r1 - r0) * k) / steps), c = Math.round(c0 + ((c1 - c0) * k) / steps);
      if (open(view, r, c) === painting.opens) continue;
      view.stroke.set(r * view.cells.columns + c, painting.opens);
      painting.rows.set(r, (painting.rows.get(r) ?? 0n) | (1n << BigInt(c)));
    }
    painting.last = cell;
    view.draw();
  },

  lift(view, keep = true) {
    const painting = view.painting;
    if (!painting) return;
    view.painting = null;
    const rows = [...painting.rows].map(([r, bits]) => `${r}-${bits.toString(16)}`);
    if (keep && rows.length) view.setTriggerValue("paint", `${painting.opens ? 1 : 0}:${rows.join("_")}`);
    else view.stroke = null;
    view.draw();
  },

  choose(view, cell, byKey = false) {
    if (!cell || (view.meta.paint && !byKey)) return;
    if (view.meta.paint) {
      MATRIX.press(view, cell);
      MATRIX.lift(view);
      return view.announce(spoken(view, ...cell));
    }
    if (!heard(view)) return;
    view.release("cell", cell);
    view.draw();
  },

  csv(view) {
    const { rows, columns } = view.cells, lines = [];
    const head = Array.from({ length: columns }, (_, c) => quoted(name(view, "columns", c)));
    lines.push([quoted(`${view.meta.rowTitle} \\ ${view.meta.columnTitle}`), ...head].join(","));
    for (let r = 0; r < rows; r++) {
      const cells = Array.from({ length: columns }, (_, c) => (open(view, r, c) ? String(at(view, r, c)) : ""));
      lines.push([quoted(name(view, "rows", r)), ...cells].join(","));
    }
    return lines.join("\n") + "\n";
  },

  svg(view) {
    const { left, top, cell, height: tall, size, bottom } = view.box, { rows, columns } = view.cells, { meta } = view, parts = [];
    const text = (x, y, t, more = "") => parts.push(`<text x="${x}" y="${y}" ${more}>${escaped(t)}</text>`);
    const upright = (x, y, t, more = "") => text(x, y, t, `transform="rotate(-90 ${x} ${y})" ${more}`);
    const gap = Math.max(rows, columns) <= GAP_BELOW ? 1 : 0;
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
      const x = at(view, r, c), px = left + c * cell, py = top + r * tall;
      if (!open(view, r, c)) continue;
      if (Number.isFinite(x)) parts.push(`<rect x="${px}" y="${py}" width="${cell - gap}" height="${tall - gap}" fill="${MATRIX.scale(view, r).css(x)}"/>`);
      const ink = Number.isFinite(x) ? MATRIX.scale(view, r).ink(x) : view.ink;
      if (numbered(view)) text(px + cell / 2, py + tall / 2 + 4, written(view, x), `text-anchor="middle" font-size="11" fill="${ink}"`);
    }
    for (let r = 0; r < rows; r += every(view, tall)) text(left - 6, top + (r + 0.5) * tall + 4, name(view, "rows", r), 'text-anchor="end"');
    for (let c = 0; c < columns; c += every(view, cell)) upright(left + (c + 0.5) * cell + 4, top - 6, name(view, "columns", c));
    if (meta.columnTitle) text(left, 13, meta.columnTitle + " →", `font-weight="600" fill="${view.colours.column ?? view.ink}"`);
    if (meta.rowTitle) upright(13, top, "← " + meta.rowTitle, `text-anchor="end" font-weight="600" fill="${view.colours.row ?? view.ink}"`);
    const row = followed(view);
    const framed = Number.isInteger(row) && row < rows, stroke = `stroke="${view.colours.row ?? view.accent}" stroke-width="2"`;
    if (isCut(view)) {
      const [x, y] = [left + view.state.cell[1] * cell, top + row * tall];
      parts.push(`<path d="M${x + 2} ${y + tall - 2}L${x + cell - 2} ${y + 2}" stroke="${view.accent}" stroke-width="3"/>`);
    }
    if (framed) parts.push(`<rect x="${left}" y="${top + row * tall}" width="${cell * columns}" height="${tall}" fill="none" ${stroke}/>`);
    text(4, bottom + 20, view.captionNow, 'font-weight="600"');
    return svgOf(view, Math.max(left + cell * columns + 6, 300), bottom + 30, size, parts);
  },
};

export const styles = [new URL("matrix.css", import.meta.url)];
export default MATRIX;
