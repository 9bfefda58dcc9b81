"""Every kind of question on 100 sentences: the answer computed once more elsewhere, right answers and near misses told apart."""

import math
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.lab import text as words_of
from core.topics.exam import questions as qs
from core.topics.exam import typed
from core.topics.exam.question import KINDS, Made
from tests.core.topics.exam import reference

SEED, MANY = 20_260, 100
LEAST = 50  # of 100 sentences allow a kind; `rows` needs a word that comes twice
pytestmark = pytest.mark.long  # what all of them look at takes a quarter of a minute


@pytest.fixture(scope="module")
def asked(theirs):
    """(what transformers computed, every question) of each sentence."""
    print(f"grammar seed {SEED}")
    texts = [words_of.of(words_of.read(sentence)) for sentence in reference.sentences(MANY, SEED)]
    found = reference.passes(theirs, [(text.tokens, text.ids) for text in texts])
    return [(one, qs.every(text, at)) for at, (one, text) in enumerate(zip(found, texts, strict=True))]


def triangle(n):
    return [(i, j) for i in range(n) for j in range(n) if j <= i]


def at(p, q, *holes):
    """The places that a question names."""
    return [p.names.index(q[hole]) for hole in holes]


def scaled(p, q, row):
    return p.scores(int(q["layer"]), int(q["head"]))[row] / math.sqrt(p.d)


def _ratio(p, q):
    row, more, less = at(p, q, "query", "more", "less")
    weights = p.weights[int(q["layer"])][int(q["head"]), row]
    return weights[more] / weights[less]


def _weight(p, q, row=None):
    (key,) = at(p, q, "key")
    row = at(p, q, "query")[0] if row is None else row
    return p.weights[int(q["layer"])][int(q["head"]), row, key]


def _mixture(p, q):
    head = int(q["head"])
    return p.weights[int(q["layer"])][head, 2, :3] @ p.part(int(q["layer"]), "v", head)[:3, int(q["number"])]


def _gate(p, q):
    gate, up = (p.heard[int(q["block"]), name][p.n - 1, int(q["neuron"])] for name in ("gate", "up"))
    return gate / (1 + np.exp(-gate)) * up


def _nucleus(p, q):
    ranked, total = sorted(p.probs[at(p, q, "word")[0]], reverse=True), 0.0
    for count, share in enumerate(ranked, 1):
        total += share
        if total >= float(q["cut"]):
            return count
    raise AssertionError


def _strongest(p, q):
    """Of all words that the row may see, not of the four alone."""
    (row,) = at(p, q, "query")
    return p.names[int(scaled(p, q, row)[: row + 1].argmax())]


def _lens(p, q):
    leads = [token == p.lens[-1] for token in p.lens]
    return min(b for b in range(1, len(leads) + 1) if all(leads[b - 1 :]))


def _rereads(p, q):
    """One text after another, each read from its start."""
    length, read = p.n, 0
    for _new in range(4):
        read += length
        length += 1
    return read


def _cached(p, kv_heads):
    """Every number laid down: layers, keys and values, heads, width, tokens."""
    return np.zeros((p.c.num_hidden_layers, 2, kv_heads, p.d, p.n), np.float32).nbytes


def _valid(p, q):
    """Cell by cell: behind the swap everything that has read it is another."""
    place = int(q["place"])
    cells = [(layer, token) for layer in range(p.c.num_hidden_layers) for token in range(p.n)]
    return sum(token != place if layer == 0 else token < place for layer, token in cells)


