"""Texts, their words and what is asked of a model about them, by hand."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import cuts, outcomes, story_losses, subject
from core.lab import text as sentence
from core.whatif import Change

FIRST = sentence.of(sentence.read(sentence.SENTENCE))


def test_words_that_stand_twice_are_numbered():
    assert sentence.names(("a", "b", "a", "c", "a", "b")) == ["a 1", "b 1", "a 2", "c", "a 3", "b 2"]
    assert FIRST.names[1] == "Sam 1"
    assert len(FIRST) == 14
    assert FIRST.labels == dict(query=list(FIRST.tokens), key=list(FIRST.tokens))


def test_the_likeliest_first_and_of_equal_ones_any():
    p = np.array([0.1, 0.4, 0.05, 0.3, 0.15])
    assert [(w.id, w.p) for w in sentence.top(p, 3)] == [(1, 0.4), (3, 0.3), (4, 0.15)]
    assert len(sentence.top(np.linspace(0, 1, 40))) == 10
    assert sentence.word(3, p).token == sentence.called(3)


def test_a_model_without_words_has_numbers(tmp_path):
    assert sentence.called(7, str(tmp_path)) == "#7"
    assert sentence.id_of("dog", str(tmp_path)) is None
    assert sentence.id_of("dog") == sentence.exactly("dog").ids[-1]
    assert sentence.id_of("nosuchword") is None
    assert sentence.called(40_000) == "#40000"


@pytest.mark.parametrize(
    ("about", "found"),
    [
        (dict(bos_token_id=1, eos_token_id=2), (1, 2)),
        (dict(bos_token_id=1, eos_token_id=[2, 1, 5]), (1, 2, 5)),
        (dict(eos_token_id=0), (0,)),
        (dict(bos_token_id=None), ()),
    ],
)
def test_what_ends_a_text(tmp_path, about, found):
    (tmp_path / "config.json").write_text(json.dumps(about))
    assert sentence.ends(str(tmp_path)) == found


@pytest.mark.parametrize(("about", "reads"), [(dict(max_position_embeddings=77), 77), (dict(n_positions=9), 9)])
def test_how_much_a_model_reads(tmp_path, about, reads):
    (tmp_path / "config.json").write_text(json.dumps(about))
    assert sentence.context(str(tmp_path)) == reads
    assert sentence.context() == 256


def test_the_twin_has_one_other_word():
    assert sentence.TWIN == "Sam and Amy played in the park. Amy threw the ball to"
    assert sentence.exactly(" a ").ids != sentence.exactly("a").ids, "blanks at the ends stay"


@torch.no_grad()
def test_how_strange_a_text_is(theirs):
    for text in (FIRST, sentence.exactly("zq xv 7 ## kk")):
        ids = torch.tensor([text.ids])
        wanted = F.cross_entropy(theirs(ids).logits[0, :-1], ids[0, 1:])
        assert subject.surprise(text) == pytest.approx(float(wanted), abs=1e-3)
    assert subject.surprise(FIRST) < sentence.STRANGE
    assert subject.surprise(sentence.Text(FIRST.subject, FIRST.ids[:1], FIRST.tokens[:1])) == 0.0
    assert subject.surprise(sentence.Text(FIRST.subject, FIRST.ids[:2], FIRST.tokens[:2])) > 0


def test_what_follows_is_told_under_a_change():
    calm = subject.untouched(FIRST)["next_probs"].value
    found = subject.outlook(FIRST)
    assert found.asked == found.words[0]
    assert (found.asked.id, len(found.words)) == (calm.argmax(), 10)
    asked = subject.outlook(FIRST, Change(mask=False), 17)
    p = subject.run(FIRST, Change(mask=False), ("next_probs",))["next_probs"].value
    assert (asked.asked.id, asked.asked.p) == (17, pytest.approx(float(p[17])))
    assert subject.chances(FIRST, Change(mask=False), (5, 17)) == pytest.approx((p[5], p[17]))
    assert subject.story_count() == len(subject.stories()) == 6


def test_keys_as_they_meet(pair):
    for family, ending in (("gpt2", ""), ("llama", "_rot"), ("qwen3", "_rot")):
        text = sentence.exactly("the dog", str(pair(family).folder))
        assert subject.met(subject.untouched(text), 0, "k").quantity.name == f"k{ending}"


def test_a_loss_is_recorded_for_a_head_in_reading_order():
    stops = story_losses.STOPS
    for change, place in (
        (Change(temperature=stops[3]), (0, 0, 36, 3)),
        (Change(temperature=stops[40], head=(2, 5)), (0, 0, 17, 40)),
        (Change(scaling=False, temperature=stops[24]), (1, 0, 36, 24)),
        (Change(mask=False, temperature=stops[0], head=(5, 1)), (0, 1, 31, 0)),
    ):
        assert story_losses._place(change, 37) == place
    for other in (Change(window=3), Change(rotation=False), Change(muted=((0, 0),)), Change(cut=(0, 0, 1, 1))):
        with pytest.raises(KeyError, match="only scaling, mask and temperature"):
            story_losses.loss(other)
    with pytest.raises(KeyError, match="not recorded"):
        story_losses.loss(Change(temperature=1.01))


def test_a_decider_takes_more_than_half_of_all():
    link = sentence.Link(0, 0, 1, 0, 0.49)
    half = sentence.Link(0, 0, 1, 0, 0.5)
    assert outcomes.Outcomes((), (), 3, (link, half, link), (link,)).deciders == 2
    assert outcomes.recorded_words()[0].token == "Amy"
    assert len(outcomes.outcomes().cut) >= 3


def test_twenty_links_are_told_or_all_that_decide(monkeypatch):
    """Two hundred at most."""
    probs = subject.untouched(FIRST)["next_probs"].value.max()
    for many, told in ((3, 20), (50, 50), (300, 200)):
        links = [sentence.Link(0, 0, 1, i, 0.0) for i in range(many)] + [sentence.Link(0, 0, 1, 0, float(probs))] * 400
        monkeypatch.setattr(cuts, "rank", lambda *_some, links=links, **_more: links)
        found = cuts.ranking(FIRST, True)
        assert (found.deciders, len(found.worst), found.cells) == (many, told, many + 400)
