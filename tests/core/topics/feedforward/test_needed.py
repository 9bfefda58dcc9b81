"""How many neurons a token needs: recomputed from the recorded texts with torch alone, and what the page says of it."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import subject
from core.lab.text import SENTENCE, Cannot, Word, exactly, of, read
from core.topics.feedforward import needed
from tests.core import families


def muted_losses(theirs, keep, texts):
    """Nats a token of transformers' model when a hook keeps some of what enters every down_proj. keep: (block, a) -> a."""
    hooks = [
        layer.mlp.down_proj.register_forward_pre_hook(lambda _m, given, b=b: (keep(b, given[0]),))
        for b, layer in enumerate(theirs.model.layers)
    ]
    try:
        with torch.inference_mode():
            logits = theirs(texts).logits[:, :-1]
    finally:
        for hook in hooks:
            hook.remove()
    return float(F.cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten()))


@pytest.mark.long
def test_recorded_losses_are_those_of_transformers_with_neurons_left_out(theirs):
    held = needed.recorded()
    texts, half = torch.from_numpy(held["texts"].astype(np.int64)), 384
    lengths = [layer.mlp.down_proj.weight.detach().norm(dim=0) for layer in theirs.model.layers]

    def own(b, a):
        wrote = a.abs() * lengths[b]
        least = wrote.topk(half, dim=-1).values[..., -1:]
        return torch.where(wrote >= least, a, 0.0)

    def fixed(b, a):
        return torch.where(torch.from_numpy(held["order"][b] < half), a, 0.0)

    at = needed.sizes(768).index(half)
    found = needed.losses()
    assert muted_losses(theirs, lambda _b, a: a, texts) == pytest.approx(found[0, -1], abs=1e-3)
    assert muted_losses(theirs, own, texts) == pytest.approx(found[0, at], abs=1e-3)
    assert muted_losses(theirs, fixed, texts) == pytest.approx(found[1, at], abs=1e-3)


def test_recorded_groups_with_a_router_that_knows(theirs):
    held, grain = needed.recorded(), 48
    labels = torch.from_numpy(held["groups"][needed.GRAINS.index(grain)].astype(np.int64))
    assert all((row.bincount() == grain).all() and len(row.bincount()) == 16 for row in labels)
    texts = torch.from_numpy(held["texts"].astype(np.int64))
    columns = [layer.mlp.down_proj.weight.detach() for layer in theirs.model.layers]

    def kept(b, a):
        onto = F.one_hot(labels[b], 16).float()
        score = (a * columns[b].norm(dim=0)).square() @ onto
        return a * torch.zeros_like(score).scatter(-1, score.topk(8, dim=-1).indices, 1.0)[..., labels[b]]

    assert muted_losses(theirs, kept, texts) == pytest.approx(needed.grains()[0, needed.GRAINS.index(grain)], abs=1e-3)


def test_what_the_page_says_of_it():
    """Half is nearly enough for each token, and a fixed half is not; finer groups lose less; no cheap experts."""
    own, fixed, chance = needed.losses()
    half = len(needed.PARTS) // 2
    assert own[-1] == pytest.approx(fixed[-1]) == pytest.approx(chance[-1])
    assert own[half] - own[-1] < 0.05
    assert fixed[half] > 2 * own[half]
    assert chance[half] > fixed[half]
    assert (own[1:-1] < fixed[1:-1]).all()
    perfect, trained = needed.grains()
    assert (np.diff(perfect) < 0).all()
    assert (trained > perfect).all()
    assert perfect[-1] == pytest.approx(own[half], abs=2e-3)
    assert perfect[needed.GRAINS.index(48)] > 1.4 * own[-1]


def test_the_next_word_at_a_stop_is_the_model_without_these_neurons(theirs):
    text = of(read(SENTENCE))
    found, k = needed.run(text), 96
    at = found.ks.index(k)
    ids, lengths = (
        torch.tensor([text.ids]),
        [layer.mlp.down_proj.weight.detach().norm(dim=0) for layer in theirs.model.layers],
    )

    def probs(keep):
        hooks = [
            layer.mlp.down_proj.register_forward_pre_hook(lambda _m, given, b=b: (keep(b, given[0]),))
            for b, layer in enumerate(theirs.model.layers)
        ]
        with torch.inference_mode():
            made = theirs(ids).logits[0, -1].softmax(-1)
        for hook in hooks:
            hook.remove()
        return made

    def own(b, a):
        wrote = a.abs() * lengths[b]
        return torch.where(wrote >= wrote.topk(k, dim=-1).values[..., -1:], a, 0.0)

    order = needed.recorded()["order"]
    wanted = [probs(own), probs(lambda b, a: torch.where(torch.from_numpy(order[b] < k), a, 0.0))]
    words = [one.id for one in found.words]
    for row, p in zip(found.p[:2, at], wanted, strict=True):
        np.testing.assert_allclose(row, p[words], atol=1e-4)
    np.testing.assert_allclose(found.p[:, -1, 0], found.words[0].p, atol=1e-5)
    whole = subject.untouched(text)["next_probs"].value
    assert found.words[0].p == pytest.approx(float(whole.max()))


