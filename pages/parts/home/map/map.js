// The model as a map: every token a row, every stage a column, every strip a real vector, every arc a real weight.

import { clip, make, sized } from "../../../shared/pictures/live/base.js";
import { short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/** @typedef {{ token: string, p: number }} Word */
/** @typedef {{ block: number, head: number, query: number, key: number, weight: number, cut: boolean }} Link */
/** What the model says at one stop. @typedef {{ lens: Word[], next: Word[], before: number[] | null }} Said */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} tokens
 * @property {number} start
 * @property {number} blocks
 * @property {number} heads
 * @property {boolean} veiled
 * @property {boolean} hunt
 * @property {Link[]} links
 * @property {Said[]} said
 * @property {Anchors} scale
 * @property {Colours} colours
 * @property {Words} titles
 * @property {Words} says
 * @property {Words} shapes
 * @property {Words} pages
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const LABELS = 72, IDS = 40, HEAD = 62, FOOT = 62, WORDS = 150, ARCS = 80;
const LEAST = 900; // px: a narrower screen scrolls
const FLOWS = 5200, UNVEILS = 1400; // ms of the two motions
const SOFT = 110; // px over which a column comes out of the paper
const NEAR = 8; // px from an arc that count as on it
const FAINT = 0.02; // weights below that are not drawn
/** @type {[string, number, number][]} */
const INSIDE = [ // the columns of the open block: array, width, the gap before it
  ["norm1", 28, 10], ["q", 27, 9], ["k", 27, 3], ["v", 27, 3], ["z", 27, ARCS], ["attn_out", 28, 6],
  ["norm2", 28, 17], ["ffn_act", 36, 7], ["ffn_out", 28, 7], ["resid_post", 30, 17],
];
let flowed = false; // the motion greets a visitor once

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches || document.documentElement.hasAttribute("data-print");

function strip(view, name, block, head) { // the numbers of one column: (token, cell)
  const { shape, values } = view.arrays[name];
  const n = shape[shape.length - 2] * shape[shape.length - 1];
  const index = shape.length === 4 ? block * shape[1] + head : shape.length === 3 ? block : 0;
  return { rows: shape[shape.length - 2], columns: shape[shape.length - 1], values: values.subarray(index * n, (index + 1) * n) };
}

function eased(x) {
  return x < 0.5 ? 2 * x * x : 1 - (2 - 2 * x) ** 2 / 2;
}

