"""Questions made of numbers written here: which are asked, at the edges too, and what is printed of them."""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from core.topics.exam.question import agrees, comes, said, signs, value
from core.topics.exam.questions import KINDS
from tests.core.topics.exam.given import D, Given


def made(kind, seed=0, **given):
    return KINDS[kind].make(Given(**given), random.Random(seed))


def seen(kind, many=80, **given):
    return [one for one in (made(kind, seed, **given) for seed in range(many)) if one is not None]


# ---- how a number is printed ----


@pytest.mark.parametrize(
    ("x", "printed"),
    [(0, "0"), (1.23456, "1.235"), (-0.012345, "−0.01235"), (999.96, "1000.0"), (123456.0, "123456"), (10.0, "10.00")],
)
def test_four_digits_that_tell_and_no_exponent(x, printed):
    assert signs(x) == comes(x) == printed
    assert value(printed) == pytest.approx(x, rel=5e-4)


def test_a_minus_is_a_minus_and_thousands_are_read():
    assert said(-1.5) == "−1.500"
    assert said(2 / 3, 2) == "0.67"
    assert signs(2 / 3, 3) == "0.667"
    assert value("−1,234.5") == -1234.5


def test_a_third_of_the_tolerance_is_as_far_as_a_printed_sum_may_lie():
    """One per cent may be off in what is typed: 3 of 1000 leave room for that."""
    assert agrees(1000, 1003)
    assert agrees(-1000, -997)
    assert not agrees(1000, 1003.1)
    assert not agrees(1000, 996.9)


# ---- attention ----


@pytest.mark.parametrize(("score", "there"), [(0.49, False), (0.5, True), (-0.5, True), (-0.49, False), (12.0, True)])
def test_a_score_near_nothing_is_not_scaled(score, there):
    found = made("scale", n=2, scores=[[[0, 0], [score, 0]]])
    assert (found is not None) is there
    if found:
        assert found.answer == score / 4
        assert (found.values["score"], found.values["root"], found.values["d"]) == (signs(score), "4.000", 16)
        assert value(found.values["answer"]) == pytest.approx(score / 4)


def test_a_score_is_that_of_an_earlier_word():
    table = np.arange(25.0).reshape(1, 5, 5) + 1
    found = seen("scale", n=5, scores=table)
    pairs = {(one.values["query"], one.values["key"]) for one in found}
    assert pairs == {(f"w{i}", f"w{j}") for i in range(5) for j in range(i)}
    for one in found:
        row, key = (int(one.values[name][1:]) for name in ("query", "key"))
        assert one.answer == table[0, row, key] / 4
        assert dict(one.state) | dict(at="") == dict(layer="0", head="0", step="scaled", cell=f"{row},{key}", at="")
    assert made("scale", n=1, scores=[[[9.0]]]) is None


@pytest.mark.parametrize(("weight", "there"), [(0.14, False), (0.16, True), (0.5, True), (0.84, True), (0.86, False)])
def test_what_is_left_is_neither_nearly_all_nor_nearly_nothing(weight, there):
    """The other three words share what remains, each too little to be asked for."""
    rest = (1 - weight) / 7
    rows = [[1] + [0] * 7, *([1 / (i + 1)] * (i + 1) + [0] * (7 - i) for i in range(1, 7)), [weight] + [rest] * 7]
    asked = [one for one in seen("rest", n=8, weights=[rows]) if one.values["query"] == "w7"]
    assert bool(asked) is there
    for one in asked:
        assert (one.values["key"], one.answer, one.values["others"]) == ("w0", weight, f"{1 - weight:.4f}")
        assert value(one.values["answer"]) == pytest.approx(weight, abs=1e-4)
        assert dict(one.state)["cell"] == "7,0"


def test_any_row_but_the_first_word_s_own_is_asked_for_what_is_left():
    rows = np.tril(np.full((4, 4), 0.3))
    found = seen("rest", n=4, weights=rows[None])
    assert {one.values["query"] for one in found} == {"w1", "w2", "w3"}
    assert {one.values["key"] for one in found if one.values["query"] == "w2"} == {"w0", "w1", "w2"}
    alone = made("rest", n=1, weights=[[[0.5]]])
    assert alone.values["query"] == "w0", "a single word has no other row"


