// The one component behind all pictures: Streamlit calls it on every change of data or theme. Which painter draws, its
// data says; painters and styles are fetched when the first picture of their kind is drawn, and kept.

import { View } from "./base.js";
import { unpack } from "./numbers.js";

const PAGES = new URL("../../../", import.meta.url);
const VIEWS = new WeakMap(); // root -> View
const PAINTERS = new Map(); // path -> painter, or the promise of one
const SHEETS = new Map(); // address -> the promise of a style sheet

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

export default async function ({ data, parentElement, setStateValue, setTriggerValue }) {
  if (!data) return;
  const { meta, arrays } = unpack(data);
  let view = VIEWS.get(parentElement);
  if (!view) {
    const { painter, sheets } = await painterOf(meta.painter);
    view = VIEWS.get(parentElement);
    if (!view) {
      parentElement.adoptedStyleSheets = sheets;
      VIEWS.set(parentElement, (view = new View(parentElement, painter)));
    }
  }
  Object.assign(view, { setStateValue, setTriggerValue });
  view.update(meta, arrays);
  return () => parentElement.isConnected || view.close();
}
