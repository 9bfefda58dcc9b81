"""The NumPy encoder against torch's own layers, and the numbers it is known to give."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import in_numpy


def test_the_program_gives_the_known_range():
    out = in_numpy.run()
    assert out.shape == (2, 10, 64)
    assert (out.low, out.high) == (pytest.approx(-2.985, abs=5e-4), pytest.approx(2.830, abs=5e-4))


def test_three_numbers_cannot_transpose_four_axes():
    with pytest.raises(ValueError, match="axes") as caught:
        np.ones((2, 8, 10, 8)).transpose(0, 2, 1)
    assert in_numpy.run().stops == str(caught.value)


def test_a_block_is_torchs_encoder_layer():
    block = in_numpy.Block(np.random.RandomState(3), 16, 4, 32)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, bias=False, batch_first=True, layer_norm_eps=1e-6)
    layer = layer.double().eval()
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.tensor(np.hstack([block.w_q, block.w_k, block.w_v]).T))
        layer.self_attn.out_proj.weight.copy_(torch.tensor(block.w_o.T))
        layer.linear1.weight.copy_(torch.tensor(block.w_1.T))
        layer.linear2.weight.copy_(torch.tensor(block.w_2.T))
        x = np.random.RandomState(4).randn(2, 5, 16)
        np.testing.assert_allclose(block(x), layer(torch.tensor(x)).numpy(), atol=1e-10)


@pytest.mark.parametrize("large", [0.0, 1e4, -1e4])
def test_softmax_is_torchs_however_large_the_scores(large):
    scores = np.random.RandomState(6).randn(3, 5) + large
    np.testing.assert_allclose(in_numpy.softmax(scores), torch.tensor(scores).softmax(-1).numpy(), rtol=1e-12)


def test_attention_with_a_mask_is_torchs():
    q, k, v = np.random.RandomState(5).randn(3, 2, 4, 6, 8)
    allowed = np.tri(6, dtype=bool)
    wanted = F.scaled_dot_product_attention(*map(torch.tensor, (q, k, v)), attn_mask=torch.tensor(allowed))
    np.testing.assert_allclose(in_numpy.attend(q, k, v, allowed), wanted.numpy(), atol=1e-12)


def test_positions_are_sines_and_cosines():
    table = in_numpy.positions(4, 6)
    assert table[3, 2] == pytest.approx(np.sin(3 / 10_000 ** (2 / 6)))
    assert table[3, 5] == pytest.approx(np.cos(3 / 10_000 ** (4 / 6)))
