// Streamlit draws a page anew before it hands a picture its numbers. They stand in its message as block.py packed them:
// a picture that is open gets them as they arrive (live.js), and Streamlit's own word later changes nothing. They are
// looked up where Streamlit puts them (SENT, of gate.py) and nowhere else: a visitor's text may look like numbers.
(() => {
  const { SENT } = /** @type {any} */ (window);
  const within = (bytes, wanted) => { // the last field of this number in a message of Protocol Buffers
    let at = 0, found = null;
    const number = () => {
      let value = 0, scale = 1;
      for (;;) {
        const byte = bytes[at++];
        if (byte === undefined) return value;
        value += (byte & 127) * scale;
        if (byte < 128) return value;
        scale *= 128;
      }
    };
    while (at < bytes.length) {
      const tag = number(), kind = tag % 8;
      if (kind === 0) number();
      else if (kind === 1) at += 8;
      else if (kind === 5) at += 4;
      else if (kind !== 2) return null;
      else {
        const size = number();
        if ((tag - kind) / 8 === wanted) found = bytes.subarray(at, at + size);
        at += size;
      }
    }
    return found;
  };
  const hand = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    const detail = SENT.reduce((bytes, field) => bytes && within(bytes, field), new Uint8Array(data));
    if (detail) window.dispatchEvent(new CustomEvent("live-sent", { detail }));
  };
  window.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      this.addEventListener("message", hand);
    }
  };
})();