def test_long_texts_have_fewer_stops_and_mixtures_say_why_not(pair):
    long = of(read("the cat and the dog " * 60))
    found = needed.run(long)
    assert found.ks == (0, 192, 384, 576, 768)
    assert [len(needed.computed(n)) for n in (1, 14, 18, 19, 61, 256)] == [49, 49, 49, 25, 13, 5]
    assert all(0.5 in needed.computed(n) for n in range(1, 257))
    mixtral = exactly("the cat", str(pair("mixtral").folder))
    with pytest.raises(Cannot, match=r"mixtures of experts already.*\.$"):
        needed.run(mixtral)
    assert "mixtral" in families.CONFIGS


def test_ties_and_ranks_by_hand():
    score = torch.tensor([[3.0, 1.0, 2.0]])
    assert needed.kept(score, torch.tensor(2)).tolist() == [[True, False, True]]
    frames = needed.kept(score.expand(3, 1, 3), torch.tensor([0, 1, 3]))
    assert frames[:, 0].int().tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 1]]
    assert needed.importance_ranks(score).tolist() == [[0, 2, 1]]
    assert needed.energy(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 1, 0]), 2).tolist() == [10.0, 4.0]


def test_from_how_many_neurons_on_the_answer_keeps_half():
    """By hand: it dips once more at the third stop, so only what comes after counts; the other word plays no part."""
    words = (Word(1, "a", 0.8), Word(2, "b", 0.1))
    p = np.zeros((len(needed.RULES), 4, 2))
    p[0, :, 0], p[1, :, 0] = [0.5, 0.9, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]
    p[:, :, 1] = 1 - p[:, :, 0]
    found = needed.Needed((1, 2, 4, 8), 8, words, p)
    assert (found.least(needed.RULES[0]), found.least(needed.RULES[1])) == (8, 1)
    assert found.least(needed.RULES[0], 0.6) is None


def test_chance_keeps_the_same_neurons_for_every_token(theirs):
    """The first 96 of each block's own permutation."""
    text = of(read(SENTENCE))
    found, k = needed.run(text), 96
    orders = [torch.randperm(768, generator=torch.Generator().manual_seed(b)) for b in range(6)]
    hooks = [
        layer.mlp.down_proj.register_forward_pre_hook(
            lambda _m, given, b=b: (torch.where(orders[b] < k, given[0], 0.0),)
        )
        for b, layer in enumerate(theirs.model.layers)
    ]
    with torch.inference_mode():
        p = theirs(torch.tensor([text.ids])).logits[0, -1].softmax(-1)
    for hook in hooks:
        hook.remove()
    np.testing.assert_allclose(found.p[2, found.ks.index(k)], p[[one.id for one in found.words]], atol=1e-4)
    assert (len(found.words), found.d_ff, len(found.ks)) == (8, 768, 49)


def test_a_linear_router_chooses_groups_by_what_enters():
    """One block by NumPy: scores of 16 groups from the input and a constant, the best four stay."""
    model, rng = subject.model(), np.random.default_rng(3)
    groups = needed.recorded()["groups"][needed.GRAINS.index(48)]
    routers = torch.from_numpy(rng.normal(size=(6, 289, 16)).astype(np.float32))
    edits = dict(needed.grouped(model, groups, 4, routers))
    x, a = (rng.normal(size=(5, width)).astype(np.float32) for width in (288, 768))
    assert torch.equal(edits["block2.norm2"](torch.from_numpy(x)), torch.from_numpy(x))
    found = edits["block2.ffn_act"](torch.from_numpy(a)).numpy()
    weights = routers[2].numpy()
    for token in range(5):
        best = np.argsort(-(x[token] @ weights[:288] + weights[288]))[:4]
        np.testing.assert_array_equal(found[token], np.where(np.isin(groups[2], best), a[token], 0))
    known = dict(needed.grouped(model, groups, 4))
    known["block2.norm2"](torch.from_numpy(x))
    found = known["block2.ffn_act"](torch.from_numpy(a)).numpy()
    wrote = (a * needed.columns(model)[2].numpy()) ** 2
    for token in range(5):
        sums = [wrote[token][groups[2] == g].sum() for g in range(16)]
        np.testing.assert_array_equal(found[token] != 0, np.isin(groups[2], np.argsort(sums)[-4:]))


def test_a_text_s_own_order_counts_what_each_neuron_wrote(pair):
    text = exactly("the cat and the dog", str(pair("llama").folder))
    model, trace = pair("llama").ours, subject.untouched(text)
    found = needed.orders(text)
    for b, block in enumerate(model.blocks):
        wrote = (trace[f"block{b}.ffn_act"].value * block.ffn.down.weight.detach().norm(dim=0).numpy()) ** 2
        np.testing.assert_array_equal(np.argsort(found[b]), np.argsort(-wrote.mean(0), kind="stable"))


def test_from_the_last_dip_on():
    words, p = (Word(1, "a", 0.8),), np.zeros((3, 3, 1))
    p[0, :, 0], p[1, :, 0], p[2, :, 0] = [0.0, 0.4, 0.8], [0.4, 0.4, 0.4], [0.9, 0.9, 0.39]
    found = needed.Needed((1, 2, 4), 4, words, p)
    assert [found.least(rule) for rule in needed.RULES] == [2, 1, None]
