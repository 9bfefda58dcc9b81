"""Lessons: every link opens what it says; a visitor's own is collected, edited, exported, and never more than text."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages.shared import frame, lessons
from pages.shared.readers import DEPENDS, written
from pages.shared.words import LESSONS, WORDS
from tests.pages.opening import address, open_page, words

NASTY = "<b>x</b> **y** [z](http://evil) $q$"
STOPS = [(name, at, stop) for name in LESSONS for at, stop in enumerate(lessons.shipped("en", name).stops, 1)]


def file_of(topic):
    return next(entry.file for entry in frame.entries() if frame.topic_of(entry.file) == topic)


def open_lesson(**query):
    """The page of a lesson, as its address says."""
    app = open_page("02_why")
    app.query_params.clear()
    app.query_params.update(query)
    return app.switch_page("pages/lesson.py").run()


@pytest.mark.parametrize(("name", "at", "stop"), STOPS, ids=lambda v: v if isinstance(v, str | int) else "")
def test_every_link_of_every_lesson_opens_what_it_says(name, at, stop):
    app = open_page(file_of(stop.topic), **dict(stop.query))
    assert not app.exception
    said = {word: value[-1] if isinstance(value, list) else value for word, value in app.query_params.items()}
    for word, text in stop.query:
        default = WORDS[word].default
        kept = said.get(word) == text or (default is not DEPENDS and written(default) == text)
        assert kept, f"{word}={text} was not taken: {said}"


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_says_the_same_in_both_languages(name):
    english, chinese = (lessons.shipped(language, name) for language in ("en", "zh"))
    assert [stop.link for stop in english.stops] == [stop.link for stop in chinese.stops]
    for language, lesson in (("en", english), ("zh", chinese)):
        text = (lessons.FOLDER / language / f"{name}.md").read_text("utf8")
        assert len(lesson.stops) == len(re.findall(r"^\d+\. ", text, re.M)), "a link was not understood"
        assert all(stop.line for stop in lesson.stops)
        assert lesson.about
        assert lessons.exported(lesson) == text, "what is exported could be shipped"
    minutes = re.search(r"\d+", english.title)[0]
    assert minutes in chinese.title


@pytest.mark.parametrize(
    "link",
    [
        "http://evil.example/softmax",
        "//evil.example/softmax",
        "javascript:alert(1)",
        "softmax",
        "/nowhere",
        "/lesson?name=mine",
        "/softmax#x",
        "/softmax?evil=1",
        "/softmax?reach=3",
        "/softmax?temperature=hot",
        "/softmax?mine=/softmax",
        "/softmax?lesson=mine",
        "/softmax?present=1",
        "/softmax?words=" + "x" * 5000,
    ],
)
def test_a_link_that_is_none_is_none(link):
    assert lessons.read(link) is None


def test_a_link_comes_back_as_it_was():
    for link in ("/", "/softmax", "/softmax?temperature=0.1", "/attention?words=A+%26+B+%E4%BD%A0%0A"):
        topic, query = lessons.read(link)
        assert lessons.Stop("t", topic, query).link == link


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", LESSONS)
def test_the_page_of_a_lesson_lists_its_steps(name, language):
    app = open_lesson(name=name, lang=language)
    assert not app.exception
    found = lessons.shipped(language, name)
    assert app.title[0].value.startswith(found.title[:4])
    links = app.get("page_link")
    assert len(links) >= len(found.stops) + 1, "every step, and the way in"
    asked = dict(parse_qsl(urlsplit("?" + links[0].proto.query_string).query))
    assert asked == {**dict(found.stops[0].query), "lesson": name, "stop": "1"}


@pytest.mark.parametrize(("language", "on"), [("en", "Next step →"), ("zh", "下一步 →")])
def test_the_way_on_leads_to_the_next_step_and_not_to_the_next_room(language, on):
    app = open_page("05_softmax", lesson="attention", stop="3", lang=language)
    assert not app.exception
    assert on in [link.proto.label for link in app.get("page_link")]


def test_without_a_name_there_is_a_list():
    app = open_lesson()
    assert not app.exception
    assert len(app.get("page_link")) == len(LESSONS)
    assert not open_lesson(name="nothing").exception


def test_what_a_visitor_collected_is_only_text():
    mine = f"/softmax?temperature=0.1 {NASTY}\n//evil.example/x Evil\n/attention?cell=13,3 Two"
    app = open_lesson(name="mine", mine=mine)
    assert not app.exception
    assert [box.value for box in app.text_input if box.key.startswith("stop_")] == [
        "<b>x</b> **y** z (http://evil) $q$",
        "Two",
    ]
    assert "<b>" not in words(app)
    assert "evil.example" not in words(app)
    assert not any("evil.example" in str(link.proto) for link in app.get("page_link"))


def test_titles_are_edited_and_steps_move_and_go():
    app = open_lesson(name="mine", mine="/softmax One\n/rope?rope_shift=8 Two\n/ledger Three")
    boxes = [box for box in app.text_input if box.key.startswith("stop_")]
    boxes[1].set_value("A [new] name").run()
    assert address(app)["mine"].split("\n")[1] == "/rope?rope_shift=8 A new name"
    app.button(
        key=next(b.key for b in app.button if b.key.startswith("stop_2") and b.key.endswith("_up"))
    ).click().run()
    assert address(app)["mine"].startswith("/rope")
    app.button(
        key=next(b.key for b in app.button if b.key.startswith("stop_3") and b.key.endswith("_out"))
    ).click().run()
    assert address(app)["mine"].count("\n") == 1
    assert not app.exception


def pasted(app, text):
    return app.text_area(key="lesson_saved").set_value(text).run()


def read_again(**query):
    return open_lesson(name="mine", at="go-on-with-a-saved-lesson", **query)


def test_a_saved_lesson_is_read_again():
    mine = "/softmax?temperature=0.1 One\n/attention?cell=13%2C3 Two"
    saved = "# My lesson\n\n1. [One](/softmax?temperature=0.1)\n2. [Two](/attention?cell=13%2C3)\n"
    app = pasted(read_again(), saved)
    assert address(app)["mine"] == mine
    pasted(app, "3. [Three](/rope) and a line\n4. [Evil](https://evil.example/x)")
    assert address(app)["mine"] == mine + "\n/rope Three"
    assert not app.exception


@pytest.mark.parametrize("text", [NASTY, "1. [x](/nowhere)", "\0" * 50, "1. [" * 25_000])
def test_what_is_no_lesson_adds_nothing_and_says_so(text):
    app = pasted(read_again(mine="/softmax One"), text)
    assert not app.exception
    assert address(app)["mine"] == "/softmax One"
    assert "There is no link into these rooms in it." in words(app)


def test_a_lesson_that_no_link_can_hold_says_so():
    app = pasted(read_again(), "\n".join(f"{i}. [{'t' * 79}](/softmax)" for i in range(40)))
    assert "mine" not in address(app)
    assert "40 more steps do not fit into one link" in words(app)


def test_a_collection_is_bounded(monkeypatch):
    kept = []
    monkeypatch.setattr(lessons.address, "write", lambda word, text: kept.append(text))
    lessons.keep((lessons.Stop("t", "softmax", (("words", "x" * 3000),)),))
    lessons.keep((lessons.Stop("t", "softmax", ()),))
    assert kept == ["/softmax t"]


def test_a_state_is_kept_and_printed_in_a_room_and_nowhere_else():
    room, lesson = open_page("02_why", depth="teach"), open_lesson(name="prompt", depth="teach")
    shown = [{button.key for button in app.sidebar.button} for app in (room, lesson)]
    assert {"collect", "handout_now", "present_now"} <= shown[0]
    assert shown[1] & {"collect", "handout_now", "present_now"} == {"present_now"}, "no step is a state of this page"


def depth(app):
    """What the address says of it, and what the switch in the sidebar shows."""
    said = app.query_params.get("depth", "idea")
    return said[-1] if isinstance(said, list) else said, app.sidebar.segmented_control(key="depth_choice").value


DEEP = {"exam_if": "mask", "at": "what-if", "lesson": "prompt", "stop": "8"}


def at_a_deep_step():
    """At the last step of the lesson about the prompt: its place is not shown at the idea."""
    app = open_page("02_why", depth="idea")
    app.query_params.clear()
    app.query_params.update(DEEP)
    app.switch_page("pages/18_exam.py").run()
    assert depth(app) == ("all", "all"), "the address says what is shown"
    return app


def read_again_at(**query):
    """A session that knows nothing yet: reloaded, or opened by a copied link."""
    app = open_page("02_why", depth="idea")
    app.session_state["_kept"] = {}
    return go(app, "18_exam", **DEEP, **query)


def go(app, file, **query):
    app.query_params.clear()
    app.query_params.update(query)
    return app.switch_page(f"pages/{file}.py").run()


def test_a_step_that_opens_the_whole_page_leaves_the_depth_of_the_next_as_it_was():
    app = at_a_deep_step()
    assert depth(app.run()) == ("all", "all"), "as long as it is shown"
    back = {"given_layers": "8", "lesson": "prompt", "stop": "6"}
    assert depth(go(app, "17_theory", **back)) == ("idea", "idea")
    assert depth(go(at_a_deep_step(), "02_why")) == ("idea", "idea"), "nor that of the visitor"
    assert depth(go(at_a_deep_step(), "02_why", depth="all")) == ("all", "all"), "as the link says"


def test_a_depth_that_the_hand_chooses_at_a_step_stays():
    app = at_a_deep_step()
    for chosen in ("teach", "all"):
        app.sidebar.segmented_control(key="depth_choice").set_value(chosen).run()
        assert depth(app) == (chosen, chosen)
    assert depth(go(app, "02_why")) == ("all", "all")


def test_what_is_lent_is_known_by_a_reload_and_a_copied_link():
    assert address(at_a_deep_step())["lent"] == "depth"
    app = read_again_at(depth="all", lent="depth")
    assert depth(app.run()) == ("all", "all"), "as long as it is shown"
    assert depth(go(app, "02_why")) == ("idea", "idea")
    assert depth(go(read_again_at(depth="all"), "02_why")) == ("all", "all"), "what is not lent is one's own"


def test_a_depth_chosen_after_a_reload_is_ones_own():
    app = read_again_at(depth="all", lent="depth")
    app.sidebar.segmented_control(key="depth_choice").set_value("teach").run()
    assert depth(app) == ("teach", "teach")
    assert "lent" not in app.query_params
    assert depth(go(app, "02_why")) == ("teach", "teach")


def test_nothing_is_lent_where_no_step_is_shown():
    app = go(open_page("02_why", depth="idea"), "18_exam", depth="all", lent="depth")
    assert "lent" not in app.query_params
    assert depth(go(app, "02_why")) == ("all", "all")
