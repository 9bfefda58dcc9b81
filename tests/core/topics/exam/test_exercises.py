"""The exercises: every answer against a count by hand, NumPy, or a law."""

import itertools
import math

import numpy as np
import pytest
import torch

from core.lab import subject, text
from core.topics.exam import block_work, manifold, mask_code, offsets, painted, waves

# ---- a painted map ----


def test_three_words_and_nothing_else_are_read():
    found, starts = painted.text_of("I love AI")
    assert (found.tokens, starts) == (("<s>", "I", "love", "A", "·I"), (1, 2, 3))
    for line in ("I love", "I love my AI", "", "   ", "🙂"):
        assert painted.text_of(line) is None, line
    assert painted.text_of("你 好 吗") is not None


def test_a_word_asks_with_its_last_piece_and_is_read_in_all():
    whole, starts = painted.text_of("I love AI")
    found = painted.heads(whole, starts)
    weights = subject.untouched(whole)["block3.weights"].value[2].astype(float)
    rows = [[weights[q, 1], weights[q, 2], weights[q, 3] + weights[q, 4]] for q in (1, 2, 4)]
    by_hand = np.array(rows) / np.sum(rows, -1, keepdims=True)
    np.testing.assert_allclose(found.maps[3 * 6 + 2], by_hand, atol=1e-6)
    assert found.names[3 * 6 + 2] == "3.2"
    every = np.concatenate([subject.untouched(whole)[f"block{i}.weights"].value for i in range(6)])
    assert found.start == pytest.approx(every[:, [1, 2, 4], 0].mean(), abs=1e-6)


def test_rows_are_shared_out_and_the_future_taken_off():
    levels = (0, 0, 1, 1, 2, 1, 0, 0, 0)
    np.testing.assert_allclose(painted.normalised(levels), [[0, 0, 1], [0.25, 0.5, 0.25], [0, 0, 0]])
    np.testing.assert_allclose(painted.normalised(levels, causal=True)[:2], [[0, 0, 0], [1 / 3, 2 / 3, 0]])


def test_the_nearest_head_is_the_one_that_was_copied():
    found = painted.heads(*painted.text_of("I love AI"))
    for i in (0, 17, 35):
        apart = painted.away(found.maps[i], found)
        assert apart.argmin() == i
        assert apart[i] == pytest.approx(0, abs=1e-9)
        assert apart.max() <= 1


def test_pressing_goes_round_and_spelling_comes_back():
    levels = (0,) * 9
    for _ in range(4):
        levels = painted.pressed(levels, frozenset({(1, 2)}))
    assert levels == (0,) * 9
    one = painted.pressed(levels, frozenset({(0, 0), (2, 1)}))
    assert one == (1, 0, 0, 0, 0, 0, 0, 1, 0)
    assert painted.unspell(painted.spell(one)) == one
    assert painted.spell((0,) * 9) == ""
    assert {painted.unspell(junk) for junk in ("", "12345678", "00000000x", "444444444", "٣" * 9)} == {None}


def test_a_word_without_a_piece_is_refused():
    whole, _starts = painted.text_of("I love AI")
    for starts in ((0, 1, 2), (1, 1, 2), (1, 2, 9)):
        with pytest.raises(text.Cannot):
            painted.heads(whole, starts)


# ---- FLOPs ----


@pytest.mark.parametrize(("n", "d", "h"), block_work.ASKED)
def test_the_work_of_a_block_is_the_formula(n, d, h):
    found = block_work.flops(n, d, h)
    assert (found.projections, found.pairs, found.ffn) == (8 * n * d**2, 4 * n**2 * d, 16 * n * d**2)


def test_the_first_block_needs_8_gflops():
    found = block_work.flops(512, 768, 8)
    assert [round(x / 1e9, 3) for x in (found.projections, found.pairs, found.ffn, found.total)] == [
        2.416,
        0.805,
        4.832,
        8.053,
    ]


# ---- the mask ----


def test_two_ways_to_write_the_mask_are_right():
    right = {code.line for code in mask_code.right()}
    assert right == {"mask = torch.ones(n, n).tril().bool()", "mask = torch.ones(n, n).triu(1) == 0"}
    assert len(mask_code.EVERY) == 36


def test_every_way_makes_what_its_line_says():
    """The line, read by NumPy."""
    for code in mask_code.EVERY:
        base = {"ones": np.ones((4, 4)), "eye": np.eye(4), "zeros": np.zeros((4, 4))}[code.start]
        i, j = np.indices((4, 4))
        kept = {"tril1": j < i, "tril": j <= i, "triu": j >= i, "triu1": j > i}[code.cut]
        cut = np.where(kept, base, 0)
        wanted = {"none": cut, "bool": cut != 0, "zero": cut == 0}[code.end]
        np.testing.assert_array_equal(code.run(4).numpy(), wanted, err_msg=code.line)
        passed = mask_code.passes(code)
        assert passed["kind"] == (code.end != "none")
        assert all(passed.values()) == (wanted.dtype == bool and np.array_equal(wanted, j <= i)), code.line