EXPECTED = {
    "pieces": lambda p, q: len(p.ids),
    "rows": lambda p, q: np.unique(p.ids).size * p.c.hidden_size,
    "hops": lambda p, q: abs(np.subtract(*at(p, q, "first", "last"))),
    "qkv": lambda p, q: sum(p.part(0, name, 0).size for name in "qkv"),
    "products": lambda p, q: p.scores(0, 0).size * p.d,
    "sees": lambda p, q: sum(j == at(p, q, "word")[0] for _i, j in triangle(p.n)),
    "cells": lambda p, q: len(triangle(p.n)),
    "window": lambda p, q: sum(i - j < 3 for i, j in triangle(p.n)),
    "cache": lambda p, q: _cached(p, p.c.num_key_value_heads),
    "shared": lambda p, q: _cached(p, 1),
    "rereads": _rereads,
    "valid": _valid,
    "tiles": lambda p, q: len({(i // 4, j // 4) for i, j in triangle(p.n)}),
    "alibi": lambda p, q: (
        np.subtract(*at(p, q, "key", "query")) * 2.0 ** -["1/2", "1/4", "1/8", "1/16"].index(q["m"]) / 2
    ),
    "rope": lambda p, q: np.subtract(*at(p, q, "query", "key")) * 10_000.0 ** (-2 * int(q["pair"]) / p.d),
    "scale": lambda p, q: scaled(p, q, at(p, q, "query")[0])[at(p, q, "key")[0]],
    "rest": _weight,
    "ratio": _ratio,
    "share": lambda p, q: _weight(p, q, 2),
    "mixture": _mixture,
    "rms": lambda p, q: math.sqrt((p.hidden[int(q["block"])][p.n - 1].astype(np.float64) ** 2).mean()),
    "gate": _gate,
    "nats": lambda p, q: p.losses[at(p, q, "word")[0] - 1],
    "perplexity": lambda p, q: math.exp(p.losses.mean()),
    "heat": lambda p, q: np.divide(*np.sort(np.sqrt(p.probs[-1]))[[-1, -2]]),
    "nucleus": _nucleus,
    "strongest": _strongest,
    "surprising": lambda p, q: p.names[int(p.losses.argmax()) + 1],
    "lens": _lens,
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_the_answer_is_what_is_computed_elsewhere(asked, kind):
    found = [(p, questions[kind]) for p, questions in asked if kind in questions]
    assert len(found) >= LEAST, f"asked of {len(found)} sentences"
    for p, question in found:
        expected = EXPECTED[kind](p, question.told)
        if isinstance(question.answer, str) or question.tolerance == 0:
            assert question.answer == expected, question
        else:
            assert question.answer == pytest.approx(expected, rel=2e-4, abs=2e-5), question
        assert question.right(question.answer)


def test_the_deciding_head_decides_and_the_others_do_not(asked, theirs):
    found = [(p, questions["decider"]) for p, questions in asked if "decider" in questions]
    assert len(found) >= LEAST
    tops = [int(p.probs[-1].argmax()) for p, _question in found]
    rows = [
        (p.ids, *map(int, option.split(".")), top)
        for (p, question), top in zip(found, tops, strict=True)
        for option in question.options
    ]
    left = iter(reference.muted(theirs, rows))
    for (p, question), top in zip(found, tops, strict=True):
        gone = {option: p.probs[-1, top] - next(left) for option in question.options}
        assert gone.pop(question.answer) > 0.149
        assert max(abs(one) for one in gone.values()) < 0.021


def test_every_kind_is_held_and_nearly_every_sentence_has_most_of_them(asked):
    assert set(KINDS) == {*EXPECTED, "decider"}
    assert len(KINDS) >= 18
    assert min(len(questions) for _p, questions in asked) >= 20
    print(Counter(kind for _p, questions in asked for kind in questions))


# ---- the answer follows from what is printed, and from nothing else ----


def number(said):
    return float(said.replace("−", "-"))


def _sigmoid(x):
    return 1 / (1 + math.exp(-x))


BY_HAND = {
    "scale": lambda q: q.score / math.sqrt(48),
    "rest": lambda q: 1 - q.others,
    "ratio": lambda q: math.exp(q.a - q.b),
    "share": lambda q: q.part / q.total,
    "mixture": lambda q: q.a * q.u + q.b * q.v + q.c * q.w,
    "rms": lambda q: math.sqrt(q.total / 288),
    "gate": lambda q: q.g * _sigmoid(q.g) * q.u,
    "nats": lambda q: -math.log(q.p),
    "perplexity": lambda q: math.exp(q.loss),
    "heat": lambda q: math.sqrt(q.ratio),
    "rope": lambda q: (q.at - q.to) * q.theta,
}


@pytest.mark.parametrize("kind", BY_HAND)
def test_whoever_reckons_with_the_printed_numbers_is_right(asked, kind):
    for _p, questions in asked:
        if kind in questions:
            holes = {}
            for name, said in questions[kind].values:
                try:
                    holes[name] = number(said)
                except ValueError:
                    continue
            reckoned = BY_HAND[kind](SimpleNamespace(**holes))
            assert questions[kind].right(reckoned), questions[kind]
            assert holes["answer"] == pytest.approx(reckoned, rel=6e-4), (
                "the sum that is shown comes out on a calculator"
            )


def test_a_near_miss_is_a_miss(asked):
    for _p, questions in asked:
        for question in questions.values():
            if isinstance(question.answer, str):
                assert question.options.count(question.answer) == 1
                assert len(set(question.options)) == len(question.options)
                assert [one for one in question.options if question.right(one)] == [question.answer]
            elif question.tolerance == 0:
                assert not question.right(question.answer + 1)
                assert not question.right(question.answer - 1)
            else:
                for factor in (1.012, 0.988, -1, 10, 0.1):
                    assert not question.right(question.answer * factor), (question, factor)


def test_what_a_hand_types_is_the_answer_in_either_way_of_writing(asked):
    for _p, questions in asked[:60]:
        for question in questions.values():
            if isinstance(question.answer, str):
                continue
            plain = f"{question.answer:.6g}" if question.tolerance else str(question.answer)
            wide = plain.translate({ord(a): chr(ord(a) + 0xFEE0) for a in "0123456789.-"})
            grouped = [f"{question.answer:,}"] if not question.tolerance else []
            share = [f"{100 * question.answer:.5g} %"] if question.tolerance else []
            near = plain.replace("-", "−") + " "
            for said in (plain, wide, plain.replace(".", ","), f"≈ {near}", *grouped, *share):
                assert any(map(question.right, typed.numbers(said))), (question, said)


# ---- papers ----


def test_one_number_is_one_paper_for_all():
    text = words_of.exactly(words_of.SENTENCE)
    one, again = (tuple(qs._paper(text, 7)) for _time in range(2))
    assert one == again
    assert {tuple(q.kind for q in qs.make(text, seed)) for seed in range(1, 9)} != {tuple(q.kind for q in one)}


@pytest.mark.parametrize("sentence", [words_of.SENTENCE, "Tom was very thirsty. He wanted to", "Hi", "Tom ran. " * 60])
def test_a_paper_has_five_questions_that_grow_harder_and_tell_nothing_of_each_other(sentence):
    text = words_of.of(words_of.read(sentence))
    for seed in range(1, 13):
        paper = qs.make(text, seed)
        assert len(paper) == 5 or len(text) == 2
        assert [q.level for q in paper] == sorted(q.level for q in paper)
        assert len({q.room for q in paper}) == len(paper)
        counted = [q for q in paper if q.kind == "pieces"]
        assert not counted or not any("n" in q.told for q in paper)


def test_papers_come_round_to_every_kind(monkeypatch):
    """Whatever the text allows; here all kinds are at hand at once."""
    text = words_of.exactly(words_of.SENTENCE)
    ready = qs.every(text, 1)
    for name, kind in KINDS.items():
        monkeypatch.setitem(KINDS, name, replace(kind, make=lambda _sheet, _rng, name=name: _made(ready.get(name))))
    seen = Counter(q.kind for seed in range(1, 200) for q in qs._paper(text, seed))
    assert set(seen) == set(ready)


def _made(question):
    return question and Made(question.answer, dict(question.values), question.options, question.state)
