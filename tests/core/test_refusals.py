"""What the parts of core refuse, in words, instead of computing something else in silence."""

import math

import pytest
import torch

from core.attention import allowed_pairs
from core.norms import LayerNorm, RMSNorm
from core.positions import alibi_slopes, sinusoids
from core.rope import rotate, rotate_adjacent


@pytest.mark.parametrize(("kind", "window"), [("window", 0), ("window", None), ("window", -1), ("typo", None)])
def test_a_mask_that_is_none_is_no_causal_one(kind, window):
    with pytest.raises(ValueError, match=f"mask '{kind}' with window {window}"):
        allowed_pairs(kind, 4, window)


def test_masks_by_hand():
    assert allowed_pairs("none", 2).tolist() == [[True, True], [True, True]]
    assert allowed_pairs("causal", 2).tolist() == [[True, False], [True, True]]
    assert allowed_pairs("window", 3, 1).tolist() == torch.eye(3).bool().tolist()
    assert allowed_pairs("window", 3, 2).tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
@pytest.mark.parametrize("shape", [(3, 1), (3, 5), ()])
def test_a_norm_knows_its_width(norm, shape):
    with pytest.raises(ValueError, match="width 4"):
        norm(4, 1e-6)(torch.ones(shape))


@pytest.mark.parametrize("turned", [rotate, rotate_adjacent])
@pytest.mark.parametrize(("numbers", "angles"), [(8, 1), (8, 8), (7, 3)])
def test_one_angle_turns_two_numbers(turned, numbers, angles):
    with pytest.raises(ValueError, match=f"{numbers} numbers are no pairs for {angles} angles"):
        turned(torch.ones(5, numbers), torch.ones(5, angles))


def test_sinusoids_of_many_bases_are_those_of_each():
    many = sinusoids(5, 6, torch.tensor([[10.0], [1e4]], dtype=torch.float64), first=3)
    assert many.shape == (2, 1, 5, 6)
    for base, table in zip((10.0, 1e4), many[:, 0], strict=True):
        wanted = [math.sin(7 * base ** (-4 / 6)), math.cos(7 * base ** (-4 / 6))]
        assert table[4, 4:].tolist() == pytest.approx(wanted, abs=1e-12)
    for base in (0.0, -1.0, torch.tensor([10.0, 0.0])):
        with pytest.raises(ValueError, match="must be positive"):
            sinusoids(5, 6, base)


def test_no_head_has_no_slope():
    with pytest.raises(ValueError, match="0 heads"):
        alibi_slopes(0)
