"""Norms and skips off: against NumPy, transformers' own Llama with its norms replaced, and the published losses."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import AutoConfig, LlamaForCausalLM

from core.lab import subject, text
from core.topics.norms import switches as sw
from core.topics.norms.switches import Way

GIVEN = text.exactly(text.SENTENCE)


class Gain(torch.nn.Module):
    """A norm that only multiplies by what it learned."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return x * self.weight


@pytest.fixture(scope="module")
def llama():
    return lambda: LlamaForCausalLM.from_pretrained(text.FOLDER, attn_implementation="eager").eval()


def loss_of(model):
    found = []
    for row in subject.stories():
        with torch.inference_mode():
            found.append(F.cross_entropy(model(row[None]).logits[0, :-1], row[1:], reduction="none"))
    return float(torch.cat(found).mean())


@pytest.mark.parametrize("name", ["trained", "inner", "norms"])
def test_norms_off_in_transformers_costs_the_same(llama, name):
    model, way = llama(), sw.WAYS[name]
    if not way.inner:
        for layer in model.model.layers:
            layer.input_layernorm = Gain(layer.input_layernorm.weight)
            layer.post_attention_layernorm = Gain(layer.post_attention_layernorm.weight)
    if not way.last:
        model.model.norm = Gain(model.model.norm.weight)
    assert sw.losses().ways[name] == pytest.approx(loss_of(model), abs=2e-3)


def half_by_half(model, ids, keeps):
    """The blocks by hand, each skip with a factor of its own."""
    x = model.embed(ids)
    turn, allowed = model.surroundings(len(ids))
    for i, block in enumerate(model.blocks):
        x = keeps[2 * i] * x + block.attn(block.norm1(x), turn, allowed)
        x = keeps[2 * i + 1] * x + block.ffn(block.norm2(x))
    return model.predict(x).softmax(-1)


@torch.inference_mode()
def test_skips_by_hand():
    model, ids = subject.model(), torch.tensor(GIVEN.ids)
    found = sw.strengths(GIVEN)
    for at in (0, 20, 40, 50, 52):
        wanted = half_by_half(model, ids, [sw.STRENGTHS[at]] * 12)[list(found.ids)]
        np.testing.assert_allclose(found.probs[at], wanted, atol=1e-5)
    answer, left = found.ids[0], sw.one_off(GIVEN)
    for i in (0, 1, 7, 11):
        wanted = half_by_half(model, ids, [float(j != i) for j in range(12)])[answer]
        assert left[i] == pytest.approx(float(wanted), abs=1e-5)


@torch.inference_mode()
def test_of_a_long_text_every_fourth_stop_is_computed():
    given = text.exactly("The dog ran to the park. " * 12)
    found, stops, ids = sw.strengths(given), sw.kept_by(len(given)), torch.tensor(given.ids)
    assert (len(given) > 64, sw.kept_by(64)) == (True, sw.STRENGTHS)
    assert (stops[0], stops[-1], len(stops)) == (0.0, 1.0, len(found.probs))
    for at in (0, 7, len(stops) - 1):
        wanted = half_by_half(subject.model(), ids, [stops[at]] * 12)[list(found.ids)]
        np.testing.assert_allclose(found.probs[at], wanted, atol=1e-5)


def test_as_trained_is_the_model_itself():
    model, ids = subject.model(), torch.tensor(GIVEN.ids)
    found, untouched = sw.wirings(GIVEN), subject.untouched(GIVEN)["next_probs"].value
    assert found.answer == untouched.argmax() == found.loud[0]
    assert found.p[0] == pytest.approx(untouched.max(), abs=1e-5)
    with torch.inference_mode():
        torch.testing.assert_close(sw.stream(model, ids, sw.AS_TRAINED), model.stream(ids))
    np.testing.assert_allclose(sw.strengths(GIVEN).probs[-1], untouched[list(sw.strengths(GIVEN).ids)], atol=1e-5)
    assert sw.STRENGTHS[-1] == 1.0
    assert len(sw.STRENGTHS) >= 43


def test_worse_than_guessing_is_saying_the_last_word_again():
    """Where blocks read what no norm has raised they write next to nothing, and the last norm makes the word sure."""
    found, names = sw.wirings(GIVEN), list(sw.WAYS)
    for name in ("inner", "parts"):
        at = names.index(name)
        assert found.loud[at] == GIVEN.ids[-1]
        assert found.sure[at] > 0.999
        assert found.same[at] > 0.95
    assert found.sure[names.index("norms")] < 0.001, "without the last norm the very same stream is sure of nothing"
    assert found.same[names.index("norms")] == pytest.approx(found.same[names.index("inner")])
    assert abs(found.same[0]) < 0.1
    embed, end = (subject.untouched(GIVEN)[name].value[-1] for name in ("embed", "block5.resid_post"))
    by_hand = embed @ end / np.linalg.norm(embed) / np.linalg.norm(end)
    assert found.same[0] == pytest.approx(by_hand, abs=1e-5)


