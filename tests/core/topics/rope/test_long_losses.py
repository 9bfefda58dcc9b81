"""Recorded losses past the trained length: some of them computed again, by this model and by transformers'."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import AutoConfig, LlamaForCausalLM

from core.lab import text
from core.make import long_losses as make_long_losses
from core.topics.rope import long_losses
from core.topics.rope.long_losses import BIN, FACTORS, METHODS

SHORT = 10  # bins: 320 tokens, beyond the trained 256


@pytest.mark.parametrize(("method", "s"), [("plain", 1.0), ("pi", 2.0), ("yarn", 2.5), ("window", 4.0)])
def test_some_of_it_again(method, s):
    again = make_long_losses.binned(method, s, long_losses.stories()[:, : SHORT * BIN + 1])
    recorded = long_losses.curves().values[FACTORS.index(s), METHODS.index(method), :SHORT]
    np.testing.assert_allclose(again, recorded, atol=2e-3)


def test_dynamic_is_plain_up_to_the_trained_length_and_then_ntk_of_its_own_length():
    ids = long_losses.stories()[:, : 9 * BIN + 1]
    again = make_long_losses.binned("dynamic", 3.0, ids)
    recorded = long_losses.curves().values[FACTORS.index(3.0), METHODS.index("dynamic"), :9]
    np.testing.assert_allclose(again, recorded, atol=2e-3)


@pytest.mark.parametrize(
    ("method", "s", "rope"),
    [
        ("plain", 1.0, {"rope_type": "default"}),
        ("pi", 3.0, {"rope_type": "linear", "factor": 3.0}),
        ("yarn", 2.0, {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 256}),
        ("dynamic", 2.0, {"rope_type": "dynamic", "factor": 2.0}),
    ],
)
def test_a_story_in_transformers_costs_the_same(method, s, rope):
    config = AutoConfig.from_pretrained(text.FOLDER)
    config.rope_parameters = {"rope_theta": 10_000.0, **rope}
    theirs = LlamaForCausalLM.from_pretrained(text.FOLDER, config=config, dtype=torch.float32)
    ids = long_losses.stories()[:1, :353]
    with torch.no_grad():
        expected = F.cross_entropy(theirs(ids[:, :-1]).logits[0], ids[0, 1:], reduction="none")
    torch.testing.assert_close(make_long_losses.along(method, s, ids)[0], expected, atol=5e-3, rtol=1e-3)


def test_the_curves_tell_the_story():
    inside, outside = long_losses.mean("plain", 1.0, 0, 256), long_losses.mean("plain", 1.0, 512, 640)
    assert outside > 3 * inside
    for method in ("pi", "dynamic", "yarn", "window"):
        assert long_losses.mean(method, 2.5, 512, 640) < inside + 0.8, method
    assert long_losses.curves().values.shape == (len(FACTORS), len(METHODS), long_losses.TOKENS / BIN)
    assert long_losses.curves().at[0] == pytest.approx(np.arange(1, BIN + 1).mean())
    with pytest.raises(ValueError, match="steps of 32"):
        long_losses.mean("plain", 1.0, 0, 250)


def test_the_stories_are_long_enough_and_begin_at_the_beginning():
    ids = long_losses.stories()
    assert ids.shape == (4, long_losses.TOKENS + 1)
    assert (ids[:, 0] == 1).all()


@pytest.mark.parametrize(
    ("method", "s", "start", "stop"),
    [("typo", 1.0, 0, 32), ("pi", 1.1, 0, 32), ("pi", 2.0, 0, 33), ("pi", 2.0, 64, 64), ("pi", 2.0, 64, 32),
     ("pi", 2.0, -32, 32), ("pi", 2.0, 0, 672)],
)  # fmt: skip
def test_only_what_was_recorded_has_a_mean(method, s, start, stop):
    with pytest.raises(ValueError, match="are recorded"):
        long_losses.mean(method, s, start, stop)
