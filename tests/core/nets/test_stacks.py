"""Small stacks: every place of the norm beside torch's own modules, gradients beside torch's, and what was recorded."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from core.make import norms as make_norms
from core.nets import stacks
from core.nets.stacks import Plan

PLANS = [
    Plan("pre"), Plan("post"), Plan("sandwich"), Plan("none"), Plan("pre", skip=False), Plan("none", skip=False),
]  # fmt: skip


def shaken(plan, kind=torch.float64):
    """First weights with gains and shifts that are not one and zero, so that a forgotten one is seen."""
    room = torch.Generator().manual_seed(7)
    weights = stacks.drawn(plan, kind=kind)
    with torch.no_grad():
        for name, weight in weights.items():
            if "norm" in name:
                weight += 0.3 * torch.randn(weight.shape, generator=room, dtype=kind)
    return weights


def by_torch(plan, weights, run, ids):
    """One text through one of the nets, with nn.MultiheadAttention, nn.LayerNorm and nn.Linear."""
    own = {name: weight[run].detach() for name, weight in weights.items()}
    d = plan.width

    def norm(name):
        made = nn.LayerNorm(d, eps=1e-5).double()
        if name:
            made.weight.data, made.bias.data = own[f"{name}.weight"][0], own[f"{name}.bias"][0]
        return made

    def attend(i, x):
        made = nn.MultiheadAttention(d, plan.heads, bias=False, batch_first=True).double()
        made.in_proj_weight.data = torch.cat([own[f"{i}.{c}"] for c in "qkv"], 1).T
        made.out_proj.weight.data = own[f"{i}.o"].T
        mask = nn.Transformer.generate_square_subsequent_mask(len(x), dtype=torch.float64)
        return made(x[None], x[None], x[None], attn_mask=mask, is_causal=True, need_weights=False)[0][0]

    def think(i, x):
        return F.linear(torch.relu(F.linear(x, own[f"{i}.up"].T)), own[f"{i}.down"].T)

    x = F.embedding(ids, own["embed"]) + own["places"][: len(ids)]
    seen = [x]
    for i in range(plan.depth):
        for part, name in ((attend, f"{i}.norm1"), (think, f"{i}.norm2")):
            copy = x if plan.skip else torch.zeros_like(x)
            if plan.place == "pre":
                x = copy + part(i, norm(name)(x))
            elif plan.place == "post":
                x = norm(name)(copy + part(i, x))
            elif plan.place == "sandwich":
                x = copy + norm(name)(part(i, norm(None)(x)))
            else:
                x = copy + part(i, x)
        seen.append(x)
    return seen, (x if plan.place == "post" else norm("norm")(x)) @ own["head"]


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: f"{p.place}-{p.skip}")
def test_a_stack_is_what_torch_makes_of_the_same_parts(plan):
    plan = replace(plan, depth=3, width=16)
    weights, rows = shaken(plan), stacks.texts(2)[:, :20].expand(3, -1, -1)
    passed = stacks.stream(plan, weights, rows)
    logits = stacks.read_out(plan, weights, passed[-1])
    for run in range(3):
        for text in range(2):
            seen, wanted = by_torch(plan, weights, run, rows[run, text])
            here = slice(20 * text, 20 * text + 20)
            for x, y in zip(passed, seen, strict=True):
                torch.testing.assert_close(x[run, here].detach(), y.detach())
            torch.testing.assert_close(logits[run, here].detach(), wanted.detach())


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: f"{p.place}-{p.skip}")
def test_a_gradient_at_some_height_is_what_a_nudge_there_does(plan):
    """Along the gradient the loss rises by its length: read off two passes that start at that height."""
    plan = replace(plan, depth=3, width=16)
    weights, rows = shaken(plan), stacks.texts(2).expand(3, -1, -1)
    passed = stacks.stream(plan, weights, rows[..., :-1])
    found = stacks.come_down(plan, weights, passed, rows[..., 1:], 3)
    x = passed[0].detach().requires_grad_()
    own = {**weights, "places": torch.zeros_like(weights["places"])}

    def loss_from(x):
        """The tables are replaced by x itself: every letter is its own row."""
        ids = torch.arange(x.shape[1]).view(1, 2, -1).expand(3, -1, -1)
        return stacks.loss(plan, own | {"embed": x}, stacks.stream(plan, own | {"embed": x}, ids)[-1], rows[..., 1:])

    (down,) = torch.autograd.grad(loss_from(x).sum(), x)
    unit = down / down.flatten(1).norm(dim=1)[:, None, None]
    rise = (loss_from(x + 1e-5 * unit) - loss_from(x - 1e-5 * unit)) / 2e-5
    np.testing.assert_allclose(found[0], rise.detach(), rtol=1e-3)
    assert found.shape == (4, 3)


def test_a_deeper_stack_begins_with_the_blocks_of_a_shallower_one():
    few, many = (stacks.drawn(Plan(depth=depth)) for depth in (2, 5))
    assert all(torch.equal(few[name], many[name]) for name in few)
    quiet = stacks.drawn(Plan(depth=2, small=True))
    assert not quiet["1.o"].any()
    assert not quiet["0.down"].any()
    assert quiet["0.q"].any()


def test_alike_by_hand():
    x = torch.tensor([[[1.0, 0], [0, 2], [3, 3], [1, 0], [1, 0], [1, 0]]])
    pairs = [0, 1 / math.sqrt(2), 1 / math.sqrt(2)]  # of the first text; all ones in the second
    torch.testing.assert_close(stacks.alike(x, 2), torch.tensor([(sum(pairs) / 3 + 1) / 2]))


# ---- training ----


def test_adam_takes_torchs_steps():
    plan, room = Plan(depth=1, width=8), torch.Generator().manual_seed(3)
    ours = stacks.drawn(plan)
    moving = make_norms.Adam(ours)
    theirs = {name: w.detach().clone().requires_grad_() for name, w in ours.items()}
    rates = torch.tensor([1e-2, 1e-2, 1e-2])
    adam = torch.optim.Adam(theirs.values(), lr=1e-2)
    shares = []
    for _ in range(4):
        for name, weight in ours.items():
            weight.grad = torch.randn(weight.shape, generator=room)
            theirs[name].grad = weight.grad.clone()
        adam.step()
        shares.append(moving.step(rates))
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], rtol=1e-4, atol=1e-6)
    assert (shares[0] == 1).all(), "the first step has the size of the rate, whatever the gradient"
    assert (shares[3] < 0.7).all()


def test_what_letters_alone_tell_by_hand():
    """a b a b a a: a four times of six; after a twice b of three, after b always a."""
    alone, pairs = make_norms.knowing(torch.tensor([1, 2, 1, 2, 1, 1]))
    first = [3 / 5, 2 / 5]
    assert alone == pytest.approx(-sum(p * math.log(p) for p in first))
    assert pairs == pytest.approx(-(2 / 5 * math.log(2 / 3) + 1 / 5 * math.log(1 / 3)))


def test_training_learns_and_is_the_same_every_time():
    letters = stacks.spelled("The cat sat on the mat. " * 300)
    plan = Plan(depth=1, width=16)
    one, again = (make_norms.train(plan, letters, 1e-2, (0, 10), 60) for _ in range(2))
    assert one["loss"].shape == (2, 3, 6)
    assert one["probe"].shape[:3] == (3, 2, 3)
    for name in one:
        np.testing.assert_array_equal(one[name], again[name])
    assert (one["loss"][..., -1] < one["loss"][..., 0] - 1).all()
    assert (one["loss"][0, :, 0] < one["loss"][1, :, 0]).all(), "a warm-up begins slowly"


# ---- recorded ----


@pytest.mark.parametrize("name", stacks.ARRANGED)
def test_recorded_gradients_again(name):
    """Some depths anew, from a stack that is built no deeper."""
    held = stacks.recorded()
    row = list(stacks.ARRANGED).index(name)
    for depth in (1, 6, 12):
        plan = replace(stacks.ARRANGED[name], depth=depth)
        weights = stacks.drawn(plan, kind=torch.float64)
        rows = stacks.texts(stacks.TEXTS).expand(3, -1, -1)
        passed = stacks.stream(plan, weights, rows[..., :-1])
        again = stacks.come_down(plan, weights, passed, rows[..., 1:], depth)
        np.testing.assert_allclose(10.0 ** held["down"][row, depth - 1, : depth + 1], again, rtol=0.03)
        assert np.isnan(held["down"][row, depth - 1, depth + 1 :]).all()
    sizes = torch.stack([x.detach().square().mean((1, 2)).sqrt() for x in passed])
    np.testing.assert_allclose(10.0 ** held["size"][row, :13], sizes, rtol=0.03)
    same = torch.stack([stacks.alike(x.detach(), stacks.TEXTS) for x in passed])
    np.testing.assert_allclose(held["alike"][row, :13], same, atol=2e-3)


def test_a_plan_is_what_its_name_says():
    """Where the norms stand; "skips" has skips alone, "norms" has norms alone, "small" begins at zero."""
    place = dict(pre="pre", post="post", sandwich="sandwich", skips="none", small="none", norms="pre", neither="none")
    assert set(stacks.ARRANGED) == set(place) - {"small"}
    assert set(stacks.LEARNERS) == set(place) - {"neither"}
    assert set(place.values()) == set(stacks.PLACES)
    for plans, width in ((stacks.ARRANGED, 64), (stacks.LEARNERS, 48)):
        for name, plan in plans.items():
            assert (plan.place, plan.width) == (place[name], width), name
            assert plan.skip is (name not in ("norms", "neither")), name
            assert plan.small is (name == "small"), name
