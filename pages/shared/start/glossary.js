// A word of the glossary is explained where it stands: underlined with dots where it first comes up, told under a
// pointer or a finger. Nothing of the page is changed: ranges are highlighted, as a browser does with what it finds.
(() => {
  if (!CSS.highlights) return; // an older browser shows the pages without
  const TEXTS = '[data-testid="stMarkdownContainer"]';
  const SKIPPED = "a, button, label, code, pre, summary, h1, h2, h3, table, .katex, [data-testid=stSidebar], [class*=st-key-at-all-words]";
  /** @typedef {[string, string, string[]]} Meaning how a word is written in the glossary, its sentence, its rooms (none: all) */
  /** @type {Map<string, Promise<Record<string, Meaning[]>>>} */
  const BOOKS = new Map(); // language -> word, lower case -> its meanings
  /** @type {{ range: Range, said: Meaning }[]} */
  let found = [];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("::highlight(term) { text-decoration: underline dotted; text-underline-offset: 3px; } html[data-print] ::highlight(term) { text-decoration: none; } #term-tip { position: fixed; z-index: 999999; max-width: 320px; padding: 6px 10px; border-radius: 8px; font: 15px/1.4 var(--st-font, sans-serif); background: #202124; color: #fff; pointer-events: none; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  const book = (lang) => {
    if (!BOOKS.has(lang)) BOOKS.set(lang, fetch(new URL(`glossary-${lang}.json`, location.href)).then((answer) => answer.json()));
    return BOOKS.get(lang);
  };
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const patterns = new Map();
  const pattern = (lang, words) => {
    if (!patterns.has(lang)) {
      const named = Object.keys(words).sort((a, b) => b.length - a.length);
      const word = (one) => `(?<![\\w/-])${escaped(one)}s?(?![\\w/-]|\\.\\w)`; // no part of another, nor of a file's name
      const sign = (one) => (one.length > 1 ? escaped(one) : `(?<!\\p{Script=Han})${one}(?!\\p{Script=Han})`); // one sign is part of many words
      patterns.set(lang, new RegExp(named.map((one) => (/[a-z]/i.test(one) ? word(one) : sign(one))).join("|"), "giu"));
    }
    return patterns.get(lang);
  };

  async function mark() {
    const lang = document.documentElement.lang === "zh" ? "zh" : "en", words = await book(lang);
    const room = location.pathname.split("/").pop() || "home";
    const meant = (word) => words[word]?.find(([, , rooms]) => !rooms.length || rooms.includes(room));
    const seen = new Set(), now = [];
    for (const box of document.querySelectorAll(TEXTS)) {
      if (box.closest(SKIPPED)) continue;
      const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const node = /** @type {Text} */ (walk.currentNode);
        if (node.parentElement.closest(SKIPPED)) continue;
        for (const match of node.data.matchAll(pattern(lang, words))) {
          const written = match[0].toLowerCase(), said = meant(written) ?? meant(written.slice(0, -1));
          if (!said || seen.has(said[0])) continue;
          seen.add(said[0]);
          const range = new Range();
          range.setStart(node, match.index);
          range.setEnd(node, match.index + match[0].length);
          now.push({ range, said });
        }
      }
    }
    found = now;
    CSS.highlights.set("term", new Highlight(...now.map(({ range }) => range)));
  }

  const tip = document.createElement("div");
  Object.assign(tip, { id: "term-tip", hidden: true });
  tip.setAttribute("role", "tooltip");
  const tell = (x, y) => {
    const on = document.elementFromPoint(x, y);
    const under = found.find(({ range }) => on?.contains(range.startContainer) && [...range.getClientRects()].some((r) => x >= r.left && x <= r.right && y >= r.top && y <= r.bottom));
    tip.hidden = !under;
    if (!under) return;
    if (!tip.isConnected) document.body.append(tip);
    tip.textContent = `${under.said[0]}: ${under.said[1]}`;
    const box = under.range.getBoundingClientRect(), wide = tip.offsetWidth, tall = tip.offsetHeight;
    tip.style.left = `${Math.max(8, Math.min(innerWidth - wide - 8, box.left))}px`;
    tip.style.top = `${box.top > tall + 12 ? box.top - tall - 6 : box.bottom + 6}px`;
  };
  addEventListener("pointermove", (event) => found.length && tell(event.clientX, event.clientY), { passive: true });
  addEventListener("pointerdown", (event) => tell(event.clientX, event.clientY), { passive: true });
  addEventListener("scroll", () => (tip.hidden = true), { capture: true, passive: true });

  let waiting;
  new MutationObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(mark, 400); // once the page has come to rest
  }).observe(document, { childList: true, subtree: true, characterData: true });
})();
