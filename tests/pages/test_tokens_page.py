"""The tokens page: the pieces, ids and rows it shows are core's and tiktoken's, and the link restores them."""

import random
from itertools import pairwise

import numpy as np
import pytest
import tiktoken
import torch.nn.functional as F
from torch import tensor

from core import tokenizer
from core.lab import text as sentence
from core.topics.tokens import bpe, table
from pages.parts.tokens import cutting as parts
from pages.shared.pictures.pieces import MOST
from tests.pages import opening
from tests.pages.opening import address, come_back, open_page, picture

PAGE = "03_tokens"
DEFAULT = bpe.Demo(parts.WORD)
TEXTS = ["cafe\u0301 我🙂", "<b>x</b> [a](b) $y$", "مرحبا", "x", "word " * 300]


def words(app):
    """All that is said, without the signs that keep Markdown away."""
    return opening.words(app).replace("\\", "")


def strips(app, key):
    """For each strip of a picture its pieces, (text, id, bytes, kind) each."""
    meta, arrays = picture(app, key)
    which, first = arrays["which"].tolist(), arrays["first"].tolist()
    return [[tuple(meta["pieces"][i]) for i in which[a:b]] for a, b in pairwise(first)]


def ids(strip):
    return [piece[1] for piece in strip]


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        ({}, bpe.Demo(sentence.SENTENCE)),
        (dict(encoding="o200k_base", front="true"), bpe.Demo(" " + sentence.SENTENCE, "o200k_base")),
        (dict(words="我🙂 x"), bpe.Demo("我🙂 x")),
    ],
)
def test_the_signature_holds_every_merge_of_the_sentence(query, demo):
    app = open_page(PAGE, **query, depth="idea")
    assert every_merge(app, "merges", "merge", demo)["signature"]
    for deep in ("sides", "grown", "map", "drift", "next_1"):
        with pytest.raises(AssertionError, match="no picture"):
            picture(app, deep)


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        ({}, DEFAULT),
        (dict(encoding="o200k_base", front="true"), bpe.Demo(" " + parts.WORD, "o200k_base")),
        (dict(word="我🙂 x"), bpe.Demo("我🙂 x")),
    ],
)
def test_a_rare_word_is_merged_as_well(query, demo):
    assert not every_merge(open_page(PAGE, **query), "rare", "rare", demo)["signature"]


def every_merge(app, key, word, demo):
    """Is every state of this picture core's? Returns what the picture says of itself."""
    meta, arrays = picture(app, key)
    states, shown = bpe.run(demo), strips(app, key)
    assert (meta["slider"]["name"], len(meta["slider"]["stops"])) == (word, len(states))
    for state, strip, about in zip(states, shown, meta["strips"], strict=True):
        assert [bytes.fromhex(piece[2]) for piece in strip] == list(state.pieces)
        assert about["next"] == state.next
        assert about["marked"] == ([state.merge.at] if state.merge else [])
    assert ids(shown[-1]) == tokenizer.encoding(demo.encoding).encode_ordinary(demo.word)
    first = arrays["first"]
    for k, state in enumerate(states):
        assert arrays["joints"][first[k] : first[k + 1] - 1].tolist() == list(state.joints)
    if len(states) > 7:
        assert str(states[7].merge.rank) in meta["captions"][7]
    return meta


def test_the_word_we_start_with_has_merges_enough():
    for encoding in tokenizer.ENCODINGS:
        assert len(bpe.run(bpe.Demo(parts.WORD, encoding))) >= 43


@pytest.mark.parametrize("text", TEXTS)
def test_all_cuts_stand_below_each_other(text):
    app = open_page(PAGE, words=text)
    meta, arrays = picture(app, "sides")
    shown = strips(app, "sides")
    assert len(shown) == len(parts.WAYS) == 7
    for way, strip, about in zip(parts.WAYS, shown, meta["strips"], strict=True):
        found = table.pieces(text) if way == "model" else tokenizer.cut(text, way)
        assert ids(strip) == [piece.id for piece in found[:MOST]]
        assert about["more"] == max(0, len(found) - MOST)
        assert about["ranked"] == (way in tokenizer.ENCODINGS)
    first = arrays["first"]
    assert ids(shown[0]) == tokenizer.encoding("gpt2").encode_ordinary(text)[:MOST]
    spans = arrays["spans"][first[6] : first[7]]
    np.testing.assert_array_equal(spans[:, 0], range(len(spans)))
    assert f"**{len(text)}** characters" in words(app)
    assert f"n² = {len(text) ** 2:,}" in meta["strips"][5]["title"]


