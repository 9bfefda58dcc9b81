// What every live picture shares: reading the packed numbers, the slider, frames, the theme, announcements, export.
// A painter draws; it is handed a View and knows nothing of Streamlit.

import { Scale, sentences } from "./numbers.js";

/** @typedef {{ light: number[][], dark: number[][], low: number, high: number }} Anchors */
/** @typedef {{ light: Record<string, string>, dark: Record<string, string> }} Colours */
/** @typedef {Record<string, string>} Words */
/**
 * A slider, as Python tells of it.
 * @typedef {object} Dial
 * @property {string} name
 * @property {string} label
 * @property {number[]} stops
 * @property {string[]} shown
 * @property {boolean} stream
 * @property {boolean} together
 * @property {boolean} hidden
 * @property {string[] | null} play
 * @property {number} seq
 * @property {number} at
 */
/**
 * What Python says of every picture.
 * @typedef {object} Common
 * @property {string} painter
 * @property {string} quantity
 * @property {string} label
 * @property {boolean} signature
 * @property {boolean} wordless
 * @property {boolean} tools
 * @property {string} save
 * @property {string} key
 * @property {string} page
 * @property {string} id
 * @property {Record<string, any>} state
 * @property {Record<string, any>} heard
 * @property {Dial} [slider]
 * @property {string[]} [captions]
 */
/** @typedef {{ shape: number[], values: any }} Numbers */
/**
 * A view as its painter sees it: what Python says is known, what the painter keeps on it is its own affair.
 * @template M
 * @typedef {View & Record<string, any> & { meta: M }} Seen
 */
/**
 * @template M
 * @typedef {Record<string, (view: Seen<M>, ...more: any[]) => any>} Painter
 */

const LEFT = new Map(); // the key of a picture -> how the hand left it, and what Python had said then
const TOGETHER = "live-together"; // what a moved slider tells the other pictures that share it
const ASKS = "live-asks"; // what a picture that Python has just told something asks them: has a hand been here since?
const ROOM = "live-room"; // there is other room now: for all pictures, or for those in the element that comes along
export const AFTER_KEYS = 300; // ms after the last key before a value is let go: on the keyboard every step is a release

const PACES = [0.5, 1, 2, 4, 8]; // steps a second of a slider that runs by itself
const NEAR = "200px"; // to the screen: a picture is drawn before it is seen
const AFTER_MOVES = 120; // ms after the last frame before it is described
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e9], End: [0, 1e9] };

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

// A step of a slider writes a dozen of words: the node that stands is told, as a new one is laid out anew with all around it.
export function write(node, text) {
  if (node.firstChild instanceof Text && node.childNodes.length === 1) {
    if (node.firstChild.data !== text) node.firstChild.data = text;
  } else node.textContent = text;
}

