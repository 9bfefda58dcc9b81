// The cells of a cache: a column for each token, a row for each block. Old ones are grey, renewed ones show key and value.

import { clip, sized, staged, within } from "../../../shared/pictures/live/base.js";
import { fill, quoted, sentences } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string} file
 * @property {string[]} tokens
 * @property {number} place
 * @property {string} was
 * @property {number} layers
 * @property {number[][]} order
 * @property {number[]} done
 * @property {string[]} names
 * @property {number[]} best
 * @property {number} fresh
 * @property {boolean} covered
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const BAR = 27, WIDE = 640, HEAD = 22, ROW = 26, UPRIGHT = 58, SIDE = 62;

const percent = (p) => `${(100 * p).toFixed(1)}%`;

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const CELLS = {
  build(view) {
    staged(view);
  },

  update(view) {
    view.shownFrame = null;
  },

  layout(view) {
    const { meta, width } = view, n = meta.tokens.length;
    view.wide = width >= WIDE;
    view.left = view.wide ? SIDE : 22;
    view.grid = view.wide ? Math.min(width * 0.66, view.left + n * 62) : width;
    view.cell = (view.grid - view.left) / n;
    view.slanted = view.cell < 44;
    view.top = HEAD + (view.slanted ? UPRIGHT : 24) + 18;
    view.low = view.top + meta.layers * ROW;
    const bars = (meta.names.length + 1) * BAR + 34;
    view.barsAt = view.wide ? [view.grid + 26, 4] : [0, view.low + 30];
    view.high = view.wide ? Math.max(view.low + 24, bars + 8) : view.low + 34 + bars;
    view.pen = sized(view.canvas, width, view.high, view.ratio);
  },

  // The cell that is renewed alone, null while the slider renews them.
  chosen(view) {
    const { cell } = view.state;
    return cell && CELLS.exists(view, cell) ? cell : null;
  },

  exists(view, [layer, token]) {
    return layer >= 0 && layer < view.meta.layers && token >= 0 && token < view.meta.tokens.length - 1;
  },

  draw(view) {
    if (view.shownFrame !== null && view.shownFrame !== view.frame) view.state.cell = null; // the slider was moved
    view.shownFrame = view.frame;
    const { pen } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.textBaseline = "middle";
    pen.setLineDash([]);
    CELLS.names(view);
    CELLS.cells(view);
    CELLS.bars(view);
  },

  names(view) {
    const { pen, meta } = view;
    pen.textAlign = "left";
    pen.font = `600 13px ${view.font}`;
    pen.fillStyle = view.ink;
    pen.fillText(clip(pen, meta.words.screen, view.grid), 0, HEAD / 2);
    const every = Math.ceil(11 / view.cell); // where columns are narrower than a line of text, some names are left out
    meta.tokens.forEach((token, i) => {
      if ((i - meta.place) % every) return; // never the swapped one's
      const x = view.left + (i + 0.5) * view.cell, swapped = i === meta.place;
      CELLS.name(view, token, x, HEAD, swapped ? view.colours.point : view.ink, swapped);
    });
    pen.font = `12px ${view.font}`;
    pen.fillStyle = view.colours.quiet;
    pen.textAlign = "left";
    if (view.wide) pen.fillText(clip(pen, meta.words.cache, view.left - 4), 0, view.top - 10);
    for (let layer = 0; layer < meta.layers; layer++) {
      const y = CELLS.y(view, layer) + ROW / 2, name = fill(meta.words.block, { i: layer });
      pen.fillText(view.wide ? clip(pen, name, view.left - 4) : String(layer), 0, y);
    }
    CELLS.feet(view);
  },

  feet(view) { // what the cache still takes the word for, and what is no cell of it
    const { pen, meta } = view, x = view.left + (meta.place + 0.5) * view.cell;
    pen.textAlign = "right";
    pen.fillText(meta.words.now, view.grid, view.low + 12);
    const text = fill(meta.words.still, { word: meta.was }), wide = pen.measureText(text).width, room = view.grid - pen.measureText(meta.words.now).width - 10;
    pen.textAlign = "left";
    pen.fillText(clip(pen, text, room), Math.max(0, Math.min(x - wide / 2, room - wide)), view.low + 12);
  },

  name(view, token, x, y, ink, bold) {
    const { pen } = view;
    pen.fillStyle = ink;
    pen.font = `${bold ? 700 : 400} ${view.cell < 16 ? 9 : 14}px ${view.font}`;
    if (!view.slanted) {
      pen.textAlign = "center";
      return pen.fillText(clip(pen, token, view.cell - 2), x, y + 12);
    }
    pen.save();
    pen.translate(x, y + UPRIGHT - 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "left";
    pen.fillText(clip(pen, token, UPRIGHT), 0, 0);
    pen.restore();
  },

  y(view, layer) { // the last block on top: what is read goes up
    return view.low - (layer + 1) * ROW;
  },

  cells(view) {
    const { meta, pen } = view, alone = CELLS.chosen(view), done = meta.done[view.frame];
    meta.order.forEach(([layer, token], i) => {
      const fresh = alone ? alone[0] === layer && alone[1] === token : i < done;
      CELLS.box(view, layer, token, fresh);
    });
    for (let layer = 0; layer < meta.layers; layer++) { // the newest token is computed, not kept
      const x = view.left + (meta.tokens.length - 1) * view.cell, y = CELLS.y(view, layer);
      pen.strokeStyle = view.colours.answer;
      pen.lineWidth = 1.5;
      pen.setLineDash([3, 3]);
      pen.strokeRect(x + 3, y + 3, Math.max(2, view.cell - 6), ROW - 6);
      pen.setLineDash([]);
    }
    const at = view.cursor ?? alone;
    if (!at) return;
    pen.strokeStyle = view.cursor ? view.ink : view.colours.point;
    pen.lineWidth = 2.5;
    pen.strokeRect(view.left + at[1] * view.cell, CELLS.y(view, at[0]), view.cell, ROW);
  },

  box(view, layer, token, fresh) {
    const { pen } = view, x = view.left + token * view.cell + 1.5, y = CELLS.y(view, layer) + 1.5;
    const w = Math.max(2, view.cell - 3), h = ROW - 3;
    if (!fresh) {
      pen.fillStyle = view.colours.quiet;
      pen.globalAlpha = 0.28;
      pen.fillRect(x, y, w, h);
      pen.globalAlpha = 1;
      return;
    }
    pen.fillStyle = view.colours.key;
    pen.fillRect(x, y, w / 2, h);
    pen.fillStyle = view.colours.value;
    pen.fillRect(x + w / 2, y, w / 2, h);
  },

  // The chances now: of the words that are followed and, last of all, of what is left over.
  chances(view) {
    const { names } = view.meta, alone = CELLS.chosen(view), { alone: cells, values } = view.arrays;
    const from = alone ? cells.shape[2] * (alone[0] * cells.shape[1] + alone[1]) : view.frame * names.length;
    const p = names.map((_, i) => (alone ? cells.values : values.values)[from + i]);
    return [...p, Math.max(0, 1 - p.reduce((a, b) => a + b, 0))];
  },

  top(view) {
    const alone = CELLS.chosen(view), { lead } = view.arrays;
    return alone ? lead.values[alone[0] * lead.shape[1] + alone[1]] : view.meta.best[view.frame];
  },

  covered(view) {
    return view.meta.covered && view.frame === 0 && !CELLS.chosen(view);
  },

  bars(view) {
    const { pen, meta } = view, [left, top] = view.barsAt, p = CELLS.chances(view), lead = CELLS.top(view);
    const name = 86, space = view.width - left - name - 66, hidden = CELLS.covered(view);
    pen.textAlign = "left";
    pen.fillStyle = view.ink;
    pen.font = `600 13px ${view.font}`;
    pen.fillText(clip(pen, CELLS.now(view), view.width - left), left, top + 12);
    p.forEach((chance, i) => {
      const y = top + 34 + i * BAR + BAR / 2, rest = i === meta.names.length, first = i === lead && !hidden;
      pen.font = `${first ? 700 : 400} 15px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.fillText(clip(pen, rest ? meta.words.rest : meta.names[i], name - 8), left + name - 6, y);
      pen.textAlign = "left";
      if (hidden) return pen.fillText("?", left + name + 4, y);
      pen.fillStyle = first ? (i === meta.fresh ? view.colours.answer : view.colours.point) : view.colours.quiet;
      pen.globalAlpha = rest ? 0.5 : 1;
      pen.fillRect(left + name, y - 9, Math.max(1, space * chance), 18);
      pen.globalAlpha = 1;
      pen.fillStyle = view.ink;
      pen.fillText(percent(chance), left + name + Math.max(1, space * chance) + 6, y);
    });
  },

  now(view) {
    const { meta } = view, alone = CELLS.chosen(view);
    if (alone) return fill(meta.words.one, { i: alone[0], word: meta.tokens[alone[1]] });
    return fill(meta.words.renewed, { n: meta.done[view.frame], all: meta.order.length });
  },

  items(view) {
    const { meta } = view, names = [...meta.names, meta.words.rest];
    const p = CELLS.covered(view) ? [] : CELLS.chances(view).map((x, i) => `${names[i]} ${percent(x)}`);
    return [CELLS.now(view), ...p];
  },

  // ---- the cursor ----
  under(view, x, y) {
    const cell = [view.meta.layers - 1 - Math.floor((y - view.top) / ROW), Math.floor((x - view.left) / view.cell)];
    return y >= view.top && CELLS.exists(view, cell) ? cell : null;
  },

  hand(_view, cell) {
    return cell ? "pointer" : "default";
  },

  start(view) {
    return CELLS.chosen(view) ?? [view.meta.layers - 1, view.meta.place];
  },

  step(view, now, [down, right]) {
    const [layer, token] = now ?? CELLS.start(view);
    return now ? [within(layer - down, view.meta.layers), within(token + right, view.meta.tokens.length - 1)] : [layer, token];
  },

  choose(view, cell) {
    if (!cell) return;
    const [layer, token] = CELLS.chosen(view) ?? [-1, -1];
    const same = layer === cell[0] && token === cell[1];
    view.release("cell", same ? null : cell);
    view.draw();
    view.announce(CELLS.told(view));
  },

  spot(view, [layer, token]) {
    return [view.left + (token + 0.5) * view.cell, CELLS.y(view, layer) - 6];
  },

  spoken(view, [layer, token]) {
    const { meta } = view, name = { i: layer, word: meta.tokens[token] };
    if (meta.covered) return fill(meta.words.block, name);
    const { shape, values } = view.arrays.alone, from = shape[2] * (layer * shape[1] + token);
    const lead = Math.max(0, view.arrays.lead.values[layer * shape[1] + token]);
    return fill(meta.words.cell, { ...name, best: meta.names[lead], p: percent(values[from + lead]) });
  },

  told(view) {
    if (CELLS.covered(view)) return CELLS.now(view);
    const { meta } = view, lead = CELLS.top(view);
    const says = lead < 0 ? "" : `${meta.words.says} ${meta.names[lead]} ${percent(CELLS.chances(view)[lead])}`;
    return sentences(CELLS.now(view), says);
  },

  csv(view) {
    const { names, done, words } = view.meta, { values } = view.arrays.values;
    const rows = done.map((n, f) => [n, ...names.map((_, i) => values[f * names.length + i])].join(","));
    return [[words.stop, ...names].map(quoted).join(","), ...rows].join("\n") + "\n";
  },
};

export default CELLS;
