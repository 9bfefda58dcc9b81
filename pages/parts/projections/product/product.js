// X on the left, W above, X W where they meet. All three are drawn to one measure; every number was computed in core.

const GAP = 16;
const NUMBERS = 30; // a cell this wide has room for its number
const SPACIOUS = 230; // a corner this wide has room for the running sum

const PRODUCT = {
  build(view) {
    view.stage = make("div", { class: "stage", tabindex: 0, role: "application" });
    view.canvas = make("canvas", { role: "img" });
    view.told = make("div", { class: "note" });
    view.stage.append(view.canvas);
    view.picture.append(view.stage, view.told);
    const cell = (event) => PRODUCT.under(view, event.offsetX, event.offsetY);
    view.canvas.addEventListener("pointermove", (event) => PRODUCT.hover(view, cell(event)));
    view.canvas.addEventListener("pointerleave", () => PRODUCT.hover(view, null));
    view.canvas.addEventListener("click", (event) => PRODUCT.choose(view, cell(event)));
    view.stage.addEventListener("keydown", (event) => PRODUCT.key(view, event));
    view.stage.addEventListener("blur", () => PRODUCT.hover(view, null));
  },

  update(view) {
    const { x, w } = view.arrays;
    view.sizes3 = { rows: x.shape[0], inner: x.shape[1], columns: w.shape[1] };
    view.cursor = null;
    const { cell } = view.state;
    if (cell && (cell[0] >= view.sizes3.rows || cell[1] >= view.sizes3.columns)) view.state.cell = null;
    view.stage.setAttribute("aria-label", `${view.meta.label} ${view.meta.words.keys}`);
    view.canvas.setAttribute("aria-label", view.meta.alt);
  },

  layout(view) {
    const { meta } = view, { rows, inner, columns } = view.sizes3;
    const probe = view.canvas.getContext("2d");
    probe.font = `13px ${view.font}`;
    const names = Math.max(...meta.rows.map((t) => probe.measureText(t).width));
    const left = Math.ceil(Math.min(names, view.width < 480 ? 54 : 90)) + 8;
    const room = view.width - left - GAP - 6;
    const few = inner <= 12;
    const step = few ? Math.min(52, room / (inner + columns)) : Math.min(52, (0.36 * room) / inner);
    const wide = Math.min(52, (room - step * inner) / columns);
    const tall = Math.min(wide, few ? 40 : 26, meta.tall / rows);
    const top = 24, down = top + step * inner + GAP + 18, right = left + step * inner + GAP;
    view.box = { left, top, right, down, step, wide, tall, width: right + wide * columns + 4, height: down + tall * rows + 4 };
    view.pen = sized(view.canvas, view.box.width, view.box.height, view.ratio);
    const scale = (s) => new Scale({ ...s, anchors: s[view.dark ? "dark" : "light"] });
    view.three = { x: scale(meta.scales.x), w: scale(meta.scales.w), y: scale(meta.scales.y) };
    view.images = {
      x: PRODUCT.image(view.three.x, view.arrays.x.values, rows, inner),
      w: PRODUCT.image(view.three.w, view.arrays.w.values, inner, columns),
    };
  },

  image(scale, values, rows, columns, from = 0, canvas = make("canvas", { width: columns, height: rows })) {
    const pixels = new ImageData(columns, rows);
    for (let k = 0, p = 0; k < rows * columns; k++, p += 4) {
      const i = 3 * scale.index(values[from + k]);
      pixels.data[p] = scale.bytes[i];
      pixels.data[p + 1] = scale.bytes[i + 1];
      pixels.data[p + 2] = scale.bytes[i + 2];
      pixels.data[p + 3] = 255;
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    return canvas;
  },

  value(view, [row, column]) {
    const { rows, columns } = view.sizes3;
    return view.arrays.partial.values[(view.frame * rows + row) * columns + column];
  },

  draw(view) {
    const { pen, box, sizes3, meta, images, three } = view, { rows, inner, columns } = sizes3;
    const { left, top, right, down, step, wide, tall } = box, done = meta.steps[view.frame];
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, box.width, box.height);
    view.small = PRODUCT.image(three.y, view.arrays.partial.values, rows, columns, view.frame * rows * columns, view.small?.width === columns && view.small?.height === rows ? view.small : undefined);
    pen.imageSmoothingEnabled = step < 1;
    pen.drawImage(images.x, left, down, step * inner, tall * rows);
    pen.drawImage(images.w, right, top, wide * columns, step * inner);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(view.small, right, down, wide * columns, tall * rows);
    PRODUCT.grids(view);
    pen.fillStyle = view.paper; // what is not added yet is pale
    pen.globalAlpha = 0.82;
    pen.fillRect(left + step * done, down, step * (inner - done), tall * rows);
    pen.fillRect(right, top + step * done, wide * columns, step * (inner - done));
    pen.globalAlpha = 1;
    PRODUCT.labels(view);
    const cell = view.cursor ?? view.state.cell;
    if (cell) PRODUCT.light(view, cell);
    view.told.textContent = cell ? PRODUCT.said(view, cell) : "";
  },

  grids(view) {
    const { box, sizes3, arrays, three, pen, frame } = view, { left, top, right, down, step, wide, tall } = box;
    const { rows, inner, columns } = sizes3;
    const rule = (x, y, w, h, nx, ny) => {
      pen.fillStyle = view.paper;
      for (let i = 0; w / nx > 5 && i <= nx; i++) pen.fillRect(x + (i * w) / nx - 0.5, y, 1, h);
      for (let i = 0; h / ny > 5 && i <= ny; i++) pen.fillRect(x, y + (i * h) / ny - 0.5, w, 1);
    };
    const write = (values, from, scale, x, y, w, h, nx, ny) => {
      rule(x, y, w, h, nx, ny);
      if (w / nx < NUMBERS || h / ny < 16) return;
      pen.font = `12px ${view.font}`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      for (let k = 0; k < nx * ny; k++) {
        pen.fillStyle = scale.ink(values[from + k]);
        pen.fillText(short(values[from + k], 1), x + ((k % nx) + 0.5) * (w / nx), y + (Math.floor(k / nx) + 0.5) * (h / ny));
      }
    };
    write(arrays.x.values, 0, three.x, left, down, step * inner, tall * rows, inner, rows);
    write(arrays.w.values, 0, three.w, right, top, wide * columns, step * inner, columns, inner);
    write(arrays.partial.values, frame * rows * columns, three.y, right, down, wide * columns, tall * rows, columns, rows);
  },

  labels(view) {
    const { pen, box, sizes3, meta } = view, { left, top, right, down, step, tall } = box, { rows, inner, columns } = sizes3;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.font = `${tall < 12 ? 11 : 13}px ${view.font}`;
    pen.fillStyle = view.ink;
    for (let r = 0, n = Math.max(1, Math.ceil(13 / tall)); r < rows; r += n) pen.fillText(clip(pen, meta.rows[r], left - 8), left - 5, down + (r + 0.5) * tall);
    pen.textAlign = "left";
    pen.font = `600 14px ${view.font}`;
    pen.fillText(`X  ${rows} × ${inner}`, left, down - 10);
    pen.fillStyle = view.colours.made;
    pen.fillText(`W  ${inner} × ${columns}`, right, top - 11);
    pen.fillText(`${meta.name} = XW  ${rows} × ${columns}`, right, down - 10);
    const cell = view.cursor ?? view.state.cell;
    if (step * inner < SPACIOUS || !cell) return;
    pen.fillStyle = view.ink;
    pen.font = `700 30px ${view.font}`;
    pen.fillText(short(PRODUCT.value(view, cell)), left, top + 0.45 * step * inner);
    pen.font = `14px ${view.font}`;
    pen.fillText(`${meta.name}[${clip(pen, meta.rows[cell[0]], 90)}, ${cell[1]}]   Σ ${meta.steps[view.frame]} / ${inner}`, left, top + 0.45 * step * inner + 30);
  },

  light(view, [row, column]) { // the row and the column that meet in the cell
    const { pen, box, sizes3 } = view, { left, top, right, down, step, wide, tall } = box;
    pen.lineWidth = 2;
    pen.strokeStyle = view.ink;
    pen.strokeRect(left - 1, down + row * tall - 1, step * sizes3.inner + 2, tall + 2);
    pen.strokeStyle = view.colours.made;
    pen.strokeRect(right + column * wide - 1, top - 1, wide + 2, step * sizes3.inner + 2);
    pen.strokeStyle = view.accent;
    pen.lineWidth = 3;
    pen.strokeRect(right + column * wide - 1, down + row * tall - 1, wide + 2, tall + 2);
    pen.lineWidth = 1;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(left + step * sizes3.inner, down + (row + 0.5) * tall);
    pen.lineTo(right + column * wide, down + (row + 0.5) * tall);
    pen.moveTo(right + (column + 0.5) * wide, top + step * sizes3.inner);
    pen.lineTo(right + (column + 0.5) * wide, down + row * tall);
    pen.stroke();
    pen.setLineDash([]);
  },

  said(view, cell) {
    const { meta } = view;
    return fill(meta.words.cell, {
      name: meta.name, row: meta.rows[cell[0]], column: cell[1], done: meta.steps[view.frame], all: view.sizes3.inner, value: short(PRODUCT.value(view, cell), 4),
    });
  },

  under(view, x, y) {
    const { right, down, wide, tall } = view.box, { rows, columns } = view.sizes3;
    const c = Math.floor((x - right) / wide), r = Math.floor((y - down) / tall);
    return r >= 0 && r < rows && c >= 0 && c < columns ? [r, c] : null;
  },

  hover(view, cell) {
    view.canvas.style.cursor = cell ? "pointer" : "default";
    if (JSON.stringify(cell) === JSON.stringify(view.cursor)) return;
    view.cursor = cell;
    view.draw();
  },

  choose(view, cell) {
    if (!cell) return;
    view.release("cell", cell);
    view.draw();
  },

  key(view, event) {
    const { rows, columns } = view.sizes3;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const now = view.cursor ?? view.state.cell ?? [rows - 1, 0];
    const within = (x, n) => Math.max(0, Math.min(n - 1, x));
    if (step) {
      PRODUCT.hover(view, view.cursor || view.state.cell ? [within(now[0] + step[0], rows), within(now[1] + step[1], columns)] : now);
      view.announce(PRODUCT.said(view, view.cursor));
    } else if (event.key === "Enter" || event.key === " ") PRODUCT.choose(view, now);
    else if (event.key === "Escape") PRODUCT.hover(view, null);
    else return;
    event.preventDefault();
  },

  csv(view) {
    const { rows, columns } = view.sizes3;
    const lines = Array.from({ length: rows }, (_, r) => [quoted(view.meta.rows[r]), ...Array.from({ length: columns }, (_, c) => PRODUCT.value(view, [r, c]))].join(","));
    return [["", ...Array(columns).keys()].join(","), ...lines].join("\n") + "\n";
  },
};

export default live(PRODUCT);
