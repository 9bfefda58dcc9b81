"""The tiny mixture: that what is recorded is what its weights do, and what the page says of it."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.nets import mixture as net
from core.topics.feedforward import mixture as toy


def by_hand(kind, rows, seats=None):
    """The whole net once more, written with torch's own parts: losses (text, place) and who went where (block, letter)."""
    w = {n[len(kind) + 1 :]: x.float() for n, x in net._stored().items() if n.startswith(f"{kind}.")}
    x, n = w["embed.weight"][rows[:, :-1]], rows.shape[1] - 1
    theta = 10_000.0 ** (-torch.arange(0, 16, 2) / 16)
    turn = torch.polar(torch.ones(n, 8), torch.arange(n)[:, None] * theta)
    went = []
    for b in range(2):
        at = lambda name, b=b: w[f"blocks.{b}.{name}.weight"]  # noqa: E731
        h = F.rms_norm(x, (64,), at("norm1"), 1e-6)
        q, k, v = ((h @ at(f"attn.{m}").T).view(len(x), n, 4, 16).transpose(1, 2) for m in "qkv")

        def rotated(z, turn=turn):
            both = torch.complex(z[..., :8].contiguous(), z[..., 8:].contiguous()) * turn
            return torch.cat([both.real, both.imag], -1)

        z = F.scaled_dot_product_attention(rotated(q), rotated(k), v, is_causal=True)
        x = x + z.transpose(1, 2).reshape(len(x), n, 64) @ at("attn.o").T
        h = F.rms_norm(x, (64,), at("norm2"), 1e-6).flatten(0, 1)
        p = (h @ at("ffn.router").T).softmax(-1)
        best = (p + w[f"blocks.{b}.ffn.bias"]).argmax(-1)
        room, out = [seats] * 8, []
        for row, share, e in zip(h, p, best.tolist(), strict=True):
            if seats is not None and not room[e]:
                out.append(torch.zeros(64))
                continue
            room[e] = room[e] - 1 if seats is not None else None
            gate, up = (at(f"ffn.experts.{e}.{m}") @ row for m in ("gate", "up"))
            out.append(share[e] * (at(f"ffn.experts.{e}.down") @ (F.silu(gate) * up)))
        went.append(best)
        x = x + torch.stack(out).view(x.shape)
    logits = F.rms_norm(x, (64,), w["norm.weight"], 1e-6) @ w["head.weight"].T
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none"), torch.stack(went)


@pytest.mark.parametrize("kind", net.SHIPPED)
@torch.inference_mode()
def test_losses_and_routes_are_those_of_the_net_written_out(kind):
    rows = net.texts()[:6]
    losses, went = by_hand(kind, rows)
    found, _none = net.measured(net.model(kind), rows, None)
    assert found == pytest.approx(float(losses.mean()), abs=2e-4)
    assert torch.equal(net.chosen(net.model(kind), rows[:, :-1]).flatten(1, 2).int().argmax(-1), went)
    capacity = 1.25
    places = int(capacity * went.shape[1] / 8)
    found, dropped = net.measured(net.model(kind), rows, capacity)
    losses, went = by_hand(kind, rows, places)
    assert found == pytest.approx(float(losses.mean()), abs=2e-4)
    away = sum(max(0, int(n) - places) for block in went for n in block.bincount(minlength=8))
    assert dropped == pytest.approx(away / went.numel(), abs=1e-6)


def test_what_was_recorded_is_found_again():
    """Half-precision weights shift a loss in the third digit."""
    for kind in net.SHIPPED:
        assert net.final(kind)[0] == pytest.approx(net.measured(net.model(kind), net.texts(), None)[0], abs=0.01)
        loss, dropped = net.by_capacity(kind)
        at = net.CAPACITIES.index(1.25)
        again = net.measured(net.model(kind), net.texts(), 1.25)
        assert (loss[0, at], dropped[0, at]) == pytest.approx(again, abs=0.02)
        assert (np.diff(dropped, axis=1) <= 1e-6).all()
        shares = net.loads(kind)
        np.testing.assert_allclose(shares.sum(-1), 1, atol=2e-3)
        late = toy.rationed(kind)
        came = (late.seated + late.turned_away)[0] / net.texts()[:, :-1].numel()
        assert came.sum() == pytest.approx(1), "every letter that has a next one goes somewhere"
        np.testing.assert_allclose(np.sort(came), np.sort(shares[0, -1, toy.BLOCK]), atol=0.06)


