"""Gradients by depth: NumPy's singular values, finite differences through the model, and the facts that are taught."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from core.lab import subject, text
from core.nets import stacks
from core.topics.norms import depth as dp

GIVEN = text.exactly(text.SENTENCE)
NAMES = list(stacks.ARRANGED)


def test_profiles_stand_on_their_top():
    for kind in ("down", "size", "alike"):
        found = dp.profile(kind)
        assert found.middle.shape == (64, 6, 65)
        real = np.isfinite(found.middle)
        assert (real.sum(-1) == np.array(dp.DEPTHS)[:, None] + 1).all()
        assert (found.low[real] <= found.middle[real]).all()
        assert (found.middle[real] <= found.high[real]).all()
    down = dp.profile("down")
    for depth in dp.DEPTHS:
        np.testing.assert_allclose(down.middle[depth - 1, :, depth], 1)


@pytest.mark.parametrize(
    ("name", "depth", "low", "high"),
    [
        ("neither", 64, 1e-18, 1e-15),
        ("neither", 6, 0.02, 0.06),
        ("skips", 6, 300, 2e4),
        ("skips", 64, 1e12, 1e15),
        ("pre", 64, 5, 12),
        ("post", 64, 0.2, 6.5),
        ("sandwich", 64, 5, 15),
        ("norms", 6, 0.2, 0.7),
    ],
)
def test_what_is_left_at_the_bottom(name, depth, low, high):
    """The lab's numbers, all seeds: exploding and vanishing by many powers of ten, norms with skips near one."""
    found = dp.bottom(dp.profile("down"))[depth - 1, NAMES.index(name)]
    assert low < found[0] <= found[1] <= found[2] < high


def test_without_skips_all_tokens_become_one():
    alike = dp.profile("alike").middle[-1]
    assert alike[NAMES.index("norms"), 2] > 0.9
    assert alike[NAMES.index("norms"), 16] > 0.99
    assert alike[NAMES.index("pre"), 2] < 0.4
    assert alike[NAMES.index("pre"), 16] < 0.9


def test_a_profile_again():
    plan = stacks.Plan("post", depth=4, width=64)
    again = dp.gradients(plan, stacks.TEXTS)
    down = dp.profile("down")
    np.testing.assert_allclose(down.middle[3, NAMES.index("post"), :5], np.median(again / again[-1], 1), rtol=0.06)


def test_more_texts_make_every_gradient_smaller_alike():
    """A mean over B times as many letters: each letter's share is B times smaller, the whole length √B times."""
    rows = dp.batches()
    assert rows.shape == (6, 6, 17)
    for row in (NAMES.index("pre"), NAMES.index("sandwich")):
        shrunk = rows[0, row] / rows[-1, row]
        assert (np.abs(np.log(shrunk / np.sqrt(32))) < 0.4).all()


def test_factors_by_hand():
    found = dp.products()
    at = dp.SLOPES.index(-1.0)
    assert found[at, 0].tolist() == [1.0] * 33
    assert found[at, 1].tolist() == [1.0] + [0.0] * 32
    half = dp.SLOPES.index(0.5)
    np.testing.assert_allclose(found[half, :, 10], [0.5**10, 1.5**10])
    low = dp.SLOPES.index(-1.5)
    np.testing.assert_allclose(found[low, :, 3], [3.375, 0.125])
    assert len(dp.SLOPES) >= 43
    assert len(dp.SIZES) >= 43


def test_singular_values_beside_numpys_and_the_bounds():
    """|1 - s| to 1 + s hold every stretch of I + J; at s = 0.9 the smallest is far below one."""
    found = dp.stretches()
    drawn = torch.randn(64, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64).numpy()
    unit = drawn / np.linalg.norm(drawn, 2)
    for at in (0, 18, 40):
        size = dp.SIZES[at]
        wanted = [
            np.linalg.svd(size * unit, compute_uv=False),
            np.linalg.svd(np.eye(64) + size * unit, compute_uv=False),
        ]
        np.testing.assert_allclose(found[at], wanted, atol=1e-9)
        assert found[at, 1, 0] <= 1 + size + 1e-9
        assert found[at, 1, -1] >= 1 - size - 1e-9
    at = dp.SIZES.index(0.9)
    assert 0.38 < found[at, 1, -1] < 0.48
    assert 1.55 < found[at, 1, 0] < 1.75


