"""The repair shop against a Llama written out here, with the same wrong line in it, from the checkpoint's own numbers."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from core.lab import subject, text
from core.topics.model import repair

READING = text.read(text.SENTENCE)
TEXT = text.of(READING)
IDS, TOKENS = TEXT.ids, TEXT.tokens
STORED = {k.removeprefix("model."): v.float() for k, v in load_file(text.FOLDER / "model.safetensors").items()}
LAYERS, HEADS, WIDTH, EPS = 6, 6, 48, subject.model().config.norm_eps


def norm(x, name):
    return F.rms_norm(x, x.shape[-1:], STORED[name + ".weight"], EPS)


def linear(x, name):
    return F.linear(x, STORED[name + ".weight"])


def turned(x):
    angle = torch.outer(torch.arange(x.shape[-2]), 10_000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH))
    turn = torch.polar(torch.ones_like(angle), angle)
    pairs = torch.complex(x[..., : WIDTH // 2], x[..., WIDTH // 2 :]) * turn
    return torch.cat([pairs.real, pairs.imag], -1)


def attend(x, layer, fault):
    q, k, v = (
        linear(x, f"layers.{layer}.self_attn.{n}_proj").view(len(x), HEADS, WIDTH).transpose(0, 1) for n in "qkv"
    )
    if fault == "values":
        v = k
    if fault != "rotation":
        q, k = turned(q), turned(k)
    scores = q @ k.transpose(1, 2) / (1.0 if fault == "scale" else WIDTH**0.5)
    causal = torch.tril(torch.ones(len(x), len(x))).bool()
    scores = scores.masked_fill(~causal.T if fault == "mask" else ~causal, -torch.inf)
    weights = scores.softmax(1 if fault == "axis" else 2)
    z = weights @ v
    z = z.reshape(len(x), -1) if fault == "merge" else z.transpose(0, 1).reshape(len(x), -1)
    return linear(z, f"layers.{layer}.self_attn.o_proj"), weights


def feed(x, layer, fault):
    gate = linear(x, f"layers.{layer}.mlp.gate_proj")
    gate = gate if fault == "gate" else F.silu(gate)
    return linear(gate * linear(x, f"layers.{layer}.mlp.up_proj"), f"layers.{layer}.mlp.down_proj")


def reference(fault):
    """(next word's probabilities, the first block's weights)."""
    x, first = STORED["embed_tokens.weight"][torch.tensor(IDS)], None
    for layer in range(LAYERS):
        y = x if fault == "norm1" else norm(x, f"layers.{layer}.input_layernorm")
        found, weights = attend(y, layer, fault)
        first = weights if layer == 0 else first
        x = found if fault == "skip1" else x + found
        y = x if fault == "norm2" else norm(x, f"layers.{layer}.post_attention_layernorm")
        made = feed(y, layer, fault)
        x = made if fault == "skip2" else x + made
    logits = F.linear(norm(x[-1], "norm"), STORED.get("lm_head.weight", STORED["embed_tokens.weight"]))
    return logits.softmax(-1).numpy(), first.mean(0).numpy()


@pytest.mark.parametrize("fault", repair.WIRES)
def test_a_wholly_wrong_wire_is_the_model_with_that_line_wrong(fault):
    probs, weights = reference(fault)
    found = repair.run(repair.Demo(TEXT, fault, fault))
    np.testing.assert_allclose(found.p[0], probs[[word.id for word in found.words]], atol=2e-4)
    np.testing.assert_allclose(found.weights[0], weights, atol=1e-5)
    assert found.best[0].id == probs.argmax()
    assert found.best[0].id in {word.id for word in found.words}, "what the model says is among the bars"


@pytest.mark.parametrize("fault", repair.WIRES)
def test_a_wire_put_back_is_the_untouched_model(fault):
    probs, weights = reference(None)
    found = repair.run(repair.Demo(TEXT, fault, fault))
    np.testing.assert_allclose(found.p[-1], probs[[word.id for word in found.words]], atol=1e-4)
    np.testing.assert_allclose(found.weights[-1], weights, atol=1e-5)
    assert found.answer.token == found.best[-1].token == "Amy"
    assert found.away[-1].max() < 1e-5


@pytest.mark.parametrize("fault", repair.WIRES)
def test_the_first_line_that_differs_is_the_wrong_one(fault):
    found = repair.run(repair.Demo(TEXT, fault, fault))
    first = next(name for name, away in zip(found.lines, found.away[0], strict=True) if away > 1e-4)
    assert first == repair.WIRES[fault][0]
    assert found.away[24, found.lines.index(first)] > 1e-3, "half put back is still wrong"


def test_a_suspect_that_was_right_changes_nothing():
    found = repair.run(repair.Demo(TEXT, "rotation", "scale"))
    assert len(found.stops) == len(found.p) == 49
    assert np.ptp(found.p, axis=0).max() == 0
    np.testing.assert_array_equal(found.p[0], repair.run(repair.Demo(TEXT, "rotation", "")).p[0])


@pytest.mark.parametrize("stop", [12, 36])
def test_in_between_a_skip_is_scaled_and_a_rotation_turns_less(stop):
    share = repair.STOPS[stop]
    model = subject.model()
    x = model.embed(torch.tensor(IDS))
    turn, allowed = model.surroundings(len(IDS))
    for block in model.blocks:
        x = share * x + block.attn(block.norm1(x), turn, allowed)
        x = x + block.ffn(block.norm2(x))
    probs = model.predict(x).softmax(-1).numpy()
    found = repair.run(repair.Demo(TEXT, "skip1", "skip1"))
    np.testing.assert_allclose(found.p[stop], probs[[word.id for word in found.words]], atol=2e-4)
    x = model.embed(torch.tensor(IDS))
    for block in model.blocks:
        x = block(x, turn * share, allowed)
    probs = model.predict(x).softmax(-1).numpy()
    found = repair.run(repair.Demo(TEXT, "rotation", "rotation"))
    np.testing.assert_allclose(found.p[stop], probs[[word.id for word in found.words]], atol=2e-4)


def test_every_wire_breaks_the_answer_and_nothing_else_tells():
    ward = repair.ward(TEXT)
    assert (ward.shapes, ward.nans, ward.answer.token) == (0, 0, "Amy")
    assert max(ward.p) < 0.01
    for wire, p in zip(ward.wires, ward.p, strict=True):
        assert p == pytest.approx(reference(wire)[0][ward.answer.id], abs=2e-4)


@pytest.mark.parametrize("n", [1, 2, 120])
def test_any_length_of_text_is_repaired(n):
    ids = (IDS * 20)[:n]
    for fault in ("mask", "axis"):
        found = repair.run(repair.Demo(text.Text(text.FIRST, ids, tuple("x" * n)), fault, fault))
        assert np.isfinite(found.p).all()
        assert found.weights.shape[1:] == (min(n, repair.CROPPED),) * 2
        assert len(found.stops) == (25 if n > repair.LONG else 49)


def test_patients_are_wires_each_once():
    assert set(repair.PATIENTS) <= set(repair.WIRES)
    assert len(set(repair.PATIENTS)) == len(repair.PATIENTS)
    with pytest.raises(KeyError):
        repair.run(repair.Demo(TEXT, "nothing", "nothing"))


def test_the_size_of_a_line_is_the_root_mean_square_of_what_is_finite():
    found, seen = repair.run(repair.Demo(TEXT, None)), subject.untouched(TEXT)
    for name, size in zip(found.lines, found.healthy, strict=True):
        made = seen[f"block0.{name}"].value
        finite = made[np.isfinite(made)].astype(np.float64)
        assert size == pytest.approx(np.sqrt((finite**2).mean()), rel=1e-4), name
    assert any(np.isinf(seen[f"block0.{name}"].value).any() for name in found.lines), "a mask is among them"


def blend(share, right, wrong):
    return share * right + (1 - share) * wrong


def between(fault, share):
    """The model with so much of one right line put back, written out: (next word's probabilities, size of each line)."""
    x = STORED["embed_tokens.weight"][torch.tensor(IDS)]
    causal = torch.tril(torch.ones(len(x), len(x)))
    part = lambda name: share if fault == name else 1.0  # noqa: E731
    for layer in range(LAYERS):
        y = blend(part("norm1"), norm(x, f"layers.{layer}.input_layernorm"), x)
        q, k, v = (
            linear(y, f"layers.{layer}.self_attn.{n}_proj").view(len(y), HEADS, WIDTH).transpose(0, 1) for n in "qkv"
        )
        v = blend(part("values"), v, k)
        scores = turned(q) @ turned(k).mT / WIDTH ** (0.5 * part("scale"))
        powers = scores.exp() * blend(part("mask"), causal, causal.T)
        weights = powers / powers.sum(2, keepdim=True)
        weights = blend(part("axis"), weights, (scores.exp() * causal) / (scores.exp() * causal).sum(1, keepdim=True))
        z = weights @ v
        z = blend(part("merge"), z.transpose(0, 1).reshape(len(x), -1), z.reshape(len(x), -1))
        found = linear(z, f"layers.{layer}.self_attn.o_proj")
        x = found + part("skip1") * x
        y = blend(part("norm2"), norm(x, f"layers.{layer}.post_attention_layernorm"), x)
        gate, up = (linear(y, f"layers.{layer}.mlp.{n}_proj") for n in ("gate", "up"))
        made = linear(blend(part("gate"), F.silu(gate), gate) * up, f"layers.{layer}.mlp.down_proj")
        x = made + part("skip2") * x
    return F.linear(norm(x[-1], "norm"), STORED.get("lm_head.weight", STORED["embed_tokens.weight"])).softmax(-1)


@pytest.mark.parametrize("fault", [wire for wire in repair.WIRES if wire != "rotation"])
@pytest.mark.parametrize("stop", [16, 40])
def test_in_between_every_wire_is_as_much_right_as_is_put_back(fault, stop):
    found, probs = repair.run(repair.Demo(TEXT, fault, fault)), between(fault, repair.STOPS[stop])
    np.testing.assert_allclose(found.p[stop], probs[[word.id for word in found.words]], atol=5e-4)
    assert found.best[stop].id == int(probs.argmax())


def test_sizes_and_distances_by_hand():
    made = torch.tensor([[[3.0, -torch.inf], [4.0, torch.nan]], [[torch.inf, -torch.inf], [torch.nan, torch.nan]]])
    assert repair._size(made).tolist() == pytest.approx([12.5**0.5, 0])
    one = torch.tensor([[[6.0, -torch.inf]], [[3.0, 4.0]]])
    healthy = torch.tensor([[[3.0, 4.0]]])
    assert repair._away((one,), (healthy,)).flatten().tolist() == pytest.approx([1, 0])
    tiny = repair._away((1e-3 * healthy,), (2e-3 * healthy,))
    assert tiny.flatten().tolist() == pytest.approx([0.5])


def test_who_is_followed():
    """The answer, who leads at rest, who leads most often, then who comes close; ten at most."""
    said = [text.Word(i, "", 0.0) for i in (7, 3, 3, 5, 3)]
    probs = np.zeros((5, 30))
    probs[0, 10:30] = np.linspace(0.5, 0.3, 20)
    assert repair._followed(probs, text.Word(4, "", 0.0), tuple(said)) == [4, 7, 3, 5, 10, 11, 12, 13, 14, 15]


def test_the_picture_of_weights_shows_the_last_forty_and_the_shapes_are_told():
    ids = (IDS * 20)[:50]
    found = repair.run(repair.Demo(text.Text(text.FIRST, ids, tuple("x" * 50)), None))
    trace = subject.untouched(text.Text(text.FIRST, ids, tuple("x" * 50)))
    np.testing.assert_allclose(found.weights[0], trace["block0.weights"].value.mean(0)[-40:, -40:], atol=1e-6)
    shapes = dict(zip(found.lines, found.shapes, strict=True))
    assert (shapes["resid_pre"], shapes["q"], shapes["scores"]) == ((50, 288), (6, 50, 48), (6, 50, 50))
    assert found.chance(0.0) == found.p[0, 0] == pytest.approx(found.answer.p, abs=1e-6)
    assert repair.lines(TEXT) == tuple(one for one in repair.LINES if one not in ("q_norm", "ffn_pre"))
    assert repair.wires(TEXT) == tuple(repair.WIRES)


def test_a_wire_that_is_not_there_is_refused(pair):
    gpt2 = text.exactly("the dog ran", str(pair("gpt2").folder))
    assert not {"rotation", "gate"} & set(repair.wires(gpt2))
    with pytest.raises(text.Cannot, match="no such line"):
        repair.run(repair.Demo(gpt2, "gate", "gate"))
    alone = text.exactly("the dog ran", str(pair("one layer, one head").folder))
    assert "merge" not in repair.wires(alone)
