// A treemap of two levels: columns as wide as a part's share, in each its tensors as tall as theirs. Areas are exact.

const HEAD = 20;

const TREEMAP = {
  build(view) {
    view.stage = make("div", { class: "stage", tabindex: 0, role: "application" });
    view.canvas = make("canvas", { role: "img" });
    view.tip = make("div", { class: "tip", hidden: true });
    view.stage.append(view.canvas, view.tip);
    view.picture.append(view.stage);
    view.canvas.addEventListener("pointermove", (event) => TREEMAP.point(view, TREEMAP.under(view, event.offsetX, event.offsetY)));
    view.canvas.addEventListener("pointerleave", () => TREEMAP.point(view, -1));
    view.stage.addEventListener("keydown", (event) => TREEMAP.key(view, event));
    view.stage.addEventListener("blur", () => TREEMAP.point(view, -1));
  },

  update(view) {
    view.at = -1;
    view.stage.setAttribute("aria-label", `${view.meta.label} ${view.meta.words.keys}`);
    view.canvas.setAttribute("aria-label", view.meta.alt);
  },

  layout(view) {
    view.pen = sized(view.canvas, view.width, view.meta.tall, view.ratio);
  },

  row(view) {
    const { shape, values } = view.arrays.values, n = shape[1], frame = shape[0] > 1 ? view.frame : 0;
    return values.subarray(frame * n, frame * n + n);
  },

  boxes(view) { // [x, y, wide, high] of every leaf, and the columns' heads
    const { partOf, parts, tall } = view.meta, row = TREEMAP.row(view);
    const sums = parts.map((_, p) => row.reduce((sum, v, i) => (partOf[i] === p ? sum + v : sum), 0));
    const total = sums.reduce((a, b) => a + b, 0) || 1, high = tall - HEAD;
    const left = [], filled = parts.map(() => HEAD);
    sums.reduce((x, sum, p) => ((left[p] = x), x + (view.width * sum) / total), 0);
    view.total = total;
    view.columns = parts.map((_, p) => [left[p], (view.width * sums[p]) / total, sums[p]]);
    return Array.from(row, (v, i) => {
      const p = partOf[i], tallness = sums[p] ? (high * v) / sums[p] : 0, y = filled[p];
      filled[p] += tallness;
      return [left[p], y, view.columns[p][1], tallness];
    });
  },

  draw(view) {
    const { pen, meta, width } = view;
    const boxes = (view.boxes = TREEMAP.boxes(view));
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, meta.tall);
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    view.columns.forEach(([x, wide, sum], p) => {
      pen.font = `600 13px ${view.font}`;
      pen.fillStyle = view.ink;
      const label = `${meta.parts[p]} ${((100 * sum) / view.total).toFixed(1)}%`;
      if (pen.measureText(label).width < wide - 4) pen.fillText(label, x + 2, HEAD / 2);
    });
    boxes.forEach(([x, y, wide, high], i) => {
      pen.fillStyle = view.colours[`part${meta.partOf[i]}`];
      pen.fillRect(x, y, wide, high);
      pen.fillStyle = view.paper;
      pen.fillRect(x + wide - 1, y, 1.5, high);
      pen.fillRect(x, y + high - 0.75, wide, 1.5);
      pen.font = `13px ${view.font}`;
      if (high > 17 && pen.measureText(meta.names[i]).width < wide - 12) {
        pen.fillStyle = view.dark ? "#111" : "#fff";
        pen.fillText(meta.names[i], x + 6, y + high / 2);
      }
    });
    if (view.at < 0) return;
    const [x, y, wide, high] = boxes[view.at];
    pen.strokeStyle = view.ink;
    pen.lineWidth = 2.5;
    pen.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), Math.max(1, high - 3));
  },

  under(view, x, y) {
    return (view.boxes ?? []).findIndex(([left, top, wide, high]) => x >= left && x < left + wide && y >= top && y < top + high);
  },

  spoken(view, i) {
    const value = TREEMAP.row(view)[i], { meta } = view;
    return `${meta.parts[meta.partOf[i]]}, ${meta.names[i]}: ${Math.round(value).toLocaleString("en-US")} (${((100 * value) / view.total).toFixed(3)}%)`;
  },

  point(view, i) {
    if (i === view.at) return;
    view.at = i;
    view.tip.hidden = i < 0;
    view.draw();
    if (i < 0) return;
    const [x, y, wide] = view.boxes[i];
    view.tip.textContent = TREEMAP.spoken(view, i);
    view.tip.style.left = `${Math.max(130, Math.min(view.width - 130, x + wide / 2))}px`;
    view.tip.style.top = `${Math.max(40, y)}px`;
  },

  key(view, event) {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") TREEMAP.point(view, -1);
    if (!step) return;
    TREEMAP.point(view, Math.max(0, Math.min(view.meta.names.length - 1, view.at < 0 ? 0 : view.at + step)));
    view.announce(TREEMAP.spoken(view, view.at));
    event.preventDefault();
  },

  svg(view) {
    const boxes = TREEMAP.boxes(view), { meta } = view;
    const leaf = ([x, y, wide, high], i) =>
      `<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${wide.toFixed(2)}" height="${high.toFixed(2)}" fill="${view.colours[`part${meta.partOf[i]}`]}" stroke="${view.paper}"><title>${escaped(TREEMAP.spoken(view, i))}</title></rect>` +
      (high > 17 && wide > 60 ? `<text x="${x + 6}" y="${y + high / 2 + 4}" fill="${view.dark ? "#111" : "#fff"}">${escaped(meta.names[i])}</text>` : "");
    return svgOf(view, view.width, meta.tall, 13, boxes.map(leaf));
  },

  csv(view) {
    const { meta } = view, row = TREEMAP.row(view);
    return [["", quoted(meta.words.column), "parameters"].join(","), ...meta.names.map((name, i) => [quoted(meta.parts[meta.partOf[i]]), quoted(name), row[i]].join(","))].join("\n") + "\n";
  },
};

export default live(TREEMAP);