def test_what_the_page_says_of_balancing():
    """Collapse is early and partly heals; balancing gains little with seats for all, and much once they are few."""
    most, step = toy.worst("none")
    end = float(net.loads("none")[:, -1, toy.BLOCK].max(-1).mean())
    assert 0.5 < most < 0.98
    assert step < 60
    assert 2 / 8 < end < most - 0.1
    balanced = [float(net.loads(kind)[:, -1, toy.BLOCK].max(-1).mean()) for kind in ("aux", "bias")]
    assert max(balanced) < 0.25
    final = {kind: float(net.final(kind).mean()) for kind in net.KINDS}
    assert abs(final["none"] - final["aux"]) < 0.05
    assert final["wide"] < final["dense"]
    at = net.CAPACITIES.index(1.25)
    none, aux = (net.by_capacity(kind) for kind in net.SHIPPED)
    assert none[0][:, at].mean() - none[0][:, -1].mean() > 0.2
    assert aux[0][:, at].mean() - aux[0][:, -1].mean() < 0.02
    assert none[1][:, at].mean() > 0.25 > 0.02 > aux[1][:, at].mean()


def test_experts_are_for_letters():
    for kind in net.SHIPPED:
        sent = net.chosen(net.model(kind), net.texts())[toy.BLOCK].flatten(0, 1).int().argmax(-1).tolist()
        pairs = list(zip(net.texts().flatten().tolist(), sent, strict=True))

        def bits(values):
            counts = [values.count(v) for v in set(values)]
            return -sum(c / len(values) * math.log(c / len(values)) for c in counts)

        own, letter, both = (bits(v) for v in ([e for _a, e in pairs], [a for a, _e in pairs], pairs))
        assert toy.explained(kind) == pytest.approx((own + letter - both) / own, abs=1e-6)
        assert toy.explained(kind) > 0.4
        found = toy.specialities(kind)
        assert sum(one.share for one in found) == pytest.approx(1)


def test_a_text_goes_through_letter_by_letter():
    assert toy.letters_of("", "abc") == "abc"
    assert toy.letters_of("你好 😀", "Sam ran") == "Sam ran"
    assert toy.letters_of("<b>", "Sam ran") == "b"
    assert toy.letters_of("a\n  b<c>" + "x" * 999, "") == ("a bc" + "x" * 999)[: net.LENGTH]
    found = toy.routing("aux", "Sam ran")
    assert found.experts.shape == (2, 7)
    np.testing.assert_allclose(found.probs.sum(1), 1, atol=1e-5)
    links = found.links(1)
    assert sum(n for _a, _e, n in links) == 7
    assert links[0][0] == "a"


def test_more_experts_than_in_training_cost_more():
    found = toy.several("aux")
    assert found.loss[0] == pytest.approx(net.measured(net.model("aux"), net.texts(), None)[0], abs=1e-4)
    assert (np.diff(found.used) == 2 * 3 * 64 * net.WIDTH).all()


def test_the_published_mixtures():
    """Totals and active parameters as the inventory of published configs has them."""
    found = {one.name: (one.whole, one.used) for one in toy.published()}
    assert found["Mixtral-8x7B v0.1"] == (46_702_792_704, 12_879_925_248)
    assert found["DeepSeek-V3"] == (671_026_419_200, 37_552_297_472)
    assert found["Qwen3-30B-A3B"][0] == 30_532_122_624


# ---- by hand ----


def test_letters_that_can_be_read_and_their_numbers():
    assert net.spelled("Tom  said:\n “Hi” 7 times") == "Tom said Hi  times"
    assert net.ids_of("a Z").tolist() == [net.LETTERS.index(one) for one in "a Z"]
    assert (net.LENGTH, net.texts().shape) == (64, (64, 65))


def test_a_letter_without_a_seat_has_no_gate():
    """Six letters, two experts, one each: at capacity one there are three seats, first come."""
    chosen = torch.tensor([[[1, 0], [1, 0], [0, 1]], [[1, 0], [1, 0], [1, 0]]]).bool()
    gates = torch.arange(1.0, 13.0).view(2, 3, 2)
    kept = net.rationed(chosen, gates * chosen, 1.0)
    assert kept.flatten(0, 1).tolist() == [[1, 0], [3, 0], [0, 6], [7, 0], [0, 0], [0, 0]]


