"""RoPE in its two conventions, against transformers and against complex numbers."""

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama import modeling_llama as hf

from core import rope


def some(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("head_dim", "base"), [(4, 10_000.0), (48, 10_000.0), (128, 1_000_000.0)])
def test_tables_and_rotation_are_those_of_transformers(head_dim, base):
    parameters = {"rope_type": "default", "rope_theta": base}
    config = LlamaConfig(hidden_size=head_dim, num_attention_heads=1, rope_parameters=parameters)
    n, q, k = 9, some(1, 2, 9, head_dim), some(1, 2, 9, head_dim, seed=1)
    cos, sin = hf.LlamaRotaryEmbedding(config)(q, torch.arange(n)[None])
    turn = rope.angles(n, head_dim, base)
    ours = rope.tables(turn)
    torch.testing.assert_close(ours[0], cos[0], atol=1e-6, rtol=0)
    torch.testing.assert_close(ours[1], sin[0], atol=1e-6, rtol=0)
    torch.testing.assert_close(rope.rotate_half(q), hf.rotate_half(q))
    for x, theirs in zip((q, k), hf.apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        torch.testing.assert_close(rope.rotate(x, turn), theirs, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(rope.rotate_by_tables(x, *ours), theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("head_dim", "base"), [(48, 10_000.0), (128, 1_000_000.0)])
def test_far_positions_turn_by_the_same_angles_to_the_last_bit(head_dim, base):
    parameters = {"rope_type": "default", "rope_theta": base}
    config = LlamaConfig(hidden_size=head_dim, num_attention_heads=1, rope_parameters=parameters)
    cos, _ = hf.LlamaRotaryEmbedding(config)(torch.zeros(1), torch.arange(131_072)[None])
    torch.testing.assert_close(
        rope.angles(131_072, head_dim, base).cos(), cos[0, :, : head_dim // 2], atol=1e-6, rtol=0
    )


def test_the_snippet_of_four_numbers():
    assert rope.rotate_half(torch.tensor([0.0, 1.0, 2.0, 3.0])).tolist() == [-2, -3, 0, 1]
    assert rope.adjacent_order(4).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("head_dim", [2, 8, 48])
def test_neighbours_turn_as_complex_numbers_do(head_dim):
    x = some(7, head_dim).double()
    turn = torch.arange(7).double()[:, None] * rope.frequencies(head_dim).double()
    z = (x.numpy()[:, 0::2] + 1j * x.numpy()[:, 1::2]) * np.exp(1j * turn.numpy())
    expected = np.stack([z.real, z.imag], -1).reshape(7, head_dim)
    np.testing.assert_allclose(rope.rotate_adjacent(x, turn).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("head_dim", [4, 48])
def test_a_permutation_makes_both_conventions_equal(head_dim):
    x, turn, order = some(3, 6, head_dim), rope.angles(6, head_dim, 10_000.0), rope.adjacent_order(head_dim)
    torch.testing.assert_close(rope.rotate_adjacent(x[..., order], turn), rope.rotate(x, turn)[..., order])
    assert not torch.allclose(rope.rotate_adjacent(x, turn), rope.rotate(x, turn), atol=0.1)


def test_the_permutation_undoes_the_one_of_the_conversion_script():
    def permute(w, n_heads, dim1, dim2):  # transformers' convert_llama_weights_to_hf.py: "permute for sliced rotary"
        return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)

    meta = some(2 * 8, 5)
    back = permute(meta, 2, 16, 5).view(2, 8, 5)[:, rope.adjacent_order(8)].reshape(16, 5)
    assert torch.equal(back, meta)