def test_recorded_losses_again():
    stories, held = subject.stories(), sw.losses()
    for name, way in sw.WAYS.items():
        assert held.ways[name] == pytest.approx(sw.story_loss(way, stories), abs=1e-3)
    for at in (4, 32, 52):
        assert held.strengths[at] == pytest.approx(sw.story_loss(Way(skip=sw.STRENGTHS[at]), stories), abs=1e-3)
    for i in (3, 10):
        assert held.one_off[i] == pytest.approx(sw.story_loss(Way(off=i), stories), abs=1e-3)


def test_what_the_page_says_of_it():
    """Worse than guessing only while the last norm makes it sure; every one of the twelve skips is needed."""
    lost, guess = sw.losses(), np.log(AutoConfig.from_pretrained(text.FOLDER).vocab_size)
    assert sw.guessing(32_000) == pytest.approx(guess)
    assert lost.ways["inner"] == pytest.approx(42.69, abs=0.02)
    assert lost.ways["parts"] == pytest.approx(44.86, abs=0.02)
    assert lost.ways["norms"] == pytest.approx(10.11, abs=0.02)
    assert lost.ways["skips"] == pytest.approx(10.21, abs=0.02)
    by = dict(zip(sw.STRENGTHS, lost.strengths, strict=True))
    assert [round(float(by[s]), 2) for s in (1.0, 0.95, 0.9, 0.8, 0.7, 0.0)] == [1.76, 1.82, 2.03, 3.72, 7.25, 10.21]
    wanted = [8.26, 2.47, 9.68, 4.33, 8.76, 5.93, 8.10, 5.93, 6.60, 6.43, 5.02, 6.59]
    np.testing.assert_allclose(lost.one_off, wanted, atol=0.011)


def test_five_words_the_answer_first():
    found, calm = sw.strengths(GIVEN), subject.untouched(GIVEN)["next_probs"].value
    assert found.probs.shape == (53, 5)
    assert found.ids[0] == calm.argmax()
    assert (np.diff(found.probs.max(0)[1:]) <= 0).all()
    assert sw.one_off(GIVEN).shape == (12,)


@pytest.mark.parametrize("name", ["inner", "norms", "skips", "parts"])
@torch.inference_mode()
def test_every_wiring_by_hand(name):
    """The last word's stream, block by block, with what this wiring leaves of the model."""
    model, ids, way = subject.model(), torch.tensor(GIVEN.ids), sw.WAYS[name]
    turn, allowed = model.surroundings(len(ids))
    x = start = model.embed(ids)
    for block in model.blocks if name != "parts" else ():
        read = (lambda norm, y: y * norm.weight) if name in ("inner", "norms") else (lambda norm, y: norm(y))
        keep = 0.0 if name == "skips" else 1.0
        x = keep * x + block.attn(read(block.norm1, x), turn, allowed)
        x = keep * x + block.ffn(read(block.norm2, x))
    last = x[-1] * model.norm.weight if name == "norms" else model.norm(x[-1])
    p = (last @ model.embed.weight.T).softmax(-1).numpy()
    found, at = sw.wirings(GIVEN), list(sw.WAYS).index(name)
    assert (found.loud[at], found.sure[at]) == (p.argmax(), pytest.approx(p.max(), abs=1e-4))
    assert found.p[at] == pytest.approx(p[found.answer], abs=1e-5)
    assert found.same[at] == pytest.approx(float(F.cosine_similarity(x[-1], start[-1], 0)), abs=1e-4)
    assert way == sw.WAYS[name]


def test_a_shift_stays_where_a_norm_is_off():
    norm = torch.nn.LayerNorm(3)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
        norm.bias.copy_(torch.tensor([5.0, 6.0, 7.0]))
        x = torch.tensor([[10.0, -1.0, 0.0]])
        assert sw._normed(norm, x, False).tolist() == [[15, 4, 7]]
        torch.testing.assert_close(sw._normed(norm, x, True), norm(x))
        assert sw._normed(Gain(norm.weight), x, False).tolist() == [[10, -2, 0]]