def test_some_cuts_can_be_chosen():
    app = open_page(PAGE, ways="bytes,o200k_base,nonsense")
    assert [s["title"].split(" ")[0] for s in picture(app, "sides")[0]["strips"]] == ["o200k_base", "bytes"]
    assert len(strips(open_page(PAGE, ways="?"), "sides")) == 7


@pytest.mark.parametrize("speed", [10, 200])
def test_tokens_take_time(speed):
    text = words(open_page(PAGE, words="one two three four five six", speed=str(speed)))
    n = len(tokenizer.encoding("gpt2").encode("one two three four five six"))
    assert f"writes the tokens in {n / speed:.1f} s" in text
    assert f"one id a character it would take {27 / speed:.1f} s" in text


def test_four_scripts_cost_what_tiktoken_counts():
    app = open_page(PAGE, look="scripts", way="o200k_base")
    values = picture(app, "scripts")[1]["values"].reshape(4, 4)
    for i, name in enumerate(tokenizer.ENCODINGS):
        known = tokenizer.encoding(name)
        for j, story in enumerate(parts.SCRIPTS.values()):
            assert values[i, j] == pytest.approx(len(known.encode(story)) / len(story), rel=1e-3)
    theirs = tokenizer.of_model(sentence.FOLDER)
    for j, story in enumerate(parts.SCRIPTS.values()):
        assert values[3, j] == pytest.approx((len(theirs.encode(story).ids) - 1) / len(story), rel=1e-3)
    assert ids(strips(app, "stories")[1]) == tokenizer.encoding("o200k_base").encode(parts.SCRIPTS["Chinese"])
    assert max(values.flat) <= picture(app, "scripts")[0]["scale"]["high"] == 4


@pytest.mark.parametrize("way", ["gpt2", "o200k_base"])
def test_one_id_less_and_the_text_that_comes_back(way):
    app = open_page(PAGE, look="round", way=way, trip="yours", words="Zoe\u0308 注意")
    meta, known = picture(app, "back")[0], tokenizer.encoding(way)
    all_ids = known.encode("Zoe\u0308 注意")
    assert len(meta["strips"]) == len(all_ids) + 1
    for i, about in enumerate(meta["strips"]):
        kept = all_ids if i == 0 else all_ids[: i - 1] + all_ids[i:]
        assert about["foot"] == "→ " + known.decode(kept)
        assert about["struck"] == (i - 1 if i else None)
    text = words(app)
    assert "not in NFC" in text
    assert "would make 11 bytes of its 12 first" in text
    assert "is in NFC" in words(open_page(PAGE, look="round"))


def test_an_id_left_out_is_in_the_link():
    app = open_page(PAGE, look="round", gone="3")
    slider = picture(app, "back")[0]["slider"]
    assert slider["stops"][slider["at"]] == 3
    other = picture(open_page(PAGE, look="round"), "back")[0]
    assert "\ufffd" in other["strips"][other["slider"]["at"]]["foot"], "it opens where a character breaks"


def test_special_tokens_and_a_chat():
    app = open_page(PAGE, look="special", way="cl100k_base", at="the-string-itself")
    chat, typed, put, model = strips(app, "chat")
    assert [p[0] for p in chat if p[3]] == ["<|im_start|>", "<|im_end|>"] * 2 + ["<|im_start|>"]
    known = tokenizer.encoding("cl100k_base")
    assert ids(typed) == known.encode_ordinary("The end.<|endoftext|>Once")
    assert ids(put) == known.encode("The end.<|endoftext|>Once", allowed_special="all")
    assert ids(model) == list(sentence.read(sentence.SENTENCE).ids)
    app.text_input(key="chat_assistant").set_value("Sam.").run()
    assert "<|im_start|>assistant\nSam.<|im_end|>\n" in "\n".join(block.value for block in app.code)


def test_the_vocabulary_is_searched():
    app = open_page(PAGE, look="find", find="threw", way="gpt2")
    known = tokenizer.encoding("gpt2")
    assert ids(strips(app, "found")[0]) == [i for i in range(50256) if b"threw" in known.decode_single_token_bytes(i)]
    assert "None of the 50,257 entries" in words(open_page(PAGE, look="find", find="zzzzqqq"))