export function hide(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

export function download(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export class View {
  frame = 0;
  near = true; // to the screen
  spoke = false; // it told others where the hand left it, against what Python said
  late = false; // drawn at another frame than it stands at
  /** @type {string[]} */ early = []; // what it was told before Streamlit came to it
  /** @type {any} */ meta = null; // what Python says: Common and the painter's own
  /** @type {Record<string, Numbers>} */ arrays = {};
  /** @type {Record<string, any>} */ state = {};
  /** @type {any} */ cursor = null;
  /** @type {Record<string, string>} */ awaited = {}; // let go here, and not yet heard back from Python
  /** @type {Record<string, any>} */ timers = {};
  /** @type {HTMLElement} */ stage = undefined;
  /** @type {HTMLCanvasElement} */ canvas = undefined;
  /** @type {HTMLElement} */ tip = undefined;
  /** @type {HTMLElement} */ legend = undefined;
  /** @type {HTMLInputElement} */ range = undefined;
  /** @type {HTMLElement} */ caption = undefined;
  /** @type {HTMLOutputElement} */ value = undefined;
  /** @type {HTMLElement} */ list = undefined; // what stands in the picture line by line, where its painter says it
  /** @type {() => Promise<string>} */ page = undefined; // the picture as a file of its own, where somebody can make one
  ceiling = Infinity; // px a picture may be tall, where it stands alone on a screen
  /** @type {(name: string, value: any) => void} */ setStateValue = undefined;
  /** @type {(name: string, value: any) => void} */ setTriggerValue = undefined;

  constructor(shadow, painter) {
    this.painter = painter;
    this.root = make("div", { class: "live", role: "group" });
    this.picture = make("div", { class: "picture" });
    this.note = make("div", { class: "note", hidden: true });
    this.dial = make("div", { class: "dial" });
    this.tools = make("div", { class: "tools" });
    this.status = make("div", { class: "unseen", "aria-live": "polite" });
    this.picture.hidden = !painter.build;
    this.root.append(this.picture, this.note, make("div", { class: "foot" }, this.dial, this.tools), this.status);
    shadow.append(this.root);
    painter.build?.(this);
    if (painter.items) this.picture.append((this.list = make("ul", { class: "unseen" })));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(this.root);
    this.sight = new IntersectionObserver((seen) => this.inSight(seen.at(-1).isIntersecting), { rootMargin: NEAR });
    this.sight.observe(this.root);
    this.hears = {
      [TOGETHER]: (event) => this.follow(event.detail),
      [ASKS]: (event) => this.tellWhere(event.detail),
      [ROOM]: (event) => (event.detail?.contains(this.host) ?? true) && this.fit(),
      beforeprint: () => this.catchUp(), // on paper nothing is far
    };
    for (const [name, hear] of Object.entries(this.hears)) window.addEventListener(name, hear);
  }

  close() {
    this.sizes.disconnect();
    this.sight.disconnect();
    for (const [name, hear] of Object.entries(this.hears)) window.removeEventListener(name, hear);
    Object.values(this.timers).forEach(clearTimeout);
  }

  fit() {
    if (!this.meta) return;
    this.readTheme();
    this.resize(true);
  }

  // What Python says, as it arrives; Streamlit says the same when it comes to it.
  ahead(meta, arrays) {
    this.early.push(meta.id);
    this.update(meta, arrays);
  }

  // Does it show already what Python said after this?
  isAheadOf(id) {
    const at = this.early.indexOf(id);
    this.early.splice(0, at < 0 ? this.early.length : at + 1);
    return this.early.length > 0;
  }

  update(meta, arrays) {
    const fresh = meta.id !== this.meta?.id;
    Object.assign(this, { meta, arrays });
    const looks = this.readTheme();
    if (fresh) {
      this.root.dataset.quantity = meta.quantity;
      this.root.dataset.key = meta.key;
      this.root.toggleAttribute("data-signature", Boolean(meta.signature));
      this.root.toggleAttribute("data-wordless", Boolean(meta.wordless));
      this.root.setAttribute("aria-label", meta.label);
      this.showDial(meta.slider);
      this.showTools(meta);
      for (const [name, value] of Object.entries(meta.state ?? {})) this.receive(name, value);
      this.remember();
      this.painter.update?.(this);
      if (this.cursor !== null && !this.painter.exists?.(this, this.cursor)) this.cursor = null;
      if (this.stage) this.showStage();
    }
    if (meta.slider?.stream) this.answered(meta.slider.seq);
    this.resize(fresh || looks);
    if (fresh && meta.slider?.together) window.dispatchEvent(new CustomEvent(ASKS, { detail: meta.slider.name })); // drawn: it can follow
    this.host?.toggleAttribute("data-drawn", true); // a page that arrives waits for it: start/calm.js
    if (fresh) window.dispatchEvent(new Event("live-drawn"));
  }

  // Where there is nothing to point at the keyboard does not stop.
  showStage() {
    const idle = this.painter.idle?.(this), { label, words } = this.meta;
    for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": sentences(label, words?.keys) })) {
      if (idle) this.stage.removeAttribute(name);
      else this.stage.setAttribute(name, value);
    }
  }

  // Streamlit mounts a picture anew when something comes or goes above it, with the bytes it was first sent. What the
  // hand has changed since is known here alone, and holds as long as Python says nothing else.
  remember() {
    const last = LEFT.get(this.meta.key);
    if (last?.id !== this.meta.id) return void LEFT.delete(this.meta.key);
    this.resume(last);
  }

  resume({ state, frame }) {
    Object.assign(this.state, state);
    if (this.range && this.meta.slider && frame < this.meta.slider.stops.length) this.go(frame);
  }

  leftAs() {
    LEFT.set(this.meta.key, { id: this.meta.id, ...this.now });
  }

  get now() {
    return { state: { ...this.state }, frame: this.frame };
  }

  // A value from Python.
  receive(name, value) {
    if (!this.older(name, value)) this.state[name] = value;
  }

  // What the hand has just let go is newer than what Python still shows, until Python has heard of it.
  older(name, value) {
    if (!(name in this.awaited)) return false;
    const heard = JSON.stringify(this.meta.heard?.[name]) === this.awaited[name];
    if (heard || JSON.stringify(value) === this.awaited[name]) delete this.awaited[name];
    return !heard;
  }

  // Tell Python, once the hand rests.
  release(name, value, wait = 0) {
    this.state[name] = value;
    this.leftAs();
    this.awaited[name] = JSON.stringify(value);
    clearTimeout(this.timers[name]);
    const send = () => this.setStateValue(name, value);
    if (wait) this.timers[name] = setTimeout(send, wait);
    else send();
    clearTimeout(this.timers["echo " + name]);
    this.timers["echo " + name] = setTimeout(() => delete this.awaited[name], wait + 1000);
  }

  // Does the picture look otherwise now?
  readTheme() {
    const style = getComputedStyle(this.root), before = this.looks;
    const read = (name, otherwise) => style.getPropertyValue(`--st-${name}`).trim() || otherwise;
    this.ink = read("text-color", "#111");
    this.paper = read("background-color", "#fff");
    this.accent = read("primary-color", "#0b57d0");
    this.font = read("font", "sans-serif");
    this.zoom = Number(style.getPropertyValue("--live-zoom")) || 1; // drawn small and shown large: in front of a class
    this.room = Number(style.getPropertyValue("--live-room")) || Infinity; // px for the picture and all around it
    this.looks = [this.ink, this.paper, this.accent, this.font, this.zoom, this.room].join();
    if (this.looks !== before) this.dark = isDark(this.paper);
    const scale = this.meta.scale;
    this.scale = scale && new Scale({ ...scale, anchors: scale[this.dark ? "dark" : "light"] });
    const colours = this.meta.colours;
    this.colours = colours ? colours[this.dark ? "dark" : "light"] : {};
    this.root.classList.toggle("dark", this.dark);
    return this.looks !== before;
  }

  resize(force = false) {
    const width = Math.floor(this.root.clientWidth);
    if (!this.meta || (!force && width === this.width)) return;
    this.width = width;
    if (!width) return; // hidden, or no room yet: laid out once there is
    this.ratio = Math.min(3, window.devicePixelRatio || 1) * this.zoom;
    this.keepNote();
    this.ceiling = this.room - (this.root.offsetHeight - this.picture.offsetHeight);
    this.painter.layout?.(this);
    this.draw();
    this.take();
  }

  // What holds the picture on the page; null where it stands in a file of its own.
  get host() {
    const root = this.root.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  }

  // The room that was kept free for a picture until it is drawn (Picture.room) is its own now.
  take() {
    const room = this.host?.closest('[class*="st-key-room"]');
    if (room instanceof HTMLElement) room.style.minHeight = "0";
  }

  // As many lines as the longest caption needs: from frame to frame nothing below moves, nor is laid out again.
  keepNote() {
    const { captions } = this.meta;
    hide(this.note, !captions);
    if (!captions) return;
    const pen = penOf(this), wide = captions.map((text) => pen.measureText(text).width), most = Math.max(...wide);
    const long = captions.filter((_, i) => wide[i] > 0.8 * most); // one that breaks worse may need more than the longest
    const lines = Math.max(...long.map((text) => folded(pen, text, 0.98 * this.width).length));
    this.note.style.height = `${1.5 * lines}em`;
  }

  draw() {
    this.late = !this.width; // nothing was laid out yet
    if (!this.late) this.painter.draw?.(this);
    this.tell();
  }

  tell() {
    const { slider, captions } = this.meta;
    if (slider && this.range) write(this.value, slider.shown[this.frame]);
    if (captions) write(this.note, captions[this.frame] ?? captions[0]);
    if (this.tip && this.width) this.showTip();
    this.describe();
  }

  // What the picture shows now, for those who cannot see it: once the hand rests, as nobody hears every frame of a drag.
  describe() {
    const canvas = this.picture.querySelector("canvas");
    if (!canvas) return;
    const say = () => {
      canvas.setAttribute("aria-label", this.told);
      this.list?.replaceChildren(...this.painter.items(this).map((line) => make("li", {}, line)));
    };
    clearTimeout(this.timers.told);
    if (canvas.hasAttribute("aria-label")) this.timers.told = setTimeout(say, AFTER_MOVES);
    else say();
  }

  get told() {
    return sentences(this.meta.label, this.captionNow, this.painter.told?.(this), this.stage ? "" : this.meta.words?.keys);
  }

  // ---- the cursor: where a pointer or an arrow key is, null where it is nowhere ----
  point(place, aloud = false) {
    const { painter } = this;
    this.canvas.style.cursor = painter.hand?.(this, place) ?? "default";
    if (JSON.stringify(place) !== JSON.stringify(this.cursor)) {
      this.cursor = place;
      this.draw();
    }
    if (aloud && place !== null) this.announce(painter.spoken(this, place).replaceAll("\n", ", "));
  }

  showTip() {
    const { painter, cursor, tip } = this;
    hide(tip, cursor === null || !painter.spot);
    if (tip.hidden) return;
    write(tip, painter.spoken(this, cursor)); // what is there now: the slider may move under a resting hand
    const [x, y] = painter.spot(this, cursor), half = tip.offsetWidth / 2;
    tip.style.left = `${Math.max(half, Math.min(this.width - half, x))}px`;
    tip.style.top = `${y}px`;
  }

  keyed(event) {
    const { painter } = this, by = ARROWS[event.key];
    if (by) {
      const place = painter.step(this, this.cursor, by);
      if (place !== null) this.point(place, true);
    } else if (painter.choose && (event.key === "Enter" || event.key === " ")) painter.choose(this, this.cursor ?? painter.start(this), true);
    else if (event.key === "Escape") this.point(null);
    else return;
    event.preventDefault();
  }

  // ---- the slider: frames in the browser, or a stream of values to Python ----
  showDial(slider) {
    this.dial.hidden = !slider || Boolean(slider.hidden);
    if (!slider) return void (this.frame = 0);
    if (!this.range) this.buildDial();
    this.range.max = String(slider.stops.length - 1);
    if (this.frame >= slider.stops.length) this.go(slider.at); // another text, another slider: the place is gone
    if (this.held) return; // under the finger: leave it there
    this.showPlayer(slider.play);
    this.range.dataset.slider = slider.name;
    this.range.setAttribute("aria-label", slider.label);
    this.caption.textContent = slider.label;
    keep(this, this.value, slider.shown);
    if (this.older(slider.name, slider.stops[slider.at])) return;
    this.go(slider.at);
    if (this.spoke) this.lead(); // for a hand that has been overruled since
    this.spoke = false;
  }

  buildDial() {
    const { label, range, caption, value } = ruler();
    Object.assign(this, { range, caption, value });
    this.dial.append(label);
    this.range.addEventListener("pointerdown", (event) => {
      this.halt();
      this.range.setPointerCapture(event.pointerId);
      Object.assign(this, { held: true, byKey: false });
    });
    this.range.addEventListener("lostpointercapture", () => (this.held = false));
    this.range.addEventListener("keydown", () => (this.byKey = true));
    this.range.addEventListener("input", () => this.moved());
    this.range.addEventListener("change", () => this.let_go());
  }

  // ---- a slider that runs by itself: one stop after the other, until its end or until a hand is laid on it ----
  showPlayer(words) {
    if (String(words) === String(this.played ?? null)) return; // the same buttons, in the same language
    this.halt();
    this.player?.remove();
    this.played = words;
    if (!words) return;
    const [back, run, pause, on, speed] = words;
    const button = (name, sign, act) => {
      const made = make("button", { type: "button", "aria-label": name, title: name }, sign);
      made.addEventListener("click", act);
      return made;
    };
    this.runner = button(run, "▶\uFE0E", () => (this.running ? this.halt() : this.play()));
    this.pace = make("select", { "aria-label": speed, title: speed }, ...PACES.map((n) => make("option", { value: n, selected: n === 2 }, `${n}/s`)));
    this.playing = { run, pause };
    this.player = make("div", { class: "player" }, button(back, "◂", () => this.stepBy(-1)), this.runner, button(on, "▸", () => this.stepBy(1)), this.pace);
    this.dial.prepend(this.player);
  }

  stepBy(by) {
    this.halt();
    this.stepped(by);
    this.let_go();
  }

  stepped(by) {
    this.range.value = String(within(this.frame + by, this.meta.slider.stops.length));
    this.moved();
  }

  play() {
    if (this.frame === this.meta.slider.stops.length - 1) this.go(0);
    this.running = true;
    this.runner.replaceChildren("❚❚");
    this.runner.setAttribute("aria-label", this.playing.pause);
    const next = () => {
      if (!this.root.isConnected || !this.meta.slider || this.frame >= this.meta.slider.stops.length - 1) return void this.halt();
      this.stepped(1);
      this.timers.run = setTimeout(next, 1000 / Number(this.pace.value));
    };
    next();
  }

  halt() {
    if (!this.running) return;
    this.running = false;
    clearTimeout(this.timers.run);
    this.runner.replaceChildren("▶\uFE0E");
    this.runner.setAttribute("aria-label", this.playing.run);
    this.let_go();
  }

  go(frame) {
    this.frame = frame;
    this.range.value = String(frame);
    this.range.setAttribute("aria-valuetext", this.meta.slider.shown[frame]);
  }

  moved() {
    this.go(Number(this.range.value));
    if (this.meta.slider.stream) this.stream();
    this.lead();
    this.draw();
  }

  // Pictures of one page with the same slider move together, the ones that ask for it: one hand, many pictures.
  lead() {
    const { name, together, stops } = this.meta.slider;
    if (together) window.dispatchEvent(new CustomEvent(TOGETHER, { detail: { from: this, name, stops: stops.length, frame: this.frame } }));
  }

  follow({ from, name, stops, frame }) {
    const slider = this.meta?.slider;
    if (from === this || !slider?.together || slider.name !== name || slider.stops.length !== stops || this.held || !this.range) return;
    this.go(frame);
    this.leftAs();
    if (this.near) return void this.draw();
    this.late = true; // far from the screen: what it says is true at once, what it shows once it comes near
    this.tell();
  }

  // What is under the hand, or was just let go, is newer than what another picture was told meanwhile.
  tellWhere(name) {
    if (this.meta?.slider?.name !== name || !(this.held || name in this.awaited)) return;
    this.spoke = true;
    this.lead();
  }

  inSight(near) {
    this.near = near;
    if (near) this.catchUp();
  }

  catchUp() {
    if (this.late && this.meta) this.draw();
  }

  let_go() {
    const { name, stops, stream } = this.meta.slider;
    const wait = this.byKey ? AFTER_KEYS : 0;
    this.byKey = this.held = false;
    this.leftAs();
    if (stream) {
      this.resting = true;
      this.stream();
    } else this.release(name, stops[this.frame], wait);
  }

  // One request in flight; when it is answered the newest value goes out, and the last one always does.
  stream() {
    const wanted = JSON.stringify([this.frame, Boolean(this.resting)]);
    if (wanted === this.sent) return;
    if (this.flying && performance.now() - this.flying < 2000) return void (this.waiting = true);
    this.sent = wanted;
    this.flying = performance.now();
    this.waiting = false;
    this.seq = (this.seq ?? this.meta.slider.seq) + 1;
    const rest = Boolean(this.resting);
    this.resting = false;
    this.setStateValue(this.meta.slider.name, [this.seq, this.meta.slider.stops[this.frame], rest]);
  }

  answered(seq) {
    if (this.seq === undefined || seq < this.seq) return;
    this.flying = 0;
    if (this.waiting || this.resting) this.stream();
  }

  // ---- export: one menu a picture ----
  showTools(meta) {
    this.tools.replaceChildren();
    this.tools.hidden = !meta.tools;
    if (!meta.tools) return;
    const list = make("div", { class: "menu", hidden: true });
    const opener = make("button", { type: "button", class: "save", "aria-label": meta.save, title: meta.save, "aria-expanded": "false" }, "⤓");
    const show = (on) => {
      list.hidden = !on;
      opener.setAttribute("aria-expanded", String(on));
    };
    const add = (name, act) => {
      const button = make("button", { type: "button" }, name);
      button.addEventListener("click", () => {
        show(false);
        act();
      });
      list.append(button);
    };
    opener.addEventListener("click", () => show(list.hidden));
    this.tools.onkeydown = (event) => {
      if (event.key !== "Escape") return; // nothing is handed back: a false would stop the key
      show(false);
      opener.focus();
    };
    this.tools.onfocusout = (event) => void (this.tools.contains(event.relatedTarget) || show(false));
    const file = (kind) => `${meta.file ?? meta.quantity}.${kind}`;
    add("PNG", () => whole(this).toBlob((blob) => download(file("png"), blob)));
    const { csv, svg } = this.painter;
    if (svg) add("SVG", () => download(file("svg"), new Blob([svg(this)], { type: "image/svg+xml" })));
    if (csv) add("CSV", () => download(file("csv"), new Blob(["\ufeff" + csv(this)], { type: "text/csv" })));
    if (this.page) add("HTML", async () => download(file("html"), new Blob([await this.page()], { type: "text/html" })));
    this.tools.append(opener, list);
  }

  announce(text) {
    this.status.textContent = text;
  }

  // What stands under the picture and where the slider stands.
  get captionNow() {
    const { slider, captions } = this.meta, at = slider && !slider.hidden ? `${slider.label} ${slider.shown[this.frame]}` : "";
    return [captions && this.note.textContent, at].filter(Boolean).join(" · ");
  }

  // [colour, dashed or null where it is filled, name, x, y] of every entry of the legend, as it stands on the page.
  /** @returns {[string, boolean | null, string, number, number][]} */
  get legendNow() {
    if (!this.legend || this.legend.hidden) return [];
    const from = this.legend.getBoundingClientRect();
    return [...this.legend.querySelectorAll("span")].map((span) => {
      const swatch = span.querySelector("i"), style = getComputedStyle(swatch), box = span.getBoundingClientRect();
      const line = parseFloat(style.borderTopWidth) > 0;
      const colour = line ? style.borderTopColor : style.backgroundColor;
      return [colour, line ? style.borderTopStyle === "dashed" : null, span.textContent, box.left - from.left, box.top - from.top];
    });
  }
}

// The picture as it is saved: the legend above it and its words beneath, as on the page.
export function whole(view) {
  const canvas = view.picture.querySelector("canvas"), ratio = canvas.width / canvas.clientWidth;
  const entries = view.legendNow, above = entries.length ? view.legend.offsetHeight + 10 : 0;
  const all = make("canvas"), pen = all.getContext("2d"), font = `600 13px ${view.font}`;
  pen.font = font;
  const words = folded(pen, view.captionNow, canvas.clientWidth - 10);
  all.width = canvas.width;
  all.height = canvas.height + Math.round(ratio * (above + (words.length ? 20 * words.length + 8 : 0)));
  pen.fillStyle = view.paper;
  pen.fillRect(0, 0, all.width, all.height);
  pen.drawImage(canvas, 0, Math.round(ratio * above));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.textBaseline = "middle";
  pen.font = `13px ${view.font}`;
  for (const [colour, dash, name, x, y] of entries) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 3;
    if (dash === null) pen.fillRect(x, y + 6, 13, 13);
    else {
      pen.setLineDash(dash ? [6, 3] : []);
      pen.beginPath();
      pen.moveTo(x, y + 13);
      pen.lineTo(x + 18, y + 13);
      pen.stroke();
    }
    pen.fillStyle = view.ink;
    pen.fillText(name, x + (dash === null ? 19 : 24), y + 13);
  }
  pen.fillStyle = view.ink;
  pen.font = font;
  words.forEach((line, i) => pen.fillText(line, 4, above + canvas.clientHeight + 14 + 20 * i));
  return all;
}

