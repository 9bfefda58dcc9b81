"""What norms do to a text: eps, one number, pooling, cost. The lesson's numbers, and references of their own."""

import copy

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.make import norm_losses as maker
from core.topics.norms import losses, loudness, readings

TEXT = sentence.of(sentence.read(sentence.SENTENCE))
TWIN = sentence.of(sentence.read(sentence.TWIN))


@torch.inference_mode()
def with_eps(eps):
    """The next token's probabilities of a copy whose norms have another eps."""
    model = copy.deepcopy(subject.model())
    for part in model.modules():
        if hasattr(part, "eps"):
            part.eps = eps
    return model(torch.tensor(TEXT.ids))[-1].softmax(-1).numpy()


@pytest.mark.parametrize(("eps", "p"), [(1e-5, 0.986), (1e-3, 0.047), (1e-2, 0.0)])
def test_eps_is_not_always_tiny(eps, p):
    found, probs = readings.loosened(TEXT), with_eps(eps)
    at = readings.EPSILONS.index(eps)
    np.testing.assert_allclose(found.probs[at], probs[list(found.ids)], atol=1e-4)
    assert found.probs[at, 0] == pytest.approx(p, abs=6e-4)
    assert int(found.top[at]) == int(probs.argmax())
    rows = subject.model().embed.weight.detach().numpy()[list(TEXT.ids)]
    assert found.size == pytest.approx((rows**2).mean(1).min(), rel=1e-4)


@torch.inference_mode()
def without(text, place, number):
    """The next token's probabilities with one number after block 1 at zero, by a hook."""
    model = subject.model()

    def strike(_block, given, kept):
        x = given[0].clone()
        x[place, number] = 0.0
        return (x, *given[1:]), kept

    hook = model.blocks[2].register_forward_pre_hook(strike, with_kwargs=True)
    try:
        return model(torch.tensor(text.ids))[-1].softmax(-1).numpy()
    finally:
        hook.remove()


@pytest.mark.parametrize(
    ("text", "word", "before", "after"), [(TEXT, "Amy", 0.986, 0.035), (TWIN, "Sam", 0.968, 0.005)]
)
def test_one_number_in_4032(text, word, before, after):
    found = readings.struck(text)
    assert found.of == 14 * 288 == 4032
    assert found.answer == sentence.id_of(word)
    assert (found.worst, found.number[0]) == (0, 173)
    assert found.value[0] == pytest.approx(10.6, abs=0.05)
    assert found.calm == pytest.approx(before, abs=6e-4)
    assert found.p[0] == pytest.approx(after, abs=6e-4)
    for place in (0, 3, 8):
        assert found.p[place] == pytest.approx(without(text, place, found.number[place])[found.answer], abs=1e-4)
    assert found.size[0] * np.sqrt(288) == pytest.approx(17, abs=0.2)
    assert np.median(found.size) * np.sqrt(288) == pytest.approx(2.1, abs=0.15)


def test_the_others_are_the_others():
    """Of two tokens, the size beside the giant's is that of the second, not the middle of both."""
    text = sentence.of(sentence.read("Hello"))
    found = readings.struck(text)
    stream = subject.untouched(text)["block1.resid_post"].value
    assert (len(text), found.worst) == (2, 0)
    assert found.others == pytest.approx(np.sqrt(np.mean(stream[1] ** 2)), rel=1e-4)
    assert found.others < found.size[0] / 4


def test_not_every_answer_hangs_on_it():
    left = {}
    for words in ("Tom was very thirsty. He wanted to", "Anna is a girl. Tom is a", "Tom dropped the glass and it"):
        found = readings.struck(sentence.of(sentence.read(words)))
        left[words] = float(found.p[0]) / found.calm
    assert max(left.values()) > 0.9
    assert min(left.values()) < 0.2


def test_pooling_a_tokens_own_numbers_lets_nobody_else_in():
    found = readings.pooled(TEXT)
    assert [found[axis].many for axis in readings.AXES] == [288, 13, 2]
    assert found["feature"].here == found["feature"].later == found["feature"].other
    assert found["position"].here != found["position"].later
    assert found["batch"].here != found["batch"].other
    x = subject.untouched(TEXT)["block1.resid_pre"].value.astype(np.float64)[7]
    assert found["feature"].here == pytest.approx((x[0] - x.mean()) / np.sqrt(x.var() + 1e-5), rel=1e-3)


@pytest.mark.parametrize("words", ["Tom", "a", ""])
def test_a_text_of_a_token_or_two(words):
    text = sentence.of(sentence.read(words))
    assert all(np.isfinite([one.here, one.later, one.other]).all() for one in readings.pooled(text).values())
    assert len(readings.struck(text).p) == len(text)


