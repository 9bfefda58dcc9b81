// A page arrives from above. While it does, what stands below something that is still on its way waits until its place
// is known: nothing that was seen moves. What waits is marked, one by one: rules that look for it (`:has()`) had the whole
// page styled anew for each picture that came, a third of what opening a page of twenty cost a browser.
(() => {
  const ARRIVING = "data-arriving", WAITS = "data-waits", PATIENCE = 10_000; // ms after the first thing: what is not here then will not come
  const UNKNOWN = '[data-testid="stSkeleton"]';
  const ON_ITS_WAY = `.stMain :is(${UNKNOWN}, [data-testid="stBidiComponentIsolated"]:not([data-drawn]))`;
  const PARTS = '.stMain :is(.stElementContainer, .stColumn, [data-testid="stLayoutWrapper"])';
  const root = document.documentElement, style = new CSSStyleSheet(), wide = matchMedia("(min-width: 769px)");
  style.replaceSync(`[data-testid="stSidebarUserContent"], .stMain [${WAITS}], .stMain [${WAITS}] * { visibility: hidden; }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
  root.toggleAttribute(ARRIVING, true);

  // The parts of the page whose followers wait for this. On a wide screen a picture's neighbours are placed as it is
  // mounted, and what stands below one that has its room (`live.Picture.room`) need not wait.
  const around = (thing) => {
    const own = thing.closest(".stElementContainer"), holder = own?.parentElement, found = [];
    if (wide.matches && own && thing.matches(UNKNOWN)) found.push(own);
    if (wide.matches && (!holder || holder.matches('[class*="st-key-room"]'))) return found;
    for (let part = wide.matches ? holder : thing; (part = part.parentElement?.closest(PARTS)); ) found.push(part);
    return found;
  };

  /** @type {Set<Element>} */
  let waiting = new Set();
  const within = (thing, marked) => {
    for (let one = thing; one; one = one.parentElement) if (marked.has(one)) return true;
    return false;
  };
  const mark = () => {
    const now = new Set();
    for (const thing of document.querySelectorAll(ON_ITS_WAY)) {
      for (const part of within(thing, now) ? [] : around(thing)) {
        for (let next = part.nextElementSibling; next; next = next.nextElementSibling) now.add(next);
      }
    }
    for (const one of waiting) if (!now.has(one)) one.removeAttribute(WAITS);
    for (const one of now) one.toggleAttribute(WAITS, true);
    waiting = now;
  };

  const here = () => {
    watch.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== style);
    for (const one of waiting) one.removeAttribute(WAITS);
    root.removeAttribute(ARRIVING);
  };
  let looking = 0, patience = 0;
  const look = () => (looking ||= requestAnimationFrame(() => {
    looking = 0;
    if (!document.querySelector('.stMain [data-testid="stElementContainer"]')) return;
    patience ||= setTimeout(here, PATIENCE);
    if (document.querySelector('[data-test-script-state="notRunning"]') && !document.querySelector(ON_ITS_WAY)) here();
  }));
  const watch = new MutationObserver(() => {
    mark(); // before anything of it is painted
    look();
  });
  watch.observe(document, { childList: true, subtree: true, attributeFilter: ["data-drawn", "data-test-script-state"] });
  for (const sign of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(sign, here, { once: true, passive: true });
})();