export function svgOf(view, width, height, size, parts) {
  const paper = `<rect width="100%" height="100%" fill="${view.paper}"/>`, face = `font-family="sans-serif" font-size="${size}" fill="${view.ink}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${face}>${paper}${parts.join("")}</svg>`;
}

// Text in lines no wider than this, broken where words end or between two signs of Chinese.
export function folded(pen, text, width) {
  const lines = [];
  for (const piece of text.match(/[^\s\u3000-\u9fff\uff00-\uffef]+\s*|\s+|./gu) ?? []) {
    if (lines.length && pen.measureText(lines.at(-1) + piece.trimEnd()).width <= width) lines[lines.length - 1] += piece;
    else lines.push(piece.trimStart());
  }
  return lines;
}

// A pen that measures what stands in a note or beside a slider.
function penOf(view) {
  view.measuring ??= make("canvas").getContext("2d");
  view.measuring.font = `600 15px ${view.font}`;
  return view.measuring;
}

// A label, a range and what it stands at. A step changes the last two: each is laid out apart from all around it, so its
// size is its own affair (a browser lays no item of a grid out apart, only what stands in one).
export function ruler() {
  const range = make("input", { type: "range", min: 0, step: 1 }), caption = make("span", { class: "caption" }), value = make("output");
  return { range, caption, value, label: make("label", {}, caption, make("span", { class: "run" }, range), make("span", {}, value)) };
}

