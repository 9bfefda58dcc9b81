"""Curves, fits, dead units and widths: by hand, by NumPy, from published numbers."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from core.lab import subject
from core.lab.text import SENTENCE, of, read
from core.presets import presets
from core.topics.feedforward import alone, bends, volume

TEXT = of(read(SENTENCE))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


HAND = {
    "relu": lambda x: max(0.0, x),
    "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * sigmoid(x),
}


@pytest.mark.parametrize("name", bends.CURVES)
def test_the_curves_by_hand(name):
    found = bends.curve(name)
    assert found.values == pytest.approx([HAND[name](x) for x in bends.XS], abs=1e-9)
    h = 1e-6
    for i in (0, 30, 79, 81, 140):
        slope = (HAND[name](bends.XS[i] + h) - HAND[name](bends.XS[i] - h)) / (2 * h)
        assert found.slopes[i] == pytest.approx(slope, abs=1e-5)


def test_slopes_at_zero_and_lowest_points():
    zero = bends.XS.index(0.0)
    assert [bends.curve(n).slopes[zero] for n in ("relu", "gelu", "silu")] == [0, 0.5, 0.5]
    assert (bends.curve("gelu").low, bends.curve("gelu").at) == pytest.approx((-0.170, -0.75), abs=3e-3)
    assert (bends.curve("silu").low, bends.curve("silu").at) == pytest.approx((-0.278, -1.278), abs=1e-3)
    gap, where = bends.gelu_gap()
    assert gap == pytest.approx(4.73e-4, abs=1e-6)
    assert where == pytest.approx(2.70, abs=5e-3)
    assert gap == pytest.approx(abs(HAND["gelu"](where) - HAND["gelu_tanh"](where)), rel=1e-6)


def test_more_units_follow_the_curve_and_without_a_bend_a_line_stays_a_line():
    xs = np.linspace(-3, 3, 181)
    wanted = np.sin(2 * xs) + 0.4 * xs + 0.3 * np.cos(5 * xs)
    found = bends.fitted("relu")
    np.testing.assert_allclose(found.wanted, wanted, atol=1e-6)
    kinks = [-3 + 6 * f for f in (0.5, 0.25, 0.75, 0.125)]
    units = np.stack(
        [np.ones_like(xs), *(np.maximum(0, (xs - k) * s * 4) for k, s in zip(kinks, (1, -1, 1, -1), strict=True))], 1
    )
    best = units @ np.linalg.lstsq(units, wanted, rcond=None)[0]
    np.testing.assert_allclose(found.fits[3], best, atol=1e-5)
    sides = np.stack([(xs - k) * s * 4 for k, s in zip(kinks, (1, -1, 1, -1), strict=True)], 1)
    smooth = np.concatenate([np.ones_like(sides[:, :1]), sides / (1 + np.exp(-sides))], 1)
    best = smooth @ np.linalg.lstsq(smooth, wanted, rcond=None)[0]
    np.testing.assert_allclose(bends.fitted("silu").fits[3], best, atol=1e-5)
    line = np.polyval(np.polyfit(xs, wanted, 1), xs)
    for fit in bends.fitted("none").fits[[0, 10, 63]]:
        np.testing.assert_allclose(fit, line, atol=1e-5)
    for name in ("relu", "silu"):
        error = bends.fitted(name).error
        assert (np.diff(error) < 1e-6).all(), "more units are never worse"
        assert error[-1] < 0.02 < error[0]
    assert bends.fitted("relu", True).error[-1] < 0.05
    assert len(bends.UNITS) == 64


def test_four_units_by_hand():
    found = bends.small()
    i = bends.TURNS.index(90)
    assert found.x[i] == pytest.approx([0, 1], abs=1e-7)
    assert found.before[i] == pytest.approx([0, 1.2, 0.4, -1], abs=1e-6)
    assert found.after[i] == pytest.approx([0, 1.2, 0.4, 0], abs=1e-6)
    assert found.out[i] == pytest.approx([1.2 * 0.5 - 0.4, 1.2 + 0.4 * 0.5], abs=1e-6)
    assert len(bends.TURNS) >= 43
    for turn, out in ((0, (1.35, -0.55)), (180, (-0.8, 0.65)), (270, (0.5, -0.5))):
        assert found.out[bends.TURNS.index(turn)] == pytest.approx(out, abs=1e-6), turn


def test_dead_units_are_shut_at_every_word():
    found = bends.dead(TEXT)
    x = subject.untouched(TEXT)["block0.norm2"].value
    weights = 0.01 * torch.randn(4 * x.shape[1], x.shape[1], generator=torch.Generator().manual_seed(0)).numpy()
    for i in (0, 24, 40):
        before = x @ weights.T + bends.BIASES[i]
        assert found.open[i] == pytest.approx((before > 0).mean(), abs=1e-4)
        assert found.dead[i] == pytest.approx((before.max(0) <= 0).mean(), abs=2e-3)
    assert found.dead[0] > 0.9 > 0.1 > found.dead[24]
    assert found.units == 1152


def test_what_goes_through_the_bend_is_what_the_maps_say():
    block, trace = subject.model().blocks[5], subject.untouched(TEXT)
    gate = trace["block5.norm2"].value @ block.ffn.gate.weight.detach().numpy().T
    found = bends.through(TEXT, 5)
    np.testing.assert_allclose(found.before, gate[-1], atol=1e-4)
    assert found.dead == int((gate.max(0) < 0).sum())
    assert found.zeros == 0, "no number after SiLU times up is exactly 0"
    assert 0.2 < found.negative < 0.8


def test_widths_and_shares_are_the_published_ones():
    found = bends.widths()
    at = bends.WIDTHS.index
    for ratio, millions in ((2, 53), (4, 65), (8, 90)):
        assert found.all[at(ratio)] / 1e6 == pytest.approx(millions, rel=0.05), "as the paper counts, to a few per cent"
    assert found.all[at(8)] - found.all[at(4)] == 12 * (2 * 512 * 2048 + 2048)
    assert [(p.d_ff, p.bleu) for p in bends.PAPER] == [(1024, 25.4), (2048, 25.8), (4096, 26.2)]
    shares = {share.name: share for share in bends.shares()}
    assert shares["Qwen3-8B"].block == 3 * 4096 * 12_288 == 150_994_944
    assert shares["Llama-3-8B"].block == 3 * 4096 * 14_336
    known = {"BERT-base": 51.8, "GPT-2 XL": 63.1, "Llama-2-7B": 64.2, "Qwen3-8B": 66.4, "Llama-2-70B": 81.7}
    assert {name: round(100 * shares[name].share, 1) for name in known} == known
    assert shares["Llama-2-7B"].ratio == pytest.approx(2.69, abs=3e-3)
    two, exact, rounded = bends.same_size(4096)
    assert two == 2 * 4096 * 16_384
    assert 3 * 4096 * exact == pytest.approx(two)
    assert rounded == 11_008, "as Llama-2-7B has it"
    assert bends.same_size(288)[1] == subject.config().d_ff == 768


def test_a_block_s_ffn_is_its_maps_and_at_most_their_biases():
    of = {preset.name: preset.config for preset in presets().values()}
    assert {share.maps for share in bends.shares()} == {2, 3}
    for share in bends.shares():
        d, f = of[share.name].d_model, of[share.name].d_ff
        assert 0 <= share.block - share.maps * d * f <= d + f, share.name


# ---- each token alone, and whole FFNs ----


def test_only_its_own_row_moves_bit_for_bit():
    demo = alone.Demo(TEXT, 3, 4)
    found = alone.changed(demo)
    assert found.elsewhere == 0.0
    ffn, x = subject.model().blocks[3].ffn, subject.untouched(TEXT)["block3.norm2"].tensor.clone()
    silu = nn.SiLU()

    def through(rows):
        return (silu(rows @ ffn.gate.weight.T) * (rows @ ffn.up.weight.T)) @ ffn.down.weight.T

    before = through(x)
    x[4] = x[demo.other]
    with torch.no_grad():
        length = float((through(x) - before)[4].norm())
    assert found.ffn[-1, 4] == pytest.approx(length, rel=1e-4)
    assert (np.delete(found.ffn, 4, 1) == 0).all()
    assert (found.attention[-1, :4] == 0).all(), "the past hears nothing"
    assert (found.attention[-1, 4:] > 0).all(), "every later word hears of it"
    assert (found.ffn[0] == 0).all()


def test_the_last_and_the_only_token():
    assert alone.Demo(TEXT, 0, 13).other == 0
    assert alone.Demo(TEXT, 0, 99).at == 13
    assert alone.changed(alone.Demo(of(read("!")), 5)).elsewhere == 0.0


@pytest.mark.parametrize("layer", [None, 2])
def test_a_whole_ffn_turned_is_each_neuron_turned(layer):
    found = volume.turned(volume.Demo(TEXT, layer))
    model = subject.model()
    x = model.embed.weight[list(TEXT.ids)]
    around = model.surroundings(len(TEXT))
    with torch.no_grad():
        for i, block in enumerate(model.blocks):
            x = x + block.attn(block.norm1(x), *around)
            x = x + (0.48 if layer in (None, i) else 1) * block.ffn(block.norm2(x))
        probs = (model.norm(x[-1]) @ model.embed.weight.T).softmax(-1)
    assert found.probs[volume.VOLUMES.index(0.48)] == pytest.approx(probs[list(found.ids)].numpy(), abs=2e-5)
    assert found.probs[25, found.asked] == found.probs[25].max()


def test_the_published_widths_are_those_of_the_paper():
    """Vaswani et al. 2017, table 3, rows (C) and base: perplexity and millions of parameters on the dev set."""
    printed = {1024: (5.12, 53), 2048: (4.92, 65), 4096: (4.75, 90)}
    assert {p.d_ff: (p.perplexity, p.millions) for p in bends.PAPER} == printed
    assert bends.T5_11B[1] == 64, "its FFNs are 64 times as wide as the stream"


def test_a_row_half_way_to_another():
    """The last word's row comes in by halves: what the FFN and the attention say then, from rows mixed here."""
    demo = alone.Demo(TEXT, 2)
    assert (demo.at, demo.other) == (6, 13)
    found, trace, block = alone.changed(demo), subject.untouched(TEXT), subject.model().blocks[2]
    assert found.ffn.shape == found.attention.shape == (49, 14)
    around = subject.model().surroundings(14)
    for stop in (12, 24, 48):
        moved = []
        for name, part in (("norm2", block.ffn), ("norm1", lambda x: block.attn(x, *around))):
            x = trace[f"block2.{name}"].tensor.clone()
            with torch.no_grad():
                calm = part(x)
                x[6] = x[6] + stop / 48 * (x[13] - x[6])
                moved.append((part(x) - calm).norm(dim=-1).numpy())
        np.testing.assert_allclose(found.ffn[stop], moved[0], atol=1e-4)
        np.testing.assert_allclose(found.attention[stop], moved[1], atol=1e-4)
    assert alone.Demo(TEXT, 0, 3).at == 3


