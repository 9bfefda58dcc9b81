// A page arrives from above. While it does, what stands below something that is still on its way waits until its place
// is known: nothing that was seen moves. The rules are a sheet of their own, taken away then: as long as they stand, each
// element that comes has all others looked at anew.
(() => {
  const MARK = "data-arriving", PATIENCE = 10_000; // ms after the first thing: what is not here then will not come
  const ON_ITS_WAY = '[data-testid="stSkeleton"], [data-testid="stBidiComponentIsolated"]:not([data-drawn])';
  const PARTS = '.stMain :is(.stElementContainer, .stColumn, [data-testid="stLayoutWrapper"])';
  const WAIT = "{ &, & * { visibility: hidden; } }";
  // What stands below a picture that has its room (`live.Picture.room`) need not wait, on a wide screen.
  const RULES = `
    [data-testid="stSidebarUserContent"] { visibility: hidden; }
    @media (min-width: 769px) {
      ${PARTS}:has(:not([class*="st-key-room"]) > .stElementContainer :is(${ON_ITS_WAY})) ~ * ${WAIT}
      .stMain .stElementContainer:has([data-testid="stSkeleton"]) ~ * ${WAIT}
    }
    @media (max-width: 768px) { ${PARTS}:has(${ON_ITS_WAY}) ~ * ${WAIT} }`;
  const root = document.documentElement, style = new CSSStyleSheet();
  style.replaceSync(RULES);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
  root.toggleAttribute(MARK, true);
  const here = () => {
    watch.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== style);
    root.removeAttribute(MARK);
  };
  let looking = 0, patience = 0;
  const look = () => (looking ||= requestAnimationFrame(() => {
    looking = 0;
    if (!document.querySelector('.stMain [data-testid="stElementContainer"]')) return;
    patience ||= setTimeout(here, PATIENCE);
    if (document.querySelector('[data-test-script-state="notRunning"]') && !document.querySelector(`.stMain :is(${ON_ITS_WAY})`)) here();
  }));
  const watch = new MutationObserver(look);
  watch.observe(document, { childList: true, subtree: true, attributeFilter: ["data-drawn", "data-test-script-state"] });
  for (const sign of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(sign, here, { once: true, passive: true });
})();