// As wide as the longest of what it may say.
export function keep(view, value, shown) {
  const pen = penOf(view);
  value.style.width = `${Math.ceil(Math.max(...shown.map((text) => pen.measureText(text).width))) + 4}px`;
}

// A canvas with a tip that the keyboard reaches too. Its painter says what is under a pointer (under), where the cursor
// goes by an arrow key (step) and where it begins (start), what is there (spoken), what choosing it does (choose), and
// whether there is nothing of all this just now (idle).
export function staged(view, ...above) {
  const { painter } = view;
  view.stage = make("div", { class: "stage" });
  view.canvas = make("canvas", { role: "img" });
  view.tip = make("div", { class: "tip", hidden: true });
  view.stage.append(view.canvas, view.tip);
  view.picture.append(...above, view.stage);
  const under = (event) => painter.under(view, event.offsetX, event.offsetY);
  view.canvas.addEventListener("pointermove", (event) => view.point(under(event)));
  view.canvas.addEventListener("pointerleave", () => view.point(null));
  view.canvas.addEventListener("click", (event) => painter.choose?.(view, under(event)));
  view.stage.addEventListener("keydown", (event) => view.keyed(event));
  view.stage.addEventListener("blur", () => view.point(null));
}

function isDark(colour) {
  const probe = make("canvas", { width: 1, height: 1 }).getContext("2d");
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  return r + g + b < 384;
}

