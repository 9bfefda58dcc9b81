"""Which tiles a kernel may skip, counted by hand."""

import numpy as np
import pytest

from core.topics.efficient import skipped


def by_hand(allowed, size):
    n, found = len(allowed), 0
    for i in range(0, n, size):
        for j in range(0, n, size):
            found += any(allowed[a][b] for a in range(i, i + size) for b in range(j, j + size))
    return found


@pytest.mark.parametrize("kind", skipped.KINDS)
def test_a_tile_is_computed_if_one_pair_in_it_is_open(kind):
    found = skipped.run(kind)
    allowed = (found.cells[0] == 1).tolist()
    assert sum(map(sum, allowed)) == found.open
    for k, size in enumerate(skipped.SIZES):
        assert found.computed[k] == by_hand(allowed, size)
        assert found.tiles[k] == (64 // size) ** 2
        assert found.pairs[k] == (found.cells[k] > 0).sum() == found.computed[k] * size**2
        mine = [np.array(allowed)[i : i + size, j : j + size].mean() for i in (0, 64 - size) for j in (0, 64 - size)]
        ends = [found.cells[k][i, j] for i in (0, 63) for j in (0, 63)]
        np.testing.assert_allclose(ends, mine, atol=1e-6)


def test_a_causal_mask_saves_almost_half_and_luck_saves_nothing():
    causal, luck = skipped.run("causal"), skipped.run("random")
    size = skipped.SIZES.index(4)
    assert causal.computed[size] == 16 * 17 // 2
    assert causal.pairs[0] == causal.open == 64 * 65 // 2
    assert luck.open < 0.25 * causal.open
    assert luck.pairs[skipped.SIZES.index(16)] == causal.pairs[skipped.SIZES.index(16)], "every tile has an open pair"


def test_there_is_no_other_kind():
    with pytest.raises(KeyError):
        skipped.run("best")
