"""Every window of a text, against the model in Hugging Face transformers under the same masks."""

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.topics.why import window as rc

READING = sentence.read(sentence.SENTENCE)


@pytest.fixture(scope="module")
def found():
    return rc.run(rc.Demo(sentence.of(READING)))


def probs(model, ids, window):
    """The next token with a mask written out: each token sees itself and window - 1 tokens before."""
    n = len(ids)
    mask = torch.full((n, n), torch.finfo(torch.float32).min)
    for query in range(n):
        mask[query, max(0, query - window + 1) : query + 1] = 0
    with torch.inference_mode():
        return model(torch.tensor([ids]), attention_mask=mask[None, None]).logits[0, -1].softmax(-1).numpy()


@pytest.mark.parametrize("window", [1, 5, 10, 11, 14])
def test_every_window_equals_transformers(found, theirs, window):
    expected = probs(theirs, READING.ids, window)
    at = found.at(window)
    np.testing.assert_allclose(found.p[at], expected[[w.id for w in found.words]], rtol=1e-3, atol=1e-6)
    assert found.best[at].id == int(expected.argmax())
    assert found.best[at].p == pytest.approx(float(expected.max()), rel=1e-3)


def test_a_long_text_passes_in_parts_and_is_the_same(theirs, monkeypatch):
    ids, tokens = (part + part[1:] * 3 for part in (READING.ids, READING.tokens))
    monkeypatch.setattr(subject, "AT_ONCE", 150)
    stops = rc.windows(len(ids))
    found = rc.next_probs(sentence.Text(sentence.FIRST, ids, tokens), stops).numpy()
    for at in (3, 20, len(stops) - 1):
        np.testing.assert_allclose(found[at], probs(theirs, ids, stops[at]), rtol=1e-3, atol=1e-6)


def test_the_answer_comes_with_the_word_it_needs(found):
    assert (found.answer.token, found.needed) == ("Amy", 11)
    assert READING.tokens[-found.needed] == "Amy"
    assert found.chance(found.answer.id, 10) == pytest.approx(0.009, abs=0.001)
    assert found.chance(found.answer.id, 11) == pytest.approx(0.991, abs=0.001)
    assert found.best[found.at(5)].token == "Sam"


def test_needed_is_the_window_from_which_nothing_changes_any_more():
    for text in ("The cat slept on the rug. The dog slept on the", "Tom was very thirsty. He wanted to", "One"):
        reading = sentence.read(text)
        found = rc.run(rc.Demo(sentence.of(reading)))
        at = found.at(found.needed)
        assert {word.id for word in found.best[at:]} == {found.answer.id}
        assert at == 0 or found.best[at - 1].id != found.answer.id
        assert found.words[0].id == found.answer.id
        assert len({word.id for word in found.words}) == len(found.words) == rc.SHOWN


@pytest.mark.parametrize("n", [1, 2, 14, 48, 49, 256])
def test_the_stops_are_all_windows_or_fewer_of_the_far_ones(n):
    stops = rc.windows(n)
    assert (stops[0], stops[-1]) == (1, n)
    assert list(stops) == sorted(set(stops))
    assert stops[: min(n, 24)] == tuple(range(1, min(n, 24) + 1))
    assert len(stops) == n if n <= 48 else 43 <= len(stops) <= 49


@pytest.mark.parametrize("text", ["", "a", "🦊 狐狸 <b>x</b> مرحبا", "Tom saw it. " * 100])
def test_any_text_has_an_answer(text):
    reading = sentence.read(text)
    found = rc.run(rc.Demo(sentence.of(reading)))
    assert found.p.shape == (len(found.windows), rc.SHOWN)
    assert np.isfinite(found.p).all()
    assert (found.p.sum(1) <= 1 + 1e-5).all()
    assert found.windows[-1] == len(reading.ids)


def test_one_token_alone():
    found = rc.run(rc.Demo(sentence.Text(sentence.FIRST, READING.ids[:1], READING.tokens[:1])))
    assert (found.windows, found.needed) == ((1,), 1)
    assert found.best[0].id == found.answer.id


def test_the_far_stops_grow_by_equal_factors():
    """Twenty-four one by one, then 24 steps from there to the end."""
    for n in (49, 100, 256):
        far = {round(float(x)) for x in np.geomspace(24, n, 25)}
        assert rc.windows(n) == tuple(sorted({*range(1, 25), *far}))


def test_who_is_followed_while_the_window_grows():
    """The answer, who else ever leads, the surest first, then who comes close; seven in all."""
    probs = np.zeros((3, 20))
    probs[0, [4, 9, 1]], probs[1, [2, 9, 3]], probs[2, [7, 5, 6, 8]] = (
        [0.5, 0.4, 0.3],
        [0.6, 0.3, 0.2],
        [0.9, 0.1, 0.05, 0.02],
    )
    best = [sentence.Word(i, "", 0.0) for i in (4, 2, 7)]
    assert rc._followed(probs, best, best[-1]) == [7, 2, 4, 9, 1, 3, 5]


def test_one_word_back_is_the_narrowest_window():
    found = rc.run(rc.Demo(sentence.exactly("One two")))
    assert found.windows == tuple(range(1, len(sentence.exactly("One two")) + 1))
    assert (found.at(1), found.at(2)) == (0, 1)
    calm = rc.subject.untouched(sentence.exactly("One two"))["next_probs"].value
    np.testing.assert_array_equal(found.p[-1], calm[[word.id for word in found.words]])
    assert [word.p for word in found.words] == pytest.approx(found.p[-1].tolist())
