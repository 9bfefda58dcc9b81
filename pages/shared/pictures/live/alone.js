// A picture in a file of its own: no server, no network. alone.py puts this and the painter into one page.

import { View } from "./base.js";
import { unpack } from "./numbers.js";

const BASE = new URL("base.css", import.meta.url); // in the file: the text of the style sheet itself

export default function start({ default: painter, styles = [] }) {
  const host = document.getElementById("picture"), shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [BASE, ...styles].map((css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(String(css));
    return sheet;
  });
  const { meta, arrays } = unpack(Uint8Array.from(atob(document.getElementById("numbers").textContent), (c) => c.charCodeAt(0)));
  if (meta.slider) Object.assign(meta.slider, { hidden: false, stream: false });
  const view = new View(shadow, painter);
  Object.assign(view, { setStateValue() {}, setTriggerValue() {} });
  view.update(meta, arrays);
  view.resume(JSON.parse(document.getElementById("left").textContent));
  view.fit();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.update(meta, arrays));
  // In a notebook the page stands in a frame, which is made as tall as the picture.
  const frame = window.frameElement;
  if (frame instanceof HTMLElement) new ResizeObserver(() => (frame.style.height = `${document.body.scrollHeight + 4}px`)).observe(host);
}
