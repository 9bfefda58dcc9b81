// A text on the places of a table: its words as cards, moved along as a whole by the slider or by a finger on them.

import { clip, make, sized, steer } from "../../../shared/pictures/live/base.js";

/** @typedef {import("../../../shared/pictures/live/base.js").Colours} Colours */
/**
 * What Python says of the picture, beside what it says of all pictures.
 * @typedef {object} Own
 * @property {string[]} tokens
 * @property {number} places
 * @property {{ light: string[], dark: string[] }} cards
 * @property {Colours} colours
 * @property {boolean} tools
 */
/** @typedef {import("../../../shared/pictures/live/base.js").Common & Own} Meta */

const RULER = { card: 46, foot: 22, every: 8 };

/** @type {import("../../../shared/pictures/live/base.js").Painter<Meta>} */
const ALONG = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    steer(view, view.canvas, (x, _y, down) => {
      const place = Math.floor(x / view.cell), n = view.meta.tokens.length;
      if (down) {
        if (place < view.frame || place >= view.frame + n) return null;
        view.grip = place - view.frame;
      }
      return Math.max(0, Math.min(view.meta.places - n, view.meta.slider.stops.length - 1, place - view.grip));
    });
    view.canvas.addEventListener("pointermove", (event) => {
      const place = Math.floor(event.offsetX / view.cell) - view.frame;
      view.canvas.style.cursor = place >= 0 && place < view.meta.tokens.length ? "grab" : "default";
    });
  },

  layout(view) {
    view.cell = view.width / view.meta.places;
    view.high = RULER.card + RULER.foot;
    view.pen = sized(view.canvas, view.width, view.high, view.ratio);
  },

  draw(view) {
    const { pen, meta, cell } = view, cards = meta.cards[view.dark ? "dark" : "light"];
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width, view.high);
    pen.font = `12px ${view.font}`;
    pen.textBaseline = "middle";
    for (let p = 0; p < meta.places; p++) {
      pen.fillStyle = view.colours.quiet;
      pen.fillRect(p * cell, RULER.card, Math.max(1, cell - 1), p % RULER.every ? 1 : 5);
      if (p % RULER.every) continue;
      pen.textAlign = p ? "center" : "left";
      pen.fillText(p, p ? (p + 0.5) * cell : 0, RULER.card + 14);
    }
    meta.tokens.forEach((token, i) => {
      const x = (view.frame + i) * cell;
      pen.fillStyle = cards[i % cards.length];
      pen.fillRect(x, 0, Math.max(2, cell - 1), RULER.card - 2);
      if (cell >= 11) ALONG.name(view, token, x + (cell - 1) / 2);
    });
    if (cell >= 11) return;
    const long = meta.tokens.length * cell; // too narrow for single words: as much of the text as fits
    pen.fillStyle = view.ink;
    pen.font = `600 11px ${view.font}`;
    pen.textAlign = "left";
    pen.fillText(clip(pen, meta.tokens.join(" ").slice(0, Math.ceil(long / 4)), long - 4), view.frame * cell + 2, RULER.card / 2 - 1);
  },

  name(view, text, x) { // no place for a word but upright
    const { pen } = view;
    pen.save();
    pen.fillStyle = view.ink;
    pen.textAlign = "center";
    pen.font = `600 11px ${view.font}`;
    pen.translate(x, RULER.card / 2 - 1);
    pen.rotate(-Math.PI / 2);
    pen.fillText(clip(pen, text, RULER.card - 4), 0, 0);
    pen.restore();
  },

  told(view) {
    const { tokens } = view.meta;
    return tokens.map((token, i) => `${view.frame + i} ${token}`).join(", ");
  },
};

export default ALONG;
