"""Flash against torch's own kernel, whatever the tiles; what is recorded against sums written out in NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.topics.efficient import flash as fl
from core.topics.efficient import instead as ins


def drawn(n=21, d=6, heads=2):
    generator = torch.Generator().manual_seed(3)
    return (3 * torch.randn(heads, n, d, generator=generator, dtype=torch.float64) for _ in range(3))


@pytest.mark.parametrize("tile", [1, 4, 5, 21, 64])
def test_tiles_of_any_size_give_what_the_kernel_gives(tile):
    q, k, v = drawn()
    for allowed in (torch.ones(21, 21, dtype=torch.bool), torch.ones(21, 21).tril().bool()):
        kernel = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        torch.testing.assert_close(fl.flash(q, k, v, allowed, tile), kernel, rtol=1e-12, atol=1e-12)


def test_any_order_will_do_and_forgetting_to_rescale_will_not():
    q, k, v = drawn()
    allowed = torch.ones(21, 21).tril().bool()
    kernel = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(fl.flash(q, k, v, allowed, 4, order=(3, 0, 5, 1, 4, 2)), kernel)
    assert (fl.flash(q, k, v, allowed, 4, rescale=False) - kernel).abs().max() > 0.1


def test_a_query_that_may_look_nowhere_takes_home_zeros():
    q, k, v = drawn()
    allowed = torch.ones(21, 21, dtype=torch.bool)
    allowed[4] = False
    out = fl.flash(q, k, v, allowed, 4)
    assert (out[:, 4] == 0).all()
    assert out.isfinite().all()


def test_a_real_head_needs_no_square():
    found = fl.tiles(fl.Demo(fl.story()))
    assert found.gap < 5e-6
    assert found.away[-1] < 1e-5 < 0.05 < found.away[-2], "the last tile counts"
    assert found.wrong[-1] > 0.5
    assert found.held == (65536, 1024)
    assert len(found.high) == 64
    coarse = fl.tiles(fl.Demo(fl.story(), tile=16)).rescaled
    assert coarse[0] == pytest.approx(1.1, abs=0.05)
    assert coarse[1] == 6
    scores = found.scores
    for tile in (0, 9, 63):
        met = scores[: 4 * (tile + 1)].astype(np.float64)
        assert found.high[tile] == pytest.approx(met.max(), abs=1e-5)
        assert found.total[tile] == pytest.approx(np.exp(met - met.max()).sum(), rel=1e-5)


def test_memory_is_counted_where_torch_takes_it():
    taken = fl._peak(lambda: torch.zeros(1000, 1000) + 1)
    assert 8e6 <= taken < 8.1e6
    with pytest.raises(ValueError, match="4096"):
        fl.measured(8192)
    small = fl.measured(256)
    assert small.plain_bytes >= 2 * 4 * 256**2, "scores and weights"
    assert small.flash_bytes < small.plain_bytes
    assert small.gap < 1e-5


def test_the_recording_shows_a_square_and_a_line():
    by = {one.n: one for one in fl.recorded()}
    assert by[8192].plain_bytes / by[4096].plain_bytes == pytest.approx(4, abs=0.1)
    assert by[8192].flash_bytes / by[4096].flash_bytes < 2.1
    assert by[8192].plain_bytes > 200 * by[8192].flash_bytes
    assert by[8192].plain_seconds > 2 * by[8192].flash_seconds


def test_traffic_tends_to_two_rows_over_d():
    plain, tiled = fl.traffic(131_072, 128, 64)
    assert plain / tiled == pytest.approx(2 * 64 / 128, rel=0.02)


def test_forgetting_costs_what_is_recorded():
    assert ins.recorded().nats["forgetful"][0] == pytest.approx(3.80, abs=0.01)


def test_traffic_is_what_two_loops_read_and_write():
    n, d, rows = 10, 3, 4
    plain = sum(n * d for _one in "qkvo")  # q, k, v and the output
    plain += sum(n * n for _time in ("scores out", "scores in", "weights out", "weights in"))
    tiled = sum(d for _query in range(n)) * 2  # each query in, its output out
    for _block in range(0, n, rows):
        tiled += sum(2 * d for _key in range(n))
    assert fl.traffic(n, d, rows) == (plain, tiled)


def test_the_last_query_on_its_way_through_the_tiles():
    """Every tile's state once more from the head's own vectors, in float64."""
    demo = fl.Demo(fl.story(), tile=32)
    found, (q, k, v) = fl.tiles(demo), (x.double().numpy() for x in fl.vectors(demo))
    scores = k @ q[-1] / 48**0.5
    np.testing.assert_allclose(found.scores, scores, atol=1e-4)
    powers = np.exp(scores - scores.max())
    plain = powers @ v / powers.sum()
    before = -np.inf
    forgetful, sums = np.zeros(48), 0.0
    for tile in range(8):
        met, end = scores[32 * tile : 32 * tile + 32], 32 * tile + 32
        high = max(before, met.max())
        assert found.factor[tile] == pytest.approx(np.exp(before - high), abs=1e-4)
        so_far = np.exp(scores[:end] - high)
        off = np.linalg.norm(so_far @ v[:end] / so_far.sum() - plain) / np.linalg.norm(plain)
        assert found.away[tile] == pytest.approx(off, abs=1e-4)
        new = np.exp(met - high)
        forgetful, sums = forgetful + new @ v[end - 32 : end], sums + new.sum()
        off = np.linalg.norm(forgetful / sums - plain) / np.linalg.norm(plain)
        assert found.wrong[tile] == pytest.approx(off, abs=1e-3)
        before = high


def test_what_is_measured_is_one_head_of_48_numbers():
    """Scores and weights are squares; the output is 64 x 48."""
    small = fl.measure(64)
    assert small.flash_bytes >= 4 * 64 * 48
    assert 2 * 4 * 64**2 <= small.plain_bytes <= 4 * (3 * 64**2 + 2 * 64 * 48)


def test_of_two_times_the_shorter_one_counts(monkeypatch):
    """By a clock that is wound by hand."""
    clock = iter((10.0, 13.0, 20.0, 22.0))
    monkeypatch.setattr(fl.time, "thread_time", lambda: next(clock))
    assert fl._seconds(lambda: torch.zeros(1)) == 2.0
    assert next(clock, None) is None
