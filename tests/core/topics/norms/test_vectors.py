"""Norms by hand, against NumPy written out and against torch."""

import numpy as np
import pytest
import torch

from core.topics.norms import vectors


def layer(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def rms(x, eps=1e-5):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


@pytest.mark.parametrize("move", vectors.MOVES)
@pytest.mark.parametrize("x", [vectors.SIX, (7.0,) * 6, (0.0,) * 6])
def test_every_stop_is_written_out(move, x):
    found, stops = vectors.moved(x, move, 2), vectors.stops(move, x, 2)
    assert len(stops) >= 43
    rows = []
    for stop in stops:
        row = np.array(x)
        if move == "one":
            row[2] = stop
        rows.append(row + stop if move == "shift" else row * stop if move == "scale" else row)
    rows = np.array(rows)
    np.testing.assert_allclose(found.x, rows, atol=1e-5)
    np.testing.assert_allclose(found.layer, layer(rows), atol=2e-3 if len(set(x)) == 1 else 2e-5)
    np.testing.assert_allclose(found.rms, rms(rows), atol=2e-5)
    np.testing.assert_allclose(found.mean, rows.mean(1), atol=1e-5)
    np.testing.assert_allclose(found.spread, rows.std(1), atol=1e-3 if len(set(x)) == 1 else 1e-5)
    np.testing.assert_allclose(found.size, np.sqrt((rows**2).mean(1)), atol=1e-5)
    np.testing.assert_allclose(found.x[stops.index(vectors.rest(move, x, 2))], x, atol=1e-6)


def test_where_the_sliders_end():
    ends = {
        move: vectors.stops(move, vectors.SIX, 3)[:: len(vectors.stops(move, vectors.SIX, 3)) - 1]
        for move in vectors.MOVES
    }
    assert ends == {"one": (-6.0, 6.0), "shift": (-3.0, 3.0), "scale": (0.0, 2.4)}
    assert 4.44 in vectors.stops("one", (1.0, 4.44), 1)


def test_who_notices():
    found = vectors.notices(vectors.SIX)
    x = np.array(vectors.SIX)
    assert found["shift"][0] < 1e-5
    assert found["shift"][1] == pytest.approx(np.abs(rms(x + 3) - rms(x)).max(), rel=1e-4)
    assert max(found["scale"]) < 1e-4
    assert max(vectors.notices((2.0,) * 6)["shift"]) < 1e-4, "of a constant row neither norm notices anything"


def test_beside_torch():
    x = np.array(vectors.SIX)
    found = vectors.beside_torch(vectors.SIX)
    assert max(found.layer, found.rms) < 1e-6
    wrong = np.abs((x - x.mean()) / x.std(ddof=1) - (x - x.mean()) / x.std()).max()
    assert found.unbiased == pytest.approx(wrong, rel=1e-3)
    assert found.unbiased > 0.1


def test_the_circle_and_the_two_points():
    ends = vectors.flat("rms").points[-1]
    np.testing.assert_allclose(np.linalg.norm(ends, axis=1), np.sqrt(2), rtol=1e-3)
    start = vectors.flat("rms").points[0]
    np.testing.assert_allclose(np.arctan2(*ends.T), np.arctan2(*start.T), atol=1e-5)
    found = vectors.flat("layer").points
    np.testing.assert_allclose(found[30].sum(1), 0, atol=1e-6)  # half way: on the line where the mean is zero
    far = np.abs(start[:, 0] - start[:, 1]) > 0.2
    np.testing.assert_allclose(np.abs(found[-1][far]), 1, atol=2e-3)
    np.testing.assert_allclose(np.sign(found[-1][:, 0]), np.sign(start[:, 0] - start[:, 1]))


def test_eps_inside_and_outside():
    """F-29: x1e-3 1.000 against 1.340; x1e-6 0.0015 against 0.708."""
    found, x = vectors.tiny(), np.array(vectors.FOUR)
    for times, a, b in ((1e-3, 1.000, 1.340), (1e-6, 0.0015, 0.708)):
        at, c = vectors.TINY.index(times), (x - x.mean()) * times
        inside, outside = c / np.sqrt(c.var() + 1e-6), c / (c.std() + 1e-6)
        assert (inside.max(), outside.max()) == (pytest.approx(a, abs=6e-4), pytest.approx(b, abs=6e-4))
        assert (found.largest[0][at], found.largest[1][at]) == (
            pytest.approx(inside.max()),
            pytest.approx(outside.max()),
        )
        assert found.inside[at] == pytest.approx(inside.std())
        assert found.outside[at] == pytest.approx(outside.std())


def test_gain_and_shift_give_back_one_token():
    """F-30: with those of [1, 2, 3, 4] the token [10, 0, -10, 5] comes back as [3.82, 2.31, 0.80, 3.07]."""
    found = vectors.undo()
    a, b = np.array(vectors.FOUR), np.array(vectors.OTHER)
    normed = torch.nn.functional.layer_norm(torch.tensor(b), (4,), eps=0).numpy()
    np.testing.assert_allclose(found.rows[0, 3], normed * a.std() + a.mean(), atol=1e-6)
    np.testing.assert_allclose(found.rows[0, 3], [3.82, 2.31, 0.80, 3.07], atol=5e-3)
    np.testing.assert_allclose(found.rows[0, 1], a)
    np.testing.assert_allclose(found.rows[-1, 3], b, atol=1e-9)
    assert found.off.max(1).min() > 5


def test_float16_squares_what_it_cannot_hold():
    naive, right = vectors.in_half(vectors.SIX, 300.0)
    assert not naive.any()
    np.testing.assert_allclose(right, rms(np.array(vectors.SIX) * 300), atol=2e-3)


def test_the_cloud_lies_where_it_is_said_to_lie():
    """Forty points; of very many the mean is (0.7, 0.2) and each coordinate spreads by 1.1."""
    assert vectors.cloud().shape == (40, 2)
    assert vectors.flat("rms").points.shape == vectors.flat("layer").points.shape == (61, 40, 2)
    many = vectors.cloud(200_000).numpy()
    np.testing.assert_allclose(many.mean(0), [0.7, 0.2], atol=0.01)
    np.testing.assert_allclose(many.std(0), 1.1, atol=0.01)
    torch.testing.assert_close((vectors.cloud() - vectors.cloud(seed=4)).abs().min() > 0, torch.tensor(True))
    np.testing.assert_array_equal(vectors.cloud(), vectors.cloud(seed=3))


@pytest.mark.parametrize(("kind", "frame"), [("rms", 15), ("rms", 45), ("layer", 15), ("layer", 45), ("layer", 60)])
def test_points_move_in_straight_lines(kind, frame):
    """A quarter and three quarters of the way; LayerNorm takes the mean in its first half and the size in its second."""
    x, way = vectors.cloud().numpy(), frame / 60
    if kind == "rms":
        wanted = x + way * (rms(x) - x)
    else:
        centred = x - x.mean(1, keepdims=True)
        wanted = x + 2 * way * (centred - x) if way < 0.5 else centred + (2 * way - 1) * (layer(x) - centred)
    np.testing.assert_allclose(vectors.flat(kind).points[frame], wanted, atol=2e-5)


def test_who_notices_a_short_vector():
    """Where eps counts, doubling is noticed: by as much as NumPy says; and three is added unless told otherwise."""
    x = np.array(vectors.SIX) / 200
    found = vectors.notices(tuple(x.tolist()))
    assert found["scale"] == pytest.approx([np.abs(f(2 * x) - f(x)).max() for f in (layer, rms)], rel=1e-3)
    assert min(found["scale"]) > 0.01
    assert found["shift"][1] == pytest.approx(np.abs(rms(x + 3) - rms(x)).max(), rel=1e-4)
    away = vectors.notices(vectors.SIX, added=-4.5, times=-1.0)
    wide = np.array(vectors.SIX)
    assert away["shift"][1] == pytest.approx(np.abs(rms(wide - 4.5) - rms(wide)).max(), rel=1e-4)
    assert away["scale"] == pytest.approx([2 * np.abs(f(wide)).max() for f in (layer, rms)], rel=1e-4)


def test_a_blend_of_two_tokens_gains_gives_back_neither():
    found, a, b = vectors.undo(), np.array(vectors.FOUR), np.array(vectors.OTHER)
    way = vectors.BLENDS[20]
    gain, shift = ((1 - way) * f(a) + way * f(b) for f in (np.std, np.mean))
    back = [(x - x.mean()) / x.std() * gain + shift for x in (a, b)]
    np.testing.assert_allclose(found.rows[20], [a, back[0], b, back[1]], atol=1e-9)
    np.testing.assert_allclose(found.off[20], [np.abs(back[0] - a).max(), np.abs(back[1] - b).max()], atol=1e-9)
    assert found.rows.shape == (61, 4, 4)


def test_in_half_precision_small_numbers_need_no_help():
    naive, right = vectors.in_half(vectors.SIX, 2.0)
    np.testing.assert_allclose(naive, rms(np.array(vectors.SIX) * 2), atol=4e-3)
    np.testing.assert_allclose(right, naive, atol=4e-3)
