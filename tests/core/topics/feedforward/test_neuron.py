"""One neuron, held against transformers with a hook on what enters the last map of an FFN."""

from functools import cache

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from core import tokenizer
from core.lab.text import FOLDER, SENTENCE, TWIN, Cannot, of, read
from core.topics.feedforward import neuron as one

WONDER = "He could not find it. He wonder"


@cache
def theirs():
    return LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()


def demo(text, layer=5, neuron=559):
    return one.Demo(of(read(text)), layer, neuron)


def piece(name):
    return tokenizer.of_model(FOLDER).token_to_id(name)


@torch.no_grad()
def outlook(text, layer, neuron, factor):
    """(vocab,) next probabilities in transformers with one neuron so many times as loud at every token."""

    def turn(_module, args):
        (x,) = args
        x = x.clone()
        x[..., neuron] *= factor
        return (x,)

    hook = theirs().model.layers[layer].mlp.down_proj.register_forward_pre_hook(turn)
    try:
        return theirs()(torch.tensor([read(text).ids])).logits[0, -1].softmax(-1).numpy()
    finally:
        hook.remove()


@torch.no_grad()
def heard(text, layer, neuron):
    """(gate, up) of the last token, as transformers' own maps make them."""
    kept = {}
    mlp = theirs().model.layers[layer].mlp
    hooks = [
        getattr(mlp, f"{name}_proj").register_forward_hook(lambda _m, _a, y, name=name: kept.update({name: y}))
        for name in ("gate", "up")
    ]
    theirs()(torch.tensor([read(text).ids]))
    for hook in hooks:
        hook.remove()
    return tuple(float(kept[name][0, -1, neuron]) for name in ("gate", "up"))


@pytest.mark.parametrize(
    ("text", "layer", "neuron"), [(WONDER, 5, 559), ("She ran as", 2, 363), (TWIN, 0, 569), ("Once upon", 5, 709)]
)
def test_the_slider_is_a_louder_neuron_in_transformers(text, layer, neuron):
    by = (-1.0, 0.0, 0.4, 1.0, 3.0)
    ours = one.chances(demo(text, layer, neuron), by)
    for row, factor in zip(ours, by, strict=True):
        np.testing.assert_allclose(row, outlook(text, layer, neuron, factor), atol=2e-5)


def test_what_the_page_is_remembered_by():
    """-ed has 0.998, and one neuron of 4,608 takes it to 0.008; "where" is next. Five others change nothing."""
    ed, where = piece("ed"), piece("▁where")
    expected = {-1: 0.000, 0: 0.008, 0.2: 0.080, 0.4: 0.488, 1: 0.998}
    for factor, p in expected.items():
        assert outlook(WONDER, 5, 559, factor)[ed] == pytest.approx(p, abs=1.5e-3)
    found = one.muted(demo(WONDER))
    assert (found.answer.id, found.then.id) == (ed, where)
    assert found.after == pytest.approx(0.0076, abs=2e-4)
    assert found.then.p == pytest.approx(0.549, abs=1e-3)
    assert min(found.others) > 0.997
    assert one.turned(demo(WONDER)).tokens[:2] == ("·ed", "where")


@pytest.mark.parametrize(
    ("text", "gate", "up"),
    [(WONDER, 4.85, -2.20), ("The frog jump", 5.69, -1.46), ("The frog did not jump", 1.07, -0.22)],
)
def test_gate_and_up(text, gate, up):
    assert heard(text, 5, 559) == pytest.approx((gate, up), abs=6e-3)
    here = one.inside(demo(text))
    assert (here.gate[-1], here.up[-1]) == pytest.approx(heard(text, 5, 559), abs=1e-4)
    silu = gate / (1 + np.exp(-gate))
    assert here.value[-1] == pytest.approx(silu * up, abs=0.05)


def test_the_twin_has_no_use_for_it():
    asked = piece("ed")
    p = one.twin(demo("He did not wonder"), (asked,), (1.0, 3.0))[:, 0]
    assert p == pytest.approx([outlook("He did not wonder", 5, 559, f)[asked] for f in (1, 3)], abs=1e-5)
    assert p.max() < 0.05


