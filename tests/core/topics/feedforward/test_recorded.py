"""What was recorded of neurons, bends and volumes: some of it again, by transformers with other parts."""

import math
from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import LlamaForCausalLM

from core import tokenizer
from core.lab import subject
from core.lab.text import FOLDER, SENTENCE, read
from core.make import neurons as make_neurons
from core.topics.feedforward import recorded


@cache
def theirs():
    return LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()


@torch.no_grad()
def story_loss():
    rows = []
    for text in subject.STORIES.read_text("utf8").strip().split("\n\n"):
        ids = torch.tensor([tokenizer.of_model(FOLDER).encode(text).ids])
        rows.append(F.cross_entropy(theirs()(ids).logits[0, :-1], ids[0, 1:], reduction="none"))
    return float(torch.cat(rows).mean())


@pytest.fixture
def mlps():
    """All FFNs of transformers' model; their bends and hooks are put back."""
    found = [layer.mlp for layer in theirs().model.layers]
    before, hooks = [mlp.act_fn for mlp in found], []
    yield found, hooks
    for mlp, bend in zip(found, before, strict=True):
        mlp.act_fn = bend
    for hook in hooks:
        hook.remove()


class Bend(torch.nn.Module):
    def __init__(self, curve):
        super().__init__()
        self.curve = curve

    def forward(self, x):
        return self.curve(x)


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


@pytest.mark.parametrize(
    ("name", "bend", "lesson"),
    [
        ("silu", lambda x: x * torch.sigmoid(x), 1.76),
        ("hardswish", lambda x: x * (x + 3).clamp(0, 6) / 6, 1.75),
        ("gelu", gelu, 2.05),
        ("relu", lambda x: x.clamp(min=0), 3.27),
        ("none", lambda x: x, 5.49),
        ("relu2", lambda x: x.clamp(min=0) ** 2, 6.56),
        ("up", torch.ones_like, 11.8),
    ],
)
def test_another_bend_costs_this(mlps, name, bend, lesson):
    for mlp in mlps[0]:
        mlp.act_fn = Bend(bend)
    again = story_loss()
    assert recorded.bend_losses()[name] == pytest.approx(again, rel=1e-3)
    assert again == pytest.approx(lesson, abs=0.03)


def test_the_gate_alone_is_worst(mlps):
    for mlp in mlps[0]:
        mlps[1].append(mlp.up_proj.register_forward_hook(lambda _m, _a, y: torch.ones_like(y)))
    again = story_loss()
    assert recorded.bend_losses()["gate"] == pytest.approx(again, rel=1e-3)
    assert max(recorded.bend_losses().values()) == recorded.bend_losses()["gate"]


@pytest.mark.parametrize(("layer", "by"), [(None, 0.8), (None, 2.0), (3, 0.56), (0, 0.0)])
def test_some_of_the_volumes_again(mlps, layer, by):
    for i, mlp in enumerate(mlps[0]):
        if layer in (None, i):
            mlps[1].append(mlp.register_forward_hook(lambda _m, _a, y: y * by))
    row = recorded.volume_losses()[-1 if layer is None else layer]
    assert row[recorded.VOLUMES.index(by)] == pytest.approx(story_loss(), rel=1e-3)


def test_the_volumes_say_what_the_page_says():
    table = recorded.volume_losses()
    whole = table[:, recorded.VOLUMES.index(1.0)]
    np.testing.assert_allclose(whole, whole[0], atol=2e-4)
    assert table[3].min() < whole[0] - 0.04, "block 3 at about half"
    assert 0.4 < recorded.VOLUMES[int(table[3].argmin())] < 0.7
    assert table[-1, 0] > 8, "without any FFN nothing is left"


@pytest.mark.parametrize(("layer", "neuron"), [(0, 569), (0, 0), (3, 741), (5, 559), (5, 767)])
def test_some_neurons_muted_again(mlps, layer, neuron):
    def mute(_module, args):
        x = args[0].clone()
        x[..., neuron] = 0
        return (x,)

    ids = torch.tensor([read(SENTENCE).ids])
    with torch.no_grad():
        answer = int(theirs()(ids).logits[0, -1].argmax())
        mlps[1].append(mlps[0][layer].down_proj.register_forward_pre_hook(mute))
        p = float(theirs()(ids).logits[0, -1].softmax(-1)[answer])
    assert tokenizer.of_model(FOLDER).id_to_token(answer) == "▁Amy"
    assert recorded.muted_one_by_one()[layer, neuron] == pytest.approx(p, abs=1e-4)


def test_no_neuron_halves_the_answer():
    table = recorded.muted_one_by_one()
    assert table.shape == (6, 768)
    assert table.min() == pytest.approx(0.945, abs=1e-3)
    assert np.unravel_index(table.argmin(), table.shape) == (0, 569)


def test_where_a_neuron_fires_is_counted_as_it_says():
    """On a few texts, token by token, with transformers' numbers."""
    texts = subject.STORIES.read_text("utf8").strip().split("\n\n")
    rows = [tokenizer.of_model(FOLDER).encode(text).ids[:24] for text in texts]
    ids = torch.tensor([row for row in rows if len(row) == 24])
    kept = []
    hook = theirs().model.layers[2].mlp.down_proj.register_forward_pre_hook(lambda _m, args: kept.append(args[0]))
    with torch.no_grad():
        theirs()(ids)
    hook.remove()
    value = kept[0][..., 363].numpy().copy()
    value[:, 0] = 0
    sides = [np.sort((sign * value).ravel())[-10:].mean() for sign in (1, -1)]
    sign = 1 if sides[0] >= sides[1] else -1
    told = make_neurons.described(ids, 2, 363)
    assert told["fires"] == int((sign * value > max(sides) / 2).sum())
    assert told["of"] == value[:, 1:].size
    best = int((sign * value)[:, 8:].max() * 1000) / 1000
    assert abs(told["contexts"][0]["values"][-1]) == pytest.approx(best, abs=2e-3)


def test_the_gallery_holds_what_the_page_shows():
    found = recorded.gallery()
    assert all(len(one.contexts) == 5 and len(one.contexts[0].tokens) == 8 for one in found.values())
    word, on, stands = found["5.709"].words[0]
    assert (word, on) == ("upon", stands), "every one"
    assert {"very", "so", "too"} <= {word for word, _, _ in found["2.363"].words}
    assert found["0.189"].words[0][0] == "fell"


def test_bends_that_stand_in_for_silu_are_their_formulas():
    gate, up = torch.linspace(-4, 4, 33), torch.linspace(1, 2, 33)
    x = gate.double().numpy()
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    curves = {
        "silu": x / (1 + np.exp(-x)),
        "hardswish": x * np.clip(x + 3, 0, 6) / 6,
        "gelu": np.array([z * (1 + math.erf(z / 2**0.5)) / 2 for z in x]),
        "gelu_tanh": 0.5 * x * (1 + np.tanh(inner)),
        "relu": np.maximum(x, 0),
        "none": x,
        "relu2": np.maximum(x, 0) ** 2,
    }
    for name, curve in curves.items():
        wanted = curve * up.double().numpy()
        np.testing.assert_allclose(recorded.bent(name, gate, up), wanted, atol=1e-5, err_msg=name)
