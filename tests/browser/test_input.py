"""Whatever is typed or linked: a clear sentence, plain text, and a working page."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from core.lab import text
from pages.shared import frame
from tests.browser.conftest import TURN

PAGES = [("" if e.file == "01_home" else e.file[3:]) for e in frame.entries()]
HOSTILE = {
    "html": "<script>window.__hacked = 1</script><img src=x onerror='window.__hacked = 1'>",
    "markdown": "**bold** [link](javascript:alert(1)) # head `code` ![i](http://127.0.0.1:9/x.png)",
    "latex": r"$\frac{1}{2}$ \href{http://x}{y} $$x$$",
    "directives": ":red[hello] :smile: :material/home:",
    "emoji": "I like 🍦 and 👩‍👩‍👧 and 🏳️‍🌈",
    "chinese": "今天天气很好，我们去公园玩",
    "rtl": "שלום עולם \u202egnp.exe",
    "controls": "a\x00b\x07c\x1b[31m",
    "spaces": "   The cat sat.   ",
    "formula": "=1+1 +cmd @SUM(A1)",
    "quotes": "\"'`\\ {row} «row» {0} %s",
    "newlines": "one\ntwo\r\nthree",
}

MENU = {"": "Home", "attention": "Attention, step by step"}
OF_ITS_OWN = {"": ".st-key-path", "attention": "[data-signature] canvas"}


@pytest.mark.parametrize(("turn", "kind"), list(enumerate(HOSTILE)), ids=lambda x: str(x))
def test_hostile_text_in_a_link_is_read_as_text(tab, turn, kind):
    """Linked to one page, and taken along by the menu to the other, from where the next link leads to the first again:
    the server reads the address of a new session and of an old one in one place. Half of them go the other way."""
    linked, other = ("attention", "") if turn < len(HOSTILE) // 2 else ("", "attention")
    visit = tab().turn(f"/{linked}?words={quote(HOSTILE[kind])}")
    for page in (linked, other):
        if page == other:
            by_menu(visit, page)
            assert "words=" in visit.page.url
        assert visit.page.evaluate("window.__hacked") is None
        ours = "[data-testid=stImage] img"  # Home shows its experiments
        assert visit.page.locator(f"[data-testid=stMain] img:not({ours})").count() == 0
    visit.check()


def by_menu(visit, page):
    """To Home or to /attention, until all of it stands there."""
    visit.page.locator("[data-testid=stSidebarNav] a").filter(has_text=MENU[page]).click()
    visit.page.locator(OF_ITS_OWN[page]).first.wait_for()
    visit.settle()


SAID = (
    ("   ", "There was nothing to read"),
    (" The cat sat. ", "Blanks at the ends were taken off"),
    ("a\x07b", "Invisible control characters"),
    ("word " * 20_000, "at most 256 tokens"),
    ("今天天气很好，我们去公园玩", "strange to the model"),
    ("sam and amy played in the park. sam threw the ball to", "begin with a capital letter"),
)


def test_what_was_done_to_a_text_is_said(visitor, subtests):
    visit = visitor().open("/attention")
    box = visit.page.get_by_role("textbox", name="Your sentence")
    for typed, sentence_on_the_page in SAID:
        with subtests.test(said=sentence_on_the_page):
            expect(visit.page.get_by_text(sentence_on_the_page)).to_have_count(0)
            box.fill(typed)
            box.press("Enter")
            visit.page.get_by_text(sentence_on_the_page).wait_for()
            visit.settle()
            assert len(visit.page.url) < 30_000
            visit.check()


def test_a_hundred_thousand_characters_leave_a_link_that_can_be_shared(visitor):
    visit = visitor().open("/attention")
    box = visit.page.get_by_role("textbox", name="Your sentence")
    box.fill("The dog ran to the park. " * 4_000)
    box.press("Enter")
    visit.page.get_by_text("at most 256 tokens").wait_for()
    visit.settle()
    again = visitor().open(visit.page.url.removeprefix(visit.server.url))
    assert box.input_value() == again.page.get_by_role("textbox", name="Your sentence").input_value()
    again.check()


QUERIES = [
    "temperature=nan&cell=NaN,NaN&layer=-1&head=99&step=nothing&source=evil&cut=maybe&links=all&scope=0",
    "temperature=1e308&cell=99999999999999999999,1&layer=1e9&d_k=-5&source=random&tau=inf&seed=-3",
    "temperature=-0&cell=13,-3&zcell=0,999&step=z&scaling=perhaps&mask=2&block=77&head=-2",
    "source=hand&hand_q=1+2%0A3&hand_k=a+b&hand_v=&step=scores&cell=9,9",
    "source=hand&hand_q=1e300+1&hand_k=nan+inf&hand_v=1&step=masked&hand_mask=true",
    "words=&lang=klingon&guess=nobody&link=7&block=x&head=x",
    "words=" + "x" * 3000 + "&cell=" + "1" * 2000,
    "cell=%00&step=%F0%9F%92%A9&words=%00%01",
    "&&&===&words==&lang=zh&lang=en&step=z&step=scores",
]


@pytest.mark.parametrize(("turn", "query"), list(enumerate(QUERIES)), ids=lambda x: str(x)[:24])
def test_any_query_string_gives_a_working_page(tab, turn, query):
    """Each linked to the page that knows its words, and come back to on another; all pages are linked with junk of their
    own in tests/pages and with all of it in the fuzz."""
    visit = tab().open(f"/attention?{query}")
    visit.check()
    page = PAGES[2 * turn % len(PAGES)]
    visit.page.evaluate(TURN, f"/{page}?{query}")
    visit.page.locator(f".st-key-ending_{page}" if page else ".st-key-path").wait_for(state="attached")
    visit.settle()
    visit.check()


def test_a_linked_sentence_goes_with_the_visitor(visitor):
    typed = "The cat sat on the"
    visit = visitor().open("/?words=" + quote(typed))
    page = visit.page
    page.locator("h1", has_text=typed).wait_for()
    for room, path in (("Softmax lab", "softmax"), ("Attention, step by step", "attention")):
        page.locator("[data-testid='stSidebarNav']").get_by_role("link", name=room).click()
        page.wait_for_url(re.compile(rf"/{path}\?.*words=The"))
        visit.settle()
        assert page.get_by_role("textbox", name="Your sentence").input_value() == typed
    box = page.get_by_role("textbox", name="Your sentence")
    box.fill("Tom had a red ball")
    box.press("Enter")
    page.wait_for_url(re.compile("words=Tom"))
    visit.settle()
    page.go_back()
    page.wait_for_url(re.compile("words=The"))
    page.wait_for_function(
        "() => [...document.querySelectorAll('input')].some((box) => box.value === 'The cat sat on the')"
    )
    visit.settle()
    page.reload()
    visit.settle()
    page.get_by_role("textbox", name="Your sentence").wait_for()
    assert page.get_by_role("textbox", name="Your sentence").input_value() == typed
    visit.check()


def test_the_default_keeps_out_of_the_link(visitor):
    visit = visitor()
    visit.page.goto(visit.server.url + "/attention?words=" + quote(text.SENTENCE))
    visit.page.get_by_text(re.compile(r"p\(Amy\) = 0\.986")).wait_for()
    assert "words=" not in visit.page.url
