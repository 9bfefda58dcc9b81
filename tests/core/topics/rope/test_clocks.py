"""Clock faces, the law of the distance, both conventions and the price, against NumPy and the model itself."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.lab import subject, text
from core.rope import adjacent_order, frequencies
from core.topics.rope import clocks

READING = text.read(text.SENTENCE)
DEMO = clocks.Demo(text.of(READING), 2, 0, 13, 12)
OTHERS = [dict(), dict(layer=5, head=1, key=3), dict(query=4, key=9), dict(layer=0, head=5, query=0, key=0)]


def spun(x, place):
    """A vector of halves as complex numbers, turned by its place."""
    half = len(x) // 2
    theta = 10_000.0 ** -(np.arange(half) * 2 / len(x))
    return (x[:half] + 1j * x[half:]) * np.exp(1j * place * theta)


@pytest.mark.parametrize("setting", OTHERS)
def test_every_frame_of_the_clocks_is_complex_multiplication(setting):
    demo = replace(DEMO, **setting)
    met, found = clocks.meeting(demo), clocks.clocks(demo)
    q, k = met.q.numpy(), met.k.numpy()
    for t in (0, 1, 30, 63):
        moved = {"both": (t, t), "m": (t, 0), "n": (0, t)}
        for i, move in enumerate(clocks.MOVES):
            a, b = spun(q, demo.query + moved[move][0]), spun(k, demo.key + moved[move][1])
            np.testing.assert_allclose(found.parts[i, t], (a * b.conj()).real, atol=1e-4)
            assert found.scores[i, t] == pytest.approx((a * b.conj()).real.sum(), abs=1e-4)
        a = spun(q, demo.query + t)
        np.testing.assert_allclose(found.q[t], np.stack([a.real, a.imag], -1), atol=1e-4)


@pytest.mark.parametrize("setting", OTHERS)
def test_the_law_holds_to_a_millionth_and_the_wrong_sign_does_not(setting):
    demo = replace(DEMO, **setting)
    law = clocks.law(demo)
    assert law.drift64 <= 1e-6
    assert law.drift32 <= 1e-4
    for number in (law.turned, law.relative, law.spun):
        assert number == pytest.approx(law.recorded, rel=1e-5, abs=1e-4)
    assert (abs(law.wrong - law.relative) > 1e-3) == (demo.query != demo.key)


def test_the_recorded_score_is_the_models():
    trace = subject.run(text.of(READING), subject.UNTOUCHED, ("block2.*",))
    assert clocks.meeting(DEMO).recorded == trace["block2.scores"].value[0, 13, 12]
    np.testing.assert_array_equal(clocks.meeting(DEMO).q, trace["block2.q"].value[0, 13])


def test_swings_of_all_heads_are_those_of_each_head():
    found = clocks.swings(DEMO)
    assert found.relative.shape == (6, 6)
    for layer, head in ((0, 0), (2, 0), (5, 4)):
        demo = replace(DEMO, layer=layer, head=head)
        scores, met = clocks.clocks(demo).scores[1], clocks.meeting(demo)
        at = layer, head
        assert found.start[at] == pytest.approx(met.recorded, abs=1e-3)
        assert (found.low[at], found.high[at]) == pytest.approx((scores.min(), scores.max()))
        longest = np.linalg.norm(met.q.numpy()) * np.linalg.norm(met.k.numpy())
        assert found.relative[at] == pytest.approx((scores.max() - scores.min()) / longest)


@pytest.mark.parametrize("pair", [0, 5, 23])
def test_one_pair_turns_in_radians(pair):
    theta = float(frequencies(48)[pair])
    found = clocks.turning(theta)
    for m, way in ((0, 3), (7, 0), (48, 51)):
        frame = m * len(clocks.DIRECTIONS) + way
        a = np.deg2rad(clocks.DIRECTIONS[way])
        np.testing.assert_allclose(found.moving[frame, 1], [np.cos(a), np.sin(a)], atol=1e-6)
        np.testing.assert_allclose(found.moving[frame, 0], [np.cos(a + m * theta), np.sin(a + m * theta)], atol=1e-5)
        assert found.radians[frame] == pytest.approx(m * theta)
        assert found.degrees[frame] == pytest.approx(np.degrees(m * theta))


@pytest.mark.parametrize(("which", "head"), [("q", 0), ("k", 3)])
def test_the_rotation_begins_with_the_vectors_and_ends_with_the_models(which, head):
    demo = replace(DEMO, head=head)
    trace = subject.run(text.of(READING), subject.UNTOUCHED, ("block2.*",))
    found = clocks.morph(demo, which)
    np.testing.assert_array_equal(found.values[0], trace[f"block2.{which}"].value[head])
    np.testing.assert_allclose(found.values[-1], trace[f"block2.{which}_rot"].value[head], atol=1e-6)
    assert found.stretch < 1e-5
    assert found.values.shape == (49, 14, 48)


def test_stripes():
    found = clocks.stripes(DEMO, 9)
    assert found.uneven < 1e-9
    met = clocks.meeting(DEMO)
    expected = (spun(met.q.numpy(), 7) * spun(met.k.numpy(), 2).conj()).real.sum()
    assert found.values[7, 2] == pytest.approx(expected, abs=1e-4)
    assert found.values[2, 7] != pytest.approx(expected, abs=1e-2)


@pytest.mark.parametrize(("pairing", "pairs"), [("halves", ((0, 2), (1, 3))), ("adjacent", ((0, 1), (2, 3)))])
def test_four_numbers_in_both_conventions(pairing, pairs):
    x, m = (1.0, -2.0, 3.5, 4.0), 11
    rows = clocks.four(x, pairing)[m]
    for i, (a, b) in enumerate(pairs):
        z = complex(x[a], x[b]) * np.exp(1j * m * 10_000.0 ** (-i / 2))
        assert rows[4, [a, b]] == pytest.approx([z.real, z.imag], abs=1e-5)
    np.testing.assert_allclose(rows[2] + rows[3], rows[4], atol=1e-6)
    assert rows[1].tolist() == ([-3.5, -4, 1, -2] if pairing == "halves" else [2, 1, -4, 3.5])


def test_the_wrong_convention_ruins_the_model_and_permuted_rows_mend_it():
    found = clocks.conventions(text.of(READING))
    assert found.before == pytest.approx(0.986, abs=1e-3)
    assert found.same < 0.01
    assert found.gap_same > 4
    assert found.permuted == pytest.approx(found.before, abs=1e-5)
    assert found.gap_permuted < 1e-4


def test_permuting_numbers_of_q_is_permuting_rows_of_its_matrix():
    attn, order = subject.model().blocks[0].attn, adjacent_order(48)
    x = torch.randn(4, 288, generator=torch.Generator().manual_seed(0))
    rows = attn.q.weight.view(6, 48, 288)[:, order].reshape(288, 288)
    with torch.no_grad():
        torch.testing.assert_close((x @ rows.T).view(4, 6, 48), attn.q(x).view(4, 6, 48)[..., order])


def test_turned_values_spoil_the_next_word():
    before = subject.outlook(text.of(READING), subject.UNTOUCHED)
    wrong = clocks.values_turned(text.of(READING), before.asked.id)
    assert before.asked.p > 0.9
    assert wrong.asked.p < 0.1
    drift = clocks.value_drift(DEMO)
    v = subject.run(text.of(READING), subject.UNTOUCHED, ("block2.v",))["block2.v"].value[0, 12]
    assert drift[0] == pytest.approx(1)
    assert drift[9] == pytest.approx((spun(v, 0) * spun(v, 9).conj()).real.sum() / (v @ v), abs=1e-4)


def test_the_price():
    cost = clocks.cost(text.of(READING))
    assert (cost.maps, cost.rope, cost.learned, cost.all) == ((288 * 288,) * 4, 4 * 288, 0, 15_191_712)


def test_the_download_holds_the_vectors_before_and_after_and_the_scores_they_make():
    trace = clocks.recorded(DEMO)
    block = f"block{DEMO.layer}"
    assert {f"{block}.{name}" for name in ("q", "k", "q_rot", "k_rot", "scores")} <= {step.name for step in trace}
    q, k = (trace[f"{block}.{name}_rot"].value[DEMO.head] for name in "qk")
    np.testing.assert_allclose(trace[f"{block}.scores"].value[DEMO.head], q @ k.T, atol=1e-4)


def test_stripes_are_as_many_as_asked_and_24_otherwise(monkeypatch):
    assert clocks.stripes(DEMO).values.shape == (24, 24)
    monkeypatch.setattr(clocks, "rotate", lambda x, turn: x * torch.arange(1.0, len(x) + 1)[:, None])
    met = clocks.meeting(DEMO)
    size = abs(float(met.q @ met.k))
    assert clocks.stripes(DEMO, 5).uneven == pytest.approx(24 * size), "along the diagonal from 1 · 1 to 5 · 5"
    assert clocks.stripes(DEMO, 1).uneven == 0


def test_what_rope_learned_is_looked_for_on_the_model_itself(monkeypatch):
    """A model with numbers of its own for places, whatever they are called, would be told of."""
    real = subject.model()
    more = {"rope.speeds": 7, "a.rotary": 20, "pos_embed.weight": 300, "other": 4000}
    named = [*real.named_parameters(), *((name, torch.zeros(size)) for name, size in more.items())]

    class Placed:
        config, blocks = real.config, real.blocks

        def named_parameters(self):
            return named

    monkeypatch.setattr(clocks, "turning_model", lambda _text: Placed())
    found = clocks.cost(text.of(READING))
    assert (found.learned, found.all) == (327, 15_191_712 + 4327)


def test_without_a_word_to_ask_for_the_likeliest_is_asked():
    found = clocks.values_turned(text.of(READING))
    assert found.asked == found.words[0]
    assert found.words[0].p == max(word.p for word in found.words)


def test_a_model_without_rotation_is_named(pair):
    with pytest.raises(text.Cannot, match="no rotation"):
        clocks.turning_model(text.exactly("the dog", str(pair("gpt2").folder)))


def test_in_the_law_a_float_drifts_more_than_a_double():
    law = clocks.law(clocks.Demo(text.of(READING), 5, 1, 13, 3))
    assert 0 <= law.drift64 < law.drift32 / 1e3


def test_tables_of_cosines_and_sines():
    cos, sin = clocks.cos_sin(text.of(READING), 9)
    theta = 10_000.0 ** (-np.arange(24) / 24)
    np.testing.assert_allclose(cos, np.tile(np.cos(np.arange(9)[:, None] * theta), 2), atol=1e-5)
    np.testing.assert_allclose(sin, np.tile(np.sin(np.arange(9)[:, None] * theta), 2), atol=1e-5)


def test_every_row_of_four_numbers():
    """x, its quarter turn, and each times cos and sin of its own pair's angle."""
    x, m = np.array([1.0, -2.0, 3.5, 4.0]), 30
    for pairing, pair_of in (("halves", [0, 1, 0, 1]), ("adjacent", [0, 0, 1, 1])):
        rows = clocks.four(tuple(x.tolist()), pairing)
        assert rows.shape == (49, 5, 4)
        angle = m * np.array([1.0, 0.01])[pair_of]
        np.testing.assert_allclose(rows[m, 0], x)
        np.testing.assert_allclose(rows[m, 2], x * np.cos(angle), atol=1e-6)
        np.testing.assert_allclose(rows[m, 3], rows[m, 1] * np.sin(angle), atol=1e-6)