# ---- waves ----


def test_the_first_eight_dimensions():
    base, d = waves.TARGETS[1]
    by_hand = [[(math.sin, math.cos)[i % 2](m * base ** (-2 * (i // 2) / d)) for m in range(64)] for i in range(8)]
    np.testing.assert_allclose(waves.first(base, d), by_hand, atol=1e-12)
    assert len(waves.BASES) >= 43


def test_a_picture_knows_the_base_to_the_power_alone():
    for target in waves.TARGETS:
        found = waves.solutions(target)
        assert target in found
        assert len(found) > 1
        for base, d in found:
            assert waves.step(base, d) == pytest.approx(waves.step(*target), rel=0.002)


def test_positions_meet_by_their_distance_alone():
    table = waves.first(10_000, 8).T
    products = table @ table.T
    for m, n in itertools.product((0, 5, 11), repeat=2):
        speeds = 10_000.0 ** (-2 * np.arange(4) / 8)
        assert products[m, n] == pytest.approx(np.cos((m - n) * speeds).sum(), abs=1e-9)


def test_a_pair_has_gone_round_after_its_way():
    base, d = waves.TARGETS[0]
    places = waves.round_trip(base, d, 2)
    assert base ** (-4 / d) * places == pytest.approx(2 * math.pi)


# ---- weights by hand ----


def test_w_q_turns_a_position_into_an_earlier_one():
    from core.positions import sinusoids

    places = sinusoids(offsets.N, offsets.D, offsets.BASE)
    np.testing.assert_allclose((places[3:] @ offsets.w_q(3.0)).numpy(), places[:-3].numpy(), atol=1e-12)


def test_the_head_is_attention_written_out():
    sharp, at = 16, offsets.BACKS.index(1.3)
    scores = np.full((12, 12), -np.inf)
    for i in range(12):
        for j in range(i + 1):
            speeds = 100.0 ** (-np.arange(0, 16, 2) / 16)
            scores[i, j] = sharp * np.cos((i - 1.3 - j) * speeds).sum() / 4
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    found = offsets.run(sharp)
    np.testing.assert_allclose(found.weights[at], powers / powers.sum(-1, keepdims=True), atol=1e-9)
    assert found.on[at, 2] == pytest.approx(np.mean([found.weights[at, i, i - 2] for i in range(2, 12)]))


def test_it_can_be_set_to_copy_one_back_and_two_back():
    assert len(offsets.BACKS) >= 43
    sharp = offsets.run(64)
    assert [sharp.copies(offsets.BACKS.index(back), far) for back, far in ((1.0, 1), (2.0, 2), (1.0, 2), (0.0, 1))] == [
        True,
        True,
        False,
        False,
    ]
    half = sharp.on[offsets.BACKS.index(1.5)]
    assert half[1:] == pytest.approx([0.5, 0.5], abs=0.05)
    soft = offsets.run(4)
    assert not any(soft.copies(at, far) for at in range(len(offsets.BACKS)) for far in (1, 2)), "it must be sharpened"


# ---- a law ----


def test_a_grid_is_straight_between_its_knots():
    """In one dimension NumPy's own interpolation; in two, a function that is straight already has no error."""
    x = np.random.default_rng(1).random((manifold.POINTS, 1))
    knots = np.linspace(0, 1, 9)
    said = np.interp(x[:, 0], knots, manifold.smooth(knots[:, None]))
    assert manifold.grid_loss(9, 1) == pytest.approx(((said - manifold.smooth(x)) ** 2).mean(), rel=1e-9)


def test_grids_keep_the_law():
    found = manifold.grids()
    for d, slope in found.slopes.items():
        assert slope == pytest.approx(-4 / d, rel=0.1), d
    assert manifold.alpha(8) == 0.5
    assert manifold.needed(12) == pytest.approx(8)
    assert (manifold.line(manifold.DIMENSIONS[7], np.array([16.0]))[0], len(manifold.DIMENSIONS)) == (
        pytest.approx(0.25),
        50,
    )


# ---- at the edges ----


@pytest.mark.parametrize(
    ("code", "failed"),
    [
        (("ones", "tril", "bool"), set()),
        (("ones", "tril1", "bool"), {"itself", "short"}),
        (("ones", "triu", "bool"), {"past", "future"}),
        (("ones", "tril", "none"), {"kind"}),
        (("eye", "tril", "bool"), {"past"}),
        (("zeros", "tril", "bool"), {"itself", "past", "short"}),
        (("zeros", "tril", "zero"), {"future"}),
        (("ones", "triu1", "bool"), {"itself", "past", "future", "short"}),
    ],
)
def test_which_unit_tests_a_mask_fails(code, failed):
    found = mask_code.passes(mask_code.Code(*code))
    assert {name for name, passed in found.items() if not passed} == failed
    assert tuple(found) == mask_code.TESTS


def test_a_head_copies_from_nine_tenths_on():
    found = offsets.Found(np.zeros((2, 1, 1)), np.array([[0.0, 0.9, 0.89], [0.95, 0.1, 1.0]]))
    assert [found.copies(0, far) for far in (0, 1, 2)] == [False, True, False]
    assert [found.copies(1, far) for far in (0, 1, 2)] == [True, False, True]
    shapes = offsets.run(16)
    assert (shapes.weights.shape, shapes.on.shape) == ((49, 12, 12), (49, 3))
    np.testing.assert_allclose(shapes.on[7, 0], np.mean(np.diag(shapes.weights[7])[:]))
    np.testing.assert_allclose(shapes.on[7, 1], np.mean([shapes.weights[7, i, i - 1] for i in range(1, 12)]))


def test_the_grid_in_two_dimensions():
    """Nine knots a side, the four corners of each cell weighed by hand."""
    x = np.random.default_rng(2).random((manifold.POINTS, 2))
    side = np.arange(9) / 8
    f = lambda a, b: np.sin(np.pi * a + 0.7) * np.sin(np.pi * b + 1.4)  # noqa: E731
    np.testing.assert_allclose(manifold.smooth(x), f(x[:, 0], x[:, 1]))
    table = f(side[:, None], side)
    i, j = (np.minimum((8 * x[:, k]).astype(int), 7) for k in (0, 1))
    u, v = 8 * x[:, 0] - i, 8 * x[:, 1] - j
    said = (
        (1 - u) * (1 - v) * table[i, j]
        + u * (1 - v) * table[i + 1, j]
        + (1 - u) * v * table[i, j + 1]
        + u * v * table[i + 1, j + 1]
    )
    assert manifold.grid_loss(9, 2) == pytest.approx(((said - f(x[:, 0], x[:, 1])) ** 2).mean(), rel=1e-9)
    found = manifold.grids()
    for d, sides in manifold.MEASURED.items():
        assert found.knots[d].tolist() == [(m - 1) ** d for m in sides]
        assert found.losses[d][1] == pytest.approx(manifold.grid_loss(sides[1], d))
    assert manifold.needed(8, 9.0) == pytest.approx(81)


def test_pictures_of_waves_and_how_far_apart_they_are():
    assert waves.frames(16).shape == (49, 8, 64)
    np.testing.assert_array_equal(waves.frames(16)[30], waves.first(waves.BASES[30], 16))
    one, other = waves.first(100.0, 8), waves.first(1000.0, 16)
    assert waves.away(100.0, 8, (1000.0, 16)) == pytest.approx(np.abs(one - other).mean())
    assert waves.matches(100.0, 8, (100.0, 8))
    for target in waves.TARGETS:
        near = [waves.away(base, d, target) for base, d in waves.solutions(target)]
        assert max(near) < 0.005
        every = [(base, d) for d in waves.WIDTHS for base in waves.BASES]
        assert len(waves.solutions(target)) == sum(waves.away(base, d, target) < 0.005 for base, d in every)


def test_painted_cells_are_pressed_up_to_three():
    assert painted.pressed((3, 2, 1, 0, 0, 0, 0, 0, 3), frozenset({(0, 0), (0, 1), (2, 2), (1, 0)})) == (
        0, 3, 1, 1, 0, 0, 0, 0, 0
    )  # fmt: skip
    assert painted.spell((0, 3, 0, 0, 0, 0, 0, 0, 1)) == "030000001"
    assert painted.unspell("333333333") == (3,) * 9
    found = painted.heads(*painted.text_of("I love AI"))
    assert (found.maps.shape, len(found.names), found.names[7]) == ((36, 3, 3), 36, "1.1")
    mine = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1.0]])
    wanted = [(np.abs(one[1] - mine[1]).sum() + np.abs(one[2] - mine[2]).sum()) / 4 for one in found.maps]
    np.testing.assert_allclose(painted.away(mine, found), wanted)


def test_every_line_is_python_that_makes_what_was_run():
    """Our own text, with names in it that torch knows."""
    for code in mask_code.EVERY:
        space = {"torch": torch, "n": 4}
        exec(code.line, space)
        made = code.run(4)
        assert torch.equal(space["mask"], made), code.line
        assert space["mask"].dtype == made.dtype
