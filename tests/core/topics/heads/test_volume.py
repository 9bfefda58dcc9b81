"""Volumes, contributions, habits, slabs and ranks, against Hugging Face transformers and NumPy."""

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from core.lab import text
from core.make import neighbours as make_neighbours
from core.nets import neighbours
from core.topics.heads import volume as manyheads

READING = text.read(text.SENTENCE)
OTHER = text.read("The cat slept on the rug. The dog slept on the")


@torch.inference_mode()
def passed(model, ids, loud):
    """Their weights and next-token probabilities while `loud` {(layer, head): volume} acts where o_proj reads."""
    width = model.config.hidden_size // model.config.num_attention_heads
    hooks = []
    for layer, block in enumerate(model.model.layers):

        def louder(_, given, layer=layer):
            z = given[0].clone()
            for (at, head), volume in loud.items():
                if at == layer:
                    z[..., head * width : (head + 1) * width] *= volume
            return (z,)

        hooks.append(block.self_attn.o_proj.register_forward_pre_hook(louder))
    made = model(torch.tensor(ids)[None], output_attentions=True)
    for hook in hooks:
        hook.remove()
    return [a[0].numpy() for a in made.attentions], made.logits[0, -1].softmax(-1).numpy()


@pytest.mark.parametrize(
    ("reading", "layer", "head", "muted", "stop"),
    [
        (READING, 1, 2, (), 0),
        (READING, 4, 4, ((1, 2),), 10),
        (OTHER, 0, 5, ((3, 1), (5, 5)), 50),
        (OTHER, 5, 1, (), 25),
    ],
)
def test_a_head_at_every_volume(theirs, reading, layer, head, muted, stop):
    found = manyheads.turned(manyheads.Demo(text.of(reading), layer, head, muted))
    weights, probs = passed(theirs, reading.ids, {(layer, head): manyheads.VOLUMES[stop], **dict.fromkeys(muted, 0)})
    wanted = np.concatenate([w[:, -1] for w in weights])
    np.testing.assert_allclose(found.views[stop], wanted, atol=2e-5)
    np.testing.assert_allclose(found.probs[stop], probs[list(found.ids)], atol=2e-5)


def test_long_texts_have_fewer_stops_and_the_same_numbers(theirs):
    reading = text.read("One day it was sunny and the dog ran to the park with a ball. " * 6)
    found = manyheads.turned(manyheads.Demo(text.of(reading), 2, 1))
    assert len(found.views) == len(manyheads.COARSE) == 11
    assert manyheads.COARSE[3] == 0.6
    _weights, probs = passed(theirs, reading.ids, {(2, 1): 0.6})
    np.testing.assert_allclose(found.probs[3], probs[list(found.ids)], atol=2e-5)


def test_each_head_silent_in_turn(theirs):
    answer, table = manyheads.silenced(text.of(READING))
    assert text.word(answer, np.zeros(32000)).token == "Amy"
    for layer, head in ((0, 5), (1, 2), (4, 4), (5, 1), (2, 0)):
        assert table[layer, head] == pytest.approx(passed(theirs, READING.ids, {(layer, head): 0})[1][answer], abs=2e-5)


@torch.inference_mode()
def test_contributions_are_slabs_of_o_proj(theirs):
    seen = {}
    attention = theirs.model.layers[3].self_attn
    hook = attention.o_proj.register_forward_hook(lambda _, given, made: seen.update(z=given[0][0], out=made[0]))
    theirs(torch.tensor(OTHER.ids)[None])
    hook.remove()
    found = manyheads.contributions(text.of(OTHER), 3)
    np.testing.assert_allclose(found.whole, seen["out"], atol=2e-5)
    assert found.gap < 1e-5
    for head in range(6):
        alone = torch.zeros_like(seen["z"])
        alone[:, head * 48 : head * 48 + 48] = seen["z"][:, head * 48 : head * 48 + 48]
        np.testing.assert_allclose(found.each[head], attention.o_proj(alone), atol=2e-5)


