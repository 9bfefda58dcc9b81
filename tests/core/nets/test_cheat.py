"""The two tiny models: a language of known entropy, one model that plays fair, and one that learned to copy."""

import itertools
import math

import numpy as np
import pytest
import torch

from core.make import cheat as make_cheat
from core.nets import cheat


def test_the_entropy_is_that_of_the_language():
    sentences = math.prod(len(slot) for slot in cheat.SLOTS)
    assert len(list(itertools.product(*cheat.SLOTS))) == sentences
    assert math.log(sentences) / len(cheat.SLOTS) == pytest.approx(cheat.ENTROPY)


def test_texts_are_sentences_of_the_language_cut_anywhere():
    rows = cheat.texts(20, torch.Generator().manual_seed(4))
    assert rows.shape == (20, cheat.LENGTH)
    for row in rows:
        words = [cheat.VOCAB[i] for i in row]
        start = words.index(".") + 1
        whole = words[start : start + 24]
        assert all(cheat.correct(tuple(whole[i : i + 6])) for i in range(0, 24, 6))
    assert not cheat.correct(("Sam", "saw", "a", "red", "ball"))
    assert not cheat.correct(("Sam", "saw", "a", "ball", "red", "."))


@torch.inference_mode()
def test_the_loss_is_torchs_own():
    rows = cheat.texts(3, torch.Generator().manual_seed(2))
    model = cheat.model("masked")
    logits = torch.stack([model.read_out(model.stream(row)) for row in rows])
    expected = -logits.log_softmax(-1)[:, :-1].gather(-1, rows[:, 1:, None])[..., 0]
    np.testing.assert_allclose(cheat.losses(model, rows, mask=True), expected, atol=1e-4)


def test_who_was_trained_how_and_what_it_is_worth():
    (fair, fair_open), (open_masked, copied) = cheat.measured(32, 9)
    assert fair == pytest.approx(cheat.ENTROPY, abs=0.08)
    assert fair_open == pytest.approx(fair, abs=0.2)
    assert copied < 0.01
    assert open_masked > 2 * cheat.ENTROPY
    curves = cheat.history()
    assert curves.shape == (2, cheat.STEPS)
    assert curves[:, 0] == pytest.approx([math.log(len(cheat.VOCAB))] * 2, rel=0.15), "it starts by guessing"
    assert curves[0].min() > cheat.ENTROPY - 0.15


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_only_the_fair_one_can_write(seed):
    fair, copier = (cheat.write(kind, seed) for kind in cheat.KINDS)
    assert fair.right >= fair.sentences - 1 >= 4
    assert copier.right <= copier.sentences / 2
    assert len(fair.words) == 36


@pytest.mark.parametrize("kind", cheat.KINDS)
def test_training_begins_as_it_was_recorded(kind, monkeypatch):
    monkeypatch.setattr(make_cheat, "STEPS", 12)
    _model, losses = make_cheat.train(kind)
    np.testing.assert_allclose(losses, cheat.history()[cheat.KINDS.index(kind)][:12], rtol=1e-3)


@torch.inference_mode()
def test_the_page_s_numbers_are_means_over_64_texts():
    rows = cheat.texts(64, torch.Generator().manual_seed(1))
    wanted = [
        [cheat.losses(cheat.model(kind), rows, mask=mask).mean() for mask in (True, False)] for kind in cheat.KINDS
    ]
    np.testing.assert_allclose(cheat.measured(), wanted, rtol=1e-6)
