"""Interventions against the same interventions made inside Hugging Face transformers."""

import numpy as np
import pytest
import torch
import transformers.models.llama.modeling_llama as hf

from core.checkpoint import load
from core.lab import cuts, subject
from core.lab import text as sentence
from core.trace import Trace
from core.whatif import Change
from tests.core import families

IDS = torch.tensor([3, 17, 3, 0, 60, 42, 9, 9])


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    theirs = families.make("llama, GQA, biases, base")
    return theirs, load(families.save(theirs, tmp_path_factory.mktemp("m")))


def meddling(change):
    """transformers' eager attention with one intervention, written independently of core."""

    def attend(module, query, key, value, mask, scaling, dropout=0.0, **kwargs):
        key, value = (x.repeat_interleave(module.num_key_value_groups, 1) for x in (key, value))
        scores = query @ key.transpose(2, 3)
        layer, n = module.layer_idx, query.shape[2]
        if change.scaling:
            scores = scores * scaling
        for head in range(scores.shape[1]):
            if change.head in (None, (layer, head)):
                scores[:, head] /= change.temperature
        forbidden = torch.ones(n, n, dtype=torch.bool).triu(1) if change.mask else torch.zeros(n, n, dtype=torch.bool)
        if change.window:
            forbidden |= torch.ones(n, n, dtype=torch.bool).tril(-change.window)
        scores[..., forbidden] = -torch.inf
        if change.cut and change.cut[0] == layer and change.share:
            scores[:, change.cut[1], change.cut[2], change.cut[3]] = -torch.inf
        weights = scores.softmax(-1)
        if change.cut and change.cut[0] == layer and not change.share:
            weights[:, change.cut[1], change.cut[2], change.cut[3]] = 0
        out = weights @ value
        for muted_layer, head in change.muted:
            if muted_layer == layer:
                out[:, head] = 0
        return out.transpose(1, 2), weights

    return attend


CHANGES = [
    Change(),
    Change(scaling=False),
    Change(mask=False),
    Change(window=3),
    Change(mask=False, window=2),
    Change(temperature=0.4),
    Change(temperature=2.5, head=(1, 2)),
    Change(cut=(1, 2, 6, 3)),
    Change(cut=(1, 2, 6, 3), share=True),
    Change(muted=((0, 1), (2, 3))),
    Change(scaling=False, mask=False, temperature=3.0, head=(0, 0), cut=(2, 1, 5, 7), muted=((1, 1),)),
]


@pytest.mark.parametrize("change", CHANGES)
@torch.inference_mode()
def test_equals_the_same_change_in_transformers(pair, change, monkeypatch):
    theirs, ours = pair
    monkeypatch.setattr(hf, "eager_attention_forward", meddling(change))
    expected = theirs(IDS[None], attention_mask=None).logits[0]
    logits = ours(IDS, trace=change.trace(ours.config.head_dim))
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4)
    if change != Change():
        assert not torch.allclose(logits, ours(IDS), atol=1e-3), "a change that changes nothing proves nothing"


@torch.inference_mode()
def test_without_rotation_every_angle_is_zero(pair):
    theirs, ours = pair
    expected = theirs(IDS[None], position_ids=torch.zeros(1, len(IDS), dtype=torch.long)).logits[0]
    trace = Change(rotation=False).trace(ours.config.head_dim, None)
    np.testing.assert_allclose(ours(IDS, trace=trace), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(trace["block1.q_rot"].value, trace["block1.q"].value)


@torch.inference_mode()
def test_where_nobody_is_left_to_take_over_a_weight_it_is_only_lost(pair):
    """The first token sees itself alone: its one weight cut, nothing else in its row could grow, and the row is empty."""
    ours = pair[1]
    lost, shared = (Change(cut=(1, 2, 0, 0), share=on).trace(ours.config.head_dim, None) for on in (False, True))
    np.testing.assert_array_equal(ours(IDS, trace=shared), ours(IDS, trace=lost))
    assert shared["block1.weights"].value[2, 0].tolist() == [0.0] * len(IDS)
    assert not shared["block1.z"].value[2, 0].any()


def untouched(model):
    trace = Trace()
    model.stream(IDS, trace=trace)
    return trace


@pytest.mark.parametrize("share", [False, True])
@torch.inference_mode()
def test_the_ranking_of_cuts_is_each_cut_made_by_itself(pair, share):
    ours = pair[1]
    found = cuts.rank(ours, untouched(ours), answer=7, share=share)
    assert len(found) == 3 * 4 * sum(range(2, 9))
    assert [c.p for c in found] == sorted(c.p for c in found)
    for link in found[:: len(found) // 40]:
        change = Change(cut=(link.layer, link.head, link.query, link.key), share=share)
        p = ours(IDS, trace=change.trace(ours.config.head_dim))[-1].softmax(-1)[7]
        assert link.p == pytest.approx(float(p), rel=1e-3, abs=1e-6)


def test_a_long_text_is_ranked_by_its_last_row_only(pair):
    found = cuts.rank(pair[1], untouched(pair[1]), answer=7, rows=[7])
    assert {link.query for link in found} == {7}
    assert len(found) == 3 * 4 * 8


@torch.inference_mode()
def test_the_embedded_model_is_the_one_transformers_loads(theirs):
    ids = torch.tensor(sentence.read(sentence.SENTENCE).ids)
    expected = theirs(ids[None], output_hidden_states=True)
    trace = Trace()
    np.testing.assert_allclose(subject.model()(ids, trace=trace), expected.logits[0], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(trace["block3.resid_pre"].value, expected.hidden_states[3][0], rtol=1e-3, atol=1e-4)


def p_of(word, change=subject.UNTOUCHED, text=sentence.SENTENCE):
    reading = sentence.read(text)
    probs = subject.run(sentence.of(reading), change, ("next_probs",))["next_probs"].value
    return float(probs[sentence.id_of(word)])


@pytest.mark.parametrize(
    ("change", "word", "p"),
    [
        (Change(), "Amy", 0.986),
        (Change(muted=((2, 0),)), "Amy", 0.986),
        (Change(muted=((1, 2),)), "Sam", 0.944),
        (Change(muted=((4, 4),)), "Sam", 0.390),
        (Change(muted=((5, 1),)), "Amy", 0.036),
        (Change(cut=(5, 1, 13, 3), share=True), "Sam", 0.981),
        (Change(cut=(1, 2, 9, 1), share=True), "Sam", 0.801),
        (Change(cut=(4, 4, 13, 9), share=True), "Sam", 0.245),
        (Change(temperature=0.5), "Amy", 0.91),
        (Change(temperature=1.3), "Amy", 0.91),
        (Change(temperature=1.5), "Amy", 0.29),
        (Change(temperature=2.0), "Amy", 0.00),
        (Change(rotation=False), "Amy", 0.000),
    ],
)
def test_what_the_lessons_say_happens(change, word, p):
    assert p_of(word, change) == pytest.approx(p, abs=0.006)


def test_the_same_story_told_with_other_words():
    assert p_of("Sam", text="Sam and Amy played in the park. Amy threw the ball to") == pytest.approx(0.968, abs=1e-3)
    assert p_of("drink", text="Tom was very thirsty. He wanted to") == pytest.approx(0.983, abs=1e-3)
    assert p_of("boy", text="Anna is a girl. Tom is a") == pytest.approx(0.833, abs=1e-3)
