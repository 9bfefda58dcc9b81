"""What is written of one number: read back as a calculator would, and its sign language (brackets, signs, powers)."""

import math
import re

import numpy as np
import pytest

from core.lab import provenance

N, WIDTH = 5, 8


def drawn(*, scaling=True, temperature=2.0, allowed=None):
    """A head of five tokens, its steps computed here; token 4's third number is nothing at all."""
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(N, WIDTH)) for _ in range(3))
    q[4, 2] = 0.0
    allowed = np.tril(np.ones((N, N), bool)) if allowed is None else allowed
    scores = q @ k.T
    scaled = scores / (temperature * (math.sqrt(WIDTH) if scaling else 1))
    powers = np.where(allowed, np.exp(scaled), 0)
    sums = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    return provenance.Head(q, k, v, scores, scaled, allowed, weights, temperature, scaling, tuple("abcde"))


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (2.0, "2.000"),
        (-0.0104, "-0.010"),
        (0.0, "0.000"),
        (0.001, "0.001"),  # three digits still tell it
        (0.0008, r"8.00\cdot10^{-4}"),
        (0.0004, r"4.00\cdot10^{-4}"),
        (-0.0004, r"-4.00\cdot10^{-4}"),
        (99_999.5, "99999.500"),
        (1e5, r"1.00\cdot10^{5}"),
        (-2.5e6, r"-2.50\cdot10^{6}"),
        (-math.inf, r"-\infty"),
    ],
)
def test_a_number_is_written_with_the_digits_that_tell(x, said):
    assert provenance.number(x) == said


def test_digits_are_as_many_as_were_asked_for():
    assert provenance.number(math.pi, 5) == "3.14159"
    assert provenance.number(0.0004, 5) == "0.00040"


def test_a_sum_of_products_begins_with_equals_and_its_largest_terms():
    left, right = np.arange(1.0, 9.0), np.array([1.0, -1, 1, -1, 1, -1, 1, -1])
    made = provenance.products("s", left, right, ("a", "b", "a b"))
    start, *lines, end = made.lines
    assert start == "s"
    assert [line[:2] for line in lines] == ["= ", "+ ", "+ ", "+ "]
    pairs = re.findall(r"([\d.]+)\\cdot\(?(-?[\d.]+)\)?", "".join(lines))
    assert [float(a) * float(b) for a, b in pairs] == [-8, 7, -6, 5, -4, 3], "by their size, not by their sign"
    assert [line.count(r"\cdot") for line in lines] == [2, 2, 2, 0]
    assert lines[0] == r"= 8.000\cdot(-1.000) + 7.000\cdot1.000"
    assert lines[-1] == r"+ \underbrace{(-1.000)}_{2}", "2 - 1 = the two that are left: -2 + 1"
    assert end == "= -4.000"
    assert made.value == float(left @ right) == -4
    assert [name for name, _row in made.rows] == ["a", "b", "a b"]
    np.testing.assert_array_equal(made.rows[2][1], left * right)


def test_six_terms_leave_no_rest():
    made = provenance.products("s", np.ones(6), np.zeros(6), ("a", "b", "a b"))
    assert not any("underbrace" in line for line in made.lines)
    assert made.lines[1] == r"= 1.000\cdot0.000 + 1.000\cdot0.000", "nothing has no sign, so it has no bracket"


@pytest.mark.parametrize(("step", "rows"), [("scores", ["q", "k", "q · k"]), ("z", ["A", "v", "A · v"])])
def test_the_ingredients_stand_above_their_products(step, rows):
    head = drawn()
    made = provenance.explain(head, step, 3, 1)
    assert [name for name, _row in made.rows] == rows
    left, right = (head.q[3], head.k[1]) if step == "scores" else (head.weights[3], head.v[:, 1])
    np.testing.assert_allclose(made.rows[2][1], left * right)
    assert made.value == pytest.approx(left @ right)
    assert made.columns == (None if step == "scores" else tuple("abcde")), "a head's numbers have no names"
    assert made.lines[0].startswith(r"S_{3,1} = q_{3}\cdot k_{1}" if step == "scores" else r"Z_{3,1} = \sum_j A_{3,j}")


@pytest.mark.parametrize(("scaling", "root", "below"), [(True, math.sqrt(WIDTH), r"\sqrt{8}"), (False, 1.0, "1")])
def test_what_a_score_is_divided_by_is_what_stands_below_it(scaling, root, below):
    head = drawn(scaling=scaling)
    made = provenance.explain(head, "scaled", 3, 1)
    assert rf"{{\tau\,{below}}}" in made.lines[0]
    assert made.lines[1].endswith(rf"{{2.000\cdot{root:.3f}}}")
    assert made.lines[2] == f"= {head.scores[3, 1] / (2 * root):.3f}"
    assert [name for name, _row in made.rows] == ["S", "Ŝ"]
    np.testing.assert_allclose(made.rows[1][1], head.scaled[3])
    assert made.columns == tuple("abcde")


@pytest.mark.parametrize(("column", "sign"), [(1, r"\le"), (3, r"\le"), (4, ">")])
def test_the_mask_says_which_place_is_behind_the_other(column, sign):
    head = drawn()
    made = provenance.explain(head, "masked", 3, column)
    assert made.lines[0] == f"{column} {sign} 3"
    wanted = r"-\infty" if column > 3 else f"{head.scaled[3, column]:.3f}"
    assert made.lines[1] == rf"\Rightarrow\ {wanted}"
    assert [name for name, _row in made.rows] == ["Ŝ", "−∞"]
    np.testing.assert_array_equal(made.rows[1][1], [*head.scaled[3, :4], -np.inf])


def test_a_weight_is_a_power_over_the_sum_of_powers():
    head = drawn()
    made = provenance.explain(head, "weights", 3, 1)
    seen = head.scaled[3, :4]
    powers = np.exp(seen - seen.max())
    assert made.lines[2] == rf"= \frac{{{powers[1]:.3f}}}{{{powers.sum():.3f}}}"
    assert made.lines[3] == f"= {powers[1] / powers.sum():.3f}"
    assert [name for name, _row in made.rows] == ["Ŝ", "exp", "A"]
    np.testing.assert_allclose(made.rows[1][1], [*powers, 0])
    np.testing.assert_allclose(made.rows[2][1], head.weights[3])


def test_the_largest_score_is_taken_off_in_brackets_where_it_is_negative():
    head = drawn()
    most = head.scaled[0, 0]  # the first row sees itself alone
    written = f"({most:.3f})" if most < 0 else f"{most:.3f}"
    assert provenance.explain(head, "weights", 0, 0).lines[1] == rf"= \frac{{e^{{{most:.3f} - {written}}}}}{{1.000}}"


def test_a_row_that_sees_nothing_has_no_weights_and_says_so():
    allowed = np.tril(np.ones((N, N), bool))
    allowed[2] = False
    head = drawn(allowed=allowed)
    made = provenance.explain(head, "weights", 2, 1)
    assert made.value == 0
    assert made.lines == (r"\forall j:\ \hat S_{2,j} = -\infty", r"\Rightarrow\ A_{2,1} := 0.000")
    assert [name for name, _row in made.rows] == ["Ŝ", "A"]
    assert np.isneginf(made.rows[0][1]).all()
    assert (made.rows[1][1] == 0).all()
