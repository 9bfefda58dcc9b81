// Which rooms a visitor has seen to their end, and where he was last: kept in his own browser and nowhere else.
(() => {
  const DONE = "rooms-seen", LAST = "room-last", ENDING = "st-key-ending_";
  const read = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // in a frame of another site nothing may be kept
    }
  };
  const kept = () => {
    try {
      return new Set(JSON.parse(read(DONE) ?? "[]"));
    } catch {
      return new Set(); // another hand wrote there
    }
  };
  const keep = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // a browser that keeps nothing: no marks
    }
  };

  // Streamlit exchanges links at will; a style sheet finds them whoever drew them last.
  const sheet = new CSSStyleSheet();
  const mark = () => {
    const rules = [...kept()].filter((room) => /^[a-z]+$/.test(String(room))).flatMap((room) => {
      const ways = [`$="/${room}"`, `*="/${room}?"`, `="${room}"`, `^="${room}?"`]; // the menu's links begin with "/", a page's do not
      const links = ["stSidebarNavLink", "stPageLink-NavLink"].flatMap((id) => ways.map((how) => `[data-testid="${id}"][href${how}]::after`));
      return `${links.join(",")} { content: "✓"; margin-left: auto; padding-left: 0.4em; color: light-dark(#177233, #5bd075); font-weight: 700; }`;
    });
    const last = read(LAST);
    if (/^[a-z]+$/.test(last ?? "")) rules.push(`.st-key-goon_${last} { display: flex !important; }`);
    sheet.replaceSync(rules.join("\n"));
  };
  mark();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  // The foot of a room: there as soon as the room is, under the eye when it was gone through.
  const foot = () => {
    const ending = document.querySelector(`[class*="${ENDING}"]`);
    return { ending, room: ending?.className.toString().match(/st-key-ending_([a-z]+)/)?.[1] };
  };
  let here = "", touched = false;
  const come = () => {
    const { room } = foot();
    if (!room) return;
    if (here !== room) {
      here = room;
      touched = false;
      keep(LAST, room);
      mark();
    }
    if (!touched) show();
  };
  // The menu is longer than a screen: its entry of this room comes into sight, and stays there while the menu comes and
  // grows, until a hand does something.
  const show = () => {
    const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('[data-testid="stSidebarNavLink"]'));
    const link = [...links].find((one) => new URL(one.href).pathname === location.pathname), menu = link?.closest('[data-testid="stSidebarContent"]');
    if (!menu) return;
    const box = link.getBoundingClientRect(), frame = menu.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) menu.scrollTop += box.top - frame.top - frame.height / 2;
  };
  const look = () => {
    const { ending, room } = foot(), done = kept();
    if (!room || done.has(room)) return;
    const box = ending.getBoundingClientRect();
    if (!box.height || box.top > innerHeight - 40) return;
    keep(DONE, JSON.stringify([...done.add(room)]));
    mark();
  };
  const once = (act) => { // a frame
    let waiting = 0;
    return () => (waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      act();
    }));
  };
  addEventListener("scroll", once(look), { capture: true, passive: true });
  new MutationObserver(once(come)).observe(document, { childList: true, subtree: true });
  addEventListener("storage", mark);
  for (const hand of ["wheel", "pointerdown", "touchmove", "keydown"]) addEventListener(hand, () => { touched = true; }, { capture: true, passive: true });
})();