def test_through_the_model_a_nudge_does_what_the_gradient_says():
    """The mean square of the slope along random directions is |g|² / n: no autograd here."""
    found, model = dp.through(GIVEN), deepcopy(subject.model()).double()
    ids, room = torch.tensor(GIVEN.ids), torch.Generator().manual_seed(1)
    turn, allowed = model.surroundings(len(ids))
    assert found.answer == subject.untouched(GIVEN)["next_probs"].value.argmax()
    for height in (0, 3, 6):
        x = model.stream(ids, until=height).detach()
        ways = torch.randn(60, *x.shape, generator=room, dtype=torch.float64)
        ways /= ways.flatten(1).norm(dim=1)[:, None, None]

        def said(x, height=height):
            for block in model.blocks[height:]:
                x = block(x, turn, allowed)
            return -model.predict(x).log_softmax(-1)[:, found.answer]

        with torch.inference_mode():
            slopes = (said(x + 1e-4 * ways) - said(x - 1e-4 * ways)) / 2e-4
        guessed = float(slopes.square().mean().sqrt()) * x.numel() ** 0.5
        assert found.sizes[height] == pytest.approx(guessed, rel=0.35)


def test_the_plain_copy_is_a_small_part_of_what_comes_down():
    found = dp.through(GIVEN)
    assert found.cosines[-1] == pytest.approx(1)
    assert found.rest[-1] == 0
    assert found.sizes[0] / found.sizes[-1] > 10
    assert found.rest[0] > 10
    assert found.cosines[0] < 0.2


def test_a_profile_is_the_least_the_middle_and_the_most_of_what_is_recorded():
    """From the recording itself, for one arrangement at one depth: the gradient relative to the stack's own top."""
    name, depth = NAMES.index("post"), 9
    recorded = stacks.recorded()
    rows = recorded["down"][name, depth - 1].astype(float)  # (place, seed), powers of ten
    found = dp.profile("down")
    for part, f in ((found.low, np.min), (found.middle, np.median), (found.high, np.max)):
        wanted = f(10 ** (rows[: depth + 1] - rows[depth]), axis=-1)
        np.testing.assert_allclose(part[depth - 1, name, : depth + 1], wanted, rtol=1e-6)
    assert (found.low < found.middle)[depth - 1, name, :depth].all()
    assert (found.middle < found.high)[depth - 1, name, :depth].all()
    for kind, of in (("size", lambda x: 10**x), ("alike", lambda x: x)):
        row = of(recorded[kind][name].astype(float))  # (place, seed): a deeper stack begins as a shallow one does
        found = dp.profile(kind)
        for part, f in ((found.low, np.min), (found.middle, np.median), (found.high, np.max)):
            np.testing.assert_allclose(part[depth - 1, name, : depth + 1], f(row, axis=-1)[: depth + 1], rtol=1e-6)


def test_the_bottom_is_the_first_place_of_all_three():
    found = dp.profile("down")
    ends = dp.bottom(found)
    assert ends.shape == (64, 6, 3)
    for i, part in enumerate((found.low, found.middle, found.high)):
        np.testing.assert_array_equal(ends[:, :, i], part[:, :, 0])


def test_batches_are_the_middle_seed():
    rows = 10 ** stacks.recorded()["batch"].astype(float)  # (arrangement, batch, place, seed)
    np.testing.assert_allclose(dp.batches()[2, 3], np.sort(rows[3, 2], -1)[:, 1])


def test_what_is_drawn_is_drawn_from_the_seed():
    assert dp.stretches().shape == (45, 2, 64)
    np.testing.assert_array_equal(dp.stretches(), dp.stretches(0))
    assert np.abs(dp.stretches(1) - dp.stretches())[1:].max() > 1e-3
    assert dp.products().shape == (81, 2, 33)


def test_what_comes_down_is_measured_against_the_top():
    """Lengths, angles and what was added, from the gradients at three heights by autograd on a stream of one's own."""
    found, model, ids = dp.through(GIVEN), subject.model(), torch.tensor(GIVEN.ids)
    turn, allowed = model.surroundings(len(ids))
    grads = []
    for height in (0, 3, 6):
        start = x = model.stream(ids, until=height).detach().requires_grad_()
        for block in model.blocks[height:]:
            x = block(x, turn, allowed)
        loss = -model.predict(x).log_softmax(-1)[found.answer]
        grads.append(torch.autograd.grad(loss, start)[0].double().flatten().numpy())
    top = grads[-1]
    for height, one in zip((0, 3, 6), grads, strict=True):
        assert found.sizes[height] == pytest.approx(np.linalg.norm(one), rel=1e-3)
        assert found.cosines[height] == pytest.approx(one @ top / np.linalg.norm(one) / np.linalg.norm(top), abs=1e-3)
        assert found.rest[height] == pytest.approx(np.linalg.norm(one - top) / np.linalg.norm(top), rel=1e-3, abs=1e-6)
    assert len(found.sizes) == len(found.cosines) == len(found.rest) == 7
