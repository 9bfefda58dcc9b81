"""The line with blanks: every way to fill it against an attention written apart, cell by cell and through the whole model."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import subject, text
from core.topics.exam import blanks as bl

KEEP = {"le": lambda i, j: j <= i, "lt": lambda i, j: j < i, "ge": lambda i, j: j >= i}
PIECES = {bl.NEVER: -math.inf, -1e9: -1e9, 0.0: 0.0}
EVERY = list(itertools.product(bl.LINES, PIECES))


def test_the_pieces_make_108_lines():
    assert len(EVERY) == len(set(EVERY)) == 108
    assert bl.LINES[0] == bl.RIGHT == bl.Line("le", "before", "root", "key")


def by_hand(line, fill, scores, d_k):
    """One head, cell by cell, in Python's own floats."""
    n = len(scores)
    divisor = {"root": d_k**0.5, "width": d_k, "one": 1}[line.scale]
    table = [[scores[i][j] / divisor for j in range(n)] for i in range(n)]

    def fill_in(rows):
        return [[rows[i][j] if KEEP[line.keep](i, j) else fill for j in range(n)] for i in range(n)]

    def share(row):
        top = max(row)
        if top == -math.inf:
            return [math.nan] * len(row)
        powers = [math.exp(x - top) for x in row]
        return [power / math.fsum(powers) for power in powers]

    def soft(rows):
        if line.axis == "key":
            return [share(row) for row in rows]
        return [list(row) for row in zip(*[share(column) for column in zip(*rows, strict=True)], strict=True)]

    return soft(fill_in(table)) if line.when == "before" else fill_in(soft(table))


def test_every_line_is_what_it_says_cell_by_cell():
    scores = torch.randn(1, 5, 5, generator=torch.Generator().manual_seed(3)) * 6
    for line, fill in EVERY:
        found = bl.weights(line, scores, 16, torch.tensor(PIECES[fill]))[0].numpy()
        np.testing.assert_allclose(found, by_hand(line, PIECES[fill], scores[0].tolist(), 16), rtol=2e-5, atol=1e-7)


def passed(line, fill, ids):
    """The stream after the last block and the smallest and largest sum of a row: the model written out again."""
    model = subject.model()
    n, heads = len(ids), model.config.n_heads
    i, j = torch.arange(n)[:, None], torch.arange(n)
    width = model.config.head_dim
    keep, axis = KEEP[line.keep](i, j), {"key": 2, "query": 1}[line.axis]
    divisor = {"root": width**0.5, "width": width, "one": 1}[line.scale]
    turn, _mask = model.surroundings(n)
    cos, sin = turn.cos(), turn.sin()

    def turned(y):
        a, b = y.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    x, sums = model.embed.weight[ids], []
    for block in model.blocks:
        h = block.norm1(x)
        q, k, v = (m(h).view(n, heads, -1).transpose(0, 1) for m in (block.attn.q, block.attn.k, block.attn.v))
        w = torch.einsum("hid,hjd->hij", turned(q), turned(k)) / divisor
        if line.when == "after":
            w = w.softmax(axis)
        w = w.masked_fill(~keep, PIECES.get(fill, fill))
        if line.when == "before":
            w = w.softmax(axis)
        sums.append(w.sum(-1))
        x = x + block.attn.o(torch.einsum("hij,hjd->hid", w, v).transpose(0, 1).reshape(n, -1))
        x = x + block.ffn(block.norm2(x))
    every = torch.stack(sums)
    return x, float(every.min()), float(every.max())


def lamps(line, fill, ids):
    """Four lamps, looked at apart: answer, sums, leak, NaN. Amy is the untouched model's answer."""
    model = subject.model()
    here, low, high = passed(line, fill, ids)
    there, _low, _high = passed(line, fill, torch.cat([ids[:-1], torch.tensor([text.id_of("dog")])]))
    said = model.read_out(here)[-1]
    if said.isnan().any():
        return (True, True, False, True)
    moved = ((here - there).norm(dim=-1) / here.norm(dim=-1))[:-1].max()
    return (int(said.argmax()) != text.id_of("Amy"), max(high - 1, 1 - low) > 1e-4, bool(moved > 1e-4), False)


