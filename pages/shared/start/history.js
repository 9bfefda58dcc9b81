// Runs before Streamlit, on every page: what no Python can reach.
// The gate puts it into the HTML that Streamlit starts from; without the gate the app works, less politely.
(() => {
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const bare = (path) => path.replace(/\/+$/, "");

  // A screen reader is told the language the page speaks, which stands in the address.
  const speak = () => {
    const lang = new URLSearchParams(location.search).get("lang");
    if (lang && document.documentElement.lang !== lang) document.documentElement.lang = lang; // else all is styled anew
    arrive();
    dispatchEvent(new Event("address"));
  };

  // On a telephone the menu lies over the page it has just opened: it is folded away.
  const fold = () => {
    /** @type {HTMLElement | null} */
    const button = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
    if (innerWidth < 768) button?.click();
  };

  // One entry of the history a page: while the path stays, a new value replaces the old one, and Back leaves the page.
  // Streamlit writes the next page's words before its path: the page that is left gets back what it said at the last
  // touch, before it is left behind.
  const same = (url) => bare(new URL(url, location.href).pathname) === bare(location.pathname);
  let left = location.href;
  for (const sign of ["pointerdown", "keydown", "click"]) addEventListener(sign, () => (left = location.href), { capture: true, passive: true });
  // Which picture fills the screen is known here first: an answer of the server that has not heard of it takes nothing away.
  const whole = (url) => {
    const to = new URL(url ?? location.href, location.href), slide = new URLSearchParams(location.search).get("slide");
    if (slide && to.searchParams.has("present") && !to.searchParams.has("slide")) to.searchParams.set("slide", slide);
    return to;
  };
  history.pushState = (state, title, url) => {
    if (same(url ?? location.href)) replace(state, title, whole(url));
    else {
      if (same(left)) replace(history.state, "", left);
      push(state, title, url);
      fold();
    }
    speak();
  };
  history.replaceState = (state, title, url) => {
    replace(state, title, url);
    speak();
  };
  addEventListener("popstate", speak);

  // A link to a section or an open fold (at=name) brings it under the eye, until the visitor moves the page himself.
  const wanted = () => new URLSearchParams(location.search).get("at");
  const place = (name) => document.getElementById(`at-${name}`) ?? document.querySelector(`.st-key-at-${CSS.escape(name)}`);
  let room = "", at = null, patience = 0;
  const give_up = () => {
    watch.disconnect();
    clearTimeout(patience);
    at = null;
  };
  const watch = new MutationObserver(() => at && place(at)?.scrollIntoView({ block: "start" }));
  const arrive = () => { // by a link from outside, from room to room, or with a step of a lesson
    const now = `${bare(location.pathname)} ${new URLSearchParams(location.search).get("stop")}`;
    if (now === room) return;
    room = now;
    give_up();
    at = wanted();
    if (!at && now.endsWith(" null")) return;
    if (!at) return void document.querySelector(".stMain")?.scrollTo(0, 0); // the step before may have stood further down
    watch.observe(document, { childList: true, subtree: true });
    patience = setTimeout(give_up, 15000);
  };
  for (const sign of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(sign, give_up, { passive: true });
  speak();

  // The sign beside a heading gives its link: at=name, which the server knows too.
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#at-"]');
    if (!link) return;
    event.preventDefault();
    const to = new URL(location.href);
    to.searchParams.set("at", link.getAttribute("href").slice(4));
    replace(history.state, "", to);
    dispatchEvent(new PopStateEvent("popstate")); // Streamlit reads the address then, and tells the server
    place(to.searchParams.get("at"))?.scrollIntoView({ block: "start", behavior: "smooth" });
  }, true);
})();
