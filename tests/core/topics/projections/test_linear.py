"""What a linear layer is: arrows, deformation, stacking, shapes, cost and the library, by hand, NumPy and torch."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention

from core.topics.projections import linear as ln


def stop(q, k):
    return ln.DEGREES.index(q) * len(ln.DEGREES) + ln.DEGREES.index(k)


@pytest.mark.parametrize(
    ("q", "k", "dot", "angle"), [(0, 0, 1, 0), (90, 0, 0, 90), (180, 0, -1, 180), (350, 10, None, 20)]
)
@pytest.mark.parametrize("long", ln.LONG)
def test_two_arrows(q, k, dot, angle, long):
    made, at = ln.arrows(long), stop(q, k)
    dot = math.cos(math.radians(20)) if dot is None else dot
    assert made.dot[at] == pytest.approx(dot * long, abs=1e-6)
    assert made.cosine[at] == pytest.approx(dot, abs=1e-6)
    assert made.angle[at] == pytest.approx(angle, abs=1e-4)
    one, other = made.tips[at]
    assert one @ other == pytest.approx(made.dot[at], abs=1e-6)
    assert np.linalg.norm(other) == pytest.approx(long)


MATRICES = [
    *ln.PRESETS.values(),
    (1.2, 0.6, -0.3, 0.9),
    (0.0, 0.0, 0.0, 0.0),
    (-2.0, 0.0, 0.0, -2.0),
    (1.0, 2.0, 2.0, -1.0),
]


def test_the_presets_do_what_they_are_called():
    made = {name: np.array(entries).reshape(2, 2) for name, entries in ln.PRESETS.items()}
    for name, sign in (("rotate", 1), ("mirror", -1)):
        np.testing.assert_allclose(made[name] @ made[name].T, np.eye(2), atol=1e-9, err_msg=name)
        assert np.linalg.det(made[name]) == pytest.approx(sign)
    assert made["scale"][0, 1] == made["scale"][1, 0] == 0
    assert made["shear"].diagonal().tolist() == [1, 1]
    assert np.count_nonzero(made["shear"]) == 3
    assert {entry for entries in ln.PRESETS.values() for entry in entries} <= set(ln.ENTRIES)


@pytest.mark.parametrize("entries", MATRICES)
def test_a_deformation_ends_in_the_matrix(entries):
    made, m = ln.deform(*entries), np.array(entries).reshape(2, 2)
    np.testing.assert_allclose(made.grid[-1], made.grid[0] @ m.T, atol=1e-5)
    np.testing.assert_allclose(made.circle[-1], made.circle[0] @ m.T, atol=1e-5)
    assert len(made.grid) == 3 * ln.STEPS + 1
    np.testing.assert_allclose(np.abs(made.stretch), np.linalg.svd(m, compute_uv=False), atol=1e-6)
    assert made.determinant == pytest.approx(np.linalg.det(m), abs=1e-9)
    assert made.rank == np.linalg.matrix_rank(m)
    assert math.prod(made.stretch) == pytest.approx(np.linalg.det(m), abs=1e-9)


@pytest.mark.parametrize("entries", MATRICES)
def test_the_first_and_last_stage_only_turn(entries):
    made = ln.deform(*entries)
    for stage in (range(ln.STEPS + 1), range(2 * ln.STEPS, 3 * ln.STEPS + 1)):
        lengths = np.linalg.norm(made.circle[list(stage)], axis=-1)
        np.testing.assert_allclose(lengths - lengths[0], 0, atol=1e-5)
    assert abs(made.turns[0]) <= 90.001
    crossing = (made.arrows[-1][0] * made.arrows[-1][1]).sum()  # the two directions stay at right angles
    assert crossing == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("seed", [0, 3])
def test_linear_layers_collapse_and_bent_ones_do_not(seed):
    made = ln.stack(seed)
    again = torch.Generator().manual_seed(seed)
    weights = torch.randn(ln.DEEPEST, ln.WIDTH, ln.WIDTH, generator=again) * (1.6 / ln.WIDTH**0.5)
    direction = torch.randn(ln.WIDTH, generator=again)
    x = torch.linspace(-3, 3, 121)[:, None] * direction / direction.norm()
    layers = []
    for depth, w in enumerate(weights):
        linear = nn.Linear(ln.WIDTH, ln.WIDTH, bias=False)
        linear.weight.data = w.T
        layers += [nn.SiLU(), linear] if layers else [linear]
        bent = nn.Sequential(*layers)(x)[:, 0].detach()
        straight = (x @ torch.linalg.multi_dot([*weights[: depth + 1], torch.eye(ln.WIDTH)]))[:, 0]
        np.testing.assert_allclose(made.values[depth, 0], straight / straight.abs().max(), atol=1e-4)
        np.testing.assert_allclose(made.values[depth, 1], bent / bent.abs().max(), atol=1e-4)
    assert made.gap.max() < 1e-5
    assert made.left[:, 0].max() < 1e-8
    assert made.left[0, 1] < 1e-8
    assert (made.left[1:, 1] > 0.02).all()


@pytest.mark.parametrize("bias", [True, False])
def test_torch_answers_for_itself(bias):
    good = ln.call(8, 5, bias, (2, 5, 8))
    assert (good.failed, good.params) == (False, sum(p.numel() for p in nn.Linear(8, 5, bias=bias).parameters()))
    assert good.answer.splitlines() == ["torch.Size([5, 8])", "torch.Size([2, 5, 5])"]
    bad = ln.call(8, 5, bias, (2, 5, 4))
    assert bad.failed
    assert "mat1 and mat2 shapes cannot be multiplied (10x4 and 8x5)" in bad.answer


@pytest.mark.parametrize(
    "called", [ln.call(4, 3, False, (2, 5, 4)), ln.call(2, 3, True, (2, 5, 2)), ln.trio(16, (1, 7, 16))]
)
def test_the_code_shown_prints_the_answer_shown(called, capsys):
    exec(called.code, {"nn": nn, "torch": torch})  # our own text, with numbers in it
    printed = capsys.readouterr().out.split()
    assert printed == called.answer.split()


def test_the_projections_of_qwen3_8b():
    config = Qwen3Config(hidden_size=4096, num_attention_heads=32, num_key_value_heads=8, head_dim=128)
    with torch.device("meta"):
        theirs = Qwen3Attention(config, 0)
    for layer in ln.projections(ln.QWEN3_8B):
        real = getattr(theirs, layer.name)
        assert (real.in_features, real.out_features, real.bias is not None) == (layer.n_in, layer.n_out, layer.bias)
        assert layer.params == real.weight.numel()
        with FlopCounterMode(display=False) as counter:
            real(torch.zeros(1, 4096, device="meta"))
        assert layer.flops == counter.get_total_flops()
    q = ln.projections(ln.QWEN3_8B)[0]
    assert (q.macs, q.flops) == (16_777_216, 33_554_432)


def test_a_bias_costs_one_number_and_one_addition_for_each_output():
    plain, biased = (ln.Layer("x", 6, 4, bias) for bias in (False, True))
    assert (plain.params, plain.flops) == (24, 48)
    assert (biased.params, biased.macs, biased.flops) == (28, 24, 52)


def test_shapes_of_one_head():
    made = ln.Shapes(7, 20, 4, 6)
    x, wq, wk, wv = (np.zeros(made.all[n]) for n in ("X", "W^Q", "W^K", "W^V"))
    q, k, v = x @ wq, x @ wk, x @ wv
    assert [a.shape for a in (q, k, v, q @ k.T, (q @ k.T) @ v)] == [
        made.all[n] for n in ("Q", "K", "V", "QK^\\top", "Z")
    ]
    assert made.params == wq.size + wk.size + wv.size
    assert made.macs == 7 * made.params


@pytest.mark.parametrize("asked", [(1, 1, 0, 0, 0), (0, 1, 0, 1, 1), (0, 0, 0, 0, 0)])
def test_the_library_is_a_softmax(asked):
    made = ln.library(tuple(map(float, asked)))
    scores = np.array([np.dot(asked, keys) for keys, _ in ln.BOOKS.values()])
    np.testing.assert_allclose(made.scores, scores)
    for frame in (0, 11, len(ln.TEMPERATURES) - 1):
        e = np.exp((scores - scores.max()) / ln.TEMPERATURES[frame])
        np.testing.assert_allclose(made.shares[frame], e / e.sum(), atol=1e-6)
        contents = np.array([held for _, held in ln.BOOKS.values()])
        np.testing.assert_allclose(made.mixture[frame], e / e.sum() @ contents, atol=1e-6)
    np.testing.assert_allclose(made.mixture.sum(1), 1, atol=1e-6)
    with pytest.raises(ValueError, match="3 numbers for 5 tags"):
        ln.library((1.0, 0.0, 0.0))


def test_one_wish_grows_and_every_book_answers():
    made = ln.wished()
    assert (len(ln.WISHES), ln.WISHES[0], ln.WISHES[12], ln.WISHES[-1]) == (49, 0, 1, 4)
    for i, wish in enumerate(ln.WISHES):
        scores = np.array([1 + wish, 1, wish])
        np.testing.assert_allclose(made.scores[i], scores, atol=1e-6)
        np.testing.assert_allclose(made.shares[i], np.exp(scores) / np.exp(scores).sum(), atol=1e-6)
    np.testing.assert_allclose(
        made.shares[12], ln.library((1, 1, 0, 0, 0)).shares[ln.TEMPERATURES.index(1.0)], atol=1e-6
    )
    np.testing.assert_allclose(made.mixture.sum(1), 1, atol=1e-6)


def test_the_library_in_circulation_is_no_softmax():
    made = ln.quoted()
    assert made.softmax == pytest.approx((0.51, 0.22, 0.27), abs=5e-3)
    assert made.total == pytest.approx(0.86)
    assert made.needed == pytest.approx((0.20, 0.42), abs=5e-3)
    for one, other, heat in ((0, 1, made.needed[0]), (0, 2, made.needed[1])):
        scores, shares = ln.QUOTED
        assert math.exp((scores[one] - scores[other]) / heat) == pytest.approx(shares[one] / shares[other])


@pytest.mark.parametrize(
    ("n_in", "shape", "error"),
    [(-1, (2,), "RuntimeError"), (2, (2.5, 2), "TypeError"), (2, (10**20, 2), "TypeError"), (2, (), "RuntimeError")],
)
def test_whatever_is_asked_torch_answers(n_in, shape, error):
    found = ln.call(n_in, 3, True, shape)
    assert found.failed
    assert f"{error}: " in found.answer


def test_every_pair_of_angles_has_its_picture():
    """The angle between two arrows is what their degrees are apart, the short way round."""
    made = ln.arrows(0.5)
    q, k = (part.flatten() for part in np.meshgrid(ln.DEGREES, ln.DEGREES, indexing="ij"))
    apart = np.abs(q - k) % 360
    np.testing.assert_allclose(made.angle, np.minimum(apart, 360 - apart), atol=1e-4)
    np.testing.assert_allclose(made.dot, 0.5 * np.cos(np.radians(q - k)), atol=1e-6)
    np.testing.assert_allclose(made.tips[:, 0], np.stack([np.cos(np.radians(q)), np.sin(np.radians(q))], 1), atol=1e-6)
    assert np.abs(made.cosine).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(ln.arrows().tips, axis=-1), 1, atol=1e-6)


def turned(degrees):
    a = math.radians(degrees)
    return np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])


@pytest.mark.parametrize("entries", MATRICES)
def test_half_way_through_each_stage(entries):
    """Half of the first turn; all of it and half of the stretching; both and half of the second turn."""
    made = ln.deform(*entries)
    first, second = (turned(one) for one in made.turns)
    stretch = np.diag(made.stretch)
    np.testing.assert_allclose(second @ stretch @ first, np.array(entries).reshape(2, 2), atol=1e-6)
    half = (np.eye(2) + stretch) / 2
    stages = {10: turned(made.turns[0] / 2), 20: first, 30: half @ first, 40: stretch @ first}
    stages[50] = turned(made.turns[1] / 2) @ stretch @ first
    for frame, map_ in stages.items():
        np.testing.assert_allclose(made.grid[frame], made.grid[0] @ map_.T, atol=1e-5)
        np.testing.assert_allclose(made.circle[frame], made.circle[0] @ map_.T, atol=1e-5)
    np.testing.assert_allclose(made.arrows[0], first, atol=1e-6)  # the two directions that only get longer
    np.testing.assert_allclose(made.arrows[20], np.eye(2), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(made.arrows[-1], axis=1), np.abs(made.stretch), atol=1e-6)


def test_the_plane_before_anything_happens():
    """Nine lines each way from -2 to 2, and a circle of radius one that closes."""
    made = ln.deform(*ln.PRESETS["shear"])
    assert made.grid.shape == (61, 18, 2, 2)
    wanted = [((x, -2), (x, 2)) for x in np.linspace(-2, 2, 9)]
    np.testing.assert_allclose(made.grid[0], [*wanted, *np.flip(wanted, -1)], atol=1e-6)
    assert made.circle.shape == (61, 1, 65, 2)
    around = np.radians(np.linspace(0, 360, 65))
    np.testing.assert_allclose(made.circle[0, 0], np.stack([np.cos(around), np.sin(around)], 1), atol=1e-6)


@pytest.mark.parametrize(("entries", "rank"), [((1e-3, 0, 0, 1e-3), 2), ((1e-3, 0, 0, 0), 1), ((0, 0, 0, 0), 0)])
def test_a_small_matrix_has_its_rank(entries, rank):
    assert ln.deform(*map(float, entries)).rank == rank


def test_what_no_matrix_explains_is_numpys_rest():
    """512 random points through three bent layers, and the best matrix for each depth by NumPy."""
    made, again = ln.stack(1), torch.Generator().manual_seed(1)
    weights = torch.randn(ln.DEEPEST, ln.WIDTH, ln.WIDTH, generator=again) * (1.6 / ln.WIDTH**0.5)
    torch.randn(ln.WIDTH, generator=again)
    x = torch.randn(512, ln.WIDTH, generator=again).numpy()
    y = x
    for depth in range(3):
        y = (y / (1 + np.exp(-y)) if depth else y) @ weights[depth].numpy()
        rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        assert made.left[depth, 1] == pytest.approx((rest**2).sum() / (y**2).sum(), abs=1e-5)
    np.testing.assert_allclose(made.xs, np.linspace(-3, 3, 121), atol=1e-6)
    assert (made.values.shape, made.left.shape, made.gap.shape) == ((8, 2, 121), (8, 2), (8,))
    np.testing.assert_allclose(np.abs(made.values).max(-1), 1)


def test_the_parameters_of_a_call_are_counted_where_there_is_a_layer():
    assert ln.call(8, 5, True, (2, 4)).params == 8 * 5 + 5, "the layer is there, its input does not fit"
    assert ln.call(-1, 5, True, (2,)).params == 0, "no layer at all"
    assert ln.trio(16, (1, 7, 16)).params == 3 * 16 * 16
    assert not ln.trio(16, (1, 7, 16)).failed
