// What needs no page: half floats, numbers as text, CSV, colour scales.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { escaped, exact, fill, half, quoted, Scale, sentences, short } from "../../pages/shared/pictures/live/numbers.js";

const TABLE = JSON.parse(readFileSync(new URL("numbers.json", import.meta.url), "utf8"));

function single(h) { // float16 to float32 by moving bits, as hardware does it
  const sign = (h & 0x8000) << 16, rest = h & 0x7fff, view = new DataView(new ArrayBuffer(4));
  if (rest >= 0x7c00) view.setUint32(0, (sign | 0x7f800000 | ((rest & 0x3ff) << 13)) >>> 0);
  else if (rest >= 0x400) view.setUint32(0, (sign | ((rest + 0x1c000) << 13)) >>> 0);
  else { // below the smallest normal number: so many 2⁻²⁴
    view.setFloat32(0, rest / 16777216);
    view.setUint32(0, (view.getUint32(0) | sign) >>> 0);
  }
  return view.getFloat32(0);
}

test("all 65,536 half floats are decoded", () => {
  const all = half(Uint16Array.from({ length: 65536 }, (_, i) => i));
  for (let h = 0; h < 65536; h++) assert.ok(Object.is(all[h], single(h)), `0x${h.toString(16)} became ${all[h]}`);
});

test("numbers are written as in the table that Python reads too", () => {
  for (const [x, text] of TABLE) assert.equal(short(x), text, String(x));
  assert.deepEqual([NaN, Infinity, -Infinity].map((x) => short(x)), ["NaN", "∞", "−∞"]);
});

test("no number mixes two minus signs", () => {
  for (const x of [-1e-9, -1e-300, -5e20, -0.5, -1e6]) {
    assert.ok(!short(x).includes("-"), short(x));
    assert.ok(!exact(x).includes("-"), exact(x));
  }
});

test("six digits, on hover", () => {
  assert.equal(exact(0.9861234567), "0.986123");
  assert.equal(exact(-1234.5678), "−1234.57");
  assert.equal(exact(0.00001), "1.00e−5");
});

test("CSV: quotes, commas, lines, and what a spreadsheet would take for a formula", () => {
  assert.equal(quoted("plain"), "plain");
  assert.equal(quoted('say "hi"'), '"say ""hi"""');
  assert.equal(quoted("a,b"), '"a,b"');
  assert.equal(quoted("two\nlines"), '"two\nlines"');
  assert.deepEqual(["=1+1", "+x", "-x", "@x"].map(quoted), ["'=1+1", "'+x", "'-x", "'@x"]);
  assert.equal(quoted("=a,b"), "\"'=a,b\"");
  assert.equal(quoted(-0.5), "-0.5", "a number stays a number");
});

test("a colour scale goes through its anchors and stops at its ends", () => {
  const scale = new Scale({ anchors: [[0, 0, 0], [100, 200, 50], [255, 255, 255]], low: -1, high: 1 });
  assert.equal(scale.css(-1), "rgb(0,0,0)");
  assert.equal(scale.css(1), "rgb(255,255,255)");
  assert.deepEqual([-9, 9].map((x) => scale.index(x)), [0, 255]);
  const [r, g, b] = scale.css(0).match(/\d+/g).map(Number);
  assert.ok(Math.abs(r - 100) <= 1 && Math.abs(g - 200) <= 1 && Math.abs(b - 50) <= 1);
  assert.deepEqual([scale.ink(-1), scale.ink(1)], ["#fff", "#111"]);
});

test("texts: holes, escapes, sentences", () => {
  assert.equal(fill("{a} of {b}{c}", { a: 1, b: "x" }), "1 of x");
  assert.equal(escaped("<a & \"b\">"), "&#60;a &#38; &#34;b&#34;&#62;");
  assert.equal(sentences("Each row.", "", "Temperature 1.00", "Amy 0.986"), "Each row. Temperature 1.00. Amy 0.986");
  assert.equal(sentences("每行分一份注意力。", "方向键"), "每行分一份注意力。 方向键");
});