def test_a_table_is_trained_on_the_text():
    lesson, text = "the cat the hat the bat the rat", "the that cat"
    app = open_page(PAGE, learn=lesson, words=text, vocab="258")
    learned = bpe.train(lesson)
    meta, arrays = picture(app, "curve")
    shown = strips(app, "grown")
    assert len(shown) == len(learned.merges) + 1 == len(meta["slider"]["stops"])
    for k, strip in enumerate(shown):
        ranks = {piece: rank for piece, rank in learned.ranks.items() if rank < 256 + k}
        theirs = tiktoken.Encoding("own", pat_str=bpe.PATTERN, mergeable_ranks=ranks, special_tokens={})
        assert ids(strip) == theirs.encode_ordinary(text)
        assert arrays["values"].reshape(2, -1)[1, k] == pytest.approx(100 * len(strip) / len(text), rel=1e-6)
        wanted = 100 * len(theirs.encode_ordinary(lesson)) / len(lesson)
        assert arrays["values"].reshape(2, -1)[0, k] == pytest.approx(wanted, rel=1e-6)
    for key in ("grown", "curve"):
        slider = picture(app, key)[0]["slider"]
        assert (slider["name"], slider["stops"][slider["at"]], slider["together"]) == ("vocab", 258, True)
    assert f"{len(learned.merges)} merges were learned, then no pair stood twice" in words(app)


