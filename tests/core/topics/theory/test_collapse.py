"""Rank collapse: against a pass written out in plain torch, and laws of averages."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import subject, text
from core.topics.theory import collapse as co

SENTENCE = text.exactly(text.SENTENCE)


def by_hand(skip, ffn, mask):
    """stories15m once more, from its weights alone: the stream after each block, in float64."""
    model = subject.model()
    held = {name: value.double() for name, value in model.state_dict().items()}
    n, d = len(SENTENCE), 48
    angles = torch.arange(n).double()[:, None] * 10_000.0 ** (-torch.arange(0, d, 2).double() / d)

    def turned(x):
        a, b = x[..., : d // 2], x[..., d // 2 :]
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    def normed(x, gain):
        return x / (x.square().mean(-1, keepdim=True) + model.config.norm_eps).sqrt() * gain

    x = held["embed.weight"][list(SENTENCE.ids)]
    found = [x]
    for i in range(6):
        at = {name.removeprefix(f"blocks.{i}."): w for name, w in held.items() if name.startswith(f"blocks.{i}.")}
        q, k, v = (
            (normed(x, at["norm1.weight"]) @ at[f"attn.{c}.weight"].T).view(n, 6, d).transpose(0, 1) for c in "qkv"
        )
        scores = turned(q) @ turned(k).mT / d**0.5
        if mask:
            scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
        x = skip * x + (scores.softmax(-1) @ v).transpose(0, 1).flatten(1) @ at["attn.o.weight"].T
        if ffn:
            h = normed(x, at["norm2.weight"])
            made = F.silu(h @ at["ffn.gate.weight"].T) * (h @ at["ffn.up.weight"].T)
            x = skip * x + made @ at["ffn.down.weight"].T
        found.append(x)
    return found


def left(x):
    x = x.numpy()
    return np.linalg.norm(x - x.mean(0)) / np.linalg.norm(x)


@pytest.mark.parametrize(("ffn", "mask"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("stop", [0, 20, 48])
def test_every_wiring_against_a_pass_written_out(ffn, mask, stop):
    found = co.run(co.Demo(SENTENCE, ffn, mask))
    wanted = by_hand(co.SKIPS[stop], ffn, mask)
    np.testing.assert_allclose(found.different[stop], [left(x) for x in wanted], rtol=2e-3, atol=2e-5)
    last = F.normalize(wanted[-1], dim=-1)
    np.testing.assert_allclose(found.alike[stop], (last @ last.T).numpy(), atol=2e-3)


def test_as_trained_is_the_untouched_pass():
    trace = subject.untouched(SENTENCE)
    streams = [trace["block0.resid_pre"].tensor, *(trace[f"block{i}.resid_post"].tensor for i in range(6))]
    np.testing.assert_allclose(co.run(co.Demo(SENTENCE)).different[-1], [left(x) for x in streams], rtol=1e-4)


def test_attention_alone_makes_all_words_one():
    bare = co.run(co.Demo(SENTENCE, ffn=False, mask=False))
    assert (np.diff(bare.different[0]) < 0).all()
    assert bare.different[0, -1] < 1e-3
    assert bare.alike[0].min() > 0.999
    ratios = bare.different[0, 1:5] / bare.different[0, :4]
    assert (np.diff(ratios) < 0).all(), "each block takes a larger share than the one before"
    assert co.run(co.Demo(SENTENCE)).different[-1, -1] > 0.8


def test_the_measure():
    same = torch.ones(5, 3)
    assert co.different(same) == pytest.approx(0)
    assert co.different(torch.tensor([[1.0, 0], [-1, 0]])) == pytest.approx(1)
    assert co.different(torch.tensor([[3.0], [1.0]])) == pytest.approx((2 / 10) ** 0.5)


def test_long_texts_are_cut():
    long = text.exactly("Tom ran to the park. " * 40)
    assert co.run(co.Demo(long)).alike.shape == (49, co.LONGEST, co.LONGEST)