def test_habits_by_hand(theirs):
    found = manyheads.habits(text.of(READING))
    weights, _probs = passed(theirs, READING.ids, {})
    tokens = READING.tokens
    for layer, head in ((2, 0), (1, 2), (5, 3)):
        w = weights[layer][head]
        rows = range(1, len(tokens))
        assert found.previous[layer, head] == pytest.approx(np.mean([w[i, i - 1] for i in rows]), abs=1e-5)
        assert found.itself[layer, head] == pytest.approx(np.mean([w[i, i] for i in rows]), abs=1e-5)
        assert found.first[layer, head] == pytest.approx(np.mean([w[i, 0] for i in rows]), abs=1e-5)
        twice = [(i, [j for j in range(1, i) if tokens[j] == tokens[i]]) for i in rows]
        same = [sum(w[i, j] for j in copies) for i, copies in twice if copies]
        assert found.same[layer, head] == pytest.approx(np.mean(same), abs=1e-5)
        far = sum(w[i, j] * (i - j) for i in rows for j in range(1, i + 1))
        assert found.distance[layer, head] == pytest.approx(far / sum(w[i, 1 : i + 1].sum() for i in rows), abs=1e-4)
    assert manyheads.habits(text.Text(text.FIRST, READING.ids[:2], READING.tokens[:2])) is None


def test_slabs():
    assert manyheads.head_width(512, 8) == 64
    with pytest.raises(ValueError, match="512 is not divisible by h = 5: 2 columns are left"):
        manyheads.head_width(512, 5)
    right, wrong = manyheads.origins(4, 3, 6)  # 24 numbers, heads of width 2
    assert right.tolist() == [[0, 1, 2, 3]] * 3
    assert wrong.tolist() == [[0, 0, 0, 1], [1, 1, 2, 2], [2, 3, 3, 3]]


@torch.inference_mode()
def test_a_wrong_reshape_changes_the_real_weights(theirs):
    seen = {}
    attention = theirs.model.layers[0].self_attn
    hooks = [
        part.register_forward_hook(lambda _, given, made, name=name: seen.update({name: made[0].numpy()}))
        for name, part in (("q", attention.q_proj), ("k", attention.k_proj))
    ]
    theirs(torch.tensor(READING.ids)[None])
    for hook in hooks:
        hook.remove()
    n, later = len(READING.ids), np.triu(np.ones((len(READING.ids),) * 2, bool), 1)

    def shares(cut):
        q, k = (torch.from_numpy(np.ascontiguousarray(cut(seen[name])))[None] for name in ("q", "k"))
        cos, sin = theirs.model.rotary_emb(q, torch.arange(n)[None])
        q, k = (x[0].numpy() for x in apply_rotary_pos_emb(q, k, cos, sin))
        scores = np.where(later, -np.inf, q @ k.swapaxes(1, 2) / 48**0.5)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        return scores / scores.sum(-1, keepdims=True)

    gap = np.abs(shares(lambda x: x.reshape(n, 6, 48).swapaxes(0, 1)) - shares(lambda x: x.reshape(6, n, 48))).max()
    assert manyheads.reshaped(text.of(READING), 0) == pytest.approx(gap, abs=1e-4)
    assert gap > 0.5


def test_a_fresh_head_is_uniform_at_first_and_picks_one_later():
    found = manyheads.fresh(text.of(READING), 6)
    rows = np.log2(np.arange(1, len(READING.ids) + 1))
    np.testing.assert_allclose(found.entropy[manyheads.SCALES.index(0.01)], rows, atol=0.01)
    assert found.entropy[-1, 1:].mean() < 0.3 * rows[1:].mean()
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)


def test_a_fresh_head_on_a_long_text():
    reading = text.read("One day the dog ran to the park with a ball. " * 8)
    some = manyheads.scales(len(reading.ids))
    found = manyheads.fresh(text.of(reading), 6)
    assert len(found.weights) == len(some) == 11
    assert some[4] == 0.01
    np.testing.assert_allclose(found.entropy[4], np.log2(np.arange(1, len(reading.ids) + 1)), atol=0.02)


def test_ranks(theirs):
    found = manyheads.ranks(text.of(READING), 4, 2)
    q, k = (getattr(theirs.model.layers[4].self_attn, name).weight.detach().double() for name in ("q_proj", "k_proj"))
    one = q[96:144].T @ k[96:144]
    assert found.count(found.one) == int(torch.linalg.matrix_rank(one)) == 48
    assert found.count(found.whole) == int(torch.linalg.matrix_rank(q.T @ k)) == 288
    assert found.one[0] == pytest.approx(float(torch.linalg.matrix_norm(one, 2)))