def test_pushes_are_what_the_logits_lose_while_the_last_norm_stands_still():
    here = demo(WONDER)
    state = {name: value.numpy() for name, value in theirs().state_dict().items()}
    with torch.no_grad():
        out = theirs().model(torch.tensor([read(WONDER).ids]), output_hidden_states=True)
    kept = {}
    hook = theirs().model.norm.register_forward_pre_hook(lambda _m, args: kept.update(x=args[0][0, -1].numpy()))
    with torch.no_grad():
        theirs().model(torch.tensor([read(WONDER).ids]))
    hook.remove()
    assert out.last_hidden_state.shape[-1] == len(kept["x"])
    column = state["model.layers.5.mlp.down_proj.weight"][:, 559]
    size = np.sqrt((kept["x"] ** 2).mean() + theirs().config.rms_norm_eps)
    expected = state["lm_head.weight"] @ (column / size * state["model.norm.weight"])
    np.testing.assert_allclose(one.pushes(here), expected, atol=1e-4)
    told = one.writes(here)
    assert told.up[0].token == "·ed"
    assert told.up[0].p == pytest.approx(expected.min() * one.inside(here).value[-1], rel=1e-4)
    assert one.turned(here).push == pytest.approx(told.up[0].p)


def test_long_texts_have_fewer_stops_but_in_the_last_block():
    words = "Once upon a time there was a frog. " * 12
    assert one.factors(demo(words)) == one.FACTORS
    assert one.factors(demo(words, 2, 3)) == one.COARSE
    assert len(one.FACTORS) == 61 >= 43
    assert {-1.0, 0.0, 0.2, 0.4, 1.0, 3.0} <= set(one.FACTORS)
    assert {0.0, 1.0} <= set(one.COARSE)
    assert one.turned(demo(words, 4, 3)).probs.shape == (13, 6)


def test_the_answer_is_among_the_bars_even_where_others_rise():
    for text in (WONDER, SENTENCE, "!", "🙂"):
        found = one.turned(demo(text))
        calm = found.probs[one.FACTORS.index(1.0)]
        assert calm[found.asked] == calm.max()


def test_an_answer_that_others_overtake_keeps_its_bar(monkeypatch):
    monkeypatch.setattr(one, "CANDIDATES", 1)
    found = one.turned(demo("Then Tom said", 5, 528))
    assert found.tokens == ("good",), "though the comma climbs higher at another stop"


def test_experts_have_neurons_of_their_own():
    class Block:
        ffn = object()

    class Model:
        blocks = (Block(),)

    with pytest.raises(Cannot, match="expert"):
        one.network(Model(), 0)


def test_five_others_are_drawn_from_the_block_by_the_seed():
    here = demo(SENTENCE, 2, 363)
    rest = [i for i in range(768) if i != 363]
    for seed in (0, 4):
        drawn = np.random.default_rng(seed).permutation(rest)[:5]
        found = one.muted(here, seed)
        wanted = [outlook(SENTENCE, 2, int(i), 0.0)[found.answer.id] for i in drawn]
        assert found.others == pytest.approx(wanted, abs=2e-5)
    silent = outlook(SENTENCE, 2, 363, 0.0)
    assert found.after == pytest.approx(silent[found.answer.id], abs=2e-5)
    assert found.then.id == silent.argmax()
    assert one.muted(here).others == one.muted(here, 0).others


def test_bars_stand_in_the_order_of_the_untouched_model():
    found = one.turned(demo(WONDER))
    assert found.probs.shape == (61, 6)
    calm = found.probs[one.FACTORS.index(1.0)]
    assert (np.diff(calm) <= 0).all()
    every = one.chances(demo(WONDER), one.FACTORS)
    assert set(np.argsort(-every.max(0))[:6]) == set(found.ids)
    assert found.ids[found.asked] == every[one.FACTORS.index(1.0)].argmax()


def test_what_a_neuron_raises_and_lowers():
    here = demo(WONDER)
    pushed = one.pushes(here) * one.inside(here).value[-1]
    told = one.writes(here)
    assert [w.id for w in told.up] == np.argsort(-pushed)[:6].tolist()
    assert [w.id for w in told.down] == np.argsort(pushed)[:6].tolist()
    assert [w.p for w in told.up] == pytest.approx(pushed[[w.id for w in told.up]], rel=1e-5)
    assert [w.p for w in told.down] == pytest.approx(pushed[[w.id for w in told.down]], rel=1e-5)
    assert told.spread == pytest.approx(pushed.std(), rel=1e-4)
    assert len(one.writes(here, 3).up) == 3


def test_a_neuron_that_is_silent_is_told_as_if_it_said_one(monkeypatch):
    here, pushed = demo(WONDER), one.pushes(demo(WONDER))
    quiet = one.Inside(None, np.zeros(1), np.zeros(1), one.inside(here).column)
    monkeypatch.setattr(one, "inside", lambda _demo: quiet)
    assert one.writes(here).up[0].p == pytest.approx(pushed.max(), rel=1e-5)