@pytest.mark.parametrize(("gap", "there"), [(0.29, False), (0.31, True), (3.99, True), (4.01, False)])
def test_a_ratio_is_asked_where_it_is_neither_one_nor_huge(gap, there):
    found = seen("ratio", scaled=[[[0, 0, 0], [0, 0, 0], [1, 1 + gap, 1]]])
    assert bool(found) is there
    for one in found:
        assert one.answer == pytest.approx(math.exp(gap))
        assert one.values["more"] == "w1" != one.values["less"]
        assert (one.values["a"], one.values["b"], one.values["gap"]) == (f"{1 + gap:.3f}", "1.000", f"{gap:.3f}")
        assert value(one.values["answer"]) == pytest.approx(math.exp(gap), rel=1e-3)
        assert dict(one.state)["cell"] == "2,1"
    assert made("ratio", n=2, scaled=[[[0, 0], [0, 1]]]) is None


def test_two_words_of_any_row_from_the_third_on_are_compared():
    found = seen("ratio", n=4, scaled=[np.arange(16.0).reshape(4, 4) / 2])
    assert {one.values["query"] for one in found} == {"w2", "w3"}
    pairs = {(one.values["less"], one.values["more"]) for one in found if one.values["query"] == "w3"}
    assert pairs == {(f"w{i}", f"w{j}") for j in range(4) for i in range(j)}
    assert not any("w3" in (one.values["less"], one.values["more"]) for one in found if one.values["query"] == "w2")


def softmax(x):
    powers = np.exp(np.array(x))
    return powers / powers.sum()


@pytest.mark.parametrize(
    ("scores", "keys"),
    [
        ((1.0, 1.0, 1.0), {"w0", "w1", "w2"}),
        ((-0.5, 0.5, 0.0), {"w0", "w1", "w2"}),
        ((0.0, 2.4, 2.4), {"w1", "w2"}),  # 0.043, 0.48, 0.48
        ((0.0, 0.0, 2.8), {"w2"}),  # 0.05, 0.05, 0.89
        ((0.0, 0.0, 3.2), set()),  # 0.04, 0.04, 0.92: nearly nothing and nearly all
        ((7.9, 7.0, 7.0), {"w0", "w1", "w2"}),
        ((-8.1, -8.1, -8.1), set()),  # too large a power to type
    ],
)
def test_a_share_is_asked_of_a_row_that_a_calculator_can_do(scores, keys):
    weights = np.zeros((1, 3, 3))
    weights[0, 2] = softmax(scores)
    found = seen("share", scaled=[[[0] * 3, [0] * 3, scores]], weights=weights)
    assert {one.values["key"] for one in found} == keys
    for one in found:
        told = one.values
        assert (told["a"], told["b"], told["c"], told["query"]) == (*(said(x) for x in scores), "w2")
        key = int(told["key"][1:])
        assert one.answer == weights[0, 2, key]
        assert value(told["part"]) == pytest.approx(math.exp(scores[key]), rel=1e-3)
        assert value(told["total"]) == pytest.approx(np.exp(scores).sum(), rel=1e-3)
        assert value(told["answer"]) == pytest.approx(weights[0, 2, key], rel=2e-3)
        typed = dict(one.state)["scores"]
        assert [float(x) for x in typed.split(" ")] == list(scores), "with a minus that a keyboard has"


@pytest.mark.parametrize("kind", ["share", "mixture"])
def test_two_words_are_no_row_of_three(kind):
    assert made(kind, n=2, scaled=[[[0, 0], [0, 0]]], weights=[[[1, 0], [0.5, 0.5]]], v=[[[1.0] * D] * 2]) is None