def test_what_norms_cost():
    found = readings.cost(TEXT)
    assert (found.parameters, found.all, found.norms) == (3744, 15_191_712, 13)
    assert found.operations == (7, 4)
    norms, matrices = 13 * 4 * 288, 2 * (15_191_712 - 3744)
    assert found.share == pytest.approx(norms / (norms + matrices), rel=1e-3)
    assert min(*found.ours, *found.torchs) > 0


@pytest.mark.parametrize(
    ("station", "factor", "loss"), [(0, 10.0, 7.17), (3, 0.1, 5.60), (5, 10.0, 2.64), (6, 10.0, 1.76)]
)
def test_what_a_louder_stream_costs_on_stories_is_recorded(station, factor, loss):
    at = loudness.COARSE.index(factor)
    assert losses.louder(TEXT)[station, at] == pytest.approx(loss, abs=0.01), "the lesson's numbers"
    assert maker.louder(station, factor) == pytest.approx(float(losses.louder(TEXT)[station, at]), abs=5e-3)


@pytest.mark.parametrize(("eps", "loss"), [(1e-5, 1.762), (1e-4, 1.771), (1e-3, 2.236), (1e-2, 7.70)])
def test_what_eps_costs_on_stories_is_recorded(eps, loss):
    at = readings.EPSILONS.index(eps)
    assert losses.loosened(TEXT)[at] == pytest.approx(loss, abs=6e-3), "the lesson's numbers"
    model = copy.deepcopy(subject.model())
    for part in model.modules():
        if hasattr(part, "eps"):
            part.eps = eps
    total, many = 0.0, 0
    for story in subject.STORIES.read_text("utf8").strip().split("\n\n"):
        ids = torch.tensor(sentence.read(story).ids)
        total += float(torch.nn.functional.cross_entropy(model(ids)[:-1], ids[1:], reduction="sum"))
        many += len(ids) - 1
    assert total / many == pytest.approx(float(losses.loosened(TEXT)[at]), abs=5e-3)


def test_exactly_one_number_halves_the_answer():
    every = losses.struck(TEXT)
    assert every.shape == (14, 288)
    assert np.argwhere(every < 0.986 / 2).tolist() == [[0, 173]]
    found = readings.struck(TEXT)
    np.testing.assert_allclose(every[range(14), found.number], found.p, atol=2e-3)
    assert every[5, 20] == pytest.approx(without(TEXT, 5, 20)[found.answer], abs=2e-3)


def test_numbers_before_and_after_each_norm():
    found, trace, model = readings.before_and_after(TEXT), subject.untouched(TEXT), subject.model()
    assert found.shares.shape == (13, 3, 27)
    x = trace["block2.resid_mid"].value[1:].astype(np.float64)
    unit = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
    gained = unit * model.blocks[2].norm2.weight.detach().numpy()
    np.testing.assert_allclose(found.spread[5], [x.std(), unit.std(), gained.std()], rtol=1e-4)
    np.testing.assert_allclose(found.shares.sum(-1), 1)
    middle = np.histogram(unit, readings.BINS)[0] / unit.size
    np.testing.assert_allclose(found.shares[5, 1, 1:-1], middle[1:-1], atol=1e-3)
    assert found.spread[:, 1].min() > 0.97
    assert found.spread[-1, 0] > 8 * found.spread[0, 0], "the stream grows"


def test_what_eps_brings_up_is_told_with_the_answer_first():
    found, calm = readings.loosened(TEXT), subject.untouched(TEXT)["next_probs"].value
    assert found.probs.shape == (49, 6)
    assert found.ids[0] == calm.argmax()
    assert (np.diff(found.probs.max(0)[1:]) <= 0).all(), "then what is likeliest at any eps"
    probs = with_eps(readings.EPSILONS[40])
    assert (int(found.top[40]), found.most[40]) == (probs.argmax(), pytest.approx(probs.max(), abs=1e-4))
    np.testing.assert_allclose(found.probs[readings.EPSILONS.index(1e-5)], calm[list(found.ids)], atol=1e-4)


def stream(ids):
    return subject.model().stream(torch.tensor(ids), until=1).detach().double().numpy()


def test_each_way_of_pooling_by_hand():
    """The seventh token's first number after block 1, beside the text backwards and one word over and over."""
    ids = list(TEXT.ids)
    rows = [stream(one) for one in (ids, [ids[0], *reversed(ids[1:])], [ids[0], *[ids[1]] * 13])]

    def normed(some, axis, own=0):
        x = np.stack(some)
        c = x - x.mean(axis, keepdims=True)
        return (c / np.sqrt((c**2).mean(axis, keepdims=True) + 1e-5))[own, 7, 0]

    short = [row[:-1] for row in rows]
    for name, axis in (("feature", 2), ("position", 1), ("batch", 0)):
        found = readings.pooled(TEXT)[name]
        wanted = normed(short[:2], axis), normed(rows[:2], axis), normed([short[0], short[2]], axis)
        assert (found.here, found.later, found.other) == pytest.approx(wanted, abs=2e-3), name


