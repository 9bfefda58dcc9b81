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
  // Is it numbers of a picture, and does it want to be drawn before anything else is? (live.js)
  const urgent = (data) => {
    const sent = data instanceof ArrayBuffer && SENT.reduce((bytes, field) => bytes && within(bytes, field), new Uint8Array(data));
    return sent && !window.dispatchEvent(new CustomEvent("live-sent", { detail: sent, cancelable: true }));
  };

  // What is heard of a page is drawn as one: its first picture came with its last fold. It is there in two thirds of the
  // time, and the whole page no later, if what follows it is held back until it has been seen.
  const PATIENCE = 300; // ms
  window.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      /** @type {any[] | null} */
      let held = null, patience = 0;
      const seen = () => requestAnimationFrame(() => setTimeout(letGo));
      const letGo = () => {
        clearTimeout(patience);
        window.removeEventListener("live-drawn", seen);
        const all = held ?? [];
        held = null;
        for (const data of all) this.dispatchEvent(new MessageEvent("message", { data }));
      };
      this.addEventListener("message", (event) => {
        if (held) {
          held.push(event.data);
          event.stopImmediatePropagation();
        } else if (urgent(event.data) && event.isTrusted) {
          held = [];
          patience = window.setTimeout(letGo, PATIENCE);
          window.addEventListener("live-drawn", seen, { once: true });
        }
      });
      this.addEventListener("close", letGo);
    }
  };
})();
