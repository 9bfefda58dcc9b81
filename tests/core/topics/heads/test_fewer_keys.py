"""MHA, GQA, MQA and MLA on the embedded model, against Hugging Face transformers with converted weights."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM

from core.lab import subject, text
from core.make import healed as make_healed
from core.make import sharing_losses
from core.nets import healed as healing
from core.topics.heads import fewer_keys
from core.topics.heads.volume import Demo

READING = text.read("The cat slept on the rug. The dog slept on the")
TEXT = text.of(READING)
STATE = load_file(subject.FOLDER / "model.safetensors")


def with_kv_heads(n, change):
    """Their model with n key/value heads: its weights after `change(layer, state)` has put new ones in."""
    config = AutoConfig.from_pretrained(subject.FOLDER, num_key_value_heads=n, attn_implementation="eager")
    model = AutoModelForCausalLM.from_config(config).float().eval()
    state = {name: weight.float() for name, weight in STATE.items()}
    for layer in range(6):
        change(f"model.layers.{layer}.self_attn.", layer, state)
    model.load_state_dict(state, strict=False)
    model.tie_weights()
    return model


def pooled(n):
    def change(prefix, _layer, state):
        for name in ("k_proj", "v_proj"):
            heads = state[f"{prefix}{name}.weight"].reshape(n, 6 // n, 48, 288)
            state[f"{prefix}{name}.weight"] = heads.mean(1).reshape(-1, 288)

    return with_kv_heads(n, change)


def healed(n):
    stored = load_file(healing.FOLDER / f"kv{n}.safetensors")

    def change(prefix, layer, state):
        for name in "qkvo":
            state[f"{prefix}{name}_proj.weight"] = stored[f"{layer}.{name}"].float()

    return with_kv_heads(n, change)


def low_rank(rank, weighted):
    """[W_K; W_V] as the best product of that rank: for any x, or for the x that attention reads."""

    def change(prefix, layer, state):
        names = [f"{prefix}{name}.weight" for name in ("k_proj", "v_proj")]
        both = torch.cat([state[name] for name in names]).double()
        root = torch.eye(288, dtype=torch.float64)
        if weighted:
            size, axes = torch.linalg.eigh(healing.moments()[layer].double())
            root = axes @ size.clamp_min(0).sqrt().diag() @ axes.T
        u, s, v = torch.linalg.svd(both @ root, full_matrices=False)
        cut = (u[:, :rank] * s[:rank]) @ v[:rank] @ torch.linalg.pinv(root)
        for name, half in zip(names, cut.float().chunk(2), strict=True):
            state[name] = half

    return with_kv_heads(6, change)


CASES = [(0, "converted", lambda: with_kv_heads(6, lambda *_: None))]
CASES += [(i, "converted", lambda n=n: pooled(n)) for i, n in ((1, 3), (3, 1))]
CASES += [(i, "healed", lambda n=n: healed(n)) for i, n in ((1, 3), (2, 2), (3, 1))]
CASES += [(10, "converted", lambda: low_rank(125, False)), (10, "healed", lambda: low_rank(125, True))]


@pytest.mark.long
@pytest.mark.parametrize(("stop", "side", "make"), CASES, ids=[f"{side} {stop}" for stop, side, _ in CASES])
@torch.inference_mode()
def test_every_way_equals_a_model_with_those_weights(stop, side, make):
    found = fewer_keys.run(Demo(TEXT, 4, 3))[side]
    theirs, plain = (
        model(torch.tensor(READING.ids)[None], output_attentions=True) for model in (make(), CASES[0][2]())
    )
    np.testing.assert_allclose(found.weights[stop], theirs.attentions[4][0, 3], atol=5e-4)
    np.testing.assert_allclose(found.probs[stop], theirs.logits[0, -1].softmax(-1)[list(found.ids)], atol=1e-3)
    np.testing.assert_allclose(found.probs[0], plain.logits[0, -1].softmax(-1)[list(found.ids)], atol=1e-4)


def test_error_is_that_of_the_layers_output():
    found = fewer_keys.run(Demo(TEXT, 2, 0))["converted"]
    outs = []
    for model in (with_kv_heads(6, lambda *_: None), pooled(2)):
        model.model.layers[2].self_attn.o_proj.register_forward_hook(
            lambda _m, _x, y: outs.append(y[0].detach().numpy())
        )
        model(torch.tensor(READING.ids)[None])
    wanted = np.linalg.norm(outs[1] - outs[0]) / np.linalg.norm(outs[0])
    assert found.error[2] == pytest.approx(wanted, rel=1e-3)
    assert found.error[0] == 0


def test_stops_and_what_they_keep():
    stops = fewer_keys.stops(TEXT)
    assert [(s.name, s.numbers) for s in stops[:4]] == [("MHA", 576), ("GQA", 288), ("GQA", 192), ("MQA", 96)]
    assert (stops[4].name, stops[4].rank, stops[4].bytes_a_token) == ("MLA", 288, 2 * 288 * 6)
    assert [s.rank for s in stops[4:]] == sorted({s.rank for s in stops[4:]}, reverse=True)
    assert stops[-1].rank == 1
    assert len({s.value for s in stops}) == len(stops)


def test_both_sides_show_the_same_words():
    both = fewer_keys.run(Demo(TEXT, 4, 3))
    assert both["converted"].ids == both["healed"].ids
    probs = subject.run(text.of(READING), subject.UNTOUCHED, ("next_probs",))["next_probs"].value
    assert list(both["healed"].ids[: fewer_keys.FIRST_WORDS]) == list(np.argsort(-probs)[: fewer_keys.FIRST_WORDS])
    np.testing.assert_allclose(both["healed"].probs[0], probs[list(both["healed"].ids)], atol=1e-4)


def test_long_texts_have_fewer_ranks_and_the_same_numbers():
    reading = text.read("One day the dog ran to the park with a ball. " * 6)
    some = fewer_keys.offered(text.of(reading))
    assert some[:5] == (0, 1, 2, 3, 4)
    assert some[-1] == len(fewer_keys.stops(TEXT)) - 1
    found = fewer_keys.run(Demo(text.of(reading), 3, 2))["converted"]
    assert len(found.weights) == len(some) < 16
    theirs = pooled(1)(torch.tensor(reading.ids)[None], output_attentions=True)
    np.testing.assert_allclose(found.weights[3], theirs.attentions[3][0, 2].detach(), atol=5e-4)
    rank = fewer_keys.stops(TEXT)[some[6]].rank
    theirs = low_rank(rank, weighted=False)(torch.tensor(reading.ids)[None], output_attentions=True)
    np.testing.assert_allclose(found.weights[6], theirs.attentions[3][0, 2].detach(), atol=5e-4)


def test_who_reads_which_key():
    table = fewer_keys.wiring(fewer_keys.stops(TEXT)[:5])
    assert [list(t.argmax(1)) for t in table] == [
        [0, 1, 2, 3, 4, 5],
        [0, 0, 1, 1, 2, 2],
        [0, 0, 0, 1, 1, 1],
        [0] * 6,
        [0] * 6,
    ]
    assert (table.sum(-1) == 1).all()


def test_full_rank_changes_nothing():
    for side in fewer_keys.SIDES:
        found = fewer_keys.run(Demo(TEXT, 5, 1))[side]
        np.testing.assert_allclose(found.weights[4], found.weights[0], atol=1e-4)
        np.testing.assert_allclose(found.probs[4], found.probs[0], atol=1e-4)


@pytest.mark.long
def test_recorded_losses_are_computed_ones():
    table = fewer_keys.losses(TEXT)
    assert table.shape == (2, len(fewer_keys.stops(TEXT)))
    for side, stop in ((0, 0), (0, 2), (1, 1), (1, 3), (0, 12), (1, 30)):
        wanted = sharing_losses.story_loss(fewer_keys.stops(TEXT)[stop], fewer_keys.SIDES[side])
        assert table[side, stop] == pytest.approx(wanted, abs=2e-3)
    assert (table[1, 1:4] < table[0, 1:4] - 1).all()  # healing helps


def test_moments_are_those_of_texts_the_model_writes():
    ids = make_healed.sampled(3, 24, seed=7)
    assert ids.shape == (3, 24)
    assert (ids[:, 0] == 1).all()
    assert torch.equal(ids, make_healed.sampled(3, 24, seed=7))
    losses = torch.nn.functional.cross_entropy(subject.model()(ids[0])[:-1], ids[0, 1:])
    assert losses < 2.5  # its own texts do not surprise it
    moments = healing.moments()
    assert moments.shape == (6, 288, 288)
    assert torch.equal(moments, moments.mT)
    x = next(make_healed.readings(ids))[0]
    ours = (x.flatten(0, 1).T @ x.flatten(0, 1) / x[..., 0].numel()).diagonal()
    assert torch.corrcoef(torch.stack([ours, moments[0].diagonal()]))[0, 1] > 0.9


def test_healing_brings_a_layer_back():
    ids = make_healed.sampled(6, 32, seed=1)
    x, wanted = (part.clone() for part in next(make_healed.readings(ids)))
    before, after = (make_healed.heal(0, 2, x, wanted, steps=steps)[1] for steps in (0, 60))
    assert after < before / 3


def test_only_what_is_shipped():
    with pytest.raises(KeyError, match="4 KV heads"):
        healing.healed(4)