@pytest.mark.long
@torch.no_grad()
def test_all_108_outcomes_are_those_of_a_model_written_apart():
    ids, lit = torch.tensor(text.read(text.SENTENCE).ids), bl.outcomes()
    for line, fill in EVERY:
        recorded = dict(zip(bl.LAMPS, lit[bl.LINES.index(line), list(PIECES).index(fill)], strict=True))
        assert tuple(recorded[name] for name in ("answer", "sums", "leak", "nan")) == lamps(line, fill, ids), (
            line,
            fill,
        )


@torch.no_grad()
@pytest.mark.parametrize(
    ("line", "fill"),
    [
        (bl.RIGHT, 0.0),
        (bl.RIGHT, bl.FILLS[10]),
        (bl.Line(scale="width"), bl.NEVER),
        (bl.Line(axis="query"), bl.NEVER),
        (bl.Line("lt"), -1e9),
        (bl.Line("ge", "after"), 0.0),
    ],
)
def test_losses_are_those_of_a_model_written_apart(line, fill):
    losses = []
    for ids in subject.stories():
        logits = subject.model().read_out(passed(line, fill, ids)[0])[:-1]
        losses += F.cross_entropy(logits, ids[1:], reduction="none").tolist()
    assert bl.costs(line).nats[bl.FILLS.index(fill)] == pytest.approx(np.mean(losses), abs=2e-3)


def test_what_is_recorded_is_what_comes_out():
    line = bl.Line("lt", "before", "one", "key")
    some = (0.0, bl.FILLS[20], -1e9)
    at = [bl.FILLS.index(fill) for fill in some]
    np.testing.assert_allclose(bl.costs(line).nats[at], bl.story_losses(line, some), atol=1e-3)
    again = bl.first_sentence(line, bl.costs(line))
    np.testing.assert_array_equal(bl.outcomes()[bl.LINES.index(line)], again)
    assert bl.TABLE.stat().st_size < 10_000


def test_the_facts_that_the_page_tells():
    zero, never = bl.FILLS.index(0.0), bl.FILLS.index(bl.NEVER)
    assert bl.costs(bl.RIGHT).right == pytest.approx(subject.story_loss(), abs=1e-4)
    assert bl.costs(bl.RIGHT).nats[zero] == pytest.approx(1.696, abs=2e-3)
    assert bl.costs(bl.RIGHT).nats[zero] < bl.costs(bl.RIGHT).right - 0.05, "the wrong line lowers the loss"
    assert (bl.silent(), bl.alone("leak"), bl.caught("nan")) == (2, 1, 24)
    lit = bl.outcomes()[0]
    assert [list(np.flatnonzero(row)) for row in lit] == [[], [], [bl.LAMPS.index("leak")]]
    one = bl.Line("lt")
    assert np.isnan(bl.costs(one).nats[never])
    assert bl.costs(one).nats[bl.FILLS.index(-1e9)] == pytest.approx(2.19, abs=5e-3)


def test_the_sentence_under_every_fill_value():
    demo = bl.Demo(text.of(text.read(text.SENTENCE)))
    found = bl.run(demo)
    assert len(bl.FILLS) == len(found.p) >= 43
    assert found.answer == "Amy"
    assert found.p[-1] == pytest.approx(found.before, abs=1e-5)
    assert found.p[0] == pytest.approx(0.981, abs=2e-3)
    assert (np.diff(found.leak[:20]) < 1e-6).all(), "the more negative, the less leaks"
    assert found.leak[48] < 1e-5
    assert found.other == "dog"
    maps = found.maps[-1]
    np.testing.assert_allclose(maps, subject.untouched(demo.text)["block5.weights"].value[1][:14, :14], atol=1e-5)


