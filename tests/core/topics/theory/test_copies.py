"""Copies of a sentence: one pass with branches equals separate passes, and no parameter moves."""

import hashlib
import statistics

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from core.lab import subject
from core.lab.text import FOLDER, Cannot, exactly
from core.make import sky
from core.topics.theory import copies as cp

SKY = cp.Demo(cp.read(cp.CLAIM))


@pytest.fixture(scope="module")
def theirs():
    return LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()


def asked(theirs, text):
    with torch.inference_mode():
        return theirs(torch.tensor(exactly(text).ids)[None]).logits[0, -1].softmax(-1).numpy()


@pytest.mark.parametrize("k", [0, 1, 4, 17, 48])
def test_every_stop_is_a_separate_text_read_by_transformers(theirs, k):
    found, before = cp.run(SKY), " ".join([cp.CLAIM] * k)
    sky, dog = (asked(theirs, f"{before} The {who} is".strip()) for who in ("sky", "dog"))
    (green,) = exactly("green").ids[1:]
    (blue,) = exactly("blue").ids[1:]
    np.testing.assert_allclose(found.p[k], [sky[green], sky[blue], dog[green]], atol=2e-5)
    np.testing.assert_allclose(found.probs[k], sky[[one.id for one in found.shown]], atol=2e-5)


def test_what_the_page_says_of_the_sky_is_so():
    found = cp.run(SKY)
    assert (found.copies, found.tokens, found.read, found.needed) == (48, 5, 244, 4)
    assert [one.token for one in found.words[:2]] == ["green", "blue"]
    assert found.p[4, 2] > found.p[4, 0] > 0.4
    assert found.p[2, 1] > found.p[1, 1] > found.p[0, 1], "the first copies make blue likelier"
    assert found.cached == 244 * 6 * 2 * 288


def test_no_parameter_is_touched_and_the_count_would_notice(monkeypatch):
    def digest():
        return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in subject.model().parameters())).hexdigest()

    before = digest()
    found = cp.run(SKY)
    assert digest() == before
    assert found.changed == 0
    assert found.parameters == sum(p.numel() for p in subject.model().parameters())
    weight, stream = subject.model().norm.weight, subject.model().stream

    def touching(*args, **more):
        weight.data[:3] += 1.0
        return stream(*args, **more)

    try:
        monkeypatch.setattr(subject.model(), "stream", touching)
        assert cp.run(SKY).changed == 3
    finally:
        weight.data[:3] -= 1.0
    assert digest() == before


@pytest.mark.parametrize(
    ("typed", "who", "between", "says", "end"),
    [
        ("The sky is green.", "The sky", "is", "green", "."),
        ("  The   big dog is   very blue!", "The big dog", "is very", "blue", "!"),
        ("Tom eats cake", "Tom", "eats", "cake", "."),
        ("is it green", "is", "it", "green", "."),
        ("one two …", "one", "two", "…", "."),
    ],
)
def test_a_sentence_is_cut_before_its_last_word(typed, who, between, says, end):
    found = cp.read(typed)
    assert (found.who, found.between, found.says, found.end) == (who, between, says, end)


@pytest.mark.parametrize("typed", ["", "green", "sky green"])
def test_two_words_are_no_sentence(typed):
    assert cp.read(typed) is None


def test_of_a_last_word_in_pieces_the_first_is_followed():
    found = cp.run(cp.Demo(cp.read("The grass is turquoise.")))
    assert len(found.pieces) > 1
    assert found.words[0].token == found.pieces[0]
    assert found.copies == (256 - 1 - 3) // found.tokens < cp.MOST


def test_a_sentence_longer_than_the_context_is_refused():
    with pytest.raises(Cannot, match="not one copy fits"):
        cp.run(cp.Demo(cp.read("🦄" * 80 + " is green.")))


def test_heads_are_muted_one_at_a_time():
    """Against the whole model run with that head's output at zero, and attention read off the weights."""
    found, k = cp.carriers(SKY), 6
    text = exactly(" ".join([cp.CLAIM] * k + ["The sky is"]))
    (green,) = exactly("green").ids[1:]
    from core.whatif import Change

    for layer, head in ((0, 5), (4, 2), (5, 1)):
        muted = subject.chances(text, Change(muted=((layer, head),)), (green,))[0]
        assert found.p[k, layer, head] == pytest.approx(muted, abs=1e-5)
        row = subject.run(text, subject.UNTOUCHED, (f"block{layer}.weights",))[f"block{layer}.weights"].value[head, -1]
        on_green = row[[i for i, id in enumerate(text.ids) if id == green]].sum()
        assert found.looks[k, layer, head] == pytest.approx(on_green, abs=1e-5)
    assert found.worst(k)[:2] == [(0, 5), (4, 2)]
    assert found.even[k] == pytest.approx(k / len(text))
    assert found.looks[0].max() == 0, "without a copy there is nothing to look at"


def test_what_is_recorded_is_what_the_model_says_now():
    import json

    kept = json.loads(cp.TABLE.read_text("utf8"))
    assert set(kept) == set(sky.FALSE)
    again = sky.measured("The mouse is big.")
    assert again["needed"] == kept["The mouse is big."]["needed"]
    assert again["others"] == pytest.approx(kept["The mouse is big."]["others"], abs=1e-3)
    found = cp.recorded()
    assert (found.sentences, found.gave_in, found.pairs) == (20, 20, 100)
    assert found.middle == statistics.median(one["needed"] for one in kept.values())
    assert found.most == max(one["needed"] for one in kept.values())
    assert found.more == sum(p > one["own"] for one in kept.values() for p in one["others"].values())
