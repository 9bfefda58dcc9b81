"""Questions that name one of four, on numbers written here: who is among the four, where there is a margin, which wins."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab.text import SENTENCE, Word, of, read
from core.topics.exam import named
from core.topics.exam.question import Sheet
from core.topics.exam.questions import KINDS
from core.whatif import Change
from tests.core.topics.exam.given import Given


def seen(kind, many=60, **given):
    found = (KINDS[kind].make(Given(**given), random.Random(seed)) for seed in range(many))
    return [one for one in found if one is not None]


# ---- the largest score lies ahead ----


def row_of(scores, weights, n=6, row=3):
    """One row of a head as it is asked; all others have nothing ahead that is larger."""
    tables = np.tile(np.linspace(1, 0, n), (n, 1)), np.tile(np.eye(n)[0], (n, 1))
    tables[0][row], tables[1][row] = scores, weights
    return dict(n=n, scaled=[tables[0]], weights=[tables[1]])


SCORES = (0.5, 2.0, -1.0, 0.25, 3.0, 1.0)
WEIGHTS = (0.1, 0.7, 0.05, 0.15, 0.0, 0.0)


def test_the_mask_takes_the_largest_out_and_the_largest_before_it_wins():
    found = seen("strongest", **row_of(SCORES, WEIGHTS))
    assert len(found) == 60, "every row is tried until one will do"
    others = set()
    for one in found:
        told = one.values
        assert (one.answer, told["query"], told["ahead"]) == ("w1", "w3", "w4")
        assert len(one.options) == len(set(one.options)) == 4
        assert {"w1", "w4"} <= set(one.options)
        assert list(one.options) == sorted(one.options), "in the order of the text"
        others |= set(one.options) - {"w1", "w4"}
        shown = told["listed"].split(" · ")
        assert shown == [f"“{name}” {SCORES[int(name[1:])]:.2f}".replace("-", "−") for name in one.options]
        assert dict(one.state) == dict(layer="0", head="0"), "the cell would tell the answer"
    assert others == {"w0", "w2", "w3"}, "any other that the row may read"


@pytest.mark.parametrize(
    ("second", "ahead", "there"),
    [(0.49, 2.25, True), (0.51, 2.25, False), (0.15, 2.15, False), (0.15, 2.21, True), (0.15, 1.0, False)],
)
def test_the_winner_and_the_one_ahead_are_clear(second, ahead, there):
    """A fifth of the weight to the second, and a fifth of a score from the winner to the one ahead."""
    scores = (0.5, 2.0, -1.0, 0.25, ahead, 0.9)
    weights = (second, 0.7, 0.0, 0.0, 0.0, 0.0)
    assert bool(seen("strongest", 4, **row_of(scores, weights))) is there


def test_the_row_may_be_any_that_has_three_to_read_and_one_ahead():
    """The third at the earliest, for three names besides the one ahead; the last but one at the latest."""
    scores, weights = np.zeros((6, 6)), np.zeros((6, 6))
    scores[:, 1], weights[:, 1] = 1.0, 1.0
    scores[:, 5] = 2.0  # the last one is larger in every row
    found = seen("strongest", 200, n=6, scaled=[scores], weights=[weights])
    assert {one.values["query"] for one in found} == {"w2", "w3", "w4"}
    assert {one.values["ahead"] for one in found} == {"w5"}
    for n in (2, 3):
        assert not seen("strongest", 3, n=n, scaled=[scores], weights=[weights])


# ---- surprise ----


def test_the_least_expected_stands_among_three_that_were_easy():
    logs = [-0.1, -5.0, -0.2, -4.0, -0.3, -0.4, -3.0, -2.0]
    found = seen("surprising", n=9, logs=logs)
    named_ = set()
    for one in found:
        assert one.answer == "w2", "the second token that came has place 2"
        assert len(set(one.options)) == 4
        assert list(one.options) == sorted(one.options)
        named_ |= set(one.options)
        costs = one.values["costs"].split(" · ")
        assert costs == [f"“{name}” {-logs[int(name[1:]) - 1]:.2f}" for name in one.options]
    assert named_ == {"w2", "w1", "w3", "w5", "w6"}, "the easier half"


@pytest.mark.parametrize(("second", "there"), [(-4.4, True), (-4.5, True), (-4.6, False)])
def test_half_a_nat_lies_between_the_first_and_the_second(second, there):
    assert bool(seen("surprising", 3, n=6, logs=[-0.1, -5.0, second, -0.2, -0.3])) is there


def test_six_tokens_have_a_choice_of_easy_ones():
    assert not seen("surprising", 3, n=5, logs=[-5.0, -0.1, -0.2, -0.3])
    six = seen("surprising", 3, n=6, logs=[-5.0, -0.1, -0.2, -0.3, -0.4])
    assert {len(one.options) for one in six} == {4}


# ---- heads that are muted ----


@pytest.fixture
def deciders(monkeypatch):
    """lost: (layer, head) of what each muted head takes from a word of probability 0.6; -> every question asked."""

    def asked(lost, n=8, seeds=60):
        lost = np.array(lost)
        word = Word(7, "Amy", 0.6)
        monkeypatch.setattr(named.subject, "outlook", lambda _text: SimpleNamespace(words=(word,)))
        monkeypatch.setattr(named, "_muted", lambda _sheet, layer, token: list(0.6 - lost[layer]) if token == 7 else [])
        sheet = Given(n=n, layers=len(lost))
        sheet.text = None
        found = (KINDS["decider"].make(sheet, random.Random(seed)) for seed in range(seeds))
        return [one for one in found if one is not None]

    return asked


def test_one_head_takes_the_word_along_and_three_do_not(deciders):
    found = deciders([[0.0, 0.3, 0.1, 0.01], [0.005, -0.01, 0.0, 0.05]])
    options = set()
    for one in found:
        assert one.answer == "0.1"
        assert len(set(one.options)) == 4
        assert list(one.options) == sorted(one.options)
        assert (one.values["word"], one.values["p"], one.values["by"]) == ("Amy", "0.600", "0.15")
        left = dict(part.split(" ") for part in one.values["left"].split(" · "))
        assert set(left) == set(one.options)
        assert left["0.1"] == "0.300"
        assert dict(one.state) | dict(at="") == dict(loud="0,1", volume="0", at="")
        options |= set(one.options)
    assert options == {"0.1", "0.0", "0.3", "1.0", "1.1", "1.2"}, "who takes 0.05 or 0.1 is neither"


@pytest.mark.parametrize(
    ("lost", "there"),
    [
        ([[0.16, 0.0, 0.0, 0.0]], True),
        ([[0.14, 0.0, 0.0, 0.0]], False),
        ([[0.3, 0.019, -0.019, 0.0]], True),
        ([[0.3, 0.021, 0.0, 0.0]], False),  # two idle ones are too few
        ([[0.3, -0.021, 0.0, 0.0]], False),
        ([[-0.3, 0.0, 0.0, 0.0]], False),  # who helps by falling silent decides nothing
    ],
)
def test_who_decides_and_who_is_idle(deciders, lost, there):
    assert bool(deciders(lost, seeds=3)) is there


@pytest.mark.parametrize(("n", "there"), [(3, False), (4, True), (40, True), (41, False)])
def test_heads_are_muted_in_texts_that_one_can_wait_for(deciders, n, there):
    assert bool(deciders([[0.3, 0.0, 0.0, 0.0]], n=n, seeds=2)) is there


def test_a_head_that_is_muted_here_is_muted_in_the_whole_model():
    text = of(read(SENTENCE))
    for layer in (0, 4, 5):
        found = named._muted(Sheet(text), layer, 3)
        whole = [subject.chances(text, Change(muted=((layer, head),)), (3,))[0] for head in range(6)]
        assert found == pytest.approx(whole, rel=1e-4)


# ---- the logit lens ----


def lens(monkeypatch, rows):
    """rows: the two likeliest words after each block, (word, its lead over the other)."""
    logits = torch.zeros(len(rows), 10)
    for i, (word, lead) in enumerate(rows):
        logits[i, word], logits[i, 9] = 5.0 + lead, 5.0

    def read_out(x):
        assert (x == 2).all(), "what the last word's stream says, of three"
        return logits

    monkeypatch.setattr(named.subject, "model", lambda _subject: SimpleNamespace(read_out=read_out))
    monkeypatch.setattr(named, "called", lambda id, _subject: f"t{id}")
    sheet = Given(layers=len(rows))
    sheet.text = SimpleNamespace(subject="any")
    streams = torch.arange(3.0)[:, None].expand(-1, 4)
    sheet.trace = {f"block{i}.resid_post": SimpleNamespace(tensor=streams) for i in range(len(rows))}
    return KINDS["lens"].make(sheet, random.Random(0))


@pytest.mark.parametrize(
    ("words", "first"), [((1, 2, 3), 3), ((1, 3, 3), 2), ((3, 3, 3), 1), ((3, 1, 3, 3), 3), ((3, 3, 3, 1), 4)]
)
def test_a_word_stands_first_for_good_after_the_last_block_that_said_another(monkeypatch, words, first):
    found = lens(monkeypatch, [(word, 1.0) for word in words])
    assert found.answer == first
    assert (found.values["word"], found.values["layers"]) == (f"t{words[-1]}", len(words))
    assert found.values["listed"] == " · ".join(f"{i}: “t{word}”" for i, word in enumerate(words, 1))
    assert found.state == (("station", str(len(words))),)


@pytest.mark.parametrize(("lead", "there"), [(0.09, False), (0.11, True)])
def test_no_block_hesitates_between_two_words(monkeypatch, lead, there):
    assert (lens(monkeypatch, [(1, 1.0), (2, lead), (3, 1.0)]) is not None) is there


def test_two_blocks_are_no_way_to_look_back_on(monkeypatch):
    assert lens(monkeypatch, [(1, 1.0), (3, 1.0)]) is None
