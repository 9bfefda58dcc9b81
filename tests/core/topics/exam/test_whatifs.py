"""What ifs: recorded curves are what training gives, and the texts' facts are in them."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.make import whatifs as made
from core.nets import cheat, lookups
from core.topics.exam import whatifs as wi


def test_the_first_steps_are_trained_again():
    found = made.scaled(0, scaling=False, steps=10)
    np.testing.assert_allclose(found, lookups.curves().scaled[1, 0, :3], rtol=5e-3, atol=5e-3)
    right, _looks = made.two(1, 8, steps=75)
    np.testing.assert_allclose(right, lookups.curves().two[3, 1, :4], atol=0.02)


def test_a_look_up_is_attention():
    w_q, w_k, generator = lookups.drawn(4)
    keys, query, asked = lookups.task(generator)
    q, k = (query @ w_q)[:, None], keys @ w_k
    values = torch.eye(lookups.KEYS).expand(len(keys), -1, -1)
    wanted = F.scaled_dot_product_attention(q, k, values)[:, 0]
    found = lookups.looked_up(w_q, w_k, keys, query, scaling=True)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
    assert lookups.squared_error(F.one_hot(asked, lookups.KEYS).float(), asked) == 0
    scores = torch.einsum("bd,bnd->bn", query @ w_q, k)
    assert float(scores.detach().std()) == pytest.approx((lookups.D_K * (1 + lookups.NOISE**2)) ** 0.5, rel=0.15), (
        "of the order of √d_k"
    )


def test_heads_share_one_number_of_parameters():
    assert lookups.parameters() == sum(w.numel() for w in lookups.two_drawn(0).values()) == 5008
    weights = lookups.two_drawn(0)
    letters, marks, asked = lookups.two_task(torch.Generator().manual_seed(0), 16)
    assert ((marks == 1).sum(-1) == 1).all()
    assert (letters[marks == 2] == asked[:, 1]).all()
    for heads in lookups.HEADS:
        _logits, looks = lookups.two_read(weights, letters, marks, heads)
        assert looks.shape == (16, heads, lookups.PLACES)
        torch.testing.assert_close(looks.sum(-1), torch.ones(16, heads))


def test_without_scaling_it_is_slower_and_learns():
    found = wi.scaling()
    assert found.accuracy[0] == pytest.approx([1, 1], abs=0.01)
    assert found.accuracy[1, 0] < 0.4 < 0.85 < found.accuracy[1, 1]
    assert found.last[1] > 0.98
    assert 10 < found.gradient[1] / found.gradient[0] < 40, "the first gradient is larger, not zero"
    assert 0.1 < found.dead[1] < 0.6
    assert wi.left_over(22) == pytest.approx(1 - 1 / (1 + math.exp(-22)), rel=1e-5)
    assert wi.left_over(22) == pytest.approx(2.79e-10, rel=1e-3)


def test_the_curves_are_read_where_they_say(monkeypatch):
    """A table whose every cell is another number: (ways, seeds, steps, measures), the mean over two seeds."""
    table = np.arange(2 * 2 * len(lookups.SEEN) * 4, dtype=float).reshape(2, 2, -1, 4)
    monkeypatch.setattr(lookups, "curves", lambda: lookups.Curves(table, table, table))
    found, mean = wi.scaling(), (table[:, 0] + table[:, 1]) / 2
    at = [lookups.SEEN.index(step) for step in wi.STEPS]
    assert (found.accuracy == mean[:, at][..., 0]).all()
    assert (found.last == mean[:, len(lookups.SEEN) - 1, 0]).all()
    assert (found.loss == mean[:, 0, 1]).all()
    assert (found.gradient == mean[:, 0, 2]).all()
    assert (found.dead == mean[:, 0, 3]).all()


def test_one_head_names_both_letters_and_needs_longer():
    found = wi.heads()
    assert (found.right > 0.995).all()
    assert found.steps[0] > 2 * found.steps[-1]
    assert found.marked == pytest.approx(0.5, abs=0.02)


def test_without_a_mask_the_loss_is_too_good_and_the_writing_is_not():
    found = wi.mask()
    assert found.losses[1, 1] < 0.01 < found.entropy <= found.losses[0, 0] < found.losses[1, 0]
    assert found.masked.right == found.masked.sentences > 4
    assert found.opened.right < 0.2 * found.opened.sentences
    assert found.entropy == pytest.approx(cheat.ENTROPY)