@pytest.mark.parametrize(
    ("weights", "values", "there"),
    [
        ((0.5, 0.25, 0.25), (1.0, 2.0, -1.0), True),
        ((0.5, 0.25, 0.25), (1.0, -1.0, -0.9), False),  # 0.025: next to nothing
        ((0.5, 0.25, 0.25), (-1.0, 1.0, 0.7), True),  # -0.075
        ((0.9, 0.081, 0.019), (1.0, 2.0, -1.0), False),  # a weight that hardly counts
        ((0.9, 0.079, 0.021), (1.0, 2.0, -1.0), True),
        ((0.33349, 0.33301, 0.3335), (300.0, -300.0, 0.2), False),  # three digits are too few to come near it
    ],
)
def test_a_mixture_is_asked_where_three_digits_come_to_it(weights, values, there):
    table = np.zeros((1, 3, 3))
    table[0, 2] = weights
    v = np.zeros((1, 3, D))
    v[0] = np.array(values)[:, None] * np.ones(D)
    found = made("mixture", weights=table, v=v)
    assert (found is not None) is there
    if found:
        told = found.values
        assert found.answer == pytest.approx(np.dot(weights, values))
        assert [told[name] for name in "abc"] == [said(x) for x in weights]
        assert [told[name] for name in "uvw"] == [said(x) for x in values]
        assert [told[name] for name in ("key0", "key1", "key2", "query")] == ["w0", "w1", "w2", "w2"]
        assert dict(found.state)["zcell"] == f"2,{told['number']}"
        assert value(told["answer"]) == pytest.approx(found.answer, rel=3e-3)


def test_any_number_of_the_values_is_mixed():
    table, v = np.zeros((1, 3, 3)), np.zeros((1, 3, D))
    table[0, 2], v[0] = (0.5, 0.25, 0.25), np.arange(1, D + 1)
    found = seen("mixture", 200, weights=table, v=v)
    assert {one.values["number"]: one.answer for one in found} == {i: i + 1 for i in range(D)}


# ---- the stream, the FFN ----


def test_the_last_word_s_numbers_are_squared_and_their_mean_is_shown():
    stream = np.array([[9.0] * 4, [9.0] * 4, [1.0, 2.0, 3.0, 4.0]])
    found = seen("rms", layers=3, resid_pre=stream)
    assert {one.values["block"] for one in found} == {0, 1, 2}
    one = found[0]
    assert (one.values["word"], one.values["d"], one.values["total"], one.values["mean"]) == (
        "w2",
        4,
        "30.00",
        "7.5000",
    )
    assert one.answer == pytest.approx(math.sqrt(7.5))
    assert one.values["answer"] == "2.739"
    assert dict(one.state) == dict(station=str(one.values["block"]))


def test_a_model_with_another_norm_or_another_ffn_is_not_asked():
    for kind, part in (("rms", dict(norm="layernorm")), ("gate", dict(ffn="gelu")), ("gate", dict(moe=object()))):
        sheet = Given(resid_pre=[[1.0, 2.0]], ffn_gate=[[1.0]], ffn_up=[[1.0]])
        sheet.config = SimpleNamespace(**vars(sheet.config) | part)
        assert KINDS[kind].make(sheet, random.Random(0)) is None


@pytest.mark.parametrize(
    ("gate", "up", "there"),
    [
        (1.0, 1.0, True),
        (-1.0, 1.0, True),
        (0.29, 1.0, False),  # hardly open
        (0.31, 1.0, True),
        (7.9, 1.0, True),
        (8.1, 1.0, False),
        (1.0, 0.39, False),
        (1.0, -0.41, True),
        (0.3044, 0.4004, True),
    ],
)
def test_a_gate_is_asked_where_both_numbers_count(gate, up, there):
    found = made("gate", ffn_gate=[[0.0], [gate]], ffn_up=[[0.0], [up]])
    assert (found is not None) is there
    if found:
        sigmoid = 1 / (1 + math.exp(-gate))
        assert found.answer == pytest.approx(gate * sigmoid * up)
        assert (found.values["g"], found.values["u"], found.values["word"]) == (said(gate), said(up), "w2")
        assert value(found.values["open"]) == pytest.approx(gate * sigmoid, rel=3e-3)
        assert value(found.values["answer"]) == pytest.approx(found.answer, rel=4e-3)


def test_any_neuron_of_any_block_is_asked():
    gates = np.ones((1, 6)) + np.arange(6) / 10
    found = seen("gate", 200, layers=2, ffn_gate=gates, ffn_up=np.ones((1, 6)))
    assert {(one.values["block"], one.values["neuron"]) for one in found} == {(b, i) for b in (0, 1) for i in range(6)}
    for one in found:
        neuron = one.values["neuron"]
        assert one.values["g"] == f"{1 + neuron / 10:.3f}"
        assert dict(one.state) == dict(ffn_block=str(one.values["block"]), ffn_neuron=str(neuron))


# ---- what the model expects ----


