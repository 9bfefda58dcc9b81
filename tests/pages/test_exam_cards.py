"""Cards, shelf and the end of the path: an answer of one's own is text, the back of a card waits, nothing is lost."""

import re

import pytest

from core.lab import text as sentence
from core.topics.exam import cards
from core.topics.exam.shelf import shelf
from pages.parts.exam import cards as part
from pages.shared import frame, lessons
from pages.shared.text import filled, plain, sections
from tests.pages.opening import address, open_page, words

PAGE = "18_exam"
TEXT = sentence.exactly(sentence.SENTENCE)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("id", cards.CARDS)
def test_every_card_has_a_question_an_answer_with_a_number_and_a_mistake(id, language):
    parts = sections(language, "exam")[f"card_{id}"].split("\n\n")
    assert len(parts) == 3
    printed = {name: part._printed(value) for name, value in cards.facts(TEXT, id).items()}
    said = [filled(one, **printed) for one in parts]
    assert "«" not in "".join(said)
    assert set(re.findall(r"«(\w+)»", parts[1])), "no number of this site"
    assert "«" not in parts[0]


def test_every_room_has_a_card_and_every_card_a_room():
    rooms = {frame.topic_of(entry.file) for entry in frame.entries()}
    assert {card.room for card in cards.CARDS.values()} == rooms
    for card in cards.CARDS.values():
        assert lessons.read(f"/{card.room}?" + "&".join(f"{word}={text}" for word, text in card.state)), card.id


def test_the_back_of_a_card_waits_until_it_is_turned():
    app = open_page(PAGE, card="heads")
    mistake = sections("en", "exam")["card_heads"].split("\n\n")[2]
    assert mistake not in words(app)
    app.text_area(key="own_heads").set_value("**more** <b>parameters</b>").run()
    app.button(key="card_turn").click().run()
    assert mistake in words(app)
    assert "parameters</b>" not in words(app)
    app.button(key="card_next").click().run()
    assert address(app)["card"] == "rope"
    assert sections("en", "exam")["card_rope"].split("\n\n")[2] not in words(app)
    app.selectbox(key="card_choice").select("heads").run()
    assert app.text_area(key="own_heads").value == "**more** <b>parameters</b>"
    assert not app.exception


@pytest.mark.parametrize("text", ["Hi", "你好", "🙂", "Tom ran. " * 200])
@pytest.mark.parametrize("id", ["far", "tokens", "exam", "order", "attention"])
def test_a_card_tells_its_numbers_of_any_text(text, id):
    app = open_page(PAGE, depth="teach", words=text, card=id)
    assert not app.exception
    assert "«" not in words(app)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reference_stands_on_the_shelf_with_what_to_read_it_for(language):
    said = words(open_page(PAGE, lang=language))
    for one in shelf():
        assert plain(one.title) in said
        assert sections(language, "exam")[f"read_{one.id}"] in said


def test_the_shelf_is_filtered_by_its_address():
    said = words(open_page(PAGE, shelf_badge="lost"))
    assert "Mathematical Foundations" in said
    assert "Illustrated GPT" not in said
    assert "Nothing on the shelf is both" in words(open_page(PAGE, shelf_badge="lost", shelf_about="course"))


def test_at_the_idea_both_wait_in_folds():
    said = words(open_page(PAGE, depth="idea"))
    assert "Mathematical Foundations" not in said
    assert "Three things to read" in said
    assert "Mathematical Foundations" in words(open_page(PAGE, depth="idea", at="the-shelf"))
    assert "Say it aloud" in words(open_page(PAGE, depth="idea", at="interview-cards"))
