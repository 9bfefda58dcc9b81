// Points and arrows in a plane, with names, and what moves among them frame by frame.

const MARGIN = 34;

const PLANE = {
  build(view) {
    view.canvas = make("canvas", { role: "img" });
    view.picture.append(view.canvas);
    view.canvas.addEventListener("pointerdown", (event) => PLANE.grab(view, event));
    view.canvas.addEventListener("pointermove", (event) => PLANE.pull(view, event));
    view.canvas.addEventListener("pointerup", () => PLANE.let(view));
    view.canvas.addEventListener("pointercancel", () => PLANE.let(view));
  },

  // A mover may be taken by the hand: the frame in which it comes nearest to the hand is shown.
  grab(view, event) {
    if (!view.meta.slider || !view.meta.movers.length) return;
    view.canvas.setPointerCapture(event.pointerId);
    view.grabbed = true;
    PLANE.pull(view, event);
  },

  pull(view, event) {
    if (!view.grabbed) return;
    const { values } = view.arrays.moving, m = view.meta.movers.length;
    let best = view.frame, near = Infinity;
    for (let f = 0; f < view.meta.slider.stops.length; f++) {
      const [x, y] = view.place(values[2 * f * m], values[2 * f * m + 1]);
      const d = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (d < near) [near, best] = [d, f];
    }
    if (best === view.frame) return;
    view.go(best);
    view.draw();
  },

  let(view) {
    if (!view.grabbed) return;
    view.grabbed = false;
    view.let_go();
  },


  layout(view) {
    const { meta } = view, [x0, x1, y0, y1] = meta.bounds;
    const width = Math.min(view.width, meta.most);
    const unit = Math.min((width - 2 * MARGIN) / (x1 - x0), (meta.tall - 2 * MARGIN) / (y1 - y0));
    const height = Math.max(160, (y1 - y0) * unit + 2 * MARGIN);
    view.pen = sized(view.canvas, width, height, view.ratio);
    view.canvas.setAttribute("aria-label", meta.alt);
    view.canvas.style.cursor = meta.slider && meta.movers.length ? "grab" : "default";
    view.canvas.style.touchAction = meta.slider && meta.movers.length ? "none" : "";
    const left = (width - (x1 - x0) * unit) / 2;
    view.place = (x, y) => [left + (x - x0) * unit, height - MARGIN - (y - y0) * unit];
    view.box = { width, height };
  },

  draw(view) {
    const { pen, meta, box } = view, { points, moving, pull } = view.arrays;
    pen.fillStyle = view.paper;
    pen.fillRect(0, 0, box.width, box.height);
    PLANE.axes(view);
    const n = meta.names.length;
    const base = points.shape.length === 3 ? view.frame * 2 * n : 0;
    const spot = (i) => view.place(points.values[base + 2 * i], points.values[base + 2 * i + 1]);
    if (meta.hull.length > 2) {
      pen.beginPath();
      meta.hull.forEach((i, k) => pen[k ? "lineTo" : "moveTo"](...spot(i)));
      pen.closePath();
      pen.fillStyle = view.colours.point;
      pen.globalAlpha = 0.1;
      pen.fill();
      pen.globalAlpha = 1;
    }
    const m = meta.movers.length;
    for (let k = 0; k < m; k++) {
      const at = 2 * (view.frame * m + k), [x, y] = view.place(moving.values[at], moving.values[at + 1]);
      if (pull) for (let i = 0; i < n; i++) PLANE.line(view, [x, y], spot(i), pull.values[(view.frame * m + k) * n + i]);
    }
    pen.font = `13px ${view.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (let i = 0; i < n; i++) {
      const [x, y] = spot(i);
      if (meta.arrows) PLANE.arrow(view, view.place(0, 0), [x, y], view.colours.point);
      PLANE.dot(view, x, y, 5, view.colours.point);
      pen.fillStyle = view.ink;
      pen.fillText(clip(pen, meta.names[i], 90), x + 8, y - 8);
    }
    for (let k = 0; k < m; k++) {
      const at = 2 * (view.frame * m + k), [x, y] = view.place(moving.values[at], moving.values[at + 1]);
      if (meta.arrows) PLANE.arrow(view, view.place(0, 0), [x, y], view.colours.mover);
      PLANE.dot(view, x, y, 8, view.colours.mover);
      pen.font = `700 14px ${view.font}`;
      pen.fillStyle = view.colours.mover;
      pen.fillText(meta.movers[k], x + 12, y + 10);
      pen.font = `13px ${view.font}`;
    }
  },

  axes(view) {
    const { pen, meta, box } = view;
    pen.strokeStyle = view.colours.quiet;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 1;
    const [ox, oy] = view.place(0, 0);
    pen.beginPath();
    pen.moveTo(0, oy);
    pen.lineTo(box.width, oy);
    pen.moveTo(ox, 0);
    pen.lineTo(ox, box.height);
    pen.stroke();
    pen.globalAlpha = 1;
    pen.fillStyle = view.colours.quiet;
    pen.font = `12px ${view.font}`;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "right";
    pen.fillText(meta.xTitle, box.width - 4, box.height - 6);
    pen.textAlign = "left";
    pen.fillText(meta.yTitle, 4, 14);
  },

  line(view, [x0, y0], [x1, y1], strength) {
    if (!(strength > 0.01)) return;
    const { pen } = view;
    pen.strokeStyle = view.colours.mover;
    pen.globalAlpha = 0.25 + 0.75 * strength;
    pen.lineWidth = 0.5 + 6 * strength;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.globalAlpha = 1;
  },

  arrow(view, [x0, y0], [x1, y1], colour) {
    const { pen } = view, a = Math.atan2(y1 - y0, x1 - x0);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x1, y1);
    for (const turn of [2.7, -2.7]) pen.lineTo(x1 + 12 * Math.cos(a + turn), y1 + 12 * Math.sin(a + turn));
    pen.closePath();
    pen.fill();
  },

  dot(view, x, y, radius, colour) {
    view.pen.fillStyle = colour;
    view.pen.beginPath();
    view.pen.arc(x, y, radius, 0, 7);
    view.pen.fill();
  },

  csv(view) {
    const { meta } = view, { points } = view.arrays, n = meta.names.length;
    const base = points.shape.length === 3 ? view.frame * 2 * n : 0;
    const rows = meta.names.map((name, i) => `${quoted(name)},${points.values[base + 2 * i]},${points.values[base + 2 * i + 1]}`);
    return [["name", quoted(meta.xTitle), quoted(meta.yTitle)].join(","), ...rows].join("\n") + "\n";
  },
};

export default live(PLANE);