@pytest.mark.parametrize(("loss", "there"), [(0.49, False), (0.51, True), (8.9, True), (9.1, False)])
def test_a_loss_is_asked_where_a_calculator_finds_it(loss, there):
    found = made("nats", logs=[-0.1, -loss])
    assert (found is not None) is there
    if found:
        assert (found.answer, found.values["place"], found.values["word"]) == (loss, 2, "w2")
        assert value(found.values["p"]) == pytest.approx(math.exp(-loss), rel=6e-3)
        assert len(found.values["p"].lstrip("0.")) <= 3
        assert value(found.values["answer"]) == pytest.approx(loss, rel=3e-3)


def test_every_word_but_the_first_came_at_a_price():
    found = seen("nats", n=4, logs=[-1.0, -2.0, -3.0])
    assert {(one.values["word"], one.answer) for one in found} == {("w1", 1.0), ("w2", 2.0), ("w3", 3.0)}


@pytest.mark.parametrize(("loss", "there"), [(8.9, True), (9.0, True), (9.1, False)])
def test_perplexity_is_the_power_of_the_mean_loss(loss, there):
    found = made("perplexity", logs=[-(loss - 1), -(loss + 1)])
    assert (found is not None) is there
    if found:
        assert found.answer == pytest.approx(math.exp(loss))
        assert found.values["loss"] == said(loss)
        assert value(found.values["answer"]) == pytest.approx(math.exp(loss), rel=1e-3)
    assert made("perplexity", n=2, logs=[-1.0]) is None


@pytest.mark.parametrize(("ratio", "there"), [(1.19, False), (1.21, True), (9e5, True), (1.1e6, False)])
def test_twice_the_temperature_takes_the_root_of_a_ratio(ratio, there):
    found = made("heat", next=np.array([1.0, 0.1, ratio]) / (1.1 + ratio))
    assert (found is not None) is there
    if found:
        assert found.answer == pytest.approx(math.sqrt(ratio))
        assert value(found.values["ratio"]) == pytest.approx(ratio, rel=1e-3)
        assert value(found.values["answer"]) == pytest.approx(math.sqrt(ratio), rel=1e-3)
    assert made("heat", next=[0.0, 1.0, 0.0]) is None, "nothing divides by nothing"


def nucleus(*likely, seeds=1, n=3):
    return seen("nucleus", seeds, n=n, after=[*likely, *[0.0] * 20])


def test_a_nucleus_ends_with_the_word_that_reaches_the_cut():
    (one,) = nucleus(0.5, 0.3, 0.15, 0.05)
    told = one.values
    assert (told["cut"], one.answer) == ("0.9", 3)
    assert told["plus"] == "0.500 + 0.300 + 0.150"
    assert told["listed"] == "0.500 · 0.300 · 0.150 · 0.050 · 0.000", "two more than are in it"
    assert (told["total"], told["before"]) == ("0.950", "0.800")
    shown = dict(one.state)
    assert (shown["cut_kind"], shown["cut_top_p"], f"w{shown['cut_place']}") == ("top_p", "0.9", told["word"])


@pytest.mark.parametrize(
    ("likely", "cut", "count"),
    [
        (
            (0.6, 0.3035, 0.0965),
            "0.95",
            3,
        ),  # eight roundings could bring 0.9035 below nine tenths: another cut is taken
        ((0.6, 0.305, 0.095), "0.9", 2),
        ((0.93, 0.04, 0.03), "0.95", 2),  # one word alone is no nucleus
        ([0.105] * 8 + [0.16], "0.8", 8),  # 0.9 would take nine words: more than are listed
        ([0.01] * 100, None, 0),
        ((0.97, 0.03), None, 0),
        ((0.12, 0.1), "0.2", 2),
    ],
)
def test_a_cut_is_chosen_that_can_be_decided_by_eye_with_two_to_eight_words(likely, cut, count):
    found = nucleus(*likely)
    assert [(one.values["cut"], one.answer) for one in found] == ([] if cut is None else [(cut, count)])


def test_the_list_ends_with_the_ninth_word_however_many_are_in():
    (one,) = nucleus(*[0.105] * 8, 0.16)
    assert one.answer == 8
    assert one.values["listed"].count("·") == 8


def test_any_place_may_be_asked():
    assert {one.values["word"] for one in nucleus(0.5, 0.3, 0.15, 0.05, seeds=60, n=4)} == {"w0", "w1", "w2", "w3"}
