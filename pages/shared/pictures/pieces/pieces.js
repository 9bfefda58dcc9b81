// A text in pieces: boxes that wrap like words, an id under each, the same bytes lit up in every strip.

import { clip, hide, make, sized, staged, svgOf, within, write } from "../live/base.js";
import { escaped, fill, quoted } from "../live/numbers.js";

/** @typedef {import("../live/base.js").Colours} Colours */
/** @typedef {import("../live/base.js").Words} Words */
/** @typedef {{ title: string, foot: string, marked: number[], struck: number | null, next: number | null, ranked: boolean, more: number }} Strip */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {[string, number, string, number][]} pieces
 * @property {Strip[]} strips
 * @property {boolean} ids
 * @property {boolean} choose
 * @property {boolean} ranks
 * @property {{ light: string[], dark: string[] }} fills
 * @property {Colours} colours
 * @property {Words} words
 * @property {boolean} tools
 */
/** @typedef {import("../live/base.js").Common & Own} Meta */

const BAR = 18, TIP = 74, BELOW = 32; // px of a scroll bar, of what is said of a piece, of what stands below
const INSIDE = 6, BOX = 27, NUMBER = 15, BETWEEN = 7, HEADING = 22, LINE = 20, APART = 12;

/** @type {import("../live/base.js").Painter<Meta>} */
const PIECES = {
  build(view) {
    staged(view);
    view.beyond = make("div", { class: "note", hidden: true });
    view.picture.append(view.beyond);
    view.stage.addEventListener("scroll", () => PIECES.count(view));
    view.root.addEventListener("live-turn", (event) => PIECES.turn(view, /** @type {CustomEvent} */ (event).detail) && event.preventDefault());
  },

  // Where every box stands, in every strip. The picture is as high as its highest frame, so that nothing jumps.
  layout(view) {
    PIECES.fit(view, view.width);
    const scrolls = view.zoom > 1 && view.high > view.ceiling; // in front of a class words stay large: what is too much scrolls
    if (scrolls) PIECES.fit(view, view.width - BAR);
    view.scrolls = scrolls;
    view.pen = sized(view.canvas, view.across, view.high, view.ratio);
    hide(view.beyond, !scrolls);
    view.stage.style.overflow = scrolls ? "hidden auto" : "";
    view.picture.style.minHeight = scrolls ? `${view.ceiling}px` : ""; // nothing jumps from part to part
    if (!scrolls) return void (view.stage.style.maxHeight = "");
    const parts = PIECES.parts(view);
    PIECES.show(view, parts[PIECES.at(view, parts)]);
  },

  // What is shown at a time of what scrolls: as many whole strips as there is room for.
  parts(view) {
    const room = Math.max(view.ceiling - BELOW, BOX + HEADING), strips = view.meta.slider ? [{ top: 0, high: view.high }] : view.laid;
    const found = [];
    for (const { top, high } of strips) {
      const last = found.at(-1), end = top + high;
      if (last && end - last.top <= room) last.high = end - last.top;
      else for (let from = top; from < end; from += room) found.push({ top: from, high: Math.min(room, end - from) });
    }
    return found;
  },

  show(view, part) { // one of them
    view.stage.style.maxHeight = `${part.high}px`;
    view.stage.scrollTop = part.top;
    PIECES.count(view);
  },

  count(view) { // the strips that end below the edge
    const { scrollTop, clientHeight } = view.stage, edge = scrollTop + clientHeight + 1;
    const n = view.meta.slider ? 0 : view.laid.filter(({ top, high }) => top + high > edge).length;
    if (view.scrolls) write(view.beyond, n ? fill(view.meta.words.below, { n }) : "");
  },

  at(view, parts) { // which of them is shown
    return Math.max(0, parts.findLastIndex(({ top }) => top <= view.stage.scrollTop + 1));
  },

  turn(view, by) { // a clicker leads to the next of them, Infinity to the last
    const parts = view.scrolls ? PIECES.parts(view) : [], next = parts[by === Infinity ? parts.length - 1 : PIECES.at(view, parts) + by];
    if (next) PIECES.show(view, next);
    return Boolean(next);
  },

  fit(view, across) {
    const pen = view.canvas.getContext("2d"), { meta } = view;
    view.across = across;
    view.wides = meta.pieces.map(([text, id]) => {
      pen.font = `15px ${view.font}`;
      const word = pen.measureText(text).width;
      pen.font = `11px ${view.font}`;
      const number = meta.ids && id >= 0 ? pen.measureText(String(id)).width + 2 - 2 * INSIDE : 0;
      return Math.min(across - 4, Math.max(word, number, 5) + 2 * INSIDE);
    });
    view.tall = BOX + (meta.ids ? NUMBER : 0);
    view.laid = meta.strips.map((_, s) => PIECES.lay(view, pen, s));
    let y = 0;
    for (const strip of view.laid) {
      strip.top = meta.slider ? 0 : y;
      y += strip.high + APART;
    }
    view.high = meta.slider ? Math.max(...view.laid.map((strip) => strip.high)) : Math.max(1, y - APART);
  },

  lay(view, pen, s) {
    const { meta } = view, { title, foot, more } = meta.strips[s];
    const [from, to] = view.arrays.first.values.slice(s, s + 2);
    const { which, joints } = { which: view.arrays.which.values, joints: view.arrays.joints.values };
    pen.font = `600 14px ${view.font}`;
    const heading = PIECES.wrapped(pen, title, view.across);
    const boxes = [];
    let x = 2, y = heading.length * HEADING + 2; // room for a frame
    pen.font = `11px ${view.font}`;
    for (let i = from; i < to; i++) {
      const wide = view.wides[which[i]];
      const gap = joints[i] >= 0 ? pen.measureText(String(joints[i])).width + 8 : joints[i] === -2 ? 14 : meta.ranks ? 8 : 4;
      if (x > 2 && x + wide + (joints[i] >= 0 ? gap : 0) > view.across - 1) {
        x = 2;
        y += view.tall + BETWEEN;
      }
      boxes.push({ i, x, y, wide, gap });
      x += wide + gap;
    }
    y += view.tall + 4;
    pen.font = `15px ${view.font}`;
    const below = PIECES.wrapped(pen, more ? fill(meta.words.more, { n: more.toLocaleString("en-US") }) : foot, view.across);
    return { heading, boxes, below, foot: y, high: y + below.length * LINE + 2 };
  },

  wrapped(pen, text, width) { // lines no wider than the picture; a word that is wider is cut
    if (!text) return [];
    const lines = [""];
    const words = text.split("\n").flatMap((line, k) => [...(k ? ["\n"] : []), ...(line.match(/\S{1,24}\s*|\s+/gu) ?? [])]);
    for (const word of words) {
      if (word === "\n") lines.push("");
      else if (pen.measureText(lines.at(-1) + word.trimEnd()).width > width && lines.at(-1)) lines.push(word);
      else lines[lines.length - 1] += word;
    }
    return lines;
  },

  shown(view) { // the strips to be drawn now
    return view.meta.slider ? [view.frame] : view.laid.map((_, s) => s);
  },

  draw(view) {
    const { pen } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.textBaseline = "middle";
    const lit = view.cursor && PIECES.span(view, view.cursor[0], view.cursor[1]);
    for (const s of PIECES.shown(view)) PIECES.strip(view, s, lit);
  },

  strip(view, s, lit) {
    const { meta } = view, { heading, boxes, below, top, foot } = view.laid[s], about = meta.strips[s];
    PIECES.text(view, heading, top + HEADING / 2 - 1, HEADING, `600 14px ${view.font}`);
    boxes.forEach((box, k) => {
      PIECES.box(view, box, top, about.struck === k);
      PIECES.joint(view, box, top, about.next === k);
      const [start, end] = PIECES.span(view, s, k);
      const overlaps = lit && start < lit[1] && lit[0] < end;
      const here = view.cursor && view.cursor[0] === s && view.cursor[1] === k;
      if (about.marked.includes(k)) PIECES.frame(view, box, top, view.colours.mark, 3);
      if (meta.choose && view.state.piece === k) PIECES.frame(view, box, top, view.accent, 3);
      if (overlaps || here) PIECES.frame(view, box, top, view.ink, here ? 3 : 2);
    });
    PIECES.text(view, below, top + foot + LINE / 2, LINE, `15px ${view.font}`);
  },

  text(view, lines, y, step, font) {
    const { pen } = view;
    pen.fillStyle = view.ink;
    pen.textAlign = "left";
    pen.font = font;
    lines.forEach((line, n) => pen.fillText(line, 1, y + n * step));
  },

  box(view, { i, x, y, wide }, top, struck) {
    const { pen } = view, [text, id, , kind] = view.meta.pieces[view.arrays.which.values[i]];
    const fills = view.meta.fills[view.dark ? "dark" : "light"], place = y + top;
    pen.fillStyle = kind ? view.paper : fills[(Math.max(0, id) * 7 + (id >> 3)) % fills.length];
    pen.fillRect(x, place, wide, BOX);
    pen.strokeStyle = kind ? view.colours[kind === 1 ? "special" : "unknown"] : view.colours.quiet;
    pen.lineWidth = kind ? 2 : 0.75;
    pen.setLineDash(kind ? [4, 3] : []);
    pen.strokeRect(x, place, wide, BOX);
    pen.setLineDash([]);
    pen.fillStyle = kind ? view.colours[kind === 1 ? "special" : "unknown"] : view.ink;
    pen.font = `${kind ? 600 : 400} 15px ${view.font}`;
    pen.textAlign = "center";
    pen.fillText(clip(pen, text, wide - 4), x + wide / 2, place + BOX / 2 + 1);
    if (view.meta.ids && id >= 0) {
      pen.fillStyle = view.colours.quiet;
      pen.font = `11px ${view.font}`;
      pen.fillText(String(id), x + wide / 2, place + BOX + 8);
    }
    if (struck) PIECES.line(view, [x - 2, place + BOX + 2], [x + wide + 2, place - 2], view.colours.mark, 3);
  },

  // What stands between two neighbours: the number of the pair, or a border that no pair crosses.
  joint(view, { i, x, y, wide, gap }, top, next) {
    const value = view.arrays.joints.values[i], { pen } = view, from = x + wide, place = y + top;
    if (value === -2) {
      pen.setLineDash([2, 3]);
      PIECES.line(view, [from + gap / 2, place - 2], [from + gap / 2, place + BOX + 2], view.ink, 1.5);
      pen.setLineDash([]);
    }
    if (value < 0) return;
    if (next) {
      pen.fillStyle = view.accent;
      pen.fillRect(from + 1, place + 4, gap - 2, BOX - 8);
    }
    pen.fillStyle = next ? view.paper : view.colours.quiet;
    pen.font = `${next ? 700 : 400} 11px ${view.font}`;
    pen.textAlign = "center";
    pen.fillText(String(value), from + gap / 2, place + BOX / 2 + 1);
  },

  line(view, a, b, colour, thick) {
    view.pen.strokeStyle = colour;
    view.pen.lineWidth = thick;
    view.pen.beginPath();
    view.pen.moveTo(...a);
    view.pen.lineTo(...b);
    view.pen.stroke();
  },

  frame(view, { x, y, wide }, top, colour, thick) {
    view.pen.strokeStyle = colour;
    view.pen.lineWidth = thick;
    view.pen.strokeRect(x, y + top, wide, BOX);
  },

  span(view, s, k) {
    const i = view.arrays.first.values[s] + k;
    return view.arrays.spans.values.subarray(2 * i, 2 * i + 2);
  },

  under(view, x, y) {
    for (const s of PIECES.shown(view)) {
      const { boxes, top } = view.laid[s];
      const k = boxes.findIndex((box) => x >= box.x && x < box.x + box.wide && y >= box.y + top && y < box.y + top + view.tall);
      if (k >= 0) return [s, k];
    }
    return null;
  },

  piece(view, [s, k]) {
    return view.meta.pieces[view.arrays.which.values[view.arrays.first.values[s] + k]];
  },

  spoken(view, place) {
    const [text, id, bytes] = PIECES.piece(view, place);
    return fill(view.meta.words[id < 0 ? "bare" : view.meta.strips[place[0]].ranked ? "rank" : "tip"], { text, id, bytes });
  },

  hand(view, place) {
    return place && view.meta.choose ? "pointer" : "default";
  },

  spot(view, [s, k]) {
    const { boxes, top } = view.laid[s], box = boxes[k];
    const y = box.y + top;
    return [box.x + box.wide / 2, view.scrolls ? Math.max(y, view.stage.scrollTop + TIP) : y];
  },

  choose(view, place) {
    if (!place || !view.meta.choose) return;
    view.release("piece", place[1]);
    view.draw();
  },

  start(view) {
    return [PIECES.shown(view)[0], view.state.piece ?? 0];
  },

  step(view, now, [down, right]) {
    const shown = PIECES.shown(view), from = now ?? PIECES.start(view);
    const s = shown[within(shown.indexOf(from[0]) + down, shown.length)], n = view.laid[s].boxes.length;
    const k = within(from[1] + (now ? right : 0), n);
    if (n && view.scrolls) view.stage.scrollTop = view.laid[s].top + view.laid[s].boxes[k].y - view.ceiling / 2;
    return n ? [s, k] : null;
  },

  told(view) { // the pieces of every strip that is shown
    const { first, which } = view.arrays;
    const strip = (s) => Array.from(which.values.slice(first.values[s], Math.min(first.values[s] + 60, first.values[s + 1])), (i) => view.meta.pieces[i][0]);
    return PIECES.shown(view).map((s) => [view.meta.strips[s].title, strip(s).join(" | ")].filter(Boolean).join(": ")).join("; ");
  },

  csv(view) {
    const lines = ["strip,piece,text,id,bytes"];
    for (const s of PIECES.shown(view)) {
      view.laid[s].boxes.forEach((_, k) => {
        const [text, id, bytes] = PIECES.piece(view, [s, k]);
        lines.push([quoted(view.meta.strips[s].title || String(s)), k, quoted(text), id < 0 ? "" : id, bytes].join(","));
      });
    }
    return lines.join("\n") + "\n";
  },

  svg(view) {
    const parts = [], fills = view.meta.fills[view.dark ? "dark" : "light"];
    const text = (x, y, t, more = "") => parts.push(`<text x="${x}" y="${y}" ${more}>${escaped(t)}</text>`);
    for (const s of PIECES.shown(view)) {
      const { heading, boxes, top } = view.laid[s];
      heading.forEach((line, n) => text(1, top + 15 + n * HEADING, line, 'font-weight="600"'));
      boxes.forEach(({ x, y, wide }, k) => {
        const [word, id, , kind] = PIECES.piece(view, [s, k]);
        const colour = kind ? view.paper : fills[(Math.max(0, id) * 7 + (id >> 3)) % fills.length];
        parts.push(`<rect x="${x}" y="${y + top}" width="${wide}" height="${BOX}" fill="${colour}" stroke="${view.colours.quiet}"/>`);
        text(x + wide / 2, y + top + 18, word, 'text-anchor="middle"');
        if (view.meta.ids && id >= 0) text(x + wide / 2, y + top + BOX + 11, id, 'text-anchor="middle" font-size="11"');
      });
    }
    return svgOf(view, view.width, view.high, 15, parts);
  },
};

export default PIECES;
