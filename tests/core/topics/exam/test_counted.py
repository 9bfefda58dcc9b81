"""What is counted, on texts of any length: whom a question may name, from how many tokens on it is asked, its sum."""

from types import SimpleNamespace

import pytest

from core.lab.text import FIRST, SENTENCE, Text, of, read
from core.topics.exam.question import Sheet
from core.topics.exam.questions import KINDS

WHOLE = of(read(SENTENCE + ". " + SENTENCE + ". " + SENTENCE + "."))
MANY = range(120)  # seeds: enough to see every place of a short text


def sheet(n):
    return Sheet(Text(FIRST, WHOLE.ids[:n], WHOLE.tokens[:n]))


def asked(kind, n, seeds=MANY):
    found = [KINDS[kind].ask(sheet(n), seed) for seed in seeds]
    return [one for one in found if one is not None]


# A step that skips one word and does not begin at <s> takes four tokens; a window of three hides something from the
# fourth on; a second tile of four begins with the fifth.
@pytest.mark.parametrize(
    ("kind", "least"), [("hops", 4), ("sees", 4), ("alibi", 4), ("rope", 4), ("window", 4), ("valid", 5), ("tiles", 5)]
)
def test_the_shortest_text_that_has_a_catch(kind, least):
    assert not asked(kind, least - 1, range(3))
    assert asked(kind, least, range(3))


def test_rows_are_asked_where_a_token_comes_twice():
    n = next(n for n in range(2, len(WHOLE)) if len(set(WHOLE.ids[:n])) < n)
    assert not asked("rows", n - 1, [0])
    assert asked("rows", n, [0])[0].answer == (n - 1) * 288


@pytest.mark.parametrize(
    ("kind", "places"), [("hops", {1, 2, 3, 4}), ("sees", {1, 2, 3, 4, 5}), ("valid", {1, 2, 3, 4, 5})]
)
def test_neither_the_first_token_nor_the_last_is_named_and_every_other_one_is(kind, places):
    """Of seven. A hop goes to the last one, and one of a single step is no question."""
    found = asked(kind, 7)
    assert {int(one.told["at" if kind == "hops" else "place"]) for one in found} == places
    names = sheet(7).names
    for one in found:
        told = one.told
        if kind == "hops":
            assert (names[int(told["at"])], names[6], told["to"]) == (told["first"], told["last"], "6")
        else:
            assert names[int(told["place"])] == told["word"]


@pytest.mark.parametrize("kind", ["alibi", "rope"])
def test_a_pair_is_any_two_tokens_the_key_first(kind):
    found, names = asked(kind, 5, range(300)), sheet(5).names
    pairs = {(int(one.told["to"]), int(one.told["at"])) for one in found}
    assert pairs == {(i, j) for j in range(5) for i in range(j)}
    for one in found:
        assert one.told["query"] == names[int(one.told["at"])]
        assert one.told["key"] == names[int(one.told["to"])]
        assert int(one.told["far"]) == int(one.told["at"]) - int(one.told["to"])


def test_slopes_are_the_first_four_powers_of_a_half():
    found = asked("alibi", 5)
    assert {one.told["m"] for one in found} == {"1/2", "1/4", "1/8", "1/16"}
    for one in found:
        slope = 1 / int(one.told["m"].removeprefix("1/"))
        assert float(dict(one.state)["slope_m"]) == slope
        assert one.answer == -int(one.told["far"]) * slope


def test_every_pair_of_a_head_turns_and_is_shown_where_it_is_asked():
    found = asked("rope", 6, range(400))
    assert {int(one.told["pair"]) for one in found} == set(range(24))
    for one in found:
        assert float(one.told["theta"]) == pytest.approx(10_000 ** (-int(one.told["pair"]) / 24), rel=5e-4)
        assert one.answer == pytest.approx(int(one.told["far"]) * 10_000 ** (-int(one.told["pair"]) / 24))
        assert float(one.told["answer"]) == pytest.approx(one.answer, rel=1e-3)
        shown = dict(rope_q=one.told["at"], rope_k=one.told["to"], rope_pair=one.told["pair"])
        assert dict(one.state) == shown