@torch.inference_mode()
def test_more_experts_a_letter_than_in_training():
    """Each letter to its three best, every gate its own probability, written out for one block after the other."""
    rows, w = net.texts()[:, :-1], {n[5:]: x.float() for n, x in net._stored().items() if n.startswith("none.")}
    model, seen = net.model("none"), []

    def mixed(x, b):
        h = F.rms_norm(x, (64,), w[f"blocks.{b}.norm2.weight"], 1e-6)
        p = (h @ w[f"blocks.{b}.ffn.router.weight"].T).softmax(-1)
        best = p.topk(3, -1).indices
        seen.append(best)
        out = torch.zeros_like(x)
        for e in range(8):
            at = lambda m, e=e: w[f"blocks.{b}.ffn.experts.{e}.{m}.weight"]  # noqa: E731
            made = (F.silu(h @ at("gate").T) * (h @ at("up").T)) @ at("down").T
            out += made * (p[..., e] * (best == e).any(-1))[..., None]
        return x + out

    x, around = model.embed(rows), model.surroundings(64)
    for b, block in enumerate(model.blocks):
        x = mixed(x + block.attn(block.norm1(x), *around), b)
    loss = F.cross_entropy(model.read_out(x).flatten(0, 1), net.texts()[:, 1:].flatten())
    assert net.with_more("none", 3) == pytest.approx(float(loss), abs=1e-3)


def test_specialities_are_counts_of_letters():
    sent = net.chosen(net.model("aux"), net.texts()).int().argmax(-1)  # (block, text, letter)
    found = net.specialities("aux")
    assert found.shape == (2, 8, len(net.LETTERS))
    for block, expert, letter in ((0, 3, 5), (1, 0, 0), (1, 7, 20)):
        assert found[block, expert, letter] == ((sent[block] == expert) & (net.texts() == letter)).sum()
    told = toy.specialities("aux")
    for one in told:
        row = found[toy.BLOCK, one.expert]
        assert one.share == pytest.approx(row.sum() / found[toy.BLOCK].sum())
        assert len(one.letters) <= 6
        for sign, share in one.letters:
            at = net.LETTERS.index(sign)
            assert share == pytest.approx(row[at] / found[toy.BLOCK, :, at].sum())
        counts = [row[net.LETTERS.index(sign)] for sign, _share in one.letters]
        assert counts == sorted(counts, reverse=True)
    assert toy.specialities("aux", 0)[2].share != told[2].share
    assert len(toy.specialities("aux", 1, 2)[0].letters) == 2


def test_what_was_recorded_while_it_learned():
    found, loads = toy.learning("none"), net.loads("none")
    np.testing.assert_array_equal(found.loads, loads[0, :, 1])
    np.testing.assert_array_equal(found.busiest, loads[0, :, 1].max(1))
    np.testing.assert_array_equal(toy.learning("none", 2).loads, loads[2, :, 1])
    assert found.steps == net.STOPS
    assert loads.shape == (3, len(net.STOPS), 2, 8)
    most, step = toy.worst("none")
    busiest = loads[:, :, 1].max(-1).mean(0)
    assert (most, step) == (pytest.approx(busiest.max()), net.STOPS[busiest.argmax()])
    assert net.history("none").shape == (3, 600)
    assert toy.losses()["aux"] == pytest.approx(
        (net.final("aux").min(), net.final("aux").mean(), net.final("aux").max())
    )
    with pytest.raises(KeyError, match="shipped"):
        net.model("bias")


def test_seats_are_an_even_share_times_the_capacity():
    found = toy.rationed("aux")
    letters = net.texts()[:, :-1].numel()
    np.testing.assert_array_equal(found.places, [int(c * letters / 8 + 1e-9) for c in net.CAPACITIES])
    came = net.chosen(net.model("aux"), net.texts()[:, :-1])[1].flatten(0, 1).sum(0).numpy()
    np.testing.assert_array_equal(found.seated + found.turned_away, np.tile(came, (51, 1)))
    assert (found.seated <= found.places[:, None]).all()
    np.testing.assert_array_equal(found.loss, net.by_capacity("aux")[0][0])
    np.testing.assert_array_equal(found.dropped, net.by_capacity("aux")[1][0])


def test_how_the_runs_differ():
    kinds = net.KINDS
    assert {k: (kinds[k].aux, kinds[k].rate) for k in net.BALANCED} == dict(
        none=(0, 0), weak=(0.01, 0), aux=(0.1, 0), bias=(0, 0.003)
    )
    assert (kinds["top2"].config.moe.n_active, kinds["top2"].config.moe.renormalise, kinds["top2"].aux) == (
        2,
        True,
        0.01,
    )
    assert (kinds["dense"].config.moe, kinds["dense"].config.d_ff) == (None, 40)
    assert (kinds["wide"].config.moe, kinds["wide"].config.d_ff) == (None, 320)
    one = net.CONFIG
    assert (one.d_model, one.n_layers, one.n_heads, one.vocab_size, one.context) == (64, 2, 4, len(net.LETTERS), 64)
    assert (one.moe.n_experts, one.moe.n_active, one.moe.d_expert, one.moe.layers) == (8, 1, 40, (0, 1))
    assert one.moe.router_bias
    assert not one.moe.renormalise
    whole, met = toy.parameters()
    assert whole - met == 2 * 7 * 3 * 64 * 40, "seven experts of each block are not met"
