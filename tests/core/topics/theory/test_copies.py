"""Copies of a sentence: one pass with branches equals separate passes, and no parameter moves."""

import hashlib
import json
import statistics
from dataclasses import replace

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
    whole = exactly(" ".join([cp.CLAIM] * 12 + ["The sky is"]))
    row = subject.run(whole, subject.UNTOUCHED, ("block4.weights",))["block4.weights"].value[2, -1]
    on_green = row[[i for i, id in enumerate(whole.ids) if id == green]].sum()
    assert found.looks[12, 4, 2] == pytest.approx(on_green, abs=1e-5), "at the last of twelve copies too"
    assert found.even[k] == pytest.approx(k / len(text))
    assert found.looks[0].max() == 0, "without a copy there is nothing to look at"


def test_what_is_recorded_is_what_the_model_says_now():

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


# ---- by hand ----


def test_where_each_lead_ends():
    ids = cp._Ids((1,), (7, 8, 9, 2), (7, 8), (5,), 3)
    assert ids.said == 9
    assert ids.ends() == [2, 6, 10, 14]
    assert ids.text(2) == (1, 7, 8, 9, 2, 7, 8, 9, 2, 7, 8)
    bare = cp._Ids((), (7, 8, 9), (7, 8), (5,), 1)
    assert bare.ends() == [1, 4]
    assert [bare.text(k)[end] for k, end in enumerate(bare.ends())] == [8, 8]


def test_who_is_shown_the_followed_word_and_five_others():
    """Four that are likely without a copy, then one that comes near a first place later."""
    probs = torch.zeros(3, 12)
    probs[0, [3, 4, 5, 6, 7, 9]] = torch.tensor([0.3, 0.2, 0.15, 0.1, 0.05, 0.2])
    probs[2, 11], probs[1, 10] = 0.9, 0.5
    assert cp._likely(probs, 9) == [9, 3, 4, 5, 6, 11]
    assert cp._likely(probs, 2) == [2, 3, 4, 9, 5, 11]
    found = cp.run(SKY)
    assert found.probs.shape == (49, 6)
    assert found.shown[0].token == "green"


def test_words_tell_their_chances_without_a_copy(theirs):
    found = cp.run(SKY)
    sky, dog = (asked(theirs, f"The {who} is") for who in ("sky", "dog"))
    assert [word.p for word in found.words] == pytest.approx([sky[found.words[0].id], sky.max(), dog.max()], abs=1e-4)
    assert found.words[2].id == dog.argmax()
    assert found.best[0] == found.words[1].token
    assert found.other_best[0] == found.words[2].token
    assert len(found.best) == len(found.other_best) == 49
    assert found.best[found.needed] == "green" != found.best[found.needed - 1]
    assert found.pieces == ("green",)


def test_a_word_that_never_leads_is_never_needed():
    found = cp.run(SKY)

    assert replace(found, best=("blue",) * 49).needed is None
    assert replace(found, best=("green",) * 49).needed == 0


def test_carriers_have_twelve_copies_and_the_worst_come_first():
    found = cp.carriers(SKY)
    assert found.p.shape == found.looks.shape == (13, 6, 6)
    np.testing.assert_allclose(found.untouched, cp.run(SKY).p[:13, 0], atol=2e-5)
    lost = sorted((found.p[5, layer, head], (layer, head)) for layer in range(6) for head in range(6))
    assert found.worst(5) == [one for _p, one in lost[:4]]
    assert len(found.worst(5, 7)) == 7


def test_many_false_sentences_are_counted():

    kept = list(json.loads(cp.TABLE.read_text("utf8")).values())
    needed = sorted(one["needed"] for one in kept if one["needed"] is not None)
    found = cp.recorded()
    assert (found.middle, found.most) == (statistics.median(needed), needed[-1])
    assert found.more == sum(p > one["own"] for one in kept for p in one["others"].values())


def test_a_lead_of_one_s_own():
    claim = cp.read("The big dog was very blue!")
    assert (claim.lead, claim.sentence) == ("The big dog was very", "The big dog was very blue!")
    assert cp.Demo(claim, "A cat").other_lead == "A cat was very"
    assert [cp.read(one).between for one in ("They can be loud.", "is is is loud")] == ["can be", "is is"]
    assert cp.read("Am I right").who == "Am"


def test_no_branch_sees_another():
    """Each stands after its own copies: its places, and whom it may look at."""
    ids = cp._ids(SKY)
    edits = dict(cp._branches(SKY, ids))
    n, m = len(ids.text(48)), len(ids.other)
    allowed = edits["block*.allowed"](None)
    assert allowed.shape == (n + 49 * m, n + 49 * m)
    np.testing.assert_array_equal(allowed[:n, :n], np.tri(n, dtype=bool))
    assert not allowed[:n, n:].any()
    for k in (0, 3, 48):
        rows = range(n + k * m, n + (k + 1) * m)
        for at, row in enumerate(rows):
            own = {*range(len(ids.start) + k * len(ids.copy)), *rows[: at + 1]}
            assert set(np.flatnonzero(allowed[row])) == own
    turned = edits["angles"](torch.arange(400.0)[:, None])[:, 0]
    assert turned[n : n + m].tolist() == list(range(len(ids.start), len(ids.start) + m))
    assert turned[:n].tolist() == list(range(n))
