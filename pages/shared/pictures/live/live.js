// The one component behind all pictures: Streamlit calls it on every change of data or theme. Which painter draws, its
// data says; painters and styles are fetched when the first picture of their kind is drawn, and kept.

import { View } from "./base.js";
import { escaped, unpack, words } from "./numbers.js";

const PAGES = new URL("../../../", import.meta.url);
const VIEWS = new WeakMap(); // root -> View
const OPEN = new Set(); // the Views on the page
const PAINTERS = new Map(); // path -> painter, or the promise of one
const SHEETS = new Map(); // address -> the promise of a style sheet
let here = ""; // the page that was drawn last

function sheet(url) {
  const { href } = url;
  if (!SHEETS.has(href)) {
    const text = fetch(href).then((answer) => answer.text());
    SHEETS.set(href, text.then((css) => new CSSStyleSheet().replace(css)));
  }
  return SHEETS.get(href);
}

async function fetched(path) {
  const own = import(new URL(path, PAGES).href);
  const base = sheet(new URL("./base.css", import.meta.url));
  const { default: painter, styles = [] } = await own;
  return { painter, sheets: await Promise.all([base, ...styles.map(sheet)]) };
}

function painterOf(path) {
  if (!PAINTERS.has(path)) {
    const promise = fetched(path);
    PAINTERS.set(path, promise);
    promise.then((kept) => PAINTERS.set(path, kept), () => PAINTERS.delete(path)); // a server that is back is asked again
  }
  return PAINTERS.get(path);
}

// The picture as it stands, in a file of its own: the server has put this painter's scripts into one page, whose holes
// are filled here as alone.py fills them.
async function alone(view, data) {
  const answer = await fetch(new URL(`picture.html?painter=${view.meta.painter}`, location.href));
  const numbers = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).split(",")[1]);
    reader.readAsDataURL(new Blob([data]));
  });
  const left = JSON.stringify(view.now).replaceAll("<", "\\u003c");
  const holes = { lang: document.documentElement.lang || "en", title: escaped(view.meta.label), left, numbers };
  return (await answer.text()).replace(/«(\w+)»/g, (hole, name) => holes[name] ?? hole);
}

export default async function ({ data, parentElement, setStateValue, setTriggerValue }) {
  if (!data) return;
  const { meta, arrays } = unpack(data);
  here = meta.page;
  let view = VIEWS.get(parentElement);
  if (!view) {
    const { painter, sheets } = await painterOf(meta.painter);
    view = VIEWS.get(parentElement);
    if (!view) {
      parentElement.adoptedStyleSheets = sheets;
      VIEWS.set(parentElement, (view = new View(parentElement, painter)));
      OPEN.add(view);
    }
  }
  Object.assign(view, { setStateValue, setTriggerValue, page: () => alone(view, data) });
  if (!view.isAheadOf(meta.id)) view.update(meta, arrays);
  return () => parentElement.isConnected || closed(view);
}

function closed(view) {
  OPEN.delete(view);
  view.close();
}

// The same numbers, before Streamlit has drawn the page around them: start/ahead.js.
// The first picture of another page is urgent: its painter is fetched, and what follows it waits until it is drawn.
window.addEventListener("live-sent", (/** @type {CustomEvent} */ event) => {
  const bytes = event.detail, names = ["page", "key", "painter"], { meta } = words(bytes);
  if (here && meta.page !== here) {
    here = meta.page;
    painterOf(meta.painter);
    event.preventDefault();
  }
  const same = (view) => view.root.isConnected && names.every((name) => view.meta?.[name] === meta[name]);
  for (const view of [...OPEN].filter(same)) {
    const sent = unpack(bytes);
    view.ahead(sent.meta, sent.arrays);
  }
});