def test_a_full_table_and_an_empty_one_say_so():
    chance = random.Random(0)
    many = " ".join("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=5)) for _ in range(300))
    many = f"{many} {many}"
    assert len(bpe.train(many).merges) == bpe.MOST_MERGES
    assert f"{bpe.MOST_MERGES} merges were learned; here that is the limit" in words(open_page(PAGE, learn=many))
    text = words(open_page(PAGE, learn="abcdef"))
    assert "there is nothing to learn" in text
    assert "merges were learned" not in text


@pytest.mark.parametrize(("word", "answer"), [("a", "letters"), ("a b", "words"), ("xqzj", "letters")])
def test_one_answer_is_offered_once(word, answer):
    app = open_page(PAGE, word=word, pieces=answer)
    assert "**Right.**" in words(app)
    groups = {group.proto.id.rpartition("-")[2]: group.proto.options for group in app.get("button_group")}
    offered = groups["pieces_choice"]
    assert len(offered) == (4 if word == "a" else 5)


def test_a_new_word_is_guessed_anew():
    app = open_page(PAGE, word="strawberry", pieces="between", rare="5", merge="7")
    assert "**Right.**" in words(app)
    app.text_input(key="word").set_value("unhappiness").run()
    assert "Right." not in words(app)
    stands = {key: picture(app, key)[0]["slider"] for key in ("rare", "merges")}
    assert {key: slider["stops"][slider["at"]] for key, slider in stands.items()} == {"rare": 0, "merges": 7}


def test_another_sentence_is_guessed_anew():
    app = open_page(PAGE, sentence_pieces="words", merge="7", rare="5")
    assert "13 pieces for 12 words" in words(app)
    assert "**Right.**" in words(app)
    app.text_area(key="words").set_value("The cat sat").run()
    assert "Right." not in words(app)
    stands = {key: picture(app, key)[0]["slider"] for key in ("rare", "merges")}
    assert {key: slider["stops"][slider["at"]] for key, slider in stands.items()} == {"rare": 5, "merges": 0}


def test_nothing_tells_how_many_pieces_before_the_guess():
    app = open_page(PAGE, depth="idea")
    assert "13 pieces" not in words(app)
    assert "fall apart" not in words(app)
    assert "fall apart" in words(open_page(PAGE, depth="idea", pieces="between"))


def test_an_emptied_word_is_explained():
    app = open_page(PAGE)
    app.text_input(key="word").set_value("").run()
    assert "The box is empty" in words(app)


def test_a_long_text_makes_the_trip_in_part():
    text = "one two " * 200
    app = open_page(PAGE, look="round", trip="yours", words=text)
    assert f"first {parts.LONGEST_TRIP} characters" in words(app)
    assert all(strip["foot"].startswith("→ ") for strip in picture(app, "back")[0]["strips"])


@pytest.mark.parametrize("lesson", ["x", "我", "abcdef", "\x00", "a" * 9000])
def test_anything_can_be_learned_from(lesson):
    app = open_page(PAGE, learn=lesson)
    assert not app.exception
    assert picture(app, "grown")[0]["slider"]["at"] == len(bpe.train(lesson[:4000]).merges) or len(lesson) > 100


@pytest.mark.parametrize(("query", "at"), [({}, 3), (dict(token="10"), 10), (dict(token="0", words="Hi"), 0)])
def test_a_click_picks_a_row_and_its_neighbours(query, at):
    app = open_page(PAGE, **query)
    reading = sentence.read(query.get("words", sentence.SENTENCE))
    meta, arrays = picture(app, "rows")
    wanted = F.embedding(tensor(reading.ids), table.table()).numpy()[:, :24]
    np.testing.assert_allclose(arrays["values"].reshape(wanted.shape), wanted, atol=1e-3)
    assert meta["row"] == at
    assert meta["rows"][at] == f"{reading.tokens[at]} {reading.ids[at]}"
    assert picture(app, "tokens")[0]["state"] == {"piece": at}
    assert ids(strips(app, "tokens")[0]) == list(reading.ids)
    found = table.neighbours(reading.ids[at])
    meta, arrays = picture(app, "near")
    assert meta["names"] == [one.token for one in found[:8]]
    np.testing.assert_allclose(arrays["values"].ravel(), [one.cosine for one in found[:8]], atol=1e-6)
    assert f"(B, T, d) = (1, {len(reading.ids)}, 288)" in words(app)


def test_the_product_is_shown_with_its_difference():
    app = open_page(PAGE, made="product")
    assert "Largest difference: **0**" in words(app)
    assert f"= {14 * 32000 * 288:,} multiplications" in words(app)
    assert picture(app, "rows")[0]["quantity"] == "embed_product"


def test_a_row_that_no_story_told_apart_says_so():
    app = open_page(PAGE, words="parentheses", token="1")
    reading = sentence.read("parentheses")
    told = "Training never told this row from" in words(app)
    assert told == table.untouched(reading.ids[1])
    assert "Training never told this row from" not in words(open_page(PAGE))


def test_the_map_has_every_different_token_once():
    app = open_page(PAGE)
    reading = sentence.read(sentence.SENTENCE)
    meta, arrays = picture(app, "map")
    different = list(dict.fromkeys(reading.ids))
    assert len(meta["names"]) == len(different) == 12
    found = table.plane(tuple(different))
    assert any(
        np.allclose(a.reshape(-1)[:24], found.points.ravel(), atol=1e-6) for a in arrays.values() if a.size >= 24
    )


def test_the_tables_are_counted():
    text = words(open_page(PAGE))
    for number in ("622,329,856", "7.60%", "151,936", "151,669", "151,643", "267 rows"):
        assert number in text


@pytest.mark.parametrize("sense", table.SENSES, ids=lambda s: s.word)
def test_a_word_in_two_meanings(sense):
    app = open_page(PAGE, sense=sense.word)
    found = table.drift(sense)
    values = picture(app, "drift")[1]["values"].reshape(3, -1)
    np.testing.assert_allclose(values, [found.one, found.other, found.between], atol=1e-6)
    assert sense.other[1] in words(app)
    assert ("meanings hardly part" in words(app)) == (sense.word == "bank")


def test_one_blank_too_many_and_writing_on():
    app = open_page(PAGE, writing="true", written="5")
    with pytest.raises(AssertionError, match="no picture"):
        picture(app, "next_1")
    app = open_page(PAGE, writing="true", written="5", blank_guess="same")
    assert "You read it alike, the model does not" in words(app)
    assert "**Not quite.**" in words(app)
    assert "**Right.**" in words(open_page(PAGE, blank_guess="other"))
    assert picture(app, "next_0")[0]["names"][0] == "Amy"
    assert picture(app, "next_1")[0]["names"][0] != "Amy"
    meta, written = picture(app, "story")[0], table.write_on(sentence.of(sentence.read(sentence.SENTENCE)))
    assert len(meta["slider"]["stops"]) == len(written.ids) + 1
    assert ids(strips(app, "story")[-1])[-len(written.ids) :] == list(written.ids)
    assert meta["slider"]["at"] == 5
    assert "means the end" in meta["captions"][-1]
    with pytest.raises(AssertionError):
        picture(open_page(PAGE), "story")


@pytest.mark.parametrize(("word", "answer"), [("cat", "words"), ("unbelievably", "between"), ("zqj", "letters")])
def test_the_prediction_is_answered_by_the_merges(word, answer):
    right = words(open_page(PAGE, word=word, pieces=answer))
    assert "**Right.**" in right
    assert "Checked: tiktoken itself" in right
    wrong = words(open_page(PAGE, word=word, pieces="words" if answer != "words" else "letters"))
    assert "**Not quite.**" in wrong
    assert "Checked" not in words(open_page(PAGE, word=word))


def test_the_check_counts_merges():
    app = open_page(PAGE, words="unbelievable")
    merges = len("unbelievable") - len(tokenizer.encoding("gpt2").encode("unbelievable"))
    n = len("unbelievable") - (merges + 1) // 2
    app.number_input(key="check").set_value(float(n)).run()
    assert "Right" in words(app)
    app.number_input(key="check").set_value(n + 1.0).run()
    assert "**Right" not in words(app)


def test_a_link_restores_everything():
    link = dict(word="strawberry", encoding="cl100k_base", merge="3", rare="4", words="The cat sat.", token="2")
    app = open_page(PAGE, **link)
    for key, stop in (("merges", 3), ("rare", 4)):
        slider = picture(app, key)[0]["slider"]
        assert slider["stops"][slider["at"]] == stop
    assert picture(app, "tokens")[0]["state"] == {"piece": 2}
    assert app.query_params["merge"] in ("3", ["3"])
    assert set(open_page(PAGE, depth="idea").query_params) <= {"lang"}


@pytest.mark.parametrize(
    "query",
    [
        dict(encoding="p50k_base", merge="-1", token="99999", vocab="1e9", look="?", ways=",,", sense="x", speed="0"),
        dict(merge="nan", token="x", vocab="", made="?", word="", learn="", words="", gone="7", pieces="?"),
        dict(look="round", gone="-5", trip="yours", words="🙂"),
        dict(look="find", find="", way="none", written="1e5", writing="true"),
        dict(word="<b>" * 60, words="\x00", learn="\x00\x01"),
        dict(word="我" * 100, words="👩‍👩‍👧" * 300, look="round", trip="yours"),
    ],
)
def test_junk_in_the_link_does_no_harm(query):
    app = open_page(PAGE, **query)
    assert not app.exception
    assert picture(app, "merges")[0]["signature"]


CHOSEN = dict(
    word="strawberry jam",
    encoding="cl100k_base",
    front="true",
    merge="4",
    rare="6",
    words="The cat sat.",
    ways="gpt2,bytes",
    speed="200",
    learn="the cat the hat the bat the rat",
    vocab="258",
    token="2",
    made="product",
    sense="bank",
    writing="true",
    written="3",
)
VIEWED = {
    "sides": {},
    "scripts": dict(way="o200k_base"),
    "round": dict(way="o200k_base", trip="yours", gone="2"),
    "special": dict(way="cl100k_base", chat_system="Rhyme.", chat_user="Hi", chat_assistant="Sam."),
    "find": dict(way="cl100k_base", find="threw"),
}


@pytest.mark.parametrize("look", VIEWED)
def test_every_choice_survives_leaving_and_coming_back(look):
    chosen = CHOSEN | ({} if look == "sides" else {"look": look}) | VIEWED[look]
    if look != "sides":
        del chosen["ways"], chosen["speed"]
    app = open_page(PAGE, **chosen, pieces="letters")
    for again in (app, come_back(app, PAGE), open_page(PAGE, **address(app))):
        assert address(again) == chosen
        at = {key: picture(again, key)[0]["slider"] for key in ("merges", "rare", "grown", "curve", "story")}
        stand = {key: slider["stops"][slider["at"]] for key, slider in at.items()}
        assert stand == {"merges": 4, "rare": 6, "grown": 258, "curve": 258, "story": 3}
        assert picture(again, "tokens")[0]["state"] == {"piece": 2}
        assert picture(again, "rows")[0]["quantity"] == "embed_product"
        assert again.text_area(key="learn").value == chosen["learn"]
        assert "Dad put the money in the bank" in words(again)
        if look == "special":
            assert b"assistant\nSam." in b"".join(bytes.fromhex(piece[2]) for piece in strips(again, "chat")[0])
        if look == "round":
            assert picture(again, "back")[0]["slider"]["at"] == 2
    assert "**Not quite.**" in words(app), "the guess stays with the session"


def test_a_lesson_of_any_length_is_learned_from_or_left():
    app = open_page(PAGE)
    app.text_area(key="learn").set_value("a rat " * 700).run()
    assert not app.exception


@pytest.mark.parametrize("view", parts.VIEWS)
def test_every_view_in_chinese(view):
    app = open_page(PAGE, look=view, lang="zh", words="Zoë 🙂")
    assert not app.exception
    assert "合并" in words(app)
