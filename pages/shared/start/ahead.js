// Streamlit draws a page anew before it hands a picture its numbers. They stand in its message as block.py packed them:
// a picture that is open gets them as they arrive (live.js), and Streamlit's own word later changes nothing. A message
// in which none are found goes the one way, as all that is not a picture does.
(() => {
  const BEGINS = new TextEncoder().encode('{"meta": {"painter": "'), FAR = 4096; // bytes; a message says little before them
  const begin = (bytes) => {
    for (let at = bytes.indexOf(BEGINS[0]); at >= 0; at = bytes.indexOf(BEGINS[0], at + 1)) {
      if (BEGINS.every((byte, i) => bytes[at + i] === byte)) return at;
    }
    return -1;
  };
  const hand = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    const at = begin(new Uint8Array(data, 0, Math.min(FAR, data.byteLength))) - 4; // before the words stands their length
    if (at >= 0) window.dispatchEvent(new CustomEvent("live-sent", { detail: new Uint8Array(data, at) }));
  };
  window.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      this.addEventListener("message", hand);
    }
  };
})();
