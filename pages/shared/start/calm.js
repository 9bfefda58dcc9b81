// A page arrives from above. While it does, what stands below something that is still on its way waits until its place
// is known (assets/style.css): nothing that was seen moves.
(() => {
  const ARRIVING = "data-arriving", PATIENCE = 10_000; // ms after the first thing: what is not here then will not come
  const ON_ITS_WAY = ["stSkeleton", "stBidiComponentIsolated"].map((id) => `.stMain [data-testid="${id}"]:not([data-drawn])`).join();
  const root = document.documentElement;
  root.toggleAttribute(ARRIVING, true);
  const here = () => {
    watch.disconnect();
    root.removeAttribute(ARRIVING);
  };
  let looking = 0, patience = 0;
  const look = () => (looking ||= requestAnimationFrame(() => {
    looking = 0;
    if (!document.querySelector('.stMain [data-testid="stElementContainer"]')) return;
    patience ||= setTimeout(here, PATIENCE);
    if (document.querySelector('[data-test-script-state="notRunning"]') && !document.querySelector(ON_ITS_WAY)) here();
  }));
  const watch = new MutationObserver(look);
  watch.observe(document, { childList: true, subtree: true, attributeFilter: ["data-drawn", "data-test-script-state"] });
  for (const sign of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(sign, here, { once: true, passive: true });
})();
