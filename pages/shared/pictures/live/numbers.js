// What needs no page: the packed block, numbers as text, colour scales. Node can run it.

const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, i2: Int16Array, u1: Uint8Array, f2: Uint16Array };

let halves = null; // float32 of every float16
export function half(bits) {
  if (!halves) {
    halves = new Float32Array(65536);
    for (let h = 0; h < 65536; h++) {
      const e = (h >> 10) & 31, m = h & 1023, s = h >> 15 ? -1 : 1;
      halves[h] = e === 31 ? (m ? NaN : s * Infinity) : s * (e ? 2 ** (e - 15) * (1 + m / 1024) : 2 ** -14 * (m / 1024));
    }
  }
  return Float32Array.from(bits, (b) => halves[b]);
}

// A block that block.py packed: its words, and what it says of its arrays.
export function words(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
}

// The whole block: its words, and its arrays as they were before some of their parts were made smaller.
export function unpack(bytes) {
  const copy = bytes.slice(); // aligned: typed arrays may only start on multiples of their size
  const { meta, arrays } = words(copy);
  const out = {};
  for (const { name, kind, shape, parts } of arrays) {
    const [few, which] = parts.map(({ sent, size, at }) => ({ sent, numbers: new KINDS[sent](copy.buffer, at, size) }));
    const values = widened(few.numbers, few.sent, kind);
    out[name] = { shape, values: which ? spread(values, which.numbers, shape.at(-1)) : values };
  }
  return { meta, arrays: out };
}

function widened(numbers, sent, kind) {
  const read = sent === "f2" ? half(numbers) : numbers;
  return sent === kind || (sent === "f2" && kind === "f4") ? read : KINDS[kind].from(read);
}

// Every row by its number among the different ones.
function spread(few, which, width) {
  const all = new few.constructor(which.length * width);
  which.forEach((row, i) => all.set(few.subarray(row * width, (row + 1) * width), i * width));
  return all;
}

export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export function sentences(...parts) { // one after the other, each with an end
  const told = parts.filter(Boolean).map((part) => part.trim());
  return told.map((part, i) => (i < told.length - 1 && !/[.!?…:;。！？：；]$/.test(part) ? part + "." : part)).join(" ");
}

// ---- one way to write a number; figures.number in Python writes it the same ----

export const signed = (text) => text.replaceAll("-", "−"); // a real minus, in exponents too

// Digits by size: 0.123, 12.34, 123.4; whole numbers with commas; 1.23e+6 and 1.23e−9 where digits would not do.
export function short(x, digits = 3) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const a = Math.abs(x);
  if (Number.isInteger(x) && a >= 100 && a < 2 ** 24) return signed(x.toLocaleString("en-US")); // a count
  return signed(a === 0 ? "0" : a < 10 ** -digits || a >= 1e6 ? x.toExponential(2) : x.toFixed(a >= 100 ? 1 : a >= 10 ? 2 : digits));
}

// Numbers that stand one under the other are written alike: as many places for all as the largest has, none where all
// are whole. Only what would be written as nothing, and is not, keeps its own digits.
export function alike(values, digits = 3) {
  const known = Array.from(values).filter(Number.isFinite), most = known.reduce((now, x) => Math.max(now, Math.abs(x)), 0);
  const whole = known.every(Number.isInteger), places = whole ? 0 : most >= 100 ? 1 : most >= 10 ? 2 : digits;
  if (most >= (whole ? 2 ** 24 : 1e6)) return (x) => short(x, digits);
  return (x) => {
    if (!Number.isFinite(x) || (x !== 0 && Math.abs(x) < 0.5 * 10 ** -places)) return short(x, digits);
    return signed(whole ? x.toLocaleString("en-US") : x.toFixed(places));
  };
}

export function exact(x) { // six digits
  return Number.isFinite(x) && Math.abs(x) >= 1e-4 ? signed(Number(x.toPrecision(6)).toString()) : short(x);
}

// A colour scale: anchors in, 256 colours out, both as bytes for pictures and as text for shapes.
export class Scale {
  constructor({ anchors, low, high }) {
    this.low = low;
    this.high = high;
    this.bytes = new Uint8Array(768);
    for (let i = 0; i < 256; i++) {
      const x = (i / 255) * (anchors.length - 1), k = Math.min(Math.floor(x), anchors.length - 2);
      for (let c = 0; c < 3; c++) this.bytes[3 * i + c] = Math.round(anchors[k][c] + (x - k) * (anchors[k + 1][c] - anchors[k][c]));
    }
  }
  index(x) {
    const i = Math.round((255 * (x - this.low)) / (this.high - this.low));
    return i < 0 ? 0 : i > 255 ? 255 : i;
  }
  css(x) {
    const i = 3 * this.index(x);
    return `rgb(${this.bytes[i]},${this.bytes[i + 1]},${this.bytes[i + 2]})`;
  }
  ink(x) { // black or white, whichever can be read on this colour
    const i = 3 * this.index(x);
    const [r, g, b] = [0, 1, 2].map((c) => (this.bytes[i + c] / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19 ? "#111" : "#fff";
  }
}

export function quoted(x) { // a token that a spreadsheet would take for a formula is marked as text
  const text = typeof x === "string" && /^[=+\-@]/.test(x) ? "'" + x : String(x);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
export const escaped = (x) => String(x).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
