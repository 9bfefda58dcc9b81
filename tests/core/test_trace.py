"""What a Trace keeps, and what it refuses."""

import io

import numpy as np
import pytest
import torch

from core.attention import SCORES, WEIGHTS, Z, attention
from core.trace import SILENT, Names, Quantity, Trace, as_npz


def test_scopes_tell_two_attentions_apart_and_name_their_own_axes():
    trace = Trace()
    with trace.inside("encoder", query=["le", "chat"], key=["le", "chat"]):
        attention(*torch.randn(3, 1, 2, 8), trace=trace)
    with trace.inside("cross", query=["the"], key=["le", "chat"]):
        attention(torch.randn(1, 1, 8), *torch.randn(2, 1, 2, 8), trace=trace)
        assert trace[SCORES].labels["query"] == ["the"]
    assert SCORES not in trace
    assert [step.name for step in trace if step.quantity is WEIGHTS] == ["encoder.weights", "cross.weights"]
    assert trace["cross.weights"].value.shape == (1, 1, 2)


def test_labels_must_fit():
    with pytest.raises(ValueError, match="axis query has size 4, expected 2"):
        attention(*torch.randn(3, 1, 4, 8), trace=Trace(query=["the", "cat"]))


def test_an_axis_keeps_its_size_within_a_scope():
    trace = Trace()
    trace(Z, torch.zeros(1, 2, 8))
    with pytest.raises(ValueError, match="axis query has size 3, expected 2"):
        trace(SCORES, torch.zeros(1, 3, 3))
    with trace.inside("elsewhere"):
        trace(SCORES, torch.zeros(1, 3, 3))


def test_unknown_axes_missing_axes_and_repeats_are_refused():
    trace = Trace()
    with pytest.raises(ValueError, match="axis tokens"):
        trace(Quantity("x", "tokens", "", ""), torch.zeros(2))
    with pytest.raises(ValueError, match="2 dimensions"):
        trace(Z, torch.zeros(2, 8))
    trace(Z, torch.zeros(1, 2, 8))
    with pytest.raises(ValueError, match="recorded before"):
        trace(Z, torch.zeros(1, 2, 8))


def test_a_value_is_read_only_and_handed_back_as_it_was():
    trace, x = Trace(), torch.randn(1, 2, 8)
    assert trace(Z, x) is x
    with pytest.raises(ValueError, match="read-only"):
        trace[Z].value[0] = 1
    assert not SILENT.wants(Z)
    assert SILENT(Z, x) is x


def test_only_what_is_asked_for_is_kept():
    trace = Trace(only=("b.weights", "a.*"))
    for scope in ("a", "b"):
        with trace.inside(scope):
            attention(*torch.randn(3, 1, 2, 8), trace=trace)
    assert [s.name for s in trace] == ["a.scores", "a.scaled", "a.weights", "a.z", "b.weights"]


def test_half_precision_is_widened_and_later_is_made_once():
    trace, calls = Trace(), []

    def make():
        calls.append(1)
        return torch.full((1, 2, 8), 0.5, dtype=torch.bfloat16)

    trace.later(Z, make)
    assert not calls
    assert trace[Z].value.dtype == np.float32
    assert trace[Z].value is trace[Z].value
    assert len(calls) == 1


def test_saved_and_loaded_it_is_the_same_without_pickle():
    trace = Trace(query=["a", "b"], key=["a", "b"])
    with trace.inside("block0"):
        attention(*torch.randn(3, 1, 2, 8), torch.ones(2, 2).tril().bool(), trace=trace)
    file = io.BytesIO()
    trace.save(file)
    file.seek(0)
    again = Trace.load(file)
    assert [s.name for s in again] == [s.name for s in trace]
    for step in trace:
        assert again[step.name].quantity == step.quantity
        np.testing.assert_array_equal(again[step.name].value, step.value)
    assert again["block0.weights"].labels == {"query": ["a", "b"], "key": ["a", "b"]}


def test_stars_stand_for_anything_and_other_names_for_themselves():
    names = Names(("ids", "block1.*", "block*.z", "a[bc]"))
    assert [n for n in ("ids", "block1.q", "block12.z", "ab") if n in names] == ["ids", "block1.q", "block12.z", "ab"]
    assert not [n for n in ("block2.q", "xids", "ids2", "block1", "myblock1.q", "block2.z.more", "a") if n in names]
    assert "ids" not in Names(())


def test_what_is_made_later_must_fit_too():
    trace = Trace(query=["the", "cat"])
    with trace.inside("a"):
        trace.later(Z, lambda: torch.zeros(1, 3, 8))
    with pytest.raises(ValueError, match=r"a\.z: axis query has size 3, expected 2"):
        _ = trace["a.z"].value


def test_the_tensor_is_the_one_that_passed(tmp_path):
    trace, x = Trace(), torch.randn(1, 2, 8, dtype=torch.float64)
    trace(Z, x.requires_grad_())
    assert trace[Z].tensor.data_ptr() == x.data_ptr()
    assert not trace[Z].tensor.requires_grad
    assert trace[Z].tensor.dtype == torch.float64
    trace.save(tmp_path / "z.npz")
    again = Trace.load(tmp_path / "z.npz")
    assert torch.equal(again["z"].tensor, x)
    assert io.BytesIO(trace.as_npz()).getbuffer()[:2] == b"PK"
    stored = np.load(io.BytesIO(as_npz({"one": np.arange(3)})), allow_pickle=False)
    assert stored["one"].tolist() == [0, 1, 2]
