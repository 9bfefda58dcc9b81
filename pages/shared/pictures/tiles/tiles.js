// Many small matrices in one canvas. A click, or Enter on the keyboard, chooses one.

const GAP = 8, NAME = 16;

const TILES = {
  build(view) {
    view.stage = make("div", { class: "stage", tabindex: 0, role: "application" });
    view.canvas = make("canvas", { role: "img" });
    view.stage.append(view.canvas);
    view.picture.append(view.stage);
    const index = (event) => TILES.under(view, event.offsetX, event.offsetY);
    view.canvas.addEventListener("click", (event) => TILES.choose(view, index(event)));
    view.canvas.addEventListener("pointermove", (event) => {
      const i = index(event);
      view.canvas.style.cursor = i < 0 ? "default" : "pointer";
      if (i !== view.cursor) TILES.point(view, i);
    });
    view.canvas.addEventListener("pointerleave", () => TILES.point(view, -1));
    view.stage.addEventListener("keydown", (event) => TILES.key(view, event));
  },

  update(view) {
    view.cursor = -1;
    view.stage.setAttribute("aria-label", `${view.meta.label} ${view.meta.words.keys}`);
    view.canvas.setAttribute("aria-label", view.meta.alt);
  },

  layout(view) {
    const { columns } = view.meta, [n, rows, cells] = view.arrays.values.shape;
    const side = Math.max(36, Math.min(view.meta.most, (view.width - (columns - 1) * GAP) / columns));
    Object.assign(view, { side, n, lines: Math.ceil(n / columns), cells: [rows, cells] });
    view.high = view.lines * (side + NAME + GAP);
    view.pen = sized(view.canvas, columns * (side + GAP) - GAP, view.high, view.ratio);
    TILES.paint(view);
  },

  paint(view) { // all maps once, at one pixel a cell
    const [rows, columns] = view.cells, { values } = view.arrays.values;
    view.maps = Array.from({ length: view.n }, (_, i) => {
      const small = make("canvas", { width: columns, height: rows }), pixels = new ImageData(columns, rows);
      for (let k = 0; k < rows * columns; k++) {
        const c = 3 * view.scale.index(values[i * rows * columns + k]);
        pixels.data.set([view.scale.bytes[c], view.scale.bytes[c + 1], view.scale.bytes[c + 2], 255], 4 * k);
      }
      small.getContext("2d").putImageData(pixels, 0, 0);
      return small;
    });
  },

  place(view, i) {
    const { columns } = view.meta;
    return [(i % columns) * (view.side + GAP), Math.floor(i / columns) * (view.side + NAME + GAP)];
  },

  draw(view) {
    const { pen, side, meta } = view;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, view.width + 400, view.high);
    pen.imageSmoothingEnabled = false;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    for (let i = 0; i < view.n; i++) {
      const [x, y] = TILES.place(view, i), on = i === view.state.tile;
      pen.font = `${on ? 700 : 400} 12px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.fillText(meta.names[i], x + 1, y + NAME / 2);
      pen.drawImage(view.maps[i], x, y + NAME, side, side);
      pen.strokeStyle = on ? view.accent : i === view.cursor ? view.ink : view.colours.quiet;
      pen.globalAlpha = on || i === view.cursor ? 1 : 0.4;
      pen.lineWidth = on ? 3 : 1;
      pen.strokeRect(x + 0.5, y + NAME + 0.5, side - 1, side - 1);
      pen.globalAlpha = 1;
    }
  },

  under(view, x, y) {
    const { columns } = view.meta, step = view.side + GAP, down = view.side + NAME + GAP;
    const i = Math.floor(y / down) * columns + Math.floor(x / step);
    return x % step < view.side && Math.floor(x / step) < columns && i >= 0 && i < view.n ? i : -1;
  },

  point(view, i) {
    view.cursor = i;
    TILES.draw(view);
  },

  choose(view, i) {
    if (i < 0) return;
    view.release("tile", i);
    TILES.draw(view);
    view.announce(view.meta.names[i]);
  },

  key(view, event) {
    const { columns } = view.meta;
    const step = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const now = view.cursor >= 0 ? view.cursor : (view.state.tile ?? 0);
    if (step) {
      TILES.point(view, Math.max(0, Math.min(view.n - 1, now + step)));
      view.announce(view.meta.names[view.cursor]);
    } else if (event.key === "Enter" || event.key === " ") TILES.choose(view, now);
    else return;
    event.preventDefault();
  },
};

export default live(TILES);
