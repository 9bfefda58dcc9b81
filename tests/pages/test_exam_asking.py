"""Questions from one's own sentence: asked, judged and summed in both languages; each links to what shows it."""

import re
from functools import cache
from urllib.parse import urlencode

import pytest

from core.lab import text as sentence
from core.topics.exam import questions as qs
from core.topics.exam.question import KINDS
from pages.parts.exam import asking
from pages.shared import frame, lessons
from pages.shared.readers import DEPENDS
from pages.shared.text import filled, plain, sections
from pages.shared.words import WORDS
from tests.pages.opening import address, open_page, words

PAGE = "18_exam"
TEXT = sentence.of(sentence.read(sentence.SENTENCE))


@cache
def every_question(text=TEXT):
    return [one for seed in (1, 2, 3) for one in qs.every(text, seed).values()]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_hinted_and_summed(kind, language):
    parts = sections(language, "exam")[f"ask_{kind}"].split("\n\n")
    assert len(parts) == 3
    found = [one for one in every_question() if one.kind == kind]
    for question in found:
        said = [filled(part, **question.told | {"answer": asking._answer(question)}) for part in parts]
        assert "«" not in "".join(said)
        if not question.options and len(asking._answer(question)) > 1:  # neither question nor hint gives it away
            answer = re.escape(asking._answer(question))
            assert not re.search(rf"(?<![\d.,]){answer}(?![\d.,])", "".join(said[:2]).replace("\\", "")), question
        assert plain(asking._answer(question)) in said[2] or asking._answer(question) in said[2]


def test_every_link_says_only_what_its_room_understands():
    for question in every_question():
        assert question.room in {frame.topic_of(entry.file) for entry in frame.entries()}
        query = dict(question.state)
        link = f"/{question.room}?{urlencode(query)}"
        assert lessons.read(link) is not None, link
        assert set(query) <= set(WORDS)


@pytest.mark.parametrize("room", sorted({kind.room for kind in KINDS.values()}))
def test_its_room_opens_as_it_was_asked(room):
    question = next(one for one in every_question() if one.room == room)
    file = next(entry.file for entry in frame.entries() if frame.topic_of(entry.file) == room)
    app = open_page(file, **dict(question.state))
    assert not app.exception
    shown = address(app) | {"depth": "all"}
    for word, text in question.state:  # a default is said by silence
        assert shown.get(word) in (text, None), word
        assert word in shown or WORDS[word].default in (DEPENDS, WORDS[word].read(text)), word


def boxes(app):
    return {box.key: box for box in [*app.text_input, *app.selectbox] if (box.key or "").startswith("answer_")}


def box_of(app, question):
    return boxes(app)[f"answer_{asking._id(question)}"]


def answered(app, question, given):
    box = box_of(app, question)
    return (box.select(given) if question.options else box.set_value(given)).run()


def test_a_right_answer_brings_the_sum_and_a_miss_the_hint_first():
    app, paper = open_page(PAGE, depth="idea"), qs.make(TEXT, 1)
    one = next(question for question in paper if question.tolerance)
    hint, how = (asking._said(one, part) for part in (1, 2))
    assert hint not in words(app)
    answered(app, one, f"{one.answer * 1.2:.4g}")
    assert hint in words(app)
    assert how not in words(app)
    answered(app, one, f"{one.answer:.6f}".replace(".", ","))
    assert f"**Right.** {how}" in words(app)
    assert "0 right at once, 1 of 5 done" in words(app)
    assert not app.exception


def test_two_misses_tell_it_and_nothing_readable_is_no_miss():
    app, one = open_page(PAGE, depth="idea"), qs.make(TEXT, 1)[0]
    answered(app, one, "<b>many</b>")
    assert "is no number I can read" in words(app)
    assert "<b>" not in words(app)
    answered(app, one, "17000")
    app.button(key=f"answer_{asking._id(one)}_unknown").click().run()
    assert f"**The sum:** {asking._said(one, 2)}" in words(app)
    assert "0 right at once, 1 of 5 done" in words(app)


def test_one_address_is_one_paper_and_five_more_are_others():
    app = open_page(PAGE, paper="7")
    assert {f"answer_{asking._id(one)}" for one in qs.make(TEXT, 7)} == set(boxes(app))
    app.button(key="paper_next").click().run()
    assert address(app)["paper"] == "8"
    assert {f"answer_{asking._id(one)}" for one in qs.make(TEXT, 8)} == set(boxes(app))


def test_who_teaches_has_the_key():
    said = words(open_page(PAGE, depth="teach", paper="3"))
    assert all(asking._said(one, 2) in said for one in qs.make(TEXT, 3))
    said = words(open_page(PAGE, depth="all", paper="3"))
    assert not any(asking._said(one, 2) in said for one in qs.make(TEXT, 3))


def test_the_paper_goes_on_a_sheet_with_its_key_overleaf():
    said = words(open_page(PAGE, print="1", paper="3"))
    for at, one in enumerate(qs.make(TEXT, 3), 1):
        assert f"{at}. {asking._said(one, 0)}" in said
        assert f"{at}. {asking._said(one, 2)}" in said
        assert all(f"☐ {plain(option)}" in said for option in one.options)


@pytest.mark.parametrize(
    "text", ["Hi", "你好，世界", "مرحبا", "🙂🙂", "a\0b", "$x$ <b>*_`", "Tom ran. " * 200, "x" * 3000, " "]
)
def test_any_text_brings_questions_or_fewer(text):
    app = open_page(PAGE, words=text, paper="5")
    assert not app.exception
    assert boxes(app)


def test_brackets_stand_round_a_minus_only():
    assert asking._bare("0.5 × (0.105) + 0.2 × (−0.3) = 1") == "0.5 × 0.105 + 0.2 × (−0.3) = 1"
    assert asking._bare("$e$ to the power of (2 − (0.948)) = 1") == "$e$ to the power of (2 − 0.948) = 1"
    assert asking._bare("SiLU（0.3）= 1，1 ×（0.5）= 2") == "SiLU（0.3）= 1，1 × 0.5 = 2"
    assert asking._bare("$e$ 的（2 −（0.9））次方") == "$e$ 的（2 − 0.9）次方"


def test_see_it_is_said_only_where_it_is_seen():
    app = open_page(PAGE, depth="teach", paper="7")
    links = [link.proto.label for link in app.get("page_link")]
    paper = qs.make(TEXT, 7)
    assert links.count("See it →") == sum(KINDS[one.kind].shown for one in paper)
    assert links.count("To its room →") == sum(not KINDS[one.kind].shown for one in paper)
