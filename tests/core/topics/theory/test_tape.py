"""The machine set by hand against a machine with a plain list, and what published proofs say of it."""

import numpy as np
import pytest
import torch

from core.topics.theory import tape as tp

# The four-state busy beaver as it is tabulated (Brady 1983), independent of tp.PROGRAM.
RULES = {"A0": "1RB", "A1": "1LB", "B0": "1LA", "B1": "0LC", "C0": "1RH", "C1": "1LD", "D0": "1RD", "D1": "0RA"}


def plainly():
    """Cells, symbols read and written, without any attention."""
    tape, cell, state, seen = [0] * 60, 30, "A", []
    while state != "H":
        read = tape[cell]
        write, move, state = RULES[f"{state}{read}"]
        tape[cell] = int(write)
        seen.append((cell - 30, read, int(write)))
        cell += 1 if move == "R" else -1
    return seen, sum(tape)


def test_it_runs_as_a_plain_machine_does():
    found, (seen, ones) = tp.run(tp.Demo()), plainly()
    assert list(zip(found.cells, found.read, found.written, strict=False)) == seen
    assert (found.halted, found.wrong) == (True, None)
    assert (found.steps, ones) == (tp.STEPS, 13) == (107, 13), "as published"
    assert sum(tp.tape_at(found, 107).values()) == 13


def test_attention_goes_to_the_last_writing_of_the_cell():
    found = tp.run(tp.Demo())
    for step, cell in enumerate(found.cells[: found.steps]):
        before = [t for t in range(step) if found.cells[t] == cell]
        wanted = np.zeros(found.weights.shape[1])
        wanted[before[-1] + 1 if before else 0] = 1
        np.testing.assert_array_equal(found.weights[step], wanted)


def test_scores_are_what_they_are_said_to_be():
    for cell in (-3, 0, 7):
        for other, time in ((-3, 2), (7, 40)):
            score = float(tp.query(cell) @ tp.key(other, time))
            assert score == pytest.approx(cell**2 - (cell - other) ** 2 - 1 / (2 * time))
        assert float(tp.query(cell) @ tp.empty_key()) == cell**2 - 0.5


def test_the_ffn_holds_the_table():
    for (state, symbol), (write, move, following) in tp.PROGRAM.items():
        assert tp.decide(state, symbol) == (following, write, move)
    into, bias, out = tp.table()
    assert into.shape == (8, 7)
    assert out.shape == (8, 8)
    pairs = torch.tensor([[i == s for i in range(5)] + [j == x for j in range(2)] for s in range(4) for x in range(2)])
    np.testing.assert_array_equal(torch.relu(pairs.float() @ into.T + bias).numpy(), np.eye(8))


def test_hard_attention_shares_between_equals():
    assert tp.look(torch.tensor([1.0, 3.0, 3.0]), tp.HARD).tolist() == [0, 0.5, 0.5]
    soft = tp.look(torch.tensor([0.0, 1.0]).double(), 2)
    assert float(soft[1]) == pytest.approx(1 / (1 + np.exp(-2)))


@pytest.mark.parametrize(("kind", "dtype"), [("float16", np.float16), ("float32", np.float32)])
def test_a_format_ends_where_its_scores_fall_together(kind, dtype):
    """Its first wrong step is one in which NumPy, too, finds no difference or the wrong sign in this format."""
    origin = 0 if kind == "float16" else 100
    found = tp.run(tp.Demo(kind, origin))
    assert found.wrong is not None
    step = found.wrong
    cell = found.cells[step]

    def score(other, time):
        exact = [2 * cell * dtype(other), -float(dtype(other**2)), float(dtype(-0.5 / time))]
        return dtype(np.float32(exact[0]) + np.float32(exact[1]) + np.float32(exact[2]))

    own = [t for t in range(step) if found.cells[t] == cell]
    scores = {t: score(cell, t + 2) for t in own}
    assert scores[own[-1]] <= max(scores[t] for t in own[:-1]), "an older writing matches as well"


def test_horizons_grow_with_the_format_and_shrink_with_the_numbers():
    found = tp.horizons()
    for origin in tp.ORIGINS:
        assert found["float64", origin] == 107
        assert found["float64", origin] >= found["float32", origin] >= found["bfloat16", origin]
    assert found["float32", 0] == 107
    assert found["float32", 0] > found["float32", 100] > found["float32", 10_000]
    assert 107 > found["float16", 0] > found["bfloat16", 0], "11 bits against 8"


def test_softmax_needs_to_be_sharp():
    found = tp.softened()
    assert found[tp.HARD] == found[10_000] == 107
    assert found[10] < found[100] < found[1_000] < 107