def test_candidates_of_a_turned_ffn_stand_in_the_untouched_order():
    found, calm = volume.turned(volume.Demo(TEXT, 4)), subject.untouched(TEXT)["next_probs"].value
    assert found.probs.shape == (51, 8)
    middle = found.probs[volume.VOLUMES.index(1.0)]
    assert (np.diff(middle) <= 0).all()
    np.testing.assert_allclose(middle, calm[list(found.ids)], atol=1e-5)
    assert found.ids[found.asked] == calm.argmax()
    assert found.tokens[found.asked] == "Amy"


def test_an_answer_that_others_overtake_keeps_its_place(monkeypatch):
    monkeypatch.setattr(volume, "CANDIDATES", 1)
    for words in ("Tom dropped the glass and it", SENTENCE, "The cat slept on the rug. The dog"):
        text = of(read(words))
        found = volume.turned(volume.Demo(text))
        assert found.ids == (int(subject.untouched(text)["next_probs"].value.argmax()),)


def test_what_goes_through_a_bend_is_counted_over_one_token():
    found, trace = bends.through(TEXT, 3, 4), subject.untouched(TEXT)
    gate, act = trace["block3.ffn_gate"].value, trace["block3.ffn_act"].value
    np.testing.assert_array_equal(found.before, gate[4])
    np.testing.assert_array_equal(found.after, act[4])
    assert found.negative == pytest.approx((gate[4] < 0).mean())
    assert found.small == pytest.approx((np.abs(act[4]) < 0.01).mean())
    assert found.dead == sum((gate[:, i] < 0).all() for i in range(768))
    np.testing.assert_array_equal(bends.through(TEXT, 3).before, gate[13])


def test_kinks_are_spread_or_scattered():
    assert bends.spread(7) == [1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]
    xs = np.linspace(-3, 3, 181)
    kinks = 6 * torch.rand(64, generator=torch.Generator().manual_seed(2), dtype=torch.float64).numpy()[:2] - 3
    units = np.stack(
        [np.ones_like(xs), *(np.maximum(0, (xs - k) * s * 4) for k, s in zip(kinks, (1, -1), strict=True))], 1
    )
    wanted = np.sin(2 * xs) + 0.4 * xs + 0.3 * np.cos(5 * xs)
    best = units @ np.linalg.lstsq(units, wanted, rcond=None)[0]
    found = bends.fitted("relu", True, 2)
    np.testing.assert_allclose(found.fits[1], best, atol=1e-5)
    assert found.error[1] == pytest.approx(np.sqrt(((best - wanted) ** 2).mean()), rel=1e-5)
    np.testing.assert_allclose(found.xs, xs, atol=1e-9)
    assert found.fits.shape == (64, 181)
