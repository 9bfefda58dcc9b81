"""What is kept against a full pass, on every family: the same numbers."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.cache import Cache, read_on
from core.model import Decoder
from core.trace import Trace
from tests.core import families

IDS = torch.tensor([3, 17, 3, 0, 60, 42, 9, 9, 31, 5, 22])
NAMES = pytest.mark.parametrize("name", families.CONFIGS)
CLOSE = dict(rtol=1e-5, atol=1e-5)


@NAMES
@pytest.mark.parametrize("cuts", [(1,) * 11, (11,), (4, 1, 1, 5), (10, 1)], ids=str)
@torch.no_grad()
def test_reading_in_parts_is_reading_at_once(pair, name, cuts):
    model, cache = pair(name).ours, None
    cache, whole = Cache(model), model.stream(IDS)
    parts = torch.cat([cache.read(part) for part in IDS.split(cuts)])
    scale = float(whole.abs().max())
    np.testing.assert_allclose(parts / scale, whole / scale, **CLOSE)
    assert (cache.length, cache.held) == (11, 11)


@NAMES
@torch.no_grad()
def test_every_logit_is_transformers_own_with_its_cache(pair, name):
    theirs, cache, seen = pair(name).theirs, Cache(pair(name).ours), None
    for part in IDS.split((6, 1, 1, 1, 2)):
        expected = theirs(part[None], past_key_values=seen, use_cache=True)
        seen = expected.past_key_values
        logits = pair(name).ours.read_out(cache.read(part))
        np.testing.assert_allclose(logits, expected.logits[0], rtol=1e-4, atol=1e-4)
    for layer, (k, v) in zip(seen.layers, cache.kept, strict=True):
        np.testing.assert_allclose(k, layer.keys[0], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(v, layer.values[0], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_a_window_lets_go_of_what_it_cannot_see(pair):
    """Four tokens in sight; transformers' Mistral masks the rest of the whole text."""
    theirs, ours = copy.deepcopy(pair("mistral, window").theirs), pair("mistral, window").ours
    theirs.config.sliding_window = 4
    model = Decoder(replace(ours.config, window=4))
    model.load_state_dict(ours.state_dict())
    cache, whole = Cache(model), model.stream(IDS)
    parts = torch.cat([cache.read(part) for part in IDS.split((1, 3, 1, 2, 4))])
    np.testing.assert_allclose(parts, whole, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.read_out(parts), theirs(IDS[None]).logits[0], rtol=1e-3, atol=1e-3)
    assert (cache.length, cache.held) == (11, 4)
    with pytest.raises(ValueError, match="9 tokens are not kept any more"):
        cache.back_to(9)


@torch.no_grad()
def test_going_back_is_not_having_read(pair):
    model = pair("qwen3").ours
    cache = Cache(model)
    cache.read(IDS[:5])
    kept = [(k.clone(), v.clone()) for k, v in cache.kept]
    cache.read(IDS[7:])
    cache.back_to(5)
    for (k, v), (k_then, v_then) in zip(cache.kept, kept, strict=True):
        assert torch.equal(k, k_then)
        assert torch.equal(v, v_then)
    np.testing.assert_allclose(cache.read(IDS[5:]), model.stream(IDS)[5:], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_a_batch_reads_each_of_its_texts_and_goes_on_with_those_that_are_taken(pair):
    model, cache = pair("gpt2").ours, Cache(pair("gpt2").ours)
    cache.read(torch.stack([IDS[:4], IDS[4:8]]))
    cache.take(torch.tensor([1, 1, 0]))
    x = cache.read(torch.tensor([[5], [6], [7]]))
    for row, text in zip(x, ([60, 42, 9, 9, 5], [60, 42, 9, 9, 6], [3, 17, 3, 0, 7]), strict=True):
        np.testing.assert_allclose(row[0], model.stream(torch.tensor(text))[-1], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_a_table_of_positions_has_an_end(pair):
    cache = Cache(pair("gpt2").ours)
    cache.read(torch.zeros(64, dtype=torch.long))
    with pytest.raises(ValueError, match="65 tokens do not fit: this model reaches 64"):
        cache.read(IDS[:1])


@torch.no_grad()
def test_what_is_kept_is_recorded_and_is_the_keys_as_they_meet(pair):
    model, trace, full = pair("qwen3").ours, Trace(), Trace()
    cache = Cache(model)
    cache.read(IDS[:8])
    cache.read(IDS[8:], trace=trace)
    model.stream(IDS, trace=full)
    for i in range(3):
        np.testing.assert_allclose(trace[f"block{i}.kept_keys"].value, full[f"block{i}.k_rot"].value, **CLOSE)
        np.testing.assert_allclose(trace[f"block{i}.kept_values"].value, full[f"block{i}.v"].value, **CLOSE)
    assert trace["block0.kept_keys"].value.shape == (2, 11, 16)


@torch.no_grad()
def test_cells_of_another_text_can_be_put_in_a_batch_at_a_time(pair):
    """What the stale cache is made of: the same token on top of several caches at once."""
    model = pair("llama, GQA, biases, base").ours
    _x, made = read_on(model, torch.stack([IDS[:5], IDS[5:10]]), None, 0)
    x, _new = read_on(model, torch.tensor([[7], [7]]), made, 5)
    for row, before in zip(x, (IDS[:5], IDS[5:10]), strict=True):
        np.testing.assert_allclose(
            row[0], model.stream(torch.cat([before, torch.tensor([7])]))[-1], rtol=1e-4, atol=1e-4
        )
