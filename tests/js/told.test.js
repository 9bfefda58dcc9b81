// What a picture says of itself is what it shows at this frame, not what it showed first.

import assert from "node:assert/strict";
import test from "node:test";

import blanks from "../../pages/parts/exam/blanks/blanks.js";
import wiring from "../../pages/parts/model/wiring/wiring.js";
import bars from "../../pages/shared/pictures/bars/bars.js";
import { View } from "../../pages/shared/pictures/live/base.js";
import lines from "../../pages/shared/pictures/lines/lines.js";
import matrix from "../../pages/shared/pictures/matrix/matrix.js";
import plane from "../../pages/shared/pictures/plane/plane.js";
import stack from "../../pages/shared/pictures/stack/stack.js";
import tiles from "../../pages/shared/pictures/tiles/tiles.js";

const numbers = (shape, ...values) => ({ shape, values: Float32Array.from(values) });

test("bars", () => {
  const view = { meta: { names: ["Amy", "Tim"], percent: true }, arrays: { values: numbers([2, 2], 0.000176, 0.9, 0.986, 0.01) }, frame: 1 };
  assert.match(bars.told(view), /^Amy 98\.6 ?%, Tim 1\.0 ?%$/);
});

test("the numbers of one picture of bars are written alike, at every stop of its slider", () => {
  const told = (...frames) => {
    const view = { meta: { names: ["a", "b"] }, arrays: { values: numbers([frames.length, 2], ...frames.flat()) }, frame: 0 };
    bars.update(view);
    return bars.told(view);
  };
  assert.equal(told([144, 72]), "a 144, b 72");
  assert.equal(told([144, 4.5]), "a 144.0, b 4.5");
  assert.equal(told([2048, 0]), "a 2,048, b 0");
  assert.equal(told([6.25, 0]), "a 6.250, b 0.000");
  assert.equal(told([6.25, 0], [31.5, 2]), "a 6.25, b 0.00");
  assert.equal(told([31.5, 2e-5]), "a 31.50, b 2.00e−5");
  assert.equal(told([2.5e7, 2]), "a 2.50e+7, b 2.000");
  assert.equal(told([NaN, 0.5]), "a NaN, b 0.500");
});

test("a matrix", () => {
  const words = { told: "{rows} by {columns}, {row}, {column}: {value}" };
  const meta = { rows: ["a", "b"], columns: ["x", "y"], words };
  const cells = { packed: 0, rows: 2, columns: 2, values: [0.9, 0, 0.5, 0.5, 0.4, 0, 0.25, 0.75] };
  const view = { meta, cells, arrays: {}, frame: 1, cutRow: -1 };
  assert.equal(matrix.told(view), "2 by 2, b, y: 0.750");
  assert.equal(matrix.told({ ...view, frame: 0 }), "2 by 2, a, x: 0.900");
});

test("a matrix of which a triangle was sent: what is above it is closed", () => {
  const cells = { packed: 3, rows: 2, columns: 2, values: [-5, -2, -3] };
  const view = { meta: { rows: ["a", "b"], columns: null, words: { told: "{row} {column} {value}" } }, cells, arrays: {}, frame: 0, cutRow: -1 };
  assert.equal(matrix.told(view), "b 0 −2.000");
});

test("a cut row tells its new weights", () => {
  const cells = { packed: 0, rows: 1, columns: 2, values: [0.9, 0.1] };
  const view = { meta: { rows: ["to"], columns: ["Sam", "Amy"], words: { told: "{column} {value}", tells: "{row} → {column}: {value}" } },
    cells, arrays: { cut: numbers([1, 2], 0, 1) }, frame: 0, cutRow: 0 };
  assert.equal(matrix.spoken(view, [0, 0]), "to → Sam: 0");
  assert.equal(matrix.told(view), "Amy 1.000");
});

test("a cell is chosen where somebody hears of it, and nowhere else", () => {
  for (const [state, chosen, hand] of [[{ cell: null }, [[0, 1]], "pointer"], [{}, [], "default"]]) {
    const released = [];
    const view = { meta: { state, paint: false }, state: {}, release: (name, value) => name === "cell" && released.push(value), draw() {} };
    matrix.choose(view, [0, 1]);
    assert.deepEqual(released, chosen);
    assert.equal(matrix.hand(view, [0, 1]), hand);
    assert.equal(tiles.hand({ meta: { state: {} } }, 1), "default");
    tiles.choose({ meta: { state: {} }, release: assert.fail }, 1);
  }
});

test("lines", () => {
  const meta = { x: { title: "n" }, y: { log: false, low: 0, high: 9 }, series: [{ name: "loss" }] };
  const view = { meta, arrays: { xs: numbers([3], 1, 2, 3), values: numbers([2, 1, 3], 1, 2, 3, 6, 5, 4), moving: numbers([2], 1, 2) }, frame: 1 };
  assert.equal(lines.told(view), "n 1 … 3; loss: 6.000 … 4.000. n 2, loss 5.000");
});

test("a line that is not drawn where the hand is says nothing there", () => {
  const meta = { x: { title: "n" }, y: { log: false, low: 0, high: 9 }, series: [{ name: "loss" }, { name: "best" }] };
  const view = { meta, arrays: { xs: numbers([2], 1, 2), values: numbers([1, 2, 2], 6, NaN, 5, 4) }, frame: 0 };
  assert.equal(lines.spoken(view, 1), "n 2\nbest 4.000");
  assert.equal(lines.csv(view).split("\n")[2], "2,,4");
});