@pytest.mark.parametrize("reader", ["linear", "ffn"])
@pytest.mark.parametrize("n_heads", [1, 2, 32])
def test_the_nets_that_name_their_neighbours_by_hand(n_heads, reader):
    digits = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)
    net = neighbours.net(n_heads, reader=reader)
    weights, named = neighbours.read(n_heads, digits, reader)
    x = (net.digit.weight[list(digits)] + net.place.weight).detach().numpy()
    q, k, v = (
        (x @ part.weight.detach().numpy().T).reshape(12, n_heads, -1).swapaxes(0, 1) for part in (net.q, net.k, net.v)
    )
    scores = np.exp(q @ k.swapaxes(1, 2) / (32 / n_heads) ** 0.5)
    wanted = scores / scores.sum(-1, keepdims=True)
    np.testing.assert_allclose(weights, wanted, atol=1e-4)
    z = (wanted @ v).swapaxes(0, 1).reshape(12, 32) @ net.o.weight.detach().numpy().T
    if reader == "ffn":
        up, down = net.ffn[0], net.ffn[2]
        z = np.maximum(0, z @ up.weight.detach().numpy().T + up.bias.detach().numpy())
        z = z @ down.weight.detach().numpy().T + down.bias.detach().numpy()
    logits = z @ net.sides.weight.detach().numpy().T + net.sides.bias.detach().numpy()
    assert (named == logits.reshape(12, 2, 10).argmax(-1)).all()
    assert neighbours.truth(digits).tolist() == [[digits[i - 1], digits[(i + 1) % 12]] for i in range(12)]


def test_read_linearly_one_head_names_one_side_and_with_an_ffn_both():
    linear, ffn = neighbours.scores("linear"), neighbours.scores("ffn")
    assert linear.shape == ffn.shape == (6, 3)
    assert (linear[0] < 0.12).all(), "one side and a guess: a tenth"
    assert (linear[1:5] > 0.99).all()
    assert (ffn[:5] > 0.99).all()
    digits = torch.randint(10, (200, 12), generator=torch.Generator().manual_seed(4))
    sides = (neighbours.net(1)(digits)[0].argmax(-1) == neighbours.neighbours(digits)).float().mean((0, 1))
    assert float(sides.max()) > 0.85, "one of the two it does name"
    assert float(sides.min()) < 0.2


def test_a_head_turned_down_takes_its_side_with_it():
    digits = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)
    found, two = neighbours.turned(digits), neighbours.net(2)
    truth = neighbours.truth(digits)
    assert found.p.shape == (56, 2, 12)
    assert sorted(found.looks) == [0, 1], "one looks left, one right"
    for stop, volume in ((0, 0.0), (5, 0.1), (50, 1.0), (55, 1.1)):
        net = neighbours.Net(2)
        net.load_state_dict(two.state_dict())
        with torch.no_grad():
            net.o.weight[:, 16:] *= volume  # the columns of W_O that read the second head
        logits = net(torch.tensor(digits)[None])[0][0].detach()
        p = logits.softmax(-1).numpy()
        wanted = [[p[place, side, truth[place, side]] for place in range(12)] for side in (0, 1)]
        np.testing.assert_allclose(found.p[stop], wanted, atol=1e-5)
        assert found.right[stop] == (logits.argmax(-1).numpy() == truth).all(-1).sum()
        many = neighbours.fresh()
        named = net(many)[0].argmax(-1)
        share = float((named == neighbours.neighbours(many)).all(-1).float().mean())
        assert found.share[stop] == pytest.approx(share, abs=1e-3)
    assert found.share[0] < 0.15
    assert found.share[50] > 0.99


def test_twoheads_refuses_what_it_has_not():
    with pytest.raises(KeyError, match="not 3, 0"):
        neighbours.net(3)
    with pytest.raises(ValueError, match="12 digits"):
        neighbours.read(2, (1, 2, 3))


def test_training_from_scratch_separates_one_head_from_two():
    short = [make_neighbours.train(h, seed=0, steps=150) for h in (1, 2)]
    digits = torch.randint(10, (64, 12), generator=torch.Generator().manual_seed(9))
    right = [(net(digits)[0].argmax(-1) == neighbours.neighbours(digits)).all(-1).float().mean() for net in short]
    assert right[0] < 0.3
    assert right[1] > 0.8


def test_heads_of_the_paper_share_out_its_512_numbers():
    """Vaswani et al. 2017, table 3, rows (A) and base: perplexity and BLEU on the dev set."""
    printed = {1: (5.29, 24.9), 4: (5.00, 25.5), 8: (4.92, 25.8), 16: (4.91, 25.8), 32: (5.01, 25.4)}
    assert {one.n_heads: (one.perplexity, one.bleu) for one in manyheads.ABLATIONS} == printed
    assert all(one.n_heads * one.d_k == 512 for one in manyheads.ABLATIONS)