@pytest.mark.parametrize("words", ["Hi", "dog", "The dog saw a dog", "Tom ran. " * 90])
def test_any_text_is_measured(words):
    found = bl.run(bl.Demo(text.of(text.read(words)), bl.Line("lt")))
    assert len(found.said) == len(bl.FILLS)
    assert found.nan[-1]
    assert not found.nan[-2]
    assert found.said[-1] == ""
    assert found.other == ("cat" if words.endswith("dog") else "dog")


@pytest.mark.parametrize("n", [14, 40, 41, 100, 256])
def test_of_a_long_text_fewer_fill_values_and_their_ends(n):
    found = bl.computed(n)
    most = max(6, 2048 // n)
    assert len(bl.FILLS) == 51
    assert found == bl.FILLS if most >= 51 else len(found) <= most
    assert found[0] == 0.0
    assert found[-3:] == (-50.0, -1e9, bl.NEVER)
    steps = np.diff([bl.FILLS.index(one) for one in found[:-2]])
    assert steps.max() - steps.min() <= 1


def test_the_slider_s_stops_grow_from_zero_to_fifty_below():
    np.testing.assert_allclose(bl.FILLS[:49], [-50 * (i / 48) ** 2 for i in range(49)], atol=5.1e-3)
    assert all(round(one, 2) == one for one in bl.FILLS[:49])
    assert any(round(one, 1) != one for one in bl.FILLS[:49])
    assert bl.FILLS[49:] == (-1e9, -1e10)
    assert bl.values((0.0, bl.NEVER)).flatten().tolist() == [0.0, -math.inf]
    assert bl.values((0.0, bl.NEVER)).shape == (2, 1, 1, 1)


def test_lamps_by_hand():
    """A line that loses 0.05 more is not worse; a sum off by 1e-4 is rounding; where nothing is a number no leak shows."""
    costs = bl.Costs(np.array([1.0, 1.05, 1.06, np.nan, 1.0, 1.0, 1.0]), 1.0)
    sums = np.ones((7, 2))
    sums[4], sums[5] = (0.99995, 1.00005), (0.9, 1.0)
    found = bl.Found("Amy", 0.9, np.zeros(7), ("Amy", "Sam", "Amy", "Amy", "Amy", "Amy", ""), sums,
                     np.array([0, 0, 2e-4, 0, 5e-5, 0, 1.0]), np.array([False] * 6 + [True]), costs,
                     np.zeros((7, 1, 1)), "dog")  # fmt: skip
    lit = [{name for name, on in found.lit(i).items() if on} for i in range(7)]
    assert lit == [set(), {"answer"}, {"loss", "leak"}, {"loss"}, set(), {"sums"}, {"answer", "loss", "sums", "nan"}]


def test_what_is_told_of_all_lines_is_counted():
    lit = bl.outcomes()
    assert lit.shape == (36, 3, 5)
    for at, lamp in enumerate(bl.LAMPS):
        assert bl.caught(lamp) == sum(row[at] for line in lit for row in line)
        assert bl.alone(lamp) == sum(row[at] and sum(row) == 1 for line in lit for row in line)
    assert bl.silent() == sum(not any(row) for line in lit for row in line)


def test_another_word_is_put_in_the_last_place():
    plain = bl.another(text.exactly("The cat saw a bird"))
    assert (plain.tokens[-1], plain.ids[-1], len(plain)) == ("dog", text.id_of("dog"), 6)
    assert bl.another(text.exactly("The cat saw a dog")).tokens[-1] == "cat"
    alone = bl.run(bl.Demo(text.Text(text.FIRST, (1,), ("<s>",))))
    assert not alone.leak.any()
    with pytest.raises(text.Cannot):
        bl.run(bl.Demo(text.Text("other", (1,), ("a",))))


def test_two_words_are_enough_for_a_leak():
    """The first of them reads the second."""
    assert bl.run(bl.Demo(text.exactly("Hi"), bl.Line("ge"))).leak.max() > 1e-3
    assert not bl.run(bl.Demo(text.exactly("Hi"))).leak[-1]
