"""Look-ups against plain NumPy and a law of chance; a real head against the numbers it recorded."""

import numpy as np
import pytest
import torch

from core.lab import subject, text
from core.topics.theory import lookup as lk

SENTENCE = text.exactly(text.SENTENCE)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_keys_have_one_length_and_random_directions():
    held = lk.keys(256).numpy().astype(float)
    np.testing.assert_allclose(np.linalg.norm(held, axis=1), 48**0.5, rtol=1e-5)
    meeting = (held @ held.T / 48**0.5)[~np.eye(256, dtype=bool)]
    assert abs(meeting.mean()) < 0.05
    assert meeting.std() == pytest.approx(1.0, abs=0.05), "scores of other keys are like normal draws"


@pytest.mark.parametrize("many", lk.KEYS)
def test_the_share_of_the_right_key(many):
    held = lk.keys(many).numpy().astype(float)
    asked = min(64, many)
    for place in (0, lk.SHARP.index(1.0), 30):
        weights = softmax(lk.SHARP[place] * (held[:asked] @ held.T) / 48**0.5)
        assert lk.share(many)[place] == pytest.approx(np.diag(weights[:, :asked]).mean(), rel=1e-4)
    assert (np.diff(lk.share(many)) > -1e-6).all()
    np.testing.assert_allclose(lk.expected(many), lk.share(many), atol=0.03)


def test_numbers_worth_remembering():
    found = dict(zip(lk.SHARP, lk.share(256), strict=True))
    assert found[1.0] == pytest.approx(0.71, abs=0.005)
    assert found[2.0] == pytest.approx(0.998, abs=0.0005)


def test_one_question():
    found, held = lk.ask(256), lk.keys(256).numpy().astype(float)
    whole = softmax(np.array(lk.SHARP)[:, None] * (held @ held[0] / 48**0.5))
    assert found.keys[0] == 0
    assert list(found.keys) == np.argsort(-whole[24])[: lk.SHOWN].tolist()
    np.testing.assert_allclose(found.weights, whole[:, list(found.keys)], atol=1e-6)
    np.testing.assert_allclose(found.out[-1], found.value, atol=1e-3)
    np.testing.assert_allclose(
        found.away, np.linalg.norm(found.out - found.value, axis=1) / np.linalg.norm(found.value), rtol=1e-4, atol=1e-7
    )
    assert found.away[0] > 0.9 > found.away[-1]


def test_a_real_head_as_recorded_and_sharpened():
    trace, one = subject.untouched(SENTENCE), lk.SHARP.index(1.0)
    found = lk.found(lk.Demo(SENTENCE, 5, 1))
    weights, z = trace["block5.weights"].value[1], trace["block5.z"].value[1]
    v = trace["block5.v"].value[1]
    assert list(found.best) == weights.argmax(-1).tolist()
    np.testing.assert_allclose(found.share[one], weights.max(-1), rtol=1e-5)
    best = v[list(found.best)]
    np.testing.assert_allclose(
        found.away[one], np.linalg.norm(z - best, axis=1) / np.linalg.norm(best, axis=1), rtol=1e-3, atol=1e-6
    )
    scores = trace["block5.masked"].value[1].astype(float)
    np.testing.assert_allclose(found.share[40], softmax(4 * scores).max(-1), rtol=1e-4)
    assert lk.SHARP[40] == 4
    assert SENTENCE.tokens[found.best[-1]] == "Amy"


def test_every_head_at_once():
    trace, one = subject.untouched(SENTENCE), lk.SHARP.index(1.0)
    every = np.stack([trace[f"block{i}.weights"].value for i in range(6)])[:, :, 1:]
    np.testing.assert_allclose(lk.heads(SENTENCE)[one], every.max(-1).mean(-1), rtol=1e-5)
    assert lk.resting(SENTENCE) == pytest.approx((every.argmax(-1) == 0).mean())
    assert (lk.heads(SENTENCE)[-1] > lk.heads(SENTENCE)[0]).all()


def test_one_token_has_nothing_to_look_up():
    alone = text.Text(text.FIRST, SENTENCE.ids[:1], SENTENCE.tokens[:1])
    for asked in (lk.heads, lk.resting, lambda one: lk.found(lk.Demo(one))):
        with pytest.raises(text.Cannot):
            asked(alone)


def test_another_key_of_another_dictionary():
    found = lk.ask(16, 5)
    held = lk.keys(16).numpy().astype(float)
    values = torch.randn(16, 12, generator=torch.Generator().manual_seed(1)).numpy()
    whole = softmax(np.array(lk.SHARP)[:, None] * (held @ held[5] / 48**0.5))
    assert found.keys[0] == 5
    assert len(found.keys) == 6
    np.testing.assert_allclose(found.value, values[5])
    np.testing.assert_allclose(found.out, whole @ values, atol=1e-5)
    assert lk.ask().weights.shape == (49, 6)
    assert lk.ask().keys == lk.ask(256, 0).keys


@pytest.mark.parametrize(("many", "width"), [(10, 6), (100, 20)])
def test_shares_at_other_widths(many, width):
    held = lk.keys(many, width).numpy().astype(float)
    np.testing.assert_allclose(np.linalg.norm(held, axis=1), width**0.5, rtol=1e-5)
    asked = min(64, many)
    for place in (5, 30):
        weights = softmax(lk.SHARP[place] * (held[:asked] @ held.T) / width**0.5)
        assert lk.share(many, width)[place] == pytest.approx(np.diag(weights[:, :asked]).mean(), rel=1e-4)
        sharp = lk.SHARP[place]
        right, other = np.exp(sharp * width**0.5), np.exp(sharp**2 / 2)
        assert lk.expected(many, width)[place] == pytest.approx(right / (right + (many - 1) * other))


def test_two_tokens_are_enough_to_look_up():
    two = text.Text(text.FIRST, SENTENCE.ids[:2], SENTENCE.tokens[:2])
    assert lk.heads(two).shape == (49, 6, 6)
    assert lk.found(lk.Demo(two)).best[0] == 0
    assert 0 <= lk.resting(two) <= 1
    v = subject.untouched(SENTENCE)["block2.v"].value[4]
    found, scores = (
        lk.found(lk.Demo(SENTENCE, 2, 4)),
        subject.untouched(SENTENCE)["block2.masked"].value[4].astype(float),
    )
    out = softmax(lk.SHARP[30] * scores) @ v
    best = v[scores.argmax(1)]
    np.testing.assert_allclose(
        found.away[30], np.linalg.norm(out - best, axis=1) / np.linalg.norm(best, axis=1), rtol=1e-3, atol=1e-5
    )
