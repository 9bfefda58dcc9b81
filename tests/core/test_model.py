"""core's decoder against Hugging Face transformers: logits, and every intermediate tensor both of them have."""

import numpy as np
import pytest
import torch

from core.config import ModelConfig
from core.model import Decoder
from core.trace import SILENT, Trace
from tests.core import families

IDS = torch.tensor([3, 17, 3, 0, 60, 42, 9, 9, 31, 5, 22])
NAMES = pytest.mark.parametrize("name", families.CONFIGS)


@NAMES
@torch.inference_mode()
def test_logits_hidden_states_and_attentions_equal_transformers(pair, name):
    theirs, ours = pair(name).theirs, pair(name).ours
    expected = theirs(IDS[None], output_attentions=True, output_hidden_states=True)
    trace = Trace()
    logits = ours(IDS, trace=trace)
    close = dict(rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(logits, expected.logits[0], **close)
    np.testing.assert_array_equal(trace["logits"].value, logits)
    np.testing.assert_allclose(trace["probs"].value, expected.logits[0].softmax(-1), **close)
    np.testing.assert_allclose(trace["norm_final"].value, expected.hidden_states[-1][0], **close)
    for i, (attention, hidden) in enumerate(zip(expected.attentions, expected.hidden_states, strict=False)):
        np.testing.assert_allclose(trace[f"block{i}.weights"].value, attention[0], **close)
        np.testing.assert_allclose(trace[f"block{i}.resid_pre"].value, hidden[0], **close)


@NAMES
def test_recording_changes_nothing(pair, name):
    ours = pair(name).ours
    loud, quiet = ours(IDS, trace=Trace()), ours(IDS, trace=SILENT)
    assert torch.equal(loud, quiet)
    assert torch.equal(ours(IDS), quiet)


@NAMES
def test_the_prediction_of_the_next_token_is_the_last_row(pair, name):
    ours, trace = pair(name).ours, Trace()
    logits = ours(IDS)
    with torch.inference_mode():
        last = ours.predict(ours.stream(IDS), trace=trace)
    torch.testing.assert_close(last, logits[-1])
    np.testing.assert_allclose(trace["next_probs"].value, logits[-1].softmax(-1), rtol=1e-4, atol=1e-7)


def test_names_and_axes_of_a_decoder(pair):
    trace = Trace()
    pair("qwen3").ours(IDS, trace=trace)
    inside = "resid_pre norm1 q k v q_norm k_norm q_rot k_rot scores scaled allowed masked weights z attn_out"
    inside += " resid_mid norm2 ffn_gate ffn_up ffn_act ffn_out resid_post"
    expected = ["ids", "embed", "angles"]
    expected += [f"block{i}.{name}" for i in range(3) for name in inside.split()]
    assert [step.name for step in trace] == [*expected, "norm_final", "logits", "probs"]
    shapes = dict(q=(4, 11, 16), k=(2, 11, 16), v=(2, 11, 16), weights=(4, 11, 11), allowed=(11, 11), ffn_act=(11, 40))
    assert {name: trace[f"block1.{name}"].value.shape for name in shapes} == shapes


def test_gpt2_records_positions_and_its_own_ffn(pair):
    trace = Trace()
    pair("gpt2").ours(IDS, trace=trace)
    names = {step.name for step in trace}
    assert {"pos_embed", "block0.ffn_pre", "block2.ffn_act"} <= names
    assert not names & {"angles", "block0.q_rot", "block0.ffn_gate", "block0.q_norm"}
    total = trace["embed"].value + trace["pos_embed"].value
    np.testing.assert_allclose(trace["block0.resid_pre"].value, total, atol=1e-6)


def test_a_batch_without_a_trace_is_the_sentences_one_by_one(pair):
    ours = pair("llama, GQA, biases, base").ours
    other = IDS.flip(0)
    with torch.inference_mode():
        both = ours.forward(torch.stack([IDS, other]))
    torch.testing.assert_close(both, torch.stack([ours(IDS), ours(other)]))


@pytest.mark.parametrize(
    ("ids", "complaint"),
    [
        ([[1, 2]], "shape"),
        ([], "shape"),
        ([0.5], "whole numbers"),
        ([61], "0 to 60"),
        ([-1], "0 to 60"),
        ([*list(range(61)), 0, 0, 0, 0], "65 tokens do not fit: this model reaches 64"),
    ],
)
def test_ids_that_cannot_be_read_are_refused(pair, ids, complaint):
    with pytest.raises(ValueError, match=complaint):
        pair("gpt2").ours(torch.tensor(ids))


@pytest.mark.parametrize("ids", ["abc", None, ["a"], [[1], [1, 2]], [2**63], np.arange(3) + 0j])
def test_what_is_no_row_of_numbers_is_refused_in_words(pair, ids):
    with pytest.raises(ValueError, match="ids must be a row of whole numbers"):
        pair("gpt2").ours(ids)


@pytest.mark.parametrize("kind", [np.uint16, np.uint32, np.uint64, np.int32, np.int64])
def test_whole_numbers_of_any_width_are_read(pair, kind):
    ours = pair("gpt2").ours
    torch.testing.assert_close(ours(np.arange(3).astype(kind)), ours(torch.arange(3)))


def test_a_window_the_family_implies_is_never_exceeded_in_silence():
    model = Decoder(ModelConfig(8, 1, 2, 16, vocab_size=9, context=64, window=4, family="mistral"))
    model(torch.zeros(4, dtype=torch.long))
    with pytest.raises(ValueError, match="reaches 4"):
        model(torch.zeros(5, dtype=torch.long))


def test_a_family_that_is_only_counted_is_not_built():
    with pytest.raises(ValueError, match=r"'bert' can be counted but not computed; supported: gpt2, llama"):
        Decoder(ModelConfig.from_hf({"model_type": "bert"}))
