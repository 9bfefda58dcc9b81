"""From the trusted input event to the first painted frame whose picture differs, measured inside the page."""

from __future__ import annotations

from playwright.sync_api import Error

from tests.browser.gestures import PICTURES, drag

ARM = """
([element, event]) => {
  const small = document.createElement('canvas');
  small.width = small.height = 96;
  const pen = small.getContext('2d', { willReadFrequently: true });
  const look = () => {
    if (element.tagName !== 'CANVAS') return element.outerHTML;
    if (!element.width) return null;
    pen.clearRect(0, 0, 48, 48);
    pen.drawImage(element, 0, 0, 96, 96);
    let hash = 7;
    for (const b of pen.getImageData(0, 0, 96, 96).data) hash = Math.imul(hash ^ b, 16777619);
    return hash;
  };
  const base = look();
  let start = null;
  const on = (e) => { if (start === null && e.isTrusted) start = e.timeStamp; };
  window.addEventListener(event, on, { capture: true });
  window.__latency = new Promise((done, failed) => {
    const began = performance.now();
    const step = () => {
      const now = performance.now();
      if (start !== null && look() !== base) { window.removeEventListener(event, on, { capture: true }); return done(now - start); }
      if (now - began > 3000) return failed(new Error('the picture did not change'));
      requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = step; c.port2.postMessage(0); });
    };
    step();
  });
  window.__latency.catch(() => {});
}
"""


def percentile(values: list[float], p: float) -> float:
    values = sorted(values)
    k = (len(values) - 1) * p / 100
    low = int(k)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (k - low)


def keys(page, slider, picture, n: int = 20, warmup: int = 3) -> list[float]:
    """ms from a key on the slider to the changed picture. slider, picture: locators."""
    found = []
    if slider.evaluate("e => e.matches('input[type=range]')"):  # from the middle: at an end neighbours may look alike
        slider.evaluate(
            "e => { e.value = Math.floor(e.max / 2); e.dispatchEvent(new Event('input', { bubbles: true })); }"
        )
    for i in range(n + warmup):
        slider.focus()
        picture.element_handle().evaluate(f"(e, ev) => ({ARM})([e, ev])", "keydown")
        page.keyboard.press("ArrowRight" if (i // 8) % 2 == 0 else "ArrowLeft")
        try:
            found.append(page.evaluate("window.__latency"))
        except Error as error:  # two neighbouring stops may look alike
            if "did not change" not in error.message:
                raise
        page.evaluate("() => new Promise(done => setTimeout(done, 450))")  # past the commit, so that steps stay apart
    return found[warmup:]


def presses(page, picture, prepare, n: int = 12, warmup: int = 2) -> list[float]:
    """ms from Enter to the changed picture; prepare(i) points at what Enter then chooses."""
    found = []
    for i in range(n + warmup):
        prepare(i)
        picture.element_handle().evaluate(f"(e, ev) => ({ARM})([e, ev])", "keydown")
        page.keyboard.press("Enter")
        found.append(page.evaluate("window.__latency"))
        page.evaluate("() => new Promise(done => setTimeout(done, 300))")
    return found[warmup:]


def pictures_in_a_drag(page, slider, picture, moves: int = 30) -> int:
    """Different pictures drawn while a slider is dragged in that many mouse moves, before it is let go."""
    if picture.evaluate("e => e.tagName") == "CANVAS":
        picture.evaluate(PICTURES)
        drag(page, slider, 0.05, 0.95, moves, release=False)
        seen = page.evaluate("window.__pictures.length") - 1
    else:
        before = picture.evaluate("e => e.outerHTML")
        drag(page, slider, 0.05, 0.95, moves, release=False)
        seen = int(picture.evaluate("e => e.outerHTML") != before)
    page.mouse.up()
    return seen