export const within = (x, n) => Math.max(0, Math.min(n - 1, x));

// Names in their colours above a picture. dash: null for an area, else whether the line is dashed.
export function legend(view, entries) {
  view.legend ??= make("div", { class: "legend" });
  view.legend.replaceChildren(...entries.map(([name, colour, dash]) => {
    const swatch = make("i", { class: dash === null ? "area" : dash ? "dash" : null });
    swatch.style[dash === null ? "background" : "borderColor"] = colour;
    return make("span", {}, swatch, name);
  }));
}

// A canvas of a size in CSS pixels, sharp on every screen.
export function sized(canvas, width, height, ratio) {
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// Slanted lines over what was cut: nothing is left of it.
export function hatched(pen, x, y, width, height, colour) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  for (let at = x - height; at < x + width; at += 5) {
    pen.beginPath();
    pen.moveTo(at, y + height);
    pen.lineTo(at + height, y);
    pen.stroke();
  }
  pen.restore();
}

// A finger on the picture moves the slider too. at(x, y, down) is the stop under it, null where there is none.
export function steer(view, canvas, at) {
  const move = (event, down) => {
    const stop = at(event.offsetX, event.offsetY, down);
    if (stop === null || stop === view.frame) return;
    view.range.value = stop;
    view.moved();
  };
  canvas.style.touchAction = "pan-y";
  canvas.addEventListener("pointerdown", (event) => {
    if (at(event.offsetX, event.offsetY, true) === null) return;
    canvas.setPointerCapture(event.pointerId);
    view.held = true;
    move(event, true);
  });
  canvas.addEventListener("pointermove", (event) => canvas.hasPointerCapture(event.pointerId) && move(event, false));
  canvas.addEventListener("lostpointercapture", () => {
    view.held = false;
    view.let_go();
  });
}

export function clip(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && context.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n) + "…";
}