def test_of_two_tokens_the_first_is_looked_at_and_a_later_word_comes():
    """Nothing else can be the middle of a text that is to go on by a word."""
    ids = list(TEXT.ids[:2])
    x, found = stream(ids), readings.pooled(sentence.Text(TEXT.subject, tuple(ids), TEXT.tokens[:2]))["position"]
    c = x - x.mean(0)
    later = (c / np.sqrt((c**2).mean(0) + 1e-5))[0, 0]
    assert (found.many, found.here, found.later) == pytest.approx((1, 0.0, later), abs=2e-3)


def test_every_token_s_largest_number_is_struck():
    found, x = readings.struck(TEXT), subject.untouched(TEXT)["block1.resid_post"].value
    np.testing.assert_array_equal(found.number, np.abs(x).argmax(1))
    np.testing.assert_allclose(found.value, x[range(14), found.number])
    np.testing.assert_allclose(found.size, np.sqrt((x.astype(float) ** 2).mean(1)), rtol=1e-4)
    assert readings.struck(TEXT, 2).p.tolist() == found.p.tolist(), "after block 1, unless told otherwise"
    last = readings.struck(TEXT, 99)
    assert last.of == 4032
    x = subject.untouched(TEXT)["block5.resid_post"].value
    np.testing.assert_array_equal(last.number, np.abs(x).argmax(1))
    np.testing.assert_allclose(last.p[:-1], last.calm, atol=1e-5)  # behind the last block nobody reads another token


def test_of_a_long_text_what_stands_before_is_read_as_it_was():
    """More tokens than one pass takes: each is struck out of the whole text all the same."""
    text = sentence.of(sentence.read("The dog ran to the park. " * 30))
    found = readings.struck(text)
    assert len(text) > subject.at_once(len(text)) + 20
    for place in (0, 5, len(text) // 2, len(text) - 3, len(text) - 1):
        assert found.p[place] == pytest.approx(without(text, place, found.number[place])[found.answer], abs=1e-5)


def test_the_worst_is_the_one_that_moves_the_answer_most():
    parts = dict(number=np.zeros(3), value=np.zeros(3), answer=1, of=9)
    found = readings.Struck(size=np.array([5.0, 1.0, 3.0]), p=np.array([0.4, 0.9, 0.6]), calm=0.5, **parts)
    assert (found.worst, found.others) == (1, 4.0)
    alone = readings.Struck(size=np.array([5.0]), p=np.array([0.4]), calm=0.5, **parts)
    assert alone.others == 5.0


def test_what_lies_beyond_the_bins_is_counted_at_their_ends():
    found, trace, model = readings.before_and_after(TEXT), subject.untouched(TEXT), subject.model()
    places = [(f"block{i}.{name}", getattr(model.blocks[i], norm)) for i in range(6)
              for name, norm in (("resid_pre", "norm1"), ("resid_mid", "norm2"))]  # fmt: skip
    for at, (name, norm) in enumerate([*places, ("block5.resid_post", model.norm)]):
        x = trace[name].value[1:].astype(np.float64)
        unit = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
        for which, numbers in enumerate((x, unit, unit * norm.weight.detach().numpy())):
            assert found.spread[at, which] == pytest.approx(numbers.std(), rel=1e-3)
            assert found.shares[at, which, 0] == pytest.approx((numbers < readings.BINS[1]).mean(), abs=2e-3)
            assert found.shares[at, which, -1] == pytest.approx((numbers >= readings.BINS[-2]).mean(), abs=2e-3)
    first = readings.before_and_after(sentence.Text(TEXT.subject, TEXT.ids[:1], TEXT.tokens[:1]))
    x = trace["block2.resid_mid"].value[:1]
    assert first.spread[5, 0] == pytest.approx(x.std(), rel=1e-4), "of one token there is no other"


def test_the_best_of_several_rounds_is_the_time_of_one_call(monkeypatch):
    """Two rounds of four calls: 8 and 6 seconds."""
    clock, calls = iter((10.0, 18.0, 20.0, 26.0)), []
    monkeypatch.setattr(readings.time, "perf_counter", lambda: next(clock))
    assert readings._timed(calls.append, torch.zeros(1), 2, 4) == pytest.approx(1.5e6)
    assert len(calls) == 8
    ticks = iter(range(10_000))
    monkeypatch.setattr(readings.time, "perf_counter", lambda: next(ticks))
    calls.clear()
    assert readings._timed(calls.append, torch.zeros(1)) == pytest.approx(1e5)
    assert len(calls) == 300
