"""In front of a class: one picture or one guess on the screen, large enough for the last row; answers that wait; a
picture alone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_pages import findings
from tests.browser.test_rooms import ROOMS

SCREEN = {"width": 1280, "height": 720}
# The smallest text that was painted, in pixels of the screen: names, and numbers in cells (drawn with 11 px).
PAINTED = """
const paint = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
  const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]), { a, b } = this.getTransform();
  (this.canvas.__painted ??= new Map()).set(text, size * Math.hypot(a, b) / this.canvas.width);
  return paint.call(this, text, ...at);
};
"""
SMALLEST = """(canvas) => {
  canvas.__painted?.clear();
  dispatchEvent(new Event('live-room'));
  const wide = canvas.getBoundingClientRect().width, said = [...canvas.__painted ?? []].filter(([t]) => String(t).trim());
  return said.map(([text, size]) => [text, size * wide]).sort((a, b) => a[1] - b[1])[0] ?? ["", 99];
}"""
SHOWN = """() => [...document.querySelectorAll('.stMain .stBidiComponent')].filter((e) => getComputedStyle(e).visibility === 'visible')
  .map((e) => e.closest('[class*=st-key-]').className.match(/st-key-([\\w-]+)/)[1])"""

# All slides of the page have come: its pictures and its guesses.
SLIDES = ".stMain .stBidiComponent, .stMain [class*=st-key-question_]"
COUNTED = f"""() => {{
  const said = getComputedStyle(document.querySelector('.st-key-deck'), '::before').content;
  return said.endsWith(`/ ${{document.querySelectorAll('{SLIDES}').length}}"`);
}}"""
# The smallest words of an element, in pixels of the screen, and whether they stand wholly on it.
WORDS = """(slide) => {
  const words = [...slide.querySelectorAll('*')].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())
    && getComputedStyle(e).visibility === 'visible' && !e.closest('style, .katex-mathml, [aria-hidden=true]'));
  const size = (e) => parseFloat(getComputedStyle(e).fontSize) * slide.getBoundingClientRect().width / slide.offsetWidth;
  const within = ({ left, top, right, bottom }) => left >= 0 && top > 40 && right <= innerWidth && bottom <= innerHeight;
  return [Math.min(...words.map(size)), within(slide.getBoundingClientRect())];
}"""
GUESS = "[class*=st-key-question_]:visible"


def present(visitor, address, **options):
    visit = visitor(viewport=SCREEN, **options).open(address, ready=".st-key-deck")
    visit.page.locator("[data-signature] canvas").wait_for(state="attached")
    visit.settle()
    return visit


def to_the_picture(visit):
    """Past the guess that belongs to it, once the page is presented: a guess is seen before that too."""
    visit.page.locator("html[data-present] .st-key-deck").wait_for()
    visit.page.locator(GUESS).wait_for()
    visit.page.locator("[data-signature] canvas").wait_for(state="attached")
    visit.settle()
    visit.page.keyboard.press("PageDown")
    visit.page.wait_for_function(f"() => ({SHOWN})().length === 1")
    return visit.signature()


@pytest.fixture
def screen(tab):
    """One tab in front of the class: from page to page the presentation goes along."""
    visit = tab(viewport=SCREEN)
    if visit.page.url == "about:blank":
        visit.page.add_init_script(PAINTED)
    return visit


def large_enough(picture):
    """It fills the screen and can be read from the last row."""
    box = picture.bounding_box()
    assert box["y"] > 40, "the title stands above"
    assert box["y"] + box["height"] <= 721
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1281
    assert box["width"] >= 0.6 * 1280 or box["height"] >= 0.6 * 600
    text, size = picture.locator("canvas").first.evaluate(SMALLEST)
    assert size >= (16 if re.fullmatch(r"[−\d.,e+%]+", text) else 20), (text, size)


# Each page in English and every second in Chinese too, whose guess is then the one that is answered.
@pytest.mark.parametrize(("room", "lang"), [(room, ("en", "zh")[at % 2]) for at, room in enumerate(ROOMS)])
def test_a_guess_fills_the_screen_before_its_picture_and_both_can_be_read(screen, room, lang):
    page = screen.turn(f"/{room}?present=1&lang=en", ready=".st-key-deck").page
    to_the_picture(screen)
    large_enough(page.locator("[data-signature]"))
    assert not page.get_by_test_id("stSidebar").is_visible()
    title = page.locator(".st-key-title h1")
    assert float(title.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 20
    page.keyboard.press("PageUp")
    asked = page.locator(GUESS)
    asked.wait_for()
    if lang != "en":
        page.evaluate(SPEAK, lang)
        expect(asked).to_contain_text("我不知道")
        screen.settle()
    asked.get_by_role("radio").last.click()
    asked.locator("[class*=st-key-verdict_]").wait_for()
    page.wait_for_function(f"(e) => ({WORDS})(e)[0] >= 20 && ({WORDS})(e)[1]", arg=asked.element_handle())
    assert page.evaluate(SHOWN) == []
    screen.check()


# Which pictures are laid out anew: the width of a canvas is set then.
LAID = """
const { get, set } = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, 'width');
window.__laid = [];
Object.defineProperty(HTMLCanvasElement.prototype, 'width', { get, set(to) {
  const root = this.getRootNode();
  if (root instanceof ShadowRoot) window.__laid.push(root.querySelector('.live').dataset.key);
  set.call(this, to);
} });
"""


def test_what_is_not_on_the_screen_is_not_laid_out_with_the_slide(visitor):
    """A page has a dozen pictures, and a slide is tried in several sizes before it stands."""
    visit = visitor(viewport=SCREEN)
    visit.page.add_init_script(LAID)
    page = visit.open("/heads?present=1", ready=".st-key-deck").page
    shown = to_the_picture(visit).get_attribute("data-key")
    page.keyboard.press("PageUp")
    page.locator(GUESS).wait_for()
    page.evaluate("window.__laid = []")
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})().length === 1")
    assert set(page.evaluate("window.__laid")) == {shown}
    visit.check()


def test_one_picture_whose_block_has_its_most_lines_fills_the_screen_and_can_be_read(screen):
    page = screen.open("/model?depth=all&present=1", ready=".st-key-deck").page
    to_the_picture(screen)
    large_enough(page.locator("[data-signature]"))
    screen.check()


# What a picture of this width paints, on whatever canvas it does: names that stand still are painted once, elsewhere.
ANYWHERE = """
const paint = CanvasRenderingContext2D.prototype.fillText;
window.__painted = [];
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
  const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]), { a, b } = this.getTransform();
  window.__painted.push([String(text), size * Math.hypot(a, b), this.canvas.width]);
  return paint.call(this, text, ...at);
};
"""
SMALL = """(canvas) => {
  window.__painted = [];
  dispatchEvent(new Event('live-room'));
  const wide = canvas.getBoundingClientRect().width;
  const said = window.__painted.filter(([text, , width]) => text.trim() && !/^[−\\d.,e+%]+$/.test(text) && width === canvas.width);
  return said.map(([text, size, width]) => [text, size * wide / width]).sort((a, b) => a[1] - b[1])[0];
}"""
SPEAK = """(lang) => {
  const to = new URL(location.href);
  to.searchParams.set('lang', lang);
  history.replaceState(history.state, '', to);
  dispatchEvent(new PopStateEvent('popstate'));
}"""
PRESENT = """(slide) => {
  const to = new URL(location.href);
  to.searchParams.set('present', '1');
  to.searchParams.set('slide', slide);
  history.replaceState(history.state, '', to);
  dispatchEvent(new PopStateEvent('popstate'));
}"""


@pytest.mark.parametrize(
    ("address", "guess", "slides"),
    [
        ("/tokens?depth=all", "", ["sides"]),
        ("/position", "", ["sinusoids"]),
        ("/feedforward?depth=all", "moe_balance", ["moe_seats_aux", "moe_seats_none"]),
    ],
)
def test_a_picture_of_many_rows_keeps_its_words_large(visitor, address, guess, slides):
    visit = visitor(viewport=SCREEN)
    page = visit.page
    page.add_init_script(ANYWHERE)
    visit.open(address, ready="[data-signature] canvas")
    if guess:
        page.locator(f".st-key-question_{guess} [role=radio]").last.click()
        page.locator(f".st-key-{slides[-1]} canvas").wait_for()
        visit.settle()
    for slide in slides:
        page.evaluate(PRESENT, slide)
        page.wait_for_function(f"(slide) => ({SHOWN})().join() === slide", arg=slide)
        visit.settle()
        picture = page.locator(f".st-key-{slide} .live")
        canvas = picture.locator("canvas").first.element_handle()
        text, size = page.wait_for_function(SMALL, arg=canvas).json_value()  # nothing, until it has drawn
        assert size >= 20, (slide, text, size)
        expect(picture).to_be_visible()
        box = picture.bounding_box()
        assert box["y"] + box["height"] <= 721, slide
    visit.check()


def test_curves_fill_the_slide_and_grow_with_the_screen(visitor):
    sizes = {}
    for screen in (SCREEN, {"width": 1920, "height": 1080}):
        visit = visitor(viewport=screen).open("/efficient?present=1&slide=pairs_losses", ready=".st-key-deck")
        for slide in ("pairs_losses", "instead_cost"):
            visit.page.evaluate(PRESENT, slide)
            visit.page.wait_for_function(f"(key) => ({SHOWN})().join() === key", arg=slide)
            visit.settle()
            box = visit.page.locator(f".st-key-{slide}").first.bounding_box()
            assert 0.8 * screen["height"] <= box["height"] <= screen["height"] - box["y"] + 1, slide
            title = visit.page.locator(".st-key-title h1").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
            names = visit.page.locator(f".st-key-{slide} .live .legend").first
            drawn = 13 * names.evaluate("e => e.getBoundingClientRect().height / e.offsetHeight")
            sizes.setdefault(slide, []).append((drawn / screen["height"], title / screen["height"]))
        visit.check()
    for slide, (small, large) in sizes.items():
        assert large == pytest.approx(small, rel=0.05), f"the same wall, more pixels: {slide}"


@pytest.mark.parametrize("screen", [SCREEN, {"width": 1920, "height": 1080}], ids=["1280", "1920"])
def test_a_guess_stands_in_the_middle_as_large_as_its_screen_allows(visitor, screen):
    visit = visitor(viewport=screen).open("/attention?present=1&slide=question_hot", ready=".st-key-deck")
    asked = visit.page.locator(".st-key-question_hot")
    asked.get_by_role("radio").first.wait_for()
    visit.settle()
    for choose in (False, True):
        if choose:
            visit.page.keyboard.press("1")
            asked.locator("[class*=st-key-verdict_]").wait_for()
            visit.settle()
        visit.page.wait_for_function(f"(e) => ({WORDS})(e)[1]", arg=asked.element_handle())
        box, row = asked.bounding_box(), asked.get_by_role("radiogroup").bounding_box()
        choice = asked.locator("[role=radio] p").first
        drawn = 16 * choice.evaluate("e => e.getBoundingClientRect().height / e.offsetHeight")
        assert drawn >= 0.043 * screen["height"], "as large as a title"
        assert row["x"] + row["width"] / 2 == pytest.approx(screen["width"] / 2, abs=0.02 * screen["width"])
        assert box["y"] >= 0.2 * screen["height"], "not up at the edge"
    visit.check()


def test_a_sentence_that_no_picture_of_a_guess_reads_is_not_shown_above_it(visitor):
    visit = visitor(viewport=SCREEN).open("/why?depth=all&present=1&slide=question_bill_guess", ready=".st-key-deck")
    page, words = visit.page, visit.page.locator(".st-key-words")
    page.locator(".st-key-question_bill_guess [role=radio]").first.wait_for()
    page.locator(".st-key-bill canvas").wait_for(state="attached")
    expect(words).to_be_hidden()
    page.evaluate(PRESENT, "question_sight")
    expect(words).to_be_visible()
    visit.check()


@pytest.mark.parametrize("room", ["attention", "norms", "model"])
def test_the_note_for_the_teacher_leaves_the_first_screen_to_the_picture(visitor, room):
    visit = visitor(viewport=SCREEN).open(f"/{room}?depth=teach", ready="[data-signature] canvas")
    page, dial = visit.page, visit.signature().locator("input[type=range]")
    below = dial.bounding_box()
    assert below["y"] + below["height"] <= 720
    page.get_by_text("For the teacher").click()
    page.locator(".st-key-at-for-the-teacher li").first.wait_for()
    page.wait_for_url(re.compile("at=for-the-teacher"))
    visit.check()


def test_hover_and_clicks_hit_the_right_cell_of_the_large_picture(visitor):
    visit = present(visitor, "/attention?present=1&slide=picture")
    page, canvas = visit.page, visit.signature().locator("canvas").first
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"])
    told = visit.signature().locator(".tip").inner_text()
    row, column = re.match(r"(.+) → (.+):", told).groups()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(re.compile("cell="))
    names = [
        "<s>",
        "Sam 1",
        "and",
        "Amy",
        "played",
        "in",
        "the 1",
        "park",
        ".",
        "Sam 2",
        "threw",
        "the 2",
        "ball",
        "to",
    ]
    assert f"cell={names.index(row)}%2C{names.index(column)}" in page.url
    assert "present=1" in page.url
    visit.check()


def test_a_clicker_steps_through_guesses_and_pictures_and_escape_leaves(visitor):
    visit = present(visitor, "/attention?present=1&depth=all")
    page = visit.page
    page.wait_for_function(COUNTED)
    assert page.evaluate(SHOWN) == [], "the signature's guess first"
    assert page.locator(GUESS).count() == 1
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile("slide=picture"))
    page.wait_for_function(f"() => ({SHOWN})().join() === 'picture'")
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})()[0] !== 'picture'")
    third = page.evaluate(SHOWN)
    assert len(third) == 1
    page.reload()
    page.wait_for_function(f"(key) => ({SHOWN})().join() === key", arg=third[0])
    page.wait_for_function(COUNTED)
    page.keyboard.press("PageUp")
    page.wait_for_function(f"() => ({SHOWN})().join() === 'picture'")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"^(?!.*present)"))
    visit.settle()
    page.get_by_test_id("stSidebar").wait_for()
    assert len(page.evaluate(SHOWN)) > 1
    assert "slide" not in page.url
    visit.check()


def test_a_guess_is_answered_by_a_key_and_stays_where_the_address_says(visitor):
    visit = present(visitor, "/softmax?present=1&hide=answers&slide=question_add100")
    page, asked = visit.page, visit.page.locator(GUESS)
    assert "100" in asked.inner_text()
    page.keyboard.press("2")
    chosen = asked.get_by_role("radio").nth(1)
    page.wait_for_function("(e) => e.ariaChecked === 'true'", arg=chosen.element_handle())
    verdict = asked.locator("[class*=st-key-verdict_]")
    verdict.wait_for(state="attached")
    visit.settle()
    assert not verdict.is_visible(), "it waits"
    assert asked.get_by_text("Press A for the answer").is_visible()
    page.keyboard.press("a")
    expect(verdict).to_be_visible()
    expect(asked.get_by_text("Press A for the answer")).to_be_hidden()
    assert findings(page) == []
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})().length === 1")
    page.keyboard.press("PageUp")
    page.wait_for_url(re.compile("slide=question_add100"))
    page.reload()
    asked.wait_for()
    assert "100" in asked.inner_text(), "and not the first guess of the page"
    visit.check()


def test_a_later_guess_waits_for_its_own_key(visitor):
    visit = present(visitor, "/why?present=1&hide=answers")
    page, verdict = visit.page, visit.page.locator("[class*=st-key-verdict_]:visible")
    page.keyboard.press("1")
    page.locator("[class*=st-key-verdict_]").first.wait_for(state="attached")
    page.keyboard.press("a")
    verdict.wait_for()
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile("slide="))
    for _ in range(10):
        if page.locator(GUESS).count():
            break
        page.keyboard.press("PageDown")
        visit.settle()
    page.keyboard.press("1")
    page.locator(f"{GUESS} [role=radio][aria-checked=true]").wait_for()
    visit.settle()
    assert verdict.count() == 0
    page.keyboard.press("a")
    verdict.wait_for()


def test_homes_answer_waits_in_its_title_its_figures_and_its_map(visitor):
    visit = visitor(viewport=SCREEN).open("/?present=1&hide=answers", ready=".st-key-deck")
    page, title = visit.page, visit.page.locator(".st-key-opening h1")
    page.locator(".st-key-question_guess").get_by_role("radio", name="Sam").wait_for()
    page.keyboard.press("1")
    page.locator("[class*=st-key-verdict_]").wait_for(state="attached")
    visit.settle()
    shut = page.locator(
        ".st-key-answer, .st-key-hunt, .st-key-answer_bars .stBidiComponent, .st-key-map .stBidiComponent"
    )
    assert shut.count() == 4
    waits = page.get_by_text("Press A for the answer")
    expect(waits).to_be_in_viewport(ratio=0.9)
    assert not any(one.is_visible() for one in shut.all())
    assert title.inner_text().strip().endswith("the ball to")
    gap = "e => getComputedStyle(e.querySelector('[data-heading-text]'), '::after').content"
    assert title.evaluate(gap) == '"____"'
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile("slide=map"))
    expect(waits).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("a")
    expect(waits).to_be_hidden()
    page.wait_for_function(f"() => ({SHOWN})().join() === 'map'")
    assert title.inner_text().endswith("Amy")
    visit.check()


def test_a_later_picture_says_what_it_is_and_shows_the_sentence_it_reads(visitor):
    visit = present(visitor, "/feedforward?present=1&slide=alone")
    page = visit.page
    page.wait_for_function(f"() => ({SHOWN})().join() === 'alone'")
    said = "() => getComputedStyle(document.querySelector('.st-key-title'), '::after').content"
    assert page.locator(".st-key-alone .live").get_attribute("aria-label") in page.evaluate(said)
    shown = [box.input_value() for box in page.locator(".stMain input[type=text]").all() if box.is_visible()]
    assert shown == ["Sam and Amy played in the park. Sam threw the ball to"]


def test_no_sentence_stands_above_a_picture_that_reads_none(visitor):
    visit = present(visitor, "/softmax?present=1&slide=shares")
    visit.page.wait_for_function(f"() => ({SHOWN})().length === 1")
    assert not any(box.is_visible() for box in visit.page.locator(".stMain input[type=text]").all())
    said = "() => getComputedStyle(document.querySelector('.st-key-title'), '::after').content"
    assert visit.page.evaluate(said) == "none", "the signature answers the page's question"


def test_a_step_of_a_lesson_begins_at_the_place_it_names(visitor):
    link = "given_layers=8&at=points-in-the-prompt-a-line-as-the-answe&lesson=prompt&stop=7"
    visit = visitor(viewport=SCREEN).open(f"/theory?{link}&present=1", ready=".st-key-deck")
    visit.page.locator(GUESS).wait_for()
    visit.settle()
    assert "never trained" in visit.page.locator(GUESS).inner_text()
    visit.page.keyboard.press("PageDown")
    visit.page.wait_for_function(f"() => ({SHOWN})().join() === 'given'")


def test_a_step_that_names_the_room_alone_asks_first(visitor):
    visit = visitor(viewport=SCREEN).open("/theory?lesson=prompt&stop=1&present=1", ready=".st-key-deck")
    page = visit.page
    page.locator(GUESS).wait_for()
    visit.settle()
    assert page.evaluate(SHOWN) == []
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})().join() === 'sky'")
    visit.settle()
    page.keyboard.press("PageDown")  # what else the page shows is no part of the step
    page.wait_for_url(re.compile("stop=2"))
    visit.settle()
    page.wait_for_function(f"() => ({SHOWN})().join() === 'sky'")
    assert page.locator(GUESS).count() == 0, "what it is set to is what it is about"
    visit.check()


def test_the_list_of_a_lessons_steps_is_seen_while_presenting(visitor):
    visit = visitor(viewport=SCREEN).open("/lesson?name=attention&present=1", ready=".st-key-lesson_begin a")
    visit.page.get_by_role("button", name="→").click()
    visit.page.wait_for_url(re.compile("stop=1.*present=1|present=1.*stop=1"))


def test_a_walk_that_is_too_long_for_a_screen_shows_the_lines_around_the_lit_one(visitor):
    visit = visitor(viewport=SCREEN)
    visit.page.add_init_script(PAINTED)
    visit.open("/model?model_bench=walk&depth=all&present=1&slide=walk&line=16", ready=".st-key-deck")
    visit.page.wait_for_function(f"() => ({SHOWN})().join() === 'walk'", timeout=60_000)
    visit.settle()
    walk = visit.page.locator(".st-key-walk .stBidiComponent")
    text, size = walk.locator("canvas").first.evaluate(SMALLEST)
    assert size >= 20, (text, size)
    box = walk.bounding_box()
    assert box["y"] + box["height"] <= 721


def test_homes_guess_is_a_slide_and_so_is_its_answer(visitor):
    visit = visitor(viewport=SCREEN).open("/?present=1", ready=".st-key-deck")
    page, asked = visit.page, visit.page.locator(".st-key-question_guess")
    title = page.locator(".st-key-opening h1")
    box = page.locator(".st-key-words").first.bounding_box()
    assert title.bounding_box()["y"] + title.bounding_box()["height"] <= box["y"], "the sentence lies over nothing"
    asked.get_by_role("radio", name="Sam").wait_for()
    page.keyboard.press("1")
    asked.locator("[class*=st-key-verdict_]").wait_for()
    visit.settle()
    page.wait_for_function(f"(e) => ({WORDS})(e)[0] >= 20 && ({WORDS})(e)[1]", arg=asked.element_handle())
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})().join() === 'map'")
    wide = page.locator(".st-key-map .scroll").evaluate("e => e.scrollWidth - e.clientWidth")
    assert wide <= 1, "the whole map, not its middle"
    named = page.locator(".st-key-map .title").first
    assert named.evaluate("e => e.getBoundingClientRect().height / e.offsetHeight") >= 1.25, (
        "as large as its width allows"
    )
    visit.check()


def test_the_sentence_above_is_the_one_that_the_picture_shows(visitor):
    """A room with a sentence of its own shows that one, and not the one that goes from room to room."""
    page = present(visitor, "/feedforward?present=1").page
    shown = [box.input_value() for box in page.locator(".stMain input[type=text]").all() if box.is_visible()]
    assert shown == ["He could not find it. He wonder"]


def test_presenting_goes_along_from_page_to_page(visitor):
    visit = visitor(viewport=SCREEN).open("/softmax?depth=teach", ready="[data-signature] canvas")
    page = visit.page
    page.get_by_role("button", name="Present this page").click()
    page.wait_for_url(re.compile("present=1"))
    to_the_picture(visit)
    assert findings(page) == []
    page.evaluate("() => document.querySelector('[data-testid=stSidebarNavLink][href*=rope]').click()")
    page.wait_for_url(re.compile("/rope.*present=1"))
    to_the_picture(visit)
    page.get_by_role("button", name="✕").click()
    page.wait_for_url(re.compile(r"/rope(?!.*present)"))
    visit.check()


def test_answers_wait_for_a_key(visitor):
    visit = visitor(viewport=SCREEN).open("/softmax?hide=answers", ready="[data-signature] canvas")
    page = visit.page
    page.get_by_role("button", name="I don't know").or_(page.get_by_role("radio", name="I don't know")).first.click()
    verdict = page.locator("[class*=st-key-verdict_]").first
    verdict.wait_for(state="attached")
    visit.settle()
    assert not verdict.is_visible()
    page.keyboard.press("a")
    expect(verdict).to_be_visible()
    page.keyboard.press("a")
    expect(verdict).to_be_hidden()
    page.locator(".st-key-answers button").click()
    expect(verdict).to_be_visible()
    visit.settle()
    assert findings(page) == []
    page.reload()
    visit.settle()
    assert "hide=answers" in page.url
    visit.check()


def test_a_link_to_a_picture_behind_a_guess_shows_the_guess_and_then_the_picture(visitor):
    visit = visitor(viewport=SCREEN).open("/heads?present=1&slide=toy&depth=all", ready=".st-key-deck")
    page, counted = visit.page, "() => getComputedStyle(document.querySelector('.st-key-deck'), '::before').content"
    page.wait_for_url(re.compile("slide=question_two"))
    asked = page.locator(".st-key-question_two")
    page.wait_for_function(f"() => ({SHOWN})().length === 0")
    assert page.evaluate(counted).startswith('"1 /')
    asked.get_by_role("radio").first.wait_for()
    page.keyboard.press("3")
    verdict = asked.locator("[class*=st-key-verdict_]")
    verdict.wait_for()
    page.locator(".st-key-toy canvas").wait_for(state="attached")
    visit.settle()
    expect(verdict).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile("slide=toy(&|$)"))
    page.wait_for_function(f"() => ({SHOWN})().join() === 'toy'")
    at, of = map(int, re.findall(r"\d+", page.evaluate(counted)))
    assert 1 < at <= of
    page.keyboard.press("PageUp")
    page.wait_for_function("() => !location.search.includes('slide=toy&') && !location.search.endsWith('slide=toy')")
    visit.check()


def test_a_picture_stands_alone_in_a_frame(visitor, tmp_path):
    visit = visitor(viewport=SCREEN)
    slide = tmp_path / "slide.html"
    slide.write_text(f"<iframe src='{visit.server.url}/attention?only=picture&cell=9,2' width=900 height=700></iframe>")
    visit.page.goto(slide.as_uri())
    frame = visit.page.frame_locator("iframe")
    frame.locator("[data-signature] canvas").wait_for(timeout=60_000)
    visit.page.wait_for_function("() => true")
    inside = visit.page.frames[1]
    inside.wait_for_function(f"() => ({SHOWN})().join() === 'picture'")
    seen = """() => [...document.querySelectorAll('.stApp *')].filter((e) => e.getClientRects().length && e.innerText?.trim()
      && !e.children.length && getComputedStyle(e).visibility === 'visible').map((e) => e.innerText)"""
    assert set(inside.evaluate(seen)) <= {"Skip to main content"}, "Streamlit's own, seen by a screen reader alone"
    assert frame.locator("[data-signature] input[type=range]").is_visible()
    assert visit.errors == []


def test_a_picture_that_is_not_there_leaves_the_page_as_it_is(visitor):
    visit = visitor(viewport=SCREEN).open("/attention?only=nothing", ready="[data-signature] canvas")
    visit.page.wait_for_function("() => !('only' in document.documentElement.dataset)")
    assert visit.page.get_by_test_id("stSidebar").is_visible()
    visit.check()


def test_a_clicker_turns_a_picture_that_is_higher_than_the_screen_and_it_says_how_much_is_left(visitor):
    visit = present(visitor, "/tokens?depth=all&present=1&slide=sides")
    page, picture = visit.page, visit.page.locator(".st-key-sides .live")
    stage, left = picture.locator(".stage"), picture.locator(".picture > .note")
    page.wait_for_function(f"() => ({SHOWN})().join() === 'sides'")
    before = 7
    while before:
        text = left.inner_text()
        now = int(re.fullmatch(r"↓ (\d) more below", text)[1]) if text else 0
        assert now < before, "each part shows strips that were not there"
        box, room = stage.bounding_box(), picture.bounding_box()
        assert box["y"] + box["height"] <= room["y"] + room["height"] <= 721
        before = now
        assert page.evaluate(SHOWN) == ["sides"]
        page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})().join() !== 'sides'")
    page.keyboard.press("PageUp")
    page.wait_for_function(f"() => ({SHOWN})().join() === 'sides'")
    assert left.inner_text() == "", "back at the part that was left"
    visit.check()


def test_a_link_to_a_picture_behind_a_late_guess_asks_that_guess_alone_and_no_sentence_it_does_not_read(visitor):
    visit = present(visitor, "/feedforward?depth=all&present=1&slide=moe_seats_none")
    page = visit.page
    page.wait_for_url(re.compile("slide=question_moe_balance"))
    assert page.locator(GUESS).count() == 1
    page.keyboard.press("1")
    page.locator(f"{GUESS} [class*=st-key-verdict_]").wait_for()
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => ({SHOWN})().join() === 'moe_seats_none'")
    visit.settle()
    assert not any(box.is_visible() for box in page.locator(".stMain input[type=text]").all())
    visit.check()


# What tells the answer, of what a guess opens.
@pytest.mark.parametrize(
    ("room", "telling"),
    [
        ("ledger", "111,094"),  # a button
        ("inference", "The cache is the only memory"),  # the sentence to take home
    ],
)
def test_what_a_guess_opens_waits_for_the_key_with_its_verdict(visitor, room, telling):
    visit = visitor(viewport=SCREEN).open(f"/{room}?hide=answers", ready="[data-signature] canvas")
    page = visit.page
    asked = page.locator(GUESS).first
    asked.get_by_role("radio").first.click()
    asked.locator("[class*=st-key-verdict_]").wait_for(state="attached")
    visit.settle()
    said = page.locator(".stMain").get_by_text(telling).locator("visible=true")
    assert said.count() == 0
    verdict = asked.locator("[class*=st-key-verdict_]")
    page.keyboard.press("a")
    said.first.wait_for()
    expect(verdict).to_be_visible()
    page.keyboard.press("a")
    expect(verdict).to_be_hidden()
    visit.settle()
    assert said.count() == 0, "both wait again"
    page.keyboard.press("a")
    said.first.wait_for()
    asked.get_by_role("radio").nth(1).click()
    expect(verdict).to_be_hidden()
    visit.settle()
    assert said.count() == 0, "another guess waits anew"
    page.keyboard.press("a")
    said.first.wait_for()
    visit.turn("/softmax?hide=answers").turn(f"/{room}?hide=answers", ready="[data-signature] canvas")
    assert not verdict.is_visible(), "another visit, another class"
    assert said.count() == 0
    visit.check()