def test_a_list_is_cut_after_forty_tokens_and_says_so():
    short, long = (asked("pieces", n, [0])[0] for n in (40, 41))
    assert short.told["listed"] == " · ".join(WHOLE.tokens[:40])
    assert long.told["listed"] == " · ".join(WHOLE.tokens[:40]) + " …"
    assert (short.answer, long.answer) == (40, 41)


SUMS = {
    "rows": lambda q: q.distinct * q.d,
    "hops": lambda q: q.to - q.at,
    "qkv": lambda q: 3 * q.n * q.d,
    "products": lambda q: q.n * q.n * q.d,
    "sees": lambda q: q.n - q.place,
    "cells": lambda q: sum(range(q.n + 1)),
    "window": lambda q: q.short + q.full * q.w,
    "cache": lambda q: 2 * q.layers * q.heads * q.d * q.bytes * q.n,
    "shared": lambda q: 2 * q.layers * q.d * q.bytes * q.n,
    "valid": lambda q: q.first + q.later * q.place,
    "tiles": lambda q: sum(range(q.side + 1)),
}


@pytest.mark.parametrize("n", [12, 13, 14])
@pytest.mark.parametrize("kind", SUMS)
def test_the_sum_that_is_shown_comes_to_the_answer(kind, n):
    found = asked(kind, n, range(8))
    assert found
    for one in found:
        told = SimpleNamespace(**{name: int(said) for name, said in one.told.items() if said.isdigit()})
        assert SUMS[kind](told) == one.answer
        assert getattr(told, "n", n) == n


def test_what_is_shown_beside_a_count():
    window, valid, tiles, rereads = (asked(kind, 9, [0])[0].told for kind in ("window", "valid", "tiles", "rereads"))
    assert (window["w"], window["short"], window["full"]) == ("3", "3", "7"), "1 + 2, then 3 for each of seven"
    assert (valid["layers"], valid["later"], valid["first"]) == ("6", "5", "8")
    assert (tiles["tile"], tiles["side"]) == ("4", "3"), "nine tokens in fours"
    assert (rereads["new"], rereads["listed"]) == ("4", "9 + 10 + 11 + 12")
    assert asked("rereads", 9, [0])[0].answer == 42
    assert asked("sees", 9, [0])[0].told["last"] == "8"


def test_a_head_is_any_of_the_model_and_the_link_shows_that_one():
    found = asked("qkv", 5, range(400))
    heads = {(int(one.told["layer"]), int(one.told["head"])) for one in found}
    assert heads == {(layer, head) for layer in range(6) for head in range(6)}
    for one in found:
        shown = dict(one.state)
        assert (shown["proj_layer"], shown["proj_head"]) == (one.told["layer"], one.told["head"])
    for one in asked("hops", 7):
        assert dict(one.state)["hop"] == str(one.answer)


def test_sharing_is_not_asked_where_there_is_nothing_to_share(monkeypatch):
    assert asked("shared", 5, [0])
    config = sheet(5).config
    monkeypatch.setattr(Sheet, "config", SimpleNamespace(**vars(config) | dict(n_kv_heads=1)))
    assert not asked("shared", 5, [0])


def test_a_single_block_leaves_nothing_to_spoil_and_two_do(monkeypatch):
    config = sheet(5).config
    for layers, there in ((1, False), (2, True)):
        monkeypatch.setattr(Sheet, "config", SimpleNamespace(**vars(config) | dict(n_layers=layers)))
        assert bool(asked("valid", 6, [0])) is there


def test_a_model_without_rotation_is_not_asked_for_its_angles(monkeypatch):
    config = sheet(5).config
    monkeypatch.setattr(Sheet, "config", SimpleNamespace(**vars(config) | dict(position="learned")))
    assert not asked("rope", 6, range(3))
