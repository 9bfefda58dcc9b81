// Stacked bars: each row is a whole, each piece a part of it, and the total is always what the pieces add up to.

const BAR = 34, PITCH = 62;

function written(x, format) {
  if (format === "bytes") {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let k = 0, y = x;
    while (y >= 1024 && k < units.length - 1) { y /= 1024; k++; }
    return `${k && y < 100 ? y.toFixed(y < 10 ? 2 : 1) : Math.round(y).toLocaleString("en-US")} ${units[k]}`;
  }
  return format === "integer" ? Math.round(x).toLocaleString("en-US") : short(x);
}

const STACK = {
  build(view) {
    view.stage = make("div", { class: "stage", tabindex: 0, role: "application" });
    view.canvas = make("canvas", { role: "img" });
    view.tip = make("div", { class: "tip", hidden: true });
    view.legend = make("div", { class: "legend" });
    view.stage.append(view.canvas, view.tip);
    view.picture.append(view.legend, view.stage);
    view.canvas.addEventListener("pointermove", (event) => STACK.point(view, STACK.under(view, event.offsetX, event.offsetY)));
    view.canvas.addEventListener("pointerleave", () => STACK.point(view, null));
    view.stage.addEventListener("keydown", (event) => STACK.key(view, event));
    view.stage.addEventListener("blur", () => STACK.point(view, null));
  },

  update(view) {
    const { meta } = view;
    view.at = null;
    view.stage.setAttribute("aria-label", `${meta.label} ${meta.words.keys}`);
    view.canvas.setAttribute("aria-label", meta.alt);
  },

  layout(view) {
    const { meta } = view, rows = meta.rows.length;
    view.pen = sized(view.canvas, view.width, rows * PITCH + (meta.mark ? 18 : 4), view.ratio);
    view.legend.replaceChildren(...meta.parts.map((name, i) => {
      const swatch = make("i");
      swatch.style.background = STACK.colour(view, i);
      return make("span", {}, swatch, name);
    }));
  },

  colour(view, i) {
    return view.colours[`part${i}`];
  },

  value(view, row, part) {
    const { shape, values } = view.arrays.values, rows = shape[1], parts = shape[2], frame = shape[0] > 1 ? view.frame : 0;
    return values[(frame * rows + row) * parts + part];
  },

  total(view, row) {
    return view.meta.parts.reduce((sum, _, part) => sum + STACK.value(view, row, part), 0);
  },

  draw(view) {
    const { pen, meta, width } = view, rows = meta.rows.length;
    const high = meta.high ?? Math.max(...meta.rows.map((_, r) => STACK.total(view, r)), 1e-12);
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, width, rows * PITCH + 18);
    pen.textBaseline = "middle";
    view.places = [];
    for (let r = 0; r < rows; r++) {
      const y = r * PITCH, total = STACK.total(view, r);
      pen.font = `600 14px ${view.font}`;
      pen.fillStyle = view.ink;
      pen.textAlign = "left";
      pen.fillText(clip(pen, meta.rows[r], width * 0.55), 0, y + 11);
      pen.textAlign = "right";
      pen.fillText(written(total, meta.format), width, y + 11);
      let x = 0;
      meta.parts.forEach((name, p) => {
        const value = STACK.value(view, r, p), wide = Math.max(0, (width * value) / high);
        view.places.push([r, p, x, wide]);
        pen.fillStyle = STACK.colour(view, p);
        pen.fillRect(x, y + 22, wide, BAR);
        if (view.at && view.at[0] === r && view.at[1] === p) {
          pen.strokeStyle = view.ink;
          pen.lineWidth = 2.5;
          pen.strokeRect(x + 1, y + 23, Math.max(1, wide - 2), BAR - 2);
        }
        const label = `${name} ${total ? ((100 * value) / total).toFixed(1) : 0}%`;
        pen.font = `13px ${view.font}`;
        if (pen.measureText(label).width < wide - 10) {
          pen.fillStyle = view.dark ? "#111" : "#fff";
          pen.textAlign = "left";
          pen.fillText(label, x + 6, y + 22 + BAR / 2);
        }
        x += wide;
        pen.fillStyle = view.paper;
        pen.fillRect(x - 0.75, y + 22, 1.5, BAR);
      });
    }
    if (meta.mark) STACK.mark(view, meta.mark.at / high, rows * PITCH);
  },

  mark(view, share, foot) { // a limit or a reference, as an upright line
    const { pen, width, meta } = view, x = Math.min(width - 1, width * share);
    pen.strokeStyle = pen.fillStyle = view.ink;
    pen.setLineDash([5, 4]);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x, 16);
    pen.lineTo(x, foot);
    pen.stroke();
    pen.setLineDash([]);
    pen.font = `12px ${view.font}`;
    pen.textAlign = x > width * 0.6 ? "right" : "left";
    pen.fillText(meta.mark.name, x, foot + 8);
  },

  under(view, x, y) {
    const r = Math.floor(y / PITCH), inside = y - r * PITCH >= 20;
    const hit = inside ? view.places?.find(([row, , left, wide]) => row === r && x >= left && x < left + wide) : null;
    return hit ? [hit[0], hit[1]] : null;
  },

  spoken(view, [r, p]) {
    const value = STACK.value(view, r, p), total = STACK.total(view, r);
    return `${view.meta.rows[r]}, ${view.meta.parts[p]}: ${written(value, view.meta.format)} (${total ? ((100 * value) / total).toFixed(2) : 0}%)`;
  },

  point(view, at) {
    if (JSON.stringify(at) === JSON.stringify(view.at)) return;
    view.at = at;
    view.tip.hidden = !at;
    view.draw();
    if (!at) return;
    const [, , left, wide] = view.places.find(([r, p]) => r === at[0] && p === at[1]);
    view.tip.textContent = STACK.spoken(view, at);
    view.tip.style.left = `${Math.max(120, Math.min(view.width - 120, left + wide / 2))}px`;
    view.tip.style.top = `${at[0] * PITCH + 22}px`;
  },

  key(view, event) {
    const { rows, parts } = view.meta, step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") STACK.point(view, null);
    if (!step) return;
    const [r, p] = view.at ?? [0, -step[1]];
    STACK.point(view, [Math.max(0, Math.min(rows.length - 1, r + step[0])), Math.max(0, Math.min(parts.length - 1, p + step[1]))]);
    view.announce(STACK.spoken(view, view.at));
    event.preventDefault();
  },

  csv(view) {
    const { rows, parts } = view.meta;
    const lines = rows.map((row, r) => [quoted(row), ...parts.map((_, p) => STACK.value(view, r, p)), STACK.total(view, r)].join(","));
    return [["", ...parts.map(quoted), "total"].join(","), ...lines].join("\n") + "\n";
  },
};

export default live(STACK);
