"""Numbers reach an open picture with their message, before Streamlit has drawn the page around it (start/ahead.js)."""

from tests.browser.gestures import PICTURES, drag

BARS = "[data-quantity=next_probs] canvas"
# Every picture that the canvas shows at the end of a message with numbers; and whether the page around it had followed.
SEEN = """(canvas) => {
  window.__seen = [];
  const told = () => document.querySelector('.st-key-put_back') !== null;
  window.addEventListener('live-sent', () => window.__seen.push([canvas.toDataURL(), told()]));
  return canvas.toDataURL();
}"""


def test_the_bars_of_a_cut_are_there_before_the_page_around_them(visitor):
    visit = visitor().open("/attention", ready=BARS)
    page = visit.page
    before = page.locator(BARS).first.evaluate(SEEN)
    visit.signature().locator(".stage").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.locator(".st-key-put_back").wait_for()
    visit.settle()
    seen = page.evaluate("window.__seen")
    early = [picture for picture, told in seen if not told and picture != before]
    assert early, "the bars follow in the message itself"
    assert page.locator(BARS).first.evaluate("e => e.toDataURL()") == seen[-1][0], "Streamlit says the same"
    visit.check()


def test_a_picture_that_streams_never_goes_back(visitor):
    """Streamlit hands its words on late: by then the picture may have been told newer ones."""
    visit = visitor().open("/attention?source=random", ready="[data-signature] canvas")
    page, canvas = visit.page, visit.signature().locator("canvas").first
    canvas.evaluate(PICTURES)
    drag(page, page.locator("input[data-slider=tau]"), 0.05, 0.95)
    visit.settle()
    pictures = page.evaluate("window.__pictures")
    assert len(pictures) > 3, "it followed"
    assert len(set(pictures[1:])) == len(pictures[1:]), "a picture that was left behind came back"
    visit.check()


# The numbers of the bars, kept, and told once more: as another room's of the same name, or as they came.
KEEP = """() => window.addEventListener('live-sent', ({ detail }) => {
  if (new TextDecoder().decode(detail).includes('"key": "next"')) window.__kept ??= detail.slice();
})"""
TELL = """(canvas, page) => {
  const name = new TextEncoder().encode('"page": "attention"'), other = new TextEncoder().encode(`"page": "${page}"`);
  const at = window.__kept.findIndex((_, i) => name.every((byte, j) => window.__kept[i + j] === byte));
  const detail = window.__kept.slice();
  detail.set(other, at);
  const before = canvas.toDataURL();
  window.dispatchEvent(new CustomEvent('live-sent', { detail }));
  return canvas.toDataURL() !== before;
}"""


def test_numbers_of_another_room_are_not_for_a_picture_of_the_same_name(visitor):
    """While a room gives way to the next its pictures are open still."""
    visit = visitor().open("/attention", ready=BARS)
    page = visit.page
    page.evaluate(KEEP)
    visit.signature().locator(".stage").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => window.__kept")
    visit.settle()
    page.locator(".st-key-put_back button").click()
    page.locator(".st-key-put_back").wait_for(state="detached")
    visit.settle()
    bars = page.locator(BARS).first
    assert not bars.evaluate(TELL, "elsewhere")
    assert bars.evaluate(TELL, "attention"), "its own are"
    visit.check()


# Words that look like the numbers of the bars, their length before them; and what came of them.
FORGED = """() => {
  window.__told = 0;
  window.addEventListener('live-sent', ({ detail }) => {
    window.__told += new TextDecoder().decode(detail).includes('"forged": true');
  });
}"""


def test_a_text_that_looks_like_numbers_is_a_text(visitor):
    """A link may carry any words: no picture draws them."""
    visit = visitor().open("/attention?source=hand", ready="[data-signature] canvas")
    page = visit.page
    page.evaluate(FORGED)
    head = '{"meta": {"painter": "shared/pictures/matrix/matrix.js", "forged": true, "key": "picture", "page": "attention"}, "arrays": []}'
    box = page.get_by_role("textbox", name="Q")
    box.fill(chr(len(head)) + "\x01\x01\x01" + head)
    box.press("Control+Enter")
    page.wait_for_url("**hand_q=**")
    visit.settle()
    assert page.evaluate("window.__told") == 0
    visit.check()


# How much of the page stands when its first picture does; a painter that never comes is asked for and not answered.
FIRST = """() => window.addEventListener('live-drawn', () => {
  window.__first ??= document.querySelectorAll('.stMain .stElementContainer').length;
})"""


def test_the_first_picture_of_a_page_is_there_before_the_rest_of_it(visitor):
    visit = visitor().open("/attention", ready=BARS)
    page = visit.page
    page.evaluate(FIRST)
    visit.turn("/model", ready="[data-signature] canvas")
    whole = page.locator("css:light=.stMain .stElementContainer").count()
    assert 0 < page.evaluate("window.__first") < 0.25 * whole
    visit.check()


def test_a_picture_that_does_not_come_holds_no_page_back(visitor):
    visit = visitor().open("/attention", ready=BARS)
    page = visit.page
    page.route("**/clocks.js", lambda route: None)  # asked, and never answered
    visit.turn("/rope", ready=".st-key-ending_rope")
    page.unroute_all(behavior="ignoreErrors")
    visit.check()