function heightAt([x0, y0, , , , , x1, y1], x) { // the curve's own height: its x runs as 1.5 (t − t²) + t³ of the way
  const way = Math.max(0, Math.min(1, (x - x0) / (x1 - x0)));
  let t = way;
  for (let i = 0; i < 6; i++) t -= (1.5 * t - 1.5 * t * t + t * t * t - way) / (1.5 - 3 * t + 3 * t * t);
  return y0 + (y1 - y0) * (3 * t * t - 2 * t * t * t);
}

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const FLOW = {
  build(view) {
    view.scroll = make("div", { class: "scroll", tabindex: 0, role: "application" });
    view.inner = make("div", { class: "inner" });
    view.canvas = make("canvas", { role: "img" });
    view.titles = make("div", { class: "titles" });
    view.tip = make("div", { class: "tip", hidden: true });
    view.again = make("button", { type: "button", class: "pill again" }, "↻");
    view.again.addEventListener("click", () => FLOW.flow(view, FLOWS));
    view.thumbs = make("div", { class: "thumbs", role: "radiogroup" });
    view.inner.append(view.canvas, view.titles, view.tip);
    view.scroll.append(view.inner);
    view.inner.append(view.again);
    view.picture.append(view.thumbs, view.scroll);
    view.veil = make("canvas"); // the map without what is under it, for the motion
    Object.assign(view, { progress: 1, hot: -1, spot: null });
    view.canvas.addEventListener("pointermove", (event) => FLOW.hover(view, event.offsetX, event.offsetY));
    view.canvas.addEventListener("pointerleave", () => FLOW.hover(view, -1, -1));
    view.canvas.addEventListener("click", (event) => FLOW.click(view, event.offsetX, event.offsetY));
    view.scroll.addEventListener("keydown", (event) => FLOW.key(view, event));
    view.scroll.addEventListener("blur", () => FLOW.aim(view, null));
  },

  update(view) {
    const { meta } = view;
    view.block = view.state.block ?? 0;
    view.head = view.state.head ?? 0;
    view.scroll.setAttribute("aria-label", meta.hunt ? `${meta.label} ${meta.words.keys}` : meta.label);
    view.again.title = meta.words.replay;
    view.again.setAttribute("aria-label", meta.words.replay);
    view.again.hidden = !meta.veiled || calm();
    if (view.spot && view.spot.query >= FLOW.rowsNow(view)) view.spot = null; // else an answer would move the hand
    FLOW.small(view);
    const lifted = view.wasVeiled && !meta.veiled;
    if (meta.veiled && !flowed && !calm()) FLOW.flow(view, FLOWS);
    else if (lifted && !calm()) FLOW.flow(view, UNVEILS, 0.7);
    flowed = true;
    view.toAnswer = view.seen && JSON.stringify(meta.links) !== view.linked; // what a cut changes stands at the far end
    view.linked = JSON.stringify(meta.links);
    view.wasVeiled = meta.veiled;
    view.seen = true;
  },

  rowsNow(view) {
    return Math.min(view.meta.tokens.length, view.meta.start + view.frame);
  },

  // ---- all heads, small: one of them is open ----
  small(view) {
    const { meta } = view, now = JSON.stringify([meta.id, meta.hunt]);
    view.thumbs.hidden = !meta.hunt;
    view.thumbs.setAttribute("aria-label", meta.words.heads);
    if (now === view.drawn) return void FLOW.mark(view);
    view.drawn = now;
    const focused = view.thumbs.contains(/** @type {ShadowRoot} */ (view.thumbs.getRootNode()).activeElement);
    const groups = [];
    for (let block = 0; meta.hunt && block < meta.blocks; block++) {
      const group = make("div", { class: "group" }, make("span", {}, `${meta.words.block} ${block}`));
      for (let head = 0; head < meta.heads; head++) {
        const picture = make("canvas", { width: meta.tokens.length, height: meta.tokens.length });
        const button = make("button", { type: "button", role: "radio", "aria-label": `${meta.words.head} ${block}.${head}`, title: `${block}.${head}`, "data-at": `${block}.${head}` }, picture);
        button.addEventListener("click", () => FLOW.open(view, block, head));
        button.addEventListener("keydown", (event) => FLOW.walk(view, event, block, head));
        group.append(button);
      }
      groups.push(group);
    }
    view.thumbs.replaceChildren(...groups);
    FLOW.mark(view);
    if (focused) view.thumbs.querySelector('[aria-checked="true"]')?.focus();
  },

  mark(view) { // paints every small picture, and says which is open and which hold a lit link
    const ink = view.dark ? [186, 156, 255] : [92, 46, 180];
    for (const button of view.thumbs.querySelectorAll("button")) {
      const [block, head] = button.dataset.at.split(".").map(Number), on = block === view.block && head === view.head;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
      const lit = view.meta.links.filter((one) => one.block === block && one.head === head);
      button.classList.toggle("lit", lit.length > 0);
      button.classList.toggle("cut", lit.some((one) => one.cut));
      const { rows, values } = strip(view, "weights", block, head), canvas = button.firstChild;
      const pixels = new ImageData(rows, rows);
      values.forEach((w, i) => pixels.data.set([...ink, 255 * Math.min(1, Number(w))], 4 * i));
      canvas.getContext("2d").putImageData(pixels, 0, 0);
    }
  },

  open(view, block, head) {
    Object.assign(view, { block, head });
    view.release("block", block);
    view.release("head", head);
    view.spot = null;
    FLOW.mark(view);
    FLOW.layout(view);
    FLOW.draw(view);
    view.announce(`${view.meta.words.head} ${block}.${head}`);
  },

  walk(view, event, block, head) {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: view.meta.heads, ArrowUp: -view.meta.heads }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = view.meta.blocks * view.meta.heads, to = (block * view.meta.heads + head + by + all) % all;
    FLOW.open(view, Math.floor(to / view.meta.heads), to % view.meta.heads);
    view.thumbs.querySelector('[aria-checked="true"]').focus();
  },

  // ---- the motion: the sentence comes out of the paper from left to right, one wave over all its rows ----
  flow(view, ms, from = 0) {
    const begun = performance.now();
    cancelAnimationFrame(view.rolling);
    const step = (now) => {
      const t = Math.min(1, (now - begun) / ms);
      view.progress = from + (1 - from) * eased(t);
      view.scroll.scrollLeft = t < 1 ? view.progress * (view.wide - view.width) : 0; // on a phone the map passes by
      if (view.wide) FLOW.draw(view);
      if (t === 1) FLOW.reveal(view);
      if (t < 1 && view.root.isConnected) view.rolling = requestAnimationFrame(step);
      else view.progress = 1;
    };
    view.progress = from;
    view.rolling = requestAnimationFrame(step);
  },

  layout(view) {
    const { meta } = view, rows = FLOW.rowsNow(view);
    const wide = Math.max(LEAST, view.width);
    const fixed = LABELS + IDS + 38 + WORDS + 52 + INSIDE.reduce((a, [, w, g]) => a + w + g, 0);
    const closed = Math.max(16, Math.min(54, (wide - fixed) / Math.max(1, meta.blocks - 1) - 10));
    const left = view.ceiling - view.thumbs.offsetHeight - HEAD - FOOT - 4; // in front of a class rows move together, words grow
    const row = Math.max(10, Math.min(22, Math.max(left, 14 * rows) / rows, 320 / rows));
    const columns = [];
    let x = LABELS + IDS;
    const add = (name, width, gap, more = {}) => {
      x += gap;
      columns.push({ name, x, width, ...more });
      x += width;
    };
    add("embed", 38, 0, { lens: 0 });
    for (let block = 0; block < meta.blocks; block++) {
      if (block === view.block) for (const [name, width, gap] of INSIDE) add(name, width, gap, { open: true, inside: block, lens: name === "resid_post" ? block + 1 : null });
      else add("resid_post", closed, 10, { block, lens: block + 1 });
    }
    add("next_logits", 32, 14, { last: true });
    Object.assign(view, { columns, row, rows, tall: rows * row, end: x + 4, wide: Math.max(x + 4 + WORDS, Math.min(wide, 1340)) });
    const height = HEAD + view.tall + FOOT;
    view.pen = sized(view.canvas, view.wide, height, view.ratio);
    sized(view.veil, view.wide, height, view.ratio);
    view.inner.style.width = `${view.wide}px`;
    view.inner.style.height = `${height}px`;
    view.strips = columns.map((column) => FLOW.painted(view, column));
    FLOW.titlesOf(view);
    if (view.toAnswer) view.scroll.scrollLeft = view.wide - view.width;
    else if (view.shown !== view.linked) FLOW.reveal(view);
    view.shown = view.linked;
    view.toAnswer = false;
  },

  reveal(view) { // on a phone: the arcs of a lit link, and not only the words at the left
    const z = view.columns.find((c) => c.name === "z");
    if (FLOW.lit(view).length && view.wide > view.width) view.scroll.scrollLeft = z.x + 20 - view.width;
  },

  painted(view, { name, block, inside }) { // one column as a small picture
    const { rows, columns, values } = strip(view, name, block ?? inside ?? 0, view.head);
    const small = make("canvas", { width: columns, height: rows });
    const pixels = new ImageData(columns, rows);
    let sum = 1e-12;
    for (const x of values) sum += x * x;
    const most = 2.5 * Math.sqrt(sum / values.length); // a few giant numbers would leave the rest without colour
    const { bytes } = view.scale;
    for (let i = 0; i < values.length; i++) {
      const k = 3 * Math.round(127.5 + 127.5 * Math.max(-1, Math.min(1, values[i] / most)));
      pixels.data.set([bytes[k], bytes[k + 1], bytes[k + 2], 255], 4 * i);
    }
    small.getContext("2d").putImageData(pixels, 0, 0);
    return { small, most };
  },

  titlesOf(view) { // the names above the columns; those that have a page open it
    const { meta } = view;
    const now = JSON.stringify([meta.titles, meta.pages, meta.shapes, meta.veiled, view.block, view.wide]);
    if (now === view.titled) return; // a button must not be exchanged under a finger
    view.titled = now;
    const nodes = [];
    const put = (text, x, width, stage, level = 0) => {
      const page = meta.veiled ? null : meta.pages[stage];
      const node = make(page ? "button" : "span", { class: "title", type: page ? "button" : null, title: meta.says[stage] ?? null }, text);
      if (page) node.addEventListener("click", () => view.setTriggerValue("open", page));
      Object.assign(node.style, { left: `${x}px`, width: `${width}px`, top: `${level ? 0 : 20}px` });
      nodes.push(node);
      const shape = meta.shapes[stage];
      if (shape && !level) {
        const [rows, columns] = shape.split("×"), long = columns && (rows.length > 2 || meta.said.length > 1); // no room for three digits, or a row more at every stop
        const size = make("span", { class: "size" }, long ? `n×${columns === rows ? "n" : columns}` : shape);
        Object.assign(size.style, { left: `${x - 10}px`, width: `${width + 20}px`, top: "41px" });
        nodes.push(size);
      }
    };
    put(meta.titles.tokens, 0, LABELS - 8, "tokens");
    put(meta.titles.ids, LABELS - 4, IDS, "ids");
    for (const column of view.columns) {
      if (column.block !== undefined) put(String(column.block), column.x, column.width, "block");
      else if (column.last) put(meta.titles.next_logits, column.x - 16, column.width + 32, "next_logits");
      else if (!["k", "v", "q"].includes(column.name)) put(meta.titles[column.name], column.x - 13, column.width + 26, column.name);
      else put(meta.titles[column.name], column.x, column.width, column.name);
    }
    const z = view.columns.find((c) => c.name === "z"), open = view.columns.filter((c) => c.open);
    put(meta.titles.weights, z.x - ARCS + 4, ARCS - 8, "weights");
    put(`${meta.words.block} ${view.block} · ${meta.words.head} ${view.head}`, open[0].x, open.at(-1).x + open.at(-1).width - open[0].x, "block", 1);
    put(meta.titles.words, view.end + 26, WORDS - 40, "next_probs");
    view.titles.replaceChildren(...nodes);
  },

  draw(view) {
    if (FLOW.rowsNow(view) !== view.rows) FLOW.layout(view); // a token more, a row more
    const { wide, tall, progress, canvas } = view, height = HEAD + tall + FOOT;
    const pen = canvas.getContext("2d");
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, wide, height);
    view.pen = pen;
    FLOW.tokens(view);
    if (progress < 1) return void FLOW.emerging(view, pen, height);
    FLOW.inside(view);
  },

  inside(view) { // all that flows, from the embedding to the next word
    const { pen, columns, row, tall } = view, open = columns.filter((c) => c.open);
    pen.fillStyle = view.colours.room;
    pen.globalAlpha = 0.09;
    pen.beginPath();
    pen.roundRect(open[0].x - 8, HEAD - 42, open.at(-1).x + open.at(-1).width - open[0].x + 16, tall + 50, 10);
    pen.fill();
    pen.globalAlpha = 1;
    FLOW.rowsOf(view);
    FLOW.streams(view);
    FLOW.arcs(view);
    pen.imageSmoothingEnabled = false;
    columns.forEach((column, i) => {
      const { small } = view.strips[i];
      if (column.last) return void (view.frame === view.meta.said.length - 1 && pen.drawImage(small, column.x, HEAD + tall - row + 1, column.width, row - 2));
      pen.drawImage(small, 0, 0, small.width, view.rows, column.x, HEAD, column.width, tall);
      pen.fillStyle = view.paper;
      for (let r = 0; r <= view.rows; r++) pen.fillRect(column.x, HEAD + r * row - 1, column.width, 2);
      const role = { q: "q", k: "k", v: "v", z: "a" }[column.name];
      if (role) {
        pen.fillStyle = view.colours[role];
        pen.fillRect(column.x, HEAD - 5, column.width, 3);
      }
    });
    FLOW.plus(view);
    if (view.meta.veiled) FLOW.curtain(view);
    else {
      FLOW.lens(view);
      FLOW.words(view);
    }
  },

  emerging(view, pen, height) { // the same, behind a soft slanting edge that moves, a spark on every line
    const { veil, wide, row, progress } = view, from = LABELS + IDS - 4;
    const soft = veil.getContext("2d");
    soft.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    soft.globalCompositeOperation = "source-over";
    soft.clearRect(0, 0, wide, height);
    view.pen = soft;
    FLOW.inside(view);
    const edge = from + progress * (wide + 2 * SOFT - from), slant = 0.35;
    const fade = soft.createLinearGradient(edge - SOFT, 0, edge, 0);
    fade.addColorStop(0, "#000");
    fade.addColorStop(1, "#0000");
    soft.globalCompositeOperation = "destination-in";
    soft.transform(1, 0, -slant, 1, slant * HEAD, 0);
    soft.fillStyle = fade;
    soft.fillRect(-wide, 0, 3 * wide, height);
    soft.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    soft.globalCompositeOperation = "source-over";
    pen.drawImage(veil, 0, 0, wide, height);
    view.pen = pen;
    pen.fillStyle = view.colours.a;
    for (let r = 0; r < view.rows; r++) {
      const y = HEAD + (r + 0.5) * row, x = edge - SOFT * 0.6 - slant * (y - HEAD);
      if (x < from || x > view.end) continue;
      for (const [radius, alpha] of [[7, 0.14], [4, 0.3], [2, 0.95]]) {
        pen.globalAlpha = alpha;
        pen.beginPath();
        pen.arc(x, y, radius, 0, 7);
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
  },

  tokens(view) {
    const { pen, meta, row, rows } = view;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const lit = FLOW.lit(view);
    for (let r = 0; r < rows; r++) {
      const on = view.hot === -1 || view.hot === r, named = lit.some((one) => r === one.query || r === one.key), written = r >= meta.start;
      pen.font = `${r === rows - 1 || named ? 700 : 400} ${Math.min(15, row - 1)}px ${view.font}`;
      pen.fillStyle = named ? view.colours.accent : written ? view.colours.a : view.ink;
      pen.globalAlpha = on ? 1 : 0.55;
      pen.fillText(clip(pen, meta.tokens[r], LABELS - 14), LABELS - 10, HEAD + (r + 0.5) * row);
      pen.font = `${Math.min(12, row - 1)}px ${view.font}`;
      pen.fillStyle = view.colours.quiet;
      pen.fillText(String(view.arrays.ids.values[r]), LABELS + IDS - 10, HEAD + (r + 0.5) * row);
    }
    pen.globalAlpha = 1;
  },

  lit(view) { // the lit links of the open head
    return view.meta.links.filter((one) => one.block === view.block && one.head === view.head && one.query < view.rows);
  },

  rowsOf(view) { // the rows that a lit link joins
    const { pen, row } = view;
    pen.fillStyle = view.colours.accent;
    pen.globalAlpha = 0.1;
    for (const one of FLOW.lit(view)) for (const r of [one.query, one.key]) pen.fillRect(LABELS + IDS - 4, HEAD + r * row, view.end - LABELS - IDS, row);
    pen.globalAlpha = 1;
  },

  streams(view) { // the residual stream: one line a token, straight through
    const { pen, columns, row, end } = view;
    pen.strokeStyle = view.colours.quiet;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let r = 0; r < view.rows; r++) {
      const y = HEAD + (r + 0.5) * row;
      pen.moveTo(columns[0].x, y);
      pen.lineTo(r === view.rows - 1 ? end + 4 : columns.at(-2).x + columns.at(-2).width + 6, y);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  },

  curve(view, query, key) { // from the value that is read to the token that reads it
    const v = view.columns.find((c) => c.name === "v"), z = view.columns.find((c) => c.name === "z");
    const x0 = v.x + v.width + 2, x1 = z.x - 2, middle = (x0 + x1) / 2, at = (r) => HEAD + (r + 0.5) * view.row;
    return [x0, at(key), middle, at(key), middle, at(query), x1, at(query)];
  },

  arcs(view) { // as thick as the weight
    const { pen, row } = view;
    const { rows: n, values } = strip(view, "weights", view.block, view.head);
    const one = (query, key, w, colour, alpha) => {
      const [x0, y0, ...rest] = FLOW.curve(view, query, key);
      pen.strokeStyle = colour;
      pen.globalAlpha = alpha;
      pen.lineWidth = 0.6 + 6 * w;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.bezierCurveTo(.../** @type {[number, number, number, number, number, number]} */ (rest));
      pen.stroke();
    };
    const lit = FLOW.lit(view), hot = view.spot ? view.spot.query : view.hot >= 0 ? view.hot : lit.length ? lit[0].query : -1;
    for (let i = 0; i < view.rows; i++) {
      for (let j = 0; j <= i; j++) {
        const w = Number(values[i * n + j]);
        if (w >= FAINT) one(i, j, w, view.colours.a, hot < 0 || hot === i ? 0.2 + 0.8 * w : 0.07);
      }
    }
    for (const { query, key, weight, cut } of lit) {
      pen.setLineDash(cut ? [4, 5] : []);
      one(query, key, weight, view.colours.accent, cut ? 0.7 : 1);
      pen.setLineDash([]);
      pen.globalAlpha = 1;
      pen.font = `700 14px ${view.font}`;
      pen.fillStyle = view.colours.accent;
      pen.textAlign = "center";
      const [x0, y0, , , , , x1, y1] = FLOW.curve(view, query, key);
      pen.fillText(cut ? "✕" : weight.toFixed(2), (x0 + x1) / 2 - 24, (y0 + y1) / 2 - (query === key ? row : 0));
    }
    if (view.spot) one(view.spot.query, view.spot.key, Math.max(0.3, FLOW.weight(view, view.spot)), view.colours.accent, 0.6);
    pen.globalAlpha = 1;
  },

  weight(view, { query, key }) {
    const { rows, values } = strip(view, "weights", view.block, view.head);
    return Number(values[query * rows + key]);
  },

  plus(view) {
    const { pen, columns } = view;
    pen.font = `700 15px ${view.font}`;
    pen.textAlign = "center";
    pen.fillStyle = view.ink;
    for (const column of columns.filter((c) => c.open && (c.name === "norm2" || c.name === "resid_post"))) pen.fillText("+", column.x - 11, HEAD + view.tall / 2);
  },

  now(view) {
    return view.meta.said[Math.min(view.frame, view.meta.said.length - 1)];
  },

  lens(view) { // what each block would say if the model ended there
    const { pen, meta, tall, columns } = view, { lens } = FLOW.now(view);
    const y = HEAD + tall + 16;
    pen.font = `600 12px ${view.font}`;
    pen.textAlign = "right";
    pen.fillStyle = view.colours.quiet;
    pen.fillText(clip(pen, meta.words.lens, LABELS + IDS - 12), LABELS + IDS - 12, y);
    pen.textAlign = "center";
    columns.filter((c) => Number.isInteger(c.lens)).forEach((column, i) => {
      const { token, p } = lens[column.lens], x = column.x + column.width / 2, low = y + (i % 2 ? 16 : 0); // every other one lower: room for a word
      pen.font = `700 12.5px ${view.font}`;
      const said = clip(pen, token, 46), share = ` ${(100 * p).toFixed(0)}%`;
      pen.fillStyle = view.ink;
      pen.fillText(said, x, low);
      pen.font = `11px ${view.font}`;
      pen.fillStyle = view.colours.quiet;
      pen.fillText(share, x, low + (i % 2 ? 15 : 31));
    });
  },

  words(view) {
    const { pen, end } = view, { next, before } = FLOW.now(view);
    const n = next.length, step = Math.min(34, (view.tall + 6) / n), top = HEAD + Math.max(0, view.tall - n * step);
    const left = end + 54, room = view.wide - left - 60;
    pen.textBaseline = "middle";
    next.forEach(({ token, p }, i) => {
      const y = top + (i + 0.5) * step, bar = Math.max(1.5, room * p), after = Math.max(bar, before ? room * before[i] : 0);
      pen.font = `${i ? 400 : 700} ${Math.min(i ? 15 : 17, step - 3)}px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.fillText(clip(pen, token, 48), left - 6, y);
      pen.fillStyle = i ? view.colours.quiet : view.colours.a;
      const thick = step * 0.64;
      pen.fillRect(left, y - thick / 2, bar, thick);
      if (before) { // outlined, as it was
        pen.strokeStyle = view.ink;
        pen.lineWidth = 1.2;
        pen.setLineDash([2, 2]);
        pen.strokeRect(left, y - thick / 2, Math.max(1.5, room * before[i]), thick);
        pen.setLineDash([]);
      }
      pen.textAlign = "left";
      pen.fillStyle = view.ink;
      pen.fillText(`${(100 * p).toFixed(1)}%`, left + after + 5, y);
    });
  },

  curtain(view) { // before the guess nobody is told: a sheet of frosted paper, and what it hides by its name
    const { pen, end, tall, wide } = view, x = end - 44, width = wide - x - 4;
    pen.fillStyle = view.paper;
    pen.fillRect(x, HEAD - 6, width + 4, tall + FOOT);
    pen.fillStyle = view.colours.room;
    pen.globalAlpha = 0.13;
    pen.beginPath();
    pen.roundRect(x, HEAD, width, tall, 14);
    pen.fill();
    pen.globalAlpha = 1;
    pen.font = `800 ${Math.min(120, tall * 0.4)}px ${view.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = view.colours.a;
    pen.fillText("?", x + width / 2, HEAD + tall / 2);
  },

  // ---- the hand ----
  columnAt(view, x) {
    return view.columns.find((c) => !c.last && x >= c.x && x < c.x + c.width);
  },

  arcAt(view, x, y) { // the link under a pointer, among those that are drawn and those that are cut
    const [x0, , , , , , x1] = FLOW.curve(view, 0, 0);
    if (!view.meta.hunt || x < x0 - 2 || x > x1 + 2) return null;
    const { rows: n, values } = strip(view, "weights", view.block, view.head), cut = FLOW.lit(view).filter((one) => one.cut);
    let best = null, least = Infinity; // where arcs cross, the bolder one is meant
    for (let query = 0; query < view.rows; query++) {
      for (let key = 0; key <= query; key++) {
        const w = Number(values[query * n + key]), drawn = w >= FAINT || cut.some((one) => one.query === query && one.key === key);
        const away = drawn ? Math.abs(heightAt(FLOW.curve(view, query, key), x) - y) : NEAR;
        if (away < NEAR && away - NEAR * w < least) [best, least] = [{ query, key }, away - NEAR * w];
      }
    }
    return best;
  },

  hover(view, x, y) {
    if (!view.columns) return;
    const r = Math.floor((y - HEAD) / view.row), inside = r >= 0 && r < view.rows && x >= 0;
    const column = inside ? FLOW.columnAt(view, x) : null, arc = column ? null : FLOW.arcAt(view, x, y);
    view.canvas.style.cursor = arc || (column?.block !== undefined) ? "pointer" : "default";
    const hot = inside ? r : -1, moved = JSON.stringify(arc) !== JSON.stringify(view.spot) || hot !== view.hot;
    Object.assign(view, { hot, spot: arc });
    view.tip.hidden = !column && !arc;
    if (column) FLOW.tell(view, FLOW.saysOf(view, column, r), x, HEAD + r * view.row);
    if (arc) FLOW.tell(view, FLOW.linkSays(view, arc), x, y);
    if (moved) FLOW.draw(view);
  },

  saysOf(view, column, r) {
    const { words, titles, tokens, says, shapes } = view.meta, { name, block } = column;
    const title = block !== undefined ? `${words.block} ${block}` : titles[name];
    return `${tokens[r]} · ${title}\n${says[name]}\n${shapes[name]} · ±${short(view.strips[view.columns.indexOf(column)].most, 2)}`;
  },

  linkSays(view, { query, key }) {
    const { words, tokens } = view.meta, cut = FLOW.lit(view).some((one) => one.cut && one.query === query && one.key === key);
    const named = (text) => text.replace("{query}", () => tokens[query]).replace("{key}", () => tokens[key]);
    return named(cut ? words.mends : words.cuts).replace("{weight}", FLOW.weight(view, { query, key }).toFixed(2));
  },

  tell(view, text, x, y) {
    view.tip.textContent = text;
    view.tip.style.left = `${Math.max(165, Math.min(view.wide - 165, x))}px`;
    view.tip.style.top = `${y}px`;
  },

  click(view, x, y) {
    const arc = FLOW.arcAt(view, x, y), column = FLOW.columnAt(view, x);
    if (arc) FLOW.cut(view, arc);
    else if (column?.block !== undefined) FLOW.open(view, column.block, view.head);
  },

  cut(view, { query, key }) {
    view.setTriggerValue("cut", [view.block, view.head, query, key]);
  },

  aim(view, spot) {
    view.spot = spot;
    view.tip.hidden = !spot;
    if (spot) {
      const [, , x, , , y0, , y1] = FLOW.curve(view, spot.query, spot.key);
      FLOW.tell(view, FLOW.linkSays(view, spot), x, Math.min(y0, y1));
      view.announce(FLOW.linkSays(view, spot));
    }
    FLOW.draw(view);
  },

  key(view, event) {
    if (!view.meta.hunt) return;
    const { rows: n, values } = strip(view, "weights", view.block, view.head), lit = FLOW.lit(view)[0];
    const now = view.spot ?? { query: lit?.query ?? view.rows - 1, key: lit?.key ?? 0 };
    const keys = (query) => Array.from({ length: query + 1 }, (_, key) => key).filter((key) => Number(values[query * n + key]) >= FAINT);
    const row = keys(now.query), at = Math.max(0, row.indexOf(now.key));
    if (event.key === "Enter" || event.key === " ") FLOW.cut(view, now);
    else if (event.key === "Escape") FLOW.aim(view, null);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      FLOW.aim(view, { query: now.query, key: row[(at + (event.key === "ArrowLeft" ? row.length - 1 : 1)) % row.length] });
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const query = Math.max(0, Math.min(view.rows - 1, now.query + (event.key === "ArrowUp" ? -1 : 1))), best = keys(query);
      FLOW.aim(view, { query, key: best.reduce((a, b) => (values[query * n + b] > values[query * n + a] ? b : a), best[0]) });
    } else return;
    event.preventDefault();
  },

  told(view) {
    if (view.meta.veiled) return "";
    const { words } = view.meta, { lens, next } = FLOW.now(view);
    return `${words.lens}: ${lens.map(({ token, p }, i) => `${i} ${token} ${Math.round(100 * p)}%`).join(", ")}. ${next[0].token} ${(100 * next[0].p).toFixed(1)}%`;
  },
};

export const styles = [new URL("map.css", import.meta.url)];
export default FLOW;