def test_a_head_looks_to_the_side_where_more_of_its_weight_lies(monkeypatch):
    """Two places away is no neighbour: the first head has most there, and looks left."""
    net, far = neighbours.net(2), torch.eye(12)
    left, right, beyond = (far.roll(step, 1) for step in (-1, 1, 2))
    weights = torch.stack([0.3 * left + 0.1 * right + 0.6 * beyond, 0.2 * left + 0.3 * right + 0.5 * beyond])[None]
    looked = net.looked
    monkeypatch.setattr(net, "looked", lambda digits: (looked(digits)[0], weights))
    assert neighbours.turned((3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)).looks == (0, 1)


def test_what_the_volume_brings_up():
    found = manyheads.turned(manyheads.Demo(text.of(READING), 5, 1))
    assert found.probs.shape == (51, 8)
    assert (np.diff(found.probs.max(0)) <= 0).all(), "likeliest at any volume first"
    assert found.views.shape == (51, 36, 14)


def test_one_head_silent_is_one_cell_of_all():
    _answer, table = manyheads.silenced(text.of(OTHER))
    for layer, head in ((0, 0), (3, 4), (5, 5)):
        alone = manyheads.without(manyheads.Demo(text.of(OTHER), layer, head, ((1, 1),)))
        assert alone == pytest.approx(table[layer, head], abs=1e-5), "whatever else is muted"
    assert table.shape == (6, 6)


def test_parts_and_a_bias_are_the_whole():
    each, bias = np.arange(12.0).reshape(2, 3, 2), np.array([5.0, -1.0])
    whole = each.sum(0) + bias
    assert manyheads.Parts(each, whole, bias).gap == 0
    assert manyheads.Parts(each, whole - 3 * np.eye(3, 2), bias).gap == 3
    assert manyheads.Parts(each, each.sum(0) + 0.5).gap == 0.5


def test_habits_of_three_tokens_and_of_words_that_come_once():
    three = text.Text(text.FIRST, READING.ids[:3], READING.tokens[:3])
    found, weights = manyheads.habits(three), manyheads.subject.untouched(three)
    for layer, head in ((0, 3), (4, 1)):
        w = weights[f"block{layer}.weights"].value[head]
        assert found.previous[layer, head] == pytest.approx((w[1, 0] + w[2, 1]) / 2)
        assert found.itself[layer, head] == pytest.approx((w[1, 1] + w[2, 2]) / 2)
        assert found.first[layer, head] == pytest.approx((w[1, 0] + w[2, 0]) / 2)
        assert found.distance[layer, head] == pytest.approx(w[2, 1] / (w[1, 1] + w[2, 1] + w[2, 2]), rel=1e-4)
    assert found.same.shape == (6, 6)
    assert not found.same.any(), "nothing comes twice"


def test_a_fresh_head_by_numpy():
    found = manyheads.fresh(text.of(READING), 6, 2)
    x = manyheads.subject.untouched(text.of(READING))["block0.norm1"].value.astype(np.float64)
    w_q, w_k = torch.randn(2, 288, 288, generator=torch.Generator().manual_seed(2)).double().numpy()
    scores = (x @ w_q)[:, :48] @ (x @ w_k)[:, :48].T / 48**0.5
    for at in (5, 20, 40):
        scaled = np.where(np.tri(14, dtype=bool), scores * manyheads.SCALES[at] ** 2, -np.inf)
        powers = np.exp(scaled - scaled.max(1, keepdims=True))
        np.testing.assert_allclose(found.weights[at], powers / powers.sum(1, keepdims=True), atol=2e-3)
    assert not np.allclose(found.weights[30], manyheads.fresh(text.of(READING), 6).weights[30], atol=1e-2)
    np.testing.assert_allclose(manyheads.SCALES, np.geomspace(1e-3, 10**-0.5, 51), rtol=5.1e-3)


def test_a_rank_counts_what_is_more_than_rounding():
    eps = np.finfo(np.float64).eps
    assert manyheads.Ranks.count(np.array([2.0, 1.0, 6.1 * eps, 5.9 * eps])) == 2
    assert manyheads.Ranks.count(np.array([2.0, 1.0, 8.1 * eps, 7.9 * eps])) == 3


def test_numbers_of_a_head_that_was_cut_wrongly_come_from_several_tokens():
    right, wrong = manyheads.origins(6, 2, 8)
    assert right.tolist() == [[0, 1, 2, 3, 4, 5]] * 2
    owner = np.repeat(np.arange(6), 8).reshape(2, 6, 4)
    np.testing.assert_allclose(wrong, owner.mean(-1))