test("an axis has at least two numbers, on a log scale within one ten as well", () => {
  assert.deepEqual(lines.ticks(1.9, 9.6, true, 6), [2, 5]);
  assert.deepEqual(lines.ticks(8, 200, true, 3), [10, 20, 50, 100, 200]);
  assert.deepEqual(lines.ticks(1e-7, 3, true, 4).map((x) => Math.round(Math.log10(x))), [-7, -5, -3, -1]);
  assert.deepEqual(lines.ticks(1, 8, false, 3), [2, 4, 6, 8]);
  for (const [low, high, log] of [[1.8, 1.95, true], [0.3, 0.31, false], [0, 7, false]]) assert.ok(lines.ticks(low, high, log, 3).length > 1);
});

test("stacked bars", () => {
  const meta = { rows: ["cache"], parts: ["keys", "values"], format: "bytes" };
  const view = { meta, arrays: { values: numbers([2, 1, 2], 1e7, 9e6, 301989888, 301989888) }, frame: 1 };
  assert.equal(stack.told(view), "cache: 576 MiB (keys 288 MiB, values 288 MiB)");
});

test("a wire is torn by the slider, and whole at its last stop", () => {
  const view = { meta: { cut: 3 }, arrays: { values: numbers([3, 1], 0, 0, 0) }, frame: 0 };
  assert.equal(wiring.torn(view, 3), true);
  assert.equal(wiring.torn(view, 6), false);
  assert.equal(wiring.torn({ ...view, frame: 2 }, 3), false);
});

test("a tile says more than its number", () => {
  const meta = { names: ["5.4", "5.5"], words: { tells: "{name}, {i} of {n}: {row} {column} {value}" } };
  const view = { meta, n: 2, cells: [2, 2], state: { tile: 1 }, arrays: { values: numbers([2, 2, 2], 1, 0, 0, 1, 0.25, 0, 0.125, 0.875) }, frame: 0 };
  assert.equal(tiles.told(view), "5.5, 2 of 2: 1 1 0.875");
});

test("a line with blanks: its code as it is filled, and its lamps; between two choices the fill's own number", () => {
  const fill = { name: "fill", asks: "fill with", pieces: [["-inf", "−∞"], ["0", "0"]], stops: [2, 0] };
  const keep = { name: "keep", asks: "keep", pieces: [["le", "j <= i"], ["lt", "j < i"]], stops: [] };
  const words = { lit: "lit", dark: "dark" }, slider = { shown: ["0", "−3", "−∞"] };
  const meta = { code: [[["where(", ""], ["", "keep"], [", ", ""], ["", "fill"], [")", ""]]], blanks: [keep, fill], lamps: ["leak"], said: [["8%"], ["1%"], ["none"]], words, slider };
  const view = { meta, state: { keep: "lt" }, frame: 0, arrays: { lit: numbers([3, 1], 1, 1, 0) } };
  assert.equal(blanks.told(view), "where(j < i, 0). leak lit, 8%");
  assert.equal(blanks.told({ ...view, frame: 1 }), "where(j < i, −3). leak lit, 1%");
  assert.equal(blanks.told({ ...view, frame: 2 }), "where(j < i, −∞). leak dark, none");
  assert.equal(blanks.told({ ...view, meta: { ...meta, lamps: [], waits: "Guess." } }), "where(j < i, 0). Guess.");
});

test("what Streamlit hands on late stays unsaid where something newer was told ahead of it", () => {
  const view = { early: ["b", "c", "d"] }, behind = (id) => View.prototype.isAheadOf.call(view, id);
  assert.deepEqual(["b", "c", "d", "d"].map(behind), [true, true, false, false]);
  view.early = ["b", "c"];
  assert.equal(behind("x"), false); // that one came no other way, and counts
  assert.equal(behind("b"), false);
});

test("in a plane no name lies on a dot or on another name; a mover's is always written", () => {
  const at = [[50, 50], [57, 34], [64, 50], [71, 34], [140, 50]], names = ["0", "1", "0", "1", "far away"];
  const pen = { measureText: (text) => ({ width: 7 * text.length }) };
  const meta = { names, movers: ["head"], readout: ["x"], xTitle: "step", yTitle: "cell" };
  const arrays = { points: numbers([5, 2], ...at.flat()), moving: numbers([1, 1, 2], 120, 60), read0: numbers([1], 0.5) };
  const view = { pen, meta, arrays, frame: 0, box: { width: 220, height: 120 }, order: [0, 1, 2, 3, 4], colours: {}, place: (x, y) => [x, y] };
  const { names: written, ends } = plane.labels(view);
  assert.deepEqual(ends.map(({ text }) => text), ["head"]);
  assert.ok(written.length >= 4);
  const boxes = [...written, ...ends].map(({ box }) => box), dots = [...at.map((xy) => [...xy, 5]), [120, 60, 8]];
  for (const [i, [x0, y0, x1, y1]] of boxes.entries()) {
    for (const [x, y, r] of dots) assert.ok(Math.hypot(Math.max(x0 - x, 0, x - x1), Math.max(y0 - y, 0, y - y1)) >= r, `name ${i} on the dot at ${x}, ${y}`);
    for (const [a0, b0, a1, b1] of boxes.slice(0, i)) assert.ok(x0 >= a1 || a0 >= x1 || y0 >= b1 || b0 >= y1, `name ${i} on another`);
  }
});
