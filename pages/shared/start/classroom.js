// In front of a class. present=1: one picture of the page, or one of its guesses, fills the screen; PageDown and PageUp
// (a clicker) step to the next, Escape leaves, 1 to 9 answer a guess. only=<key>: one picture alone, for a frame in
// somebody's slides. hide=answers: they wait for "a". print=1: what goes on paper.
(() => {
  const LEGIBLE = 1.7; // what is drawn with 12 px is shown with 20 on a screen of 1280 × 720, and as large on any wall
  const SCREEN = [1280, 720];
  const TRIED = [2.4, 2.2, 2, 1.85, LEGIBLE, 1.55, 1.4, 1.3, 1.25, 1.1, 1];
  const ASKED = [2.4, 2.2, 2, 1.85, LEGIBLE, 1.55, 1.4, 1.25]; // words of 16 px stay above 20
  const DOWN = 0.16; // of the room: where a guess begins, so that it stands in the middle with its answer
  const FULL = 0.6; // of the height: a picture this tall need not be larger
  const EDGE = 24;
  const GUESS = "[class*=st-key-question_]";
  const SHEET = 420; // px of a picture on paper
  const SHOWN = ["lang", "depth", "present", "slide", "hide", "mine", "lesson", "stop", "lent"]; // how a page is shown: nothing of its state
  const html = document.documentElement, sheet = new CSSStyleSheet(), place = new CSSStyleSheet(); // what is shown; where, how large
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet, place];
  const write = (on, text) => { // the same rules once more would have everything styled anew
    if (on.text !== text) on.replaceSync(text);
    on.text = text;
  };
  const word = (name) => (name === "present" && location.pathname.endsWith("/lesson") ? null : new URLSearchParams(location.search).get(name)); // a list of steps is no slide
  const running = () => !document.querySelector('[data-test-script-state="notRunning"]');

  /** @typedef {{ key: string, name: string, holder: Element, live?: HTMLElement }} Slide */

  const boxes = () => [...document.querySelectorAll(".stMain .stBidiComponent")];
  const drawn = (box) => [...box.querySelectorAll("*")].map((e) => /** @type {HTMLElement} */ (e.shadowRoot?.querySelector(".live"))).find(Boolean);
  const coming = () => running() || boxes().some((box) => !drawn(box));

  // Every picture of the page in its order: its key and the class of what holds it.
  const pictures = (hidden = false) => {
    /** @type {Slide[]} */
    const found = [];
    for (const box of boxes()) {
      const live = drawn(box), holder = box.closest("[class*=st-key-]"), name = holder?.className.match(/st-key-[\w-]+/)?.[0];
      if (!name || !live?.dataset.key || !live.querySelector(".picture:not([hidden])") || !(hidden || box.getClientRects().length)) continue;
      found.push({ key: live.dataset.key, name, holder, live });
    }
    return found;
  };
  const signature = ({ live }) => Boolean(live?.hasAttribute("data-signature"));
  const first = (all) => all.find(signature) ?? all[0];

  // The guesses of the page: what asks, answers and judges stands in one container (asks/predict.py).
  const guesses = () => [...document.querySelectorAll(`.stMain ${GUESS}`)].filter((holder) => holder.getClientRects().length).map((holder) => {
    const [name] = holder.className.match(/st-key-question_[\w-]+/);
    return { key: name.slice("st-key-".length), name, holder };
  });

  // Does it stand below the heading that a step of a lesson names?
  const below = ({ holder }) => {
    const heading = word("stop") && word("at") ? document.querySelector(["#at-", ".st-key-at-"].map((sign) => sign + CSS.escape(word("at"))).join()) : null;
    return Boolean(heading && heading.compareDocumentPosition(holder) & Node.DOCUMENT_POSITION_FOLLOWING);
  };

  // What the clicker steps through: every picture, before it what is asked of it; the signature comes first. A step of a
  // lesson is one of them, and the next step follows. (Of one's own lesson nobody knows which: all are.)
  const slides = () => {
    /** @type {Slide[]} */
    const shown = [...guesses(), ...pictures().filter(({ holder }) => !holder.closest(GUESS))];
    const following = (a, b) => (a.holder.compareDocumentPosition(b.holder) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
    /** @type {Slide[][]} */
    const groups = [[]];
    for (const one of shown.sort(following)) {
      groups.at(-1).push(one);
      if (one.live) groups.push([]);
    }
    const weight = (group) => Number(group.some(signature));
    groups.sort((a, b) => weight(b) - weight(a));
    if (!word("stop") || word("lesson") === "mine") return groups.flat();
    return groups.map((group) => group.filter(below)).find((group) => group.length) ?? groups[0];
  };

  // Which of them: as the address says; else the first; for a step of a lesson what its heading begins, or its picture
  // where the address says how that stands: a step that names the room alone asks first.
  const named = (all) => all.findIndex(({ key }) => key === word("slide"));
  const set = () => [...new URLSearchParams(location.search).keys()].some((name) => !SHOWN.includes(name));
  const current = (all) => {
    const at = [named(all), all.findIndex(below), word("stop") && set() ? all.findIndex(signature) : -1].find((one) => one >= 0);
    return at ?? 0;
  };

  // A link may name a picture that waits behind a guess. The guess that it waits for is shown in its place, and says its
  // answer; the step on leads to the picture as soon as it is there. Where no guess says that it opens it, all that are
  // open are shown one after the other.
  let wish = "", awaited = false; // awaited: the step on was asked for before the picture was there
  const open = ({ live, holder }) => !live && !holder.querySelector("[role=radio][aria-checked=true]");
  const opens = (key) => ({ live, holder }) => {
    const row = live ? null : holder.querySelector("[class*=st-key-opens-]");
    return Boolean(row?.className.match(/st-key-opens-[\w-]+/)[0].split("-").includes(key));
  };
  const door = (all, key, from = 0) => {
    const doors = all.filter(opens(key));
    return doors.length ? doors.find(open) : all.slice(from).find(open);
  };
  const show = (key) => to((words) => words.set("slide", key));
  const grant = (all) => {
    const wished = all.find(({ key }) => key === wish), now = all[named(all)];
    if (wished && now && (awaited || open(now))) { // it only came late
      wish = "";
      awaited = false;
      show(wished.key);
    }
    const guess = word("slide") && !now && !coming() && door(all, word("slide"));
    if (!guess) return;
    wish = word("slide");
    show(guess.key);
  };
  const granted = (all, by) => { // the key of the slide that a step leads to, while one is wished for
    awaited = false;
    if (!wish || by < 0) return void (wish = "");
    const now = all[current(all)], key = (all.find((one) => one.key === wish) ?? door(all, wish, current(all) + 1))?.key;
    awaited = !key && coming();
    if (awaited) return now.key;
    if (!key || key === wish) wish = "";
    return key;
  };

  // ---- one of them on the whole screen ----
  const seen = (name) => `.stMain .${name}.${name}, .stMain .${name}.${name} * { visibility: visible !important; }`;
  const larger = () => Math.max(1, Math.min(innerWidth / SCREEN[0], innerHeight / SCREEN[1])); // the same wall, more pixels
  const room = (of = null) => dispatchEvent(new CustomEvent("live-room", { detail: of })); // the pictures in there, or all, look how much there is
  const tall = (selector) => document.querySelector(selector)?.getBoundingClientRect().height ?? 0;

  // The picture that a guess is about: one that it opens, else the next. Before one that is opened is there, none.
  const about = (all, at) => {
    const slide = all[at], next = all.slice(at).find(({ live }) => live);
    return slide.live || !slide.holder.querySelector("[class*=st-key-opens-]") ? next : all.find(({ key, live }) => live && opens(key)(slide));
  };

  // The box of the sentence that is read: what follows a box reads from it, what stands before all of them reads none,
  // nor does a guess about a picture that reads none. A room may have a box of its own; Home's stands at its end.
  const BOXES = [".st-key-own_words", ".st-key-words"];
  const spoken = ({ holder }, picture) => {
    if (picture?.live.hasAttribute("data-wordless")) return undefined;
    const follows = (box) => box && (box.compareDocumentPosition(holder) & Node.DOCUMENT_POSITION_FOLLOWING || document.querySelector(".stMain .st-key-opening"));
    return BOXES.findLast((name) => follows(document.querySelector(`.stMain ${name}`)));
  };

  // What is seen, in place of the page's question: a later picture has lost the heading that it stands under.
  const called = ({ live }) => {
    const label = live && !signature({ live }) && live.getAttribute("aria-label");
    return label ? `.st-key-title > .stElementContainer:has(p) { display: none; } .st-key-title::after { content: ${JSON.stringify(label)}; }` : "";
  };

  // Home's map waits with the answer: in its place stands what says so.
  const unanswered = ({ live }) => {
    const text = ".st-key-waits_guess", waits = live && html.hasAttribute("data-judged");
    return waits ? `.stMain ${text} { position: fixed; top: 120px; left: 24px; zoom: ${LEGIBLE}; } ${seen(text.slice(1))}` : "";
  };

  const fill = (all, at) => {
    const { name, holder, live } = all[at], said = spoken(all[at], about(all, at)), times = larger(), legible = LEGIBLE * times;
    html.style.setProperty("--wall", String(times)); // what stands above it grows along: style.css
    const unread = BOXES.filter((box) => box !== said).map((box) => `.stMain ${box}${box}, .stMain ${box}${box} * { visibility: hidden !important; }`);
    write(sheet, `${called(all[at])} ${unanswered(all[at])} ${unread.join(" ")} .st-key-deck::before { content: "${at + 1} / ${all.length}"; } ${seen(name)}`);
    const title = tall(".stMain :is(.st-key-title, .st-key-opening)"), words = said ? tall(`.stMain ${said}`) : 0;
    const top = 12 + title + (words && words + 8) + 8, wide = innerWidth - 2 * EDGE, high = innerHeight - top - 12;
    const text = said ? `.stMain ${said} { top: ${16 + title}px; }` : "";
    const lay = (zoom, space, shown = zoom, down = 0) => {
      const width = wide / zoom, left = (innerWidth - width * shown) / 2;
      write(place, `${text} .stMain .${name} { position: fixed !important; z-index: 50; left: ${left}px; top: ${top + down}px; width: ${width}px !important; transform: scale(${shown}); transform-origin: 0 0; --live-zoom: ${zoom}; --live-room: ${space}; --live-centre: auto; }`);
      room(holder);
      return holder.getBoundingClientRect().height / shown;
    };
    // A picture that is wider than its room at this zoom would be cut off at its sides, as would the longest choice.
    // Choices that need a second line count as smaller by a fifth.
    const choices = live ? [] : /** @type {HTMLElement[]} */ ([...holder.querySelectorAll("[role=radio]")]);
    const rigid = live ? [...live.querySelectorAll(".scroll, .wide")] : [holder, ...choices];
    const tried = (zoom) => {
      const shown = Math.min(zoom, high / lay(zoom, high / zoom)), torn = choices.some((one) => one.offsetTop > choices[0].offsetTop + 1);
      return { zoom, shown, worth: torn ? 0.8 * shown : shown, cut: rigid.some((box) => box.scrollWidth > box.clientWidth + 1) };
    };
    let best = tried(legible);
    if (!live || best.shown < legible || best.cut || lay(legible, high / legible) * legible < FULL * high) {
      for (const one of (live ? TRIED : ASKED).map((zoom) => tried(zoom * times))) {
        if (one.cut === best.cut ? one.worth > best.worth + 0.01 : best.cut) best = one;
      }
    }
    const left = high - best.shown * lay(best.zoom, high / best.zoom, best.shown);
    if (!live) lay(best.zoom, high / best.zoom, best.shown, Math.max(0, Math.min(DOWN * high, left / 2)));
  };

  const alone = (all) => {
    const one = all.find(({ key }) => key === word("only"));
    if (one) write(sheet, `.stMain .${one.name} { position: fixed !important; inset: 0; z-index: 50; width: auto !important; overflow: auto; padding: 8px; } ${seen(one.name)}`);
    else if (!running()) delete html.dataset.only; // no such picture: the page as it is
    if (one) html.dataset.only = one.key;
  };

  // A handout: the title, the sentence, the signature, the question and its answer. Nothing else, and on white.
  const paper = (all) => {
    const said = spoken(first(all), first(all)), kept = ["st-key-title", "st-key-opening", ...(said ? [said.slice(1)] : []), "st-key-handout", "st-key-handout_key", "st-key-handout_tools", first(all).name];
    const these = `:is(${kept.map((name) => `.${name}`).join(", ")})`;
    const rest = `.stMainBlockContainer *:not(:has(${these})):not(${these}):not(${these} *) { display: none !important; }`;
    if (html.dataset.paper === kept.join()) return;
    html.dataset.paper = kept.join();
    const last = first(all), lay = (zoom) => write(sheet, `${rest} .stMain .${last.name} { --live-room: ${SHEET}; zoom: ${zoom}; }`);
    lay(1);
    room();
    const wide = [...last.live.querySelectorAll(".scroll, .wide")].map((box) => box.clientWidth / box.scrollWidth); // nothing scrolls on paper
    lay(Math.min(1, ...wide, SHEET / last.holder.getBoundingClientRect().height)); // the question stands on the same page
  };

  let was = "", path = location.pathname;
  const look = () => {
    if (path !== location.pathname) wish = "";
    path = location.pathname;
    for (const [name, value] of [["present", "1"], ["hide", "answers"], ["print", "1"]]) {
      if (word(name) === value) html.dataset[name] = value;
      else delete html.dataset[name];
    }
    html.toggleAttribute("data-judged", Boolean(document.querySelector(".stMain .st-key-judged_guess")));
    html.toggleAttribute("data-solved", Boolean(document.querySelector('.stMain .st-key-answers [kind="primary"]')));
    const mode = word("only") ? "only" : word("print") === "1" ? "print" : word("present") === "1" ? "present" : "";
    if (!mode && !was) return;
    const all = mode === "present" ? slides() : mode ? pictures(mode === "print") : [];
    if (mode !== "present") write(place, "");
    if (mode === "only") alone(all);
    else delete html.dataset.only;
    if (mode === "print" && all.length) paper(all);
    if (mode !== "print") delete html.dataset.paper;
    if (mode === "present" && all.length) grant(all);
    if (mode === "present" && all.length && (!word("slide") || named(all) >= 0 || !coming())) fill(all, current(all));
    if (!mode) {
      write(sheet, "");
      room();
    }
    was = mode;
  };
  if (word("only")) html.dataset.only = ""; // nothing else is shown in the meantime

  const to = (change) => {
    const url = new URL(location.href);
    change(url.searchParams);
    history.replaceState(history.state, "", url);
  };
  // Does a picture that is higher than the screen turn to its next part, or back? (pieces.js)
  const turned = (slide, by) => slide?.live && !slide.live.dispatchEvent(new CustomEvent("live-turn", { detail: by, cancelable: true }));

  const step = (by) => {
    const all = slides();
    if (turned(all[current(all)], by)) return;
    const wished = granted(all, by), at = wished ? all.findIndex(({ key }) => key === wished) : current(all) + by;
    /** @type {HTMLElement | null} */
    const beyond = document.querySelector(by > 0 ? ".st-key-lesson_next a, .st-key-lesson_begin a" : ".st-key-lesson_back a");
    if (at >= 0 && at < all.length) to((words) => words.set("slide", all[at].key));
    else if (!coming()) beyond?.click(); // the next stop of the lesson
    look();
    if (by < 0) turned(all[at], Infinity); // back where it was left: at its last part
  };
  const leave = () => {
    wish = "";
    to((words) => ["present", "slide"].forEach((name) => words.delete(name)));
    dispatchEvent(new PopStateEvent("popstate")); // Streamlit reads the address then, and tells the server
    look();
  };
  const tell = () => /** @type {HTMLElement | null} */ (document.querySelector(".st-key-answers button"))?.click();

  // 1 to 9: the options of the guess on the screen, numbered by style.css. False where there is none.
  const choose = (number) => {
    const all = slides(), { holder, live } = all[current(all)] ?? {};
    const option = live ? null : /** @type {HTMLElement} */ (holder?.querySelectorAll("[role=radio]")[number - 1]);
    option?.click();
    return Boolean(option);
  };

  const KEYS = { PageDown: () => step(1), PageUp: () => step(-1), Escape: leave };
  addEventListener("keydown", (event) => {
    const [target] = event.composedPath(), typing = target instanceof HTMLElement && target.matches("textarea, input:not([type=range]):not([type=radio])");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (word("hide") === "answers" && event.key.toLowerCase() === "a" && !typing) tell();
    else if (word("present") === "1" && event.key in KEYS && !document.querySelector("[role=dialog]")) KEYS[event.key]();
    else if (!(word("present") === "1" && /^[1-9]$/.test(event.key) && !typing && choose(Number(event.key)))) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
  const BUTTONS = { slide_back: () => step(-1), slide_next: () => step(1), slide_leave: leave, handout_print: () => print() };
  addEventListener("click", (event) => {
    for (const [name, act] of Object.entries(BUTTONS)) {
      if (!(event.target instanceof Element) || !event.target.closest(`.st-key-${name} button`)) continue;
      event.stopPropagation(); // no matter for the server
      act();
    }
  }, { capture: true });

  // A picture was drawn, the page became another, the screen did, or the address.
  let waiting = 0;
  const soon = () => (waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    look();
  }));
  for (const sign of ["live-drawn", "resize", "address"]) addEventListener(sign, soon);
  new MutationObserver(() => (was || ["only", "present", "print", "hide"].some(word)) && soon()).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] });
  look();
})();
