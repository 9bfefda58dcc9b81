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
      const links = ["stSidebarNavLink", "stPageLink-NavLink"].flatMap((id) => ["$", "*"].map((how) => `[data-testid="${id}"][href${how}="/${room}${how === "*" ? "?" : ""}"]::after`));
      return `${links.join(",")} { content: "✓"; margin-left: auto; padding-left: 0.4em; color: var(--st-green-text-color, #177233); font-weight: 700; }`;
    });
    const last = read(LAST);
    if (/^[a-z]+$/.test(last ?? "")) rules.push(`.st-key-goon_${last} { display: flex !important; }`);
    sheet.replaceSync(rules.join("\n"));
  };
  mark();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  const look = () => {
    const ending = document.querySelector(`[class*="${ENDING}"]`);
    const room = ending?.className.toString().match(/st-key-ending_([a-z]+)/)?.[1];
    if (!room) return;
    if (read(LAST) !== room) keep(LAST, room);
    const box = ending.getBoundingClientRect(), done = kept();
    if (!box.height || box.top > innerHeight - 40 || done.has(room)) return;
    keep(DONE, JSON.stringify([...done.add(room)]));
    mark();
  };
  let waiting = 0;
  const later = () => (waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    look();
  }));
  addEventListener("scroll", later, { capture: true, passive: true });
  addEventListener("storage", mark);
})();
