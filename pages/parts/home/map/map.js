// The model as a map: every token a row, every stage a column, every strip a real vector, every arc a real weight.

import { clip, make, sized } from "../../../shared/pictures/live/base.js";
import { short } from "../../../shared/pictures/live/numbers.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Anchors} Anchors */
/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/** @typedef {import("../../../shared/pictures/live/base.js").Words} Words */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} tokens
 * @property {number} blocks
 * @property {number} heads
 * @property {boolean} unrolled
 * @property {{ block: number, head: number, query: number, key: number, weight: number, cut: boolean } | null} link
 * @property {{ token: string, p: number }[]} lens
 * @property {{ token: string, p: number }[]} next
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

const LABELS = 82, IDS = 44, HEAD = 74, FOOT = 50, WORDS = 156, ARCS = 82;
/** @type {[string, number, number][]} */
const INSIDE = [ // the columns of the open block: array, width, the gap before it
  ["norm1", 32, 10], ["q", 31, 10], ["k", 31, 3], ["v", 31, 3], ["z", 31, ARCS], ["attn_out", 32, 6],
  ["norm2", 32, 18], ["ffn_act", 40, 8], ["ffn_out", 32, 8], ["resid_post", 36, 18],
];

function strip(view, name, block, head) { // the numbers of one column: (token, cell)
  const { shape, values } = view.arrays[name];
  const n = shape[shape.length - 2] * shape[shape.length - 1];
  const index = shape.length === 4 ? block * shape[1] + head : shape.length === 3 ? block : 0;
  return { rows: shape[shape.length - 2], columns: shape[shape.length - 1], values: values.subarray(index * n, (index + 1) * n) };
}

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const FLOW = {
  build(view) {
    view.bar = make("div", { class: "bar" });
    view.scroll = make("div", { class: "scroll", tabindex: 0, role: "region" });
    view.inner = make("div", { class: "inner" });
    view.canvas = make("canvas", { role: "img" });
    view.titles = make("div", { class: "titles" });
    view.tip = make("div", { class: "tip", hidden: true });
    view.inner.append(view.canvas, view.titles, view.tip);
    view.scroll.append(view.inner);
    view.picture.append(view.bar, view.scroll);
    view.progress = 0;
    view.canvas.addEventListener("pointermove", (event) => FLOW.hover(view, event.offsetX, event.offsetY));
    view.canvas.addEventListener("pointerleave", () => FLOW.hover(view, -1, -1));
    view.canvas.addEventListener("click", (event) => {
      const column = FLOW.columnAt(view, event.offsetX);
      if (column?.block !== undefined && column.block !== view.block) FLOW.pick(view, "block", column.block);
    });
  },

  update(view) {
    const { meta } = view;
    view.block = view.state.block ?? 0;
    view.head = view.state.head ?? 0;
    view.scroll.setAttribute("aria-label", meta.label);
    FLOW.buttons(view);
    if (!meta.unrolled) view.progress = 0;
    else if (view.progress === 0 && view.seen && !matchMedia("(prefers-reduced-motion: reduce)").matches) FLOW.unroll(view);
    else if (!view.rolling) view.progress = 1;
    const cut = Boolean(meta.link?.cut);
    view.toAnswer = view.seen && view.cutBefore !== cut && meta.unrolled; // what a cut changes stands at the far end
    view.cutBefore = cut;
    view.seen = true;
  },

  buttons(view) {
    const { meta } = view;
    const now = JSON.stringify([meta.words, meta.blocks, meta.heads, view.block, view.head]);
    view.bar.hidden = !meta.unrolled;
    if (now === view.barred) return;
    view.barred = now;
    const group = (name, label, n) => {
      const box = make("div", { class: "group", role: "group", "aria-label": label }, make("span", {}, label));
      for (let i = 0; i < n; i++) {
        const on = view[name] === i;
        const button = make("button", { type: "button", class: on ? "on" : null, "aria-pressed": String(on), "aria-label": `${label} ${i}` }, String(i));
        button.addEventListener("click", () => FLOW.pick(view, name, i));
        box.append(button);
      }
      return box;
    };
    const focused = view.bar.contains(view.bar.getRootNode().activeElement) ? view.bar.getRootNode().activeElement.getAttribute("aria-label") : null;
    view.bar.replaceChildren(group("block", meta.words.block, meta.blocks), group("head", meta.words.head, meta.heads));
    if (focused) view.bar.querySelector(`[aria-label="${focused}"]`)?.focus();
  },

  pick(view, name, i) {
    view[name] = i;
    view.release(name, i);
    FLOW.buttons(view);
    FLOW.layout(view);
    FLOW.draw(view);
    view.announce(`${view.meta.words[name]} ${i}`);
  },

  unroll(view) {
    const start = performance.now();
    view.rolling = true;
    const step = (now) => {
      view.progress = Math.min(1, Math.max(0.001, (now - start) / 1400));
      view.scroll.scrollLeft = view.progress * (view.wide - view.width); // on a phone the map passes by
      FLOW.draw(view);
      if (view.progress < 1 && view.root.isConnected) requestAnimationFrame(step);
      else {
        view.rolling = false;
        view.scroll.scrollLeft = 0; // back at the words and the lit link
      }
    };
    requestAnimationFrame(step);
  },

  layout(view) {
    const { meta } = view;
    const rows = meta.tokens.length;
    const fixed = LABELS + IDS + 40 + WORDS + 56 + INSIDE.reduce((a, [, w, g]) => a + w + g, 0);
    const closed = Math.max(18, Math.min(54, (view.width - fixed) / (meta.blocks - 1) - 12));
    const row = Math.max(11, Math.min(26, 380 / rows));
    const columns = [];
    let x = LABELS + IDS;
    const add = (name, width, gap, more = {}) => {
      x += gap;
      columns.push({ name, x, width, ...more });
      x += width;
    };
    add("embed", 40, 0, { lens: 0 });
    for (let block = 0; block < meta.blocks; block++) {
      if (block === view.block) for (const [name, width, gap] of INSIDE) add(name, width, gap, { open: true, inside: block, lens: name === "resid_post" ? block + 1 : null });
      else add("resid_post", closed, 12, { block, lens: block + 1 });
    }
    add("next_logits", 38, 14, { last: true });
    Object.assign(view, { columns, row, tall: rows * row, end: x + 4, wide: Math.max(x + 4 + WORDS, Math.min(view.width, 1200)) });
    const height = HEAD + view.tall + FOOT;
    view.pen = sized(view.canvas, view.wide, height, view.ratio);
    view.inner.style.width = `${view.wide}px`;
    view.inner.style.height = `${height}px`;
    view.strips = columns.map((column) => FLOW.painted(view, column));
    FLOW.titlesOf(view);
    if (view.toAnswer && !view.rolling) view.scroll.scrollLeft = view.wide - view.width;
    view.toAnswer = false;
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
    const now = JSON.stringify([meta.titles, meta.pages, meta.shapes, meta.unrolled, view.block, view.wide]);
    if (now === view.titled) return; // a button must not be exchanged under a finger
    view.titled = now;
    const nodes = [];
    const put = (text, x, width, stage, level = 0) => {
      const page = meta.pages[stage];
      const node = make(page ? "button" : "span", { class: "title", type: page ? "button" : null, title: meta.says[stage] ?? null }, text);
      if (page) node.addEventListener("click", () => view.setTriggerValue("open", page));
      Object.assign(node.style, { left: `${x}px`, width: `${width}px`, top: `${level ? 6 : 30}px` });
      nodes.push(node);
      const shape = meta.shapes[stage];
      if (shape && !level) {
        const [rows, columns] = shape.split("×"), long = columns && rows.length > 2; // no room for three digits
        const size = make("span", { class: "size" }, long ? `n×${columns === rows ? "n" : columns}` : shape);
        Object.assign(size.style, { left: `${x - 10}px`, width: `${width + 20}px`, top: "50px" });
        nodes.push(size);
      }
    };
    put(meta.titles.tokens, 0, LABELS - 8, "tokens");
    put(meta.titles.ids, LABELS - 4, IDS, "ids");
    const shown = meta.unrolled ? view.columns : [];
    for (const column of shown) {
      if (column.block !== undefined) put(String(column.block), column.x, column.width, "block");
      else if (column.last) put(meta.titles.next_logits, column.x - 16, column.width + 32, "next_logits");
      else if (!["k", "v", "q"].includes(column.name)) put(meta.titles[column.name], column.x - 12, column.width + 24, column.name);
      else put(meta.titles[column.name], column.x, column.width, column.name);
    }
    if (meta.unrolled) {
      const z = view.columns.find((c) => c.name === "z");
      put(meta.titles.weights, z.x - ARCS + 4, ARCS - 8, "weights");
      const open = view.columns.filter((c) => c.open);
      put(`${meta.words.block} ${view.block}`, open[0].x, open.at(-1).x + open.at(-1).width - open[0].x, "block", 1);
      put(meta.titles.words, view.end + 30, WORDS - 40, "next_probs");
    }
    view.titles.replaceChildren(...nodes);
  },

  draw(view) {
    const { pen, wide, columns, row, tall, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, wide, HEAD + tall + FOOT);
    FLOW.tokens(view);
    pen.save();
    const start = LABELS + IDS + 50, reach = start + view.progress * (wide - start);
    pen.beginPath();
    pen.rect(0, 0, meta.unrolled ? reach : start, HEAD + tall + FOOT);
    pen.clip();
    const open = columns.filter((c) => c.open);
    pen.fillStyle = view.colours.room;
    pen.globalAlpha = 0.09;
    pen.beginPath();
    pen.roundRect(open[0].x - 8, HEAD - 46, open.at(-1).x + open.at(-1).width - open[0].x + 16, tall + 54, 10);
    pen.fill();
    pen.globalAlpha = 1;
    FLOW.streams(view);
    FLOW.arcs(view);
    pen.imageSmoothingEnabled = false;
    columns.forEach((column, i) => {
      if (column.last) return void pen.drawImage(view.strips[i].small, column.x, HEAD + tall - row + 1, column.width, row - 2);
      pen.drawImage(view.strips[i].small, column.x, HEAD, column.width, tall);
      pen.fillStyle = view.paper;
      for (let r = 0; r <= meta.tokens.length; r++) pen.fillRect(column.x, HEAD + r * row - 1, column.width, 2);
      const role = { q: "q", k: "k", v: "v", z: "a" }[column.name];
      if (role) {
        pen.fillStyle = view.colours[role];
        pen.fillRect(column.x, HEAD - 5, column.width, 3);
      }
    });
    FLOW.plus(view);
    if (meta.unrolled) FLOW.lens(view);
    FLOW.words(view);
    pen.restore();
    if (!meta.unrolled) FLOW.waiting(view);
  },

  tokens(view) {
    const { pen, meta, row } = view;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    meta.tokens.forEach((token, r) => {
      const on = view.hot === undefined || view.hot === -1 || view.hot === r;
      pen.font = `${r === meta.tokens.length - 1 ? 700 : 400} ${Math.min(15, row - 1)}px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.globalAlpha = on ? 1 : 0.55;
      pen.fillText(clip(pen, token, LABELS - 14), LABELS - 10, HEAD + (r + 0.5) * row);
      pen.font = `${Math.min(12, row - 1)}px ${view.font}`;
      pen.fillStyle = view.colours.quiet;
      pen.fillText(String(view.arrays.ids.values[r]), LABELS + IDS - 10, HEAD + (r + 0.5) * row);
    });
    pen.globalAlpha = 1;
  },

  streams(view) { // the residual stream: one line a token, straight through
    const { pen, columns, row, meta, end } = view;
    pen.strokeStyle = view.colours.quiet;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let r = 0; r < meta.tokens.length; r++) {
      const y = HEAD + (r + 0.5) * row;
      pen.moveTo(columns[0].x, y);
      pen.lineTo(r === meta.tokens.length - 1 ? end + 4 : columns.at(-2).x + columns.at(-2).width + 6, y);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  },

  arcs(view) { // from the value that is read to the token that reads it, as thick as the weight
    const { pen, columns, row, meta } = view;
    const { rows, values } = strip(view, "weights", view.block, view.head);
    const v = columns.find((c) => c.name === "v"), z = columns.find((c) => c.name === "z");
    const x0 = v.x + v.width + 2, x1 = z.x - 2, middle = (x0 + x1) / 2;
    const link = meta.link && meta.link.block === view.block && meta.link.head === view.head ? meta.link : null;
    const one = (i, j, w, colour, alpha) => {
      const y0 = HEAD + (j + 0.5) * row, y1 = HEAD + (i + 0.5) * row;
      pen.strokeStyle = colour;
      pen.globalAlpha = alpha;
      pen.lineWidth = 0.6 + 6 * w;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.bezierCurveTo(middle, y0, middle, y1, x1, y1);
      pen.stroke();
    };
    const hot = view.hot >= 0 ? view.hot : link ? link.query : -1;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j <= i; j++) {
        const w = values[i * rows + j];
        if (w < 0.02) continue;
        one(i, j, w, view.colours.a, (hot < 0 || hot === i ? 0.2 + 0.8 * w : 0.07));
      }
    }
    if (link) {
      pen.setLineDash(link.cut ? [4, 5] : []);
      one(link.query, link.key, link.weight, view.colours.accent, link.cut ? 0.7 : 1);
      pen.setLineDash([]);
      pen.globalAlpha = 1;
      pen.font = `700 14px ${view.font}`;
      pen.fillStyle = view.colours.accent;
      pen.textAlign = "center";
      pen.fillText(link.cut ? "✕" : link.weight.toFixed(2), middle - 24, HEAD + ((link.query + link.key) / 2 + 0.5) * row);
    }
    pen.globalAlpha = 1;
  },

  plus(view) {
    const { pen, columns } = view;
    pen.font = `700 15px ${view.font}`;
    pen.textAlign = "center";
    pen.fillStyle = view.ink;
    for (const column of columns.filter((c) => c.open && (c.name === "norm2" || c.name === "resid_post"))) pen.fillText("+", column.x - 11, HEAD + view.tall / 2);
  },

  lens(view) { // what each block would say if the model ended there
    const { pen, meta, tall, columns } = view;
    const y = HEAD + tall + 18;
    pen.font = `600 12px ${view.font}`;
    pen.textAlign = "right";
    pen.fillStyle = view.colours.quiet;
    pen.fillText(clip(pen, meta.words.lens, LABELS - 12), LABELS - 10, y);
    pen.textAlign = "center";
    for (const column of columns.filter((c) => Number.isInteger(c.lens))) {
      const { token, p } = meta.lens[column.lens];
      pen.font = `700 13px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.fillText(clip(pen, token, column.width + 12), column.x + column.width / 2, y);
      pen.font = `12px ${view.font}`;
      pen.fillStyle = view.colours.quiet;
      pen.fillText(`${(100 * p).toFixed(0)}%`, column.x + column.width / 2, y + 17);
    }
  },

  words(view) {
    const { pen, meta, end } = view;
    const n = meta.next.length, step = Math.min(30, (view.tall + 6) / n);
    const top = HEAD + view.tall - n * step;
    pen.textBaseline = "middle";
    meta.next.forEach(({ token, p }, i) => {
      const y = top + (i + 0.5) * step, room = WORDS - 62 - 56;
      pen.font = `${i ? 400 : 700} ${Math.min(15, step - 3)}px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "right";
      pen.fillText(clip(pen, token, 52), end + 56, y);
      pen.fillStyle = i ? view.colours.quiet : view.colours.a;
      pen.fillRect(end + 62, y - step * 0.32, Math.max(1.5, room * p), step * 0.64);
      pen.textAlign = "left";
      pen.fillStyle = view.ink;
      pen.fillText(`${(100 * p).toFixed(1)}%`, end + 62 + Math.max(1.5, room * p) + 5, y);
    });
  },

  waiting(view) { // before the guess: the shape of what is to come
    const { pen, columns, tall, end } = view;
    pen.strokeStyle = view.colours.quiet;
    pen.globalAlpha = 0.5;
    pen.setLineDash([3, 5]);
    for (const column of columns.slice(1, -1)) pen.strokeRect(column.x, HEAD, column.width, tall);
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.font = `700 64px ${view.font}`;
    pen.textAlign = "center";
    pen.fillStyle = view.colours.quiet;
    pen.fillText("?", end + WORDS / 2, HEAD + tall / 2);
  },

  columnAt(view, x) {
    return view.meta.unrolled ? view.columns.find((c) => !c.last && x >= c.x && x < c.x + c.width) : null;
  },

  hover(view, x, y) {
    const r = Math.floor((y - HEAD) / view.row), inside = r >= 0 && r < view.meta.tokens.length && x >= 0;
    const column = inside ? FLOW.columnAt(view, x) : null;
    view.tip.hidden = !column;
    view.canvas.style.cursor = column?.block !== undefined ? "pointer" : "default";
    if (column) {
      const { name, block } = column, index = view.columns.indexOf(column);
      const values = view.meta;
      const title = block !== undefined ? `${values.words.block} ${block}` : values.titles[name];
      view.tip.textContent = `${values.tokens[r]} · ${title}\n${values.says[name]}\n${values.shapes[name]} · ±${short(view.strips[index].most, 2)}`;
      view.tip.style.left = `${Math.max(165, Math.min(view.wide - 165, x))}px`;
      view.tip.style.top = `${HEAD + r * view.row}px`;
    }
    const hot = inside ? r : -1;
    if (hot !== (view.hot ?? -1)) {
      view.hot = hot;
      FLOW.draw(view);
    }
  },

  told(view) {
    const { lens, next, words } = view.meta;
    return `${words.lens}: ${lens.map(({ token, p }, i) => `${i} ${token} ${Math.round(100 * p)}%`).join(", ")}. ${next[0].token} ${(100 * next[0].p).toFixed(1)}%`;
  },
};

export const styles = [new URL("map.css", import.meta.url)];
export default FLOW;
