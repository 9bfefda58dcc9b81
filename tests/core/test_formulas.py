"""Displayed = computed: every quantity is what its formula says, on every family and on the models that ship."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import core
from core import costs, generation
from core import softmax as soft
from core.attention import ALLOWED, MASKED, SCALED, SCORES, WEIGHTS, K, Q, V, Z, allowed_pairs, attention
from core.config import ModelConfig, Moe
from core.embeddings import by_product
from core.feedforward import Gelu, Relu, SwiGlu
from core.lab import subject, text
from core.model import Decoder
from core.moe import Mixture
from core.nets import dates, dates_task, packed
from core.nets import line as line_nets
from core.norms import LayerNorm, RMSNorm
from core.positions import alibi_bias, sinusoids
from core.rope import angles, frequencies, rotate_by_tables, tables
from core.topics.efficient import flash
from core.topics.heads import volume
from core.topics.norms import depth, warmup
from core.topics.projections import query
from core.topics.theory import collapse, scaling, tape
from core.topics.why import recurrence
from core.trace import Quantity, Trace
from tests.core import families
from tests.core.formulas import IN_THE_LEDGER, NO_CLOSED_FORM, SAYS, At

MEETING = (SCORES, SCALED, ALLOWED, MASKED, WEIGHTS, Z)
IDS = torch.tensor([3, 17, 3, 0, 60, 42, 9])


def quantities() -> set[Quantity]:
    """All that core declares."""
    root = Path(core.__file__).parent
    names = [".".join(("core", *p.relative_to(root).with_suffix("").parts)) for p in root.rglob("[a-z]*.py")]
    return {one for name in names for one in vars(importlib.import_module(name)).values() if isinstance(one, Quantity)}


def numbers(x: torch.Tensor) -> np.ndarray:
    return x.detach().double().numpy()


def hold(at: At, name: str) -> Quantity:
    """One recorded step against its formula."""
    step = at.trace[name]
    if (step.quantity.name, step.quantity.formula) in NO_CLOSED_FORM:
        return step.quantity
    said, shown = np.asarray(SAYS[step.quantity.name, step.quantity.formula](at)), step.value
    assert said.shape == shown.shape, name
    real = np.isfinite(shown)
    np.testing.assert_array_equal(np.isfinite(said), real, err_msg=name)
    scale = max(1.0, np.abs(shown[real]).max(initial=0.0))
    np.testing.assert_allclose(said[real] / scale, shown[real] / scale, atol=2e-5, err_msg=name)
    return step.quantity


def hold_all(trace: Trace, **given: object) -> set[Quantity]:
    return {hold(At(trace, step.name.rpartition(".")[0] + "." if "." in step.name else "", given), step.name)
            for step in trace}  # fmt: skip


# ---- a whole decoder ----


def in_a_decoder(model: Decoder, trace: Trace, name: str) -> At:
    """What a formula may need of a decoder, at one of its steps."""
    config, (scope, *inside) = model.config, name.split(".")[:-1] or [""]
    head = model.embed.weight if model.head is None else model.head.weight
    start = trace["embed"].value + (trace["pos_embed"].value if "pos_embed" in trace else 0)
    layer = int(scope.removeprefix("block")) if scope else config.n_layers
    x = trace[f"block{layer - 1}.resid_post"].value if layer else start
    theta = config.rope_theta ** (-np.arange(0, config.head_dim, 2) / config.head_dim)
    given = dict(t=trace["ids"].value, E=model.embed.weight.numpy(), U=numbers(head), x=x.astype(np.float64),
                 n=len(start), theta=theta, norm=model.norm, bend="gated" if config.ffn == "swiglu" else "gelu",
                 P=model.pos_embed.weight.numpy() if model.pos_embed else None)  # fmt: skip
    if not scope:
        return At(trace, "", given)
    block = model.blocks[layer]
    parts = dict(attn=block.attn, ffn=block.ffn, norm1=block.norm1, norm2=block.norm2)
    if inside:
        return of_an_expert(trace, f"{scope}.", inside[0], block.ffn)
    return At(trace, f"{scope}.", given | parts)


def of_an_expert(trace: Trace, scope: str, which: str, ffn: Mixture) -> At:
    """What a formula needs inside one expert: who was sent to it."""
    kind, e = which.rstrip("0123456789"), int(which.removeprefix("expert").removeprefix("shared"))
    came = trace[f"{scope}gates"].value[:, e] > 0 if kind == "expert" else slice(None)
    own = (ffn.experts if kind == "expert" else ffn.shared)[e]
    norm2 = trace[f"{scope}norm2"].value.astype(np.float64)
    return At(trace, f"{scope}{which}.", dict(ffn=own, bend="gated", norm2=norm2, sent=came))


def of_a_decoder(model: Decoder, ids: torch.Tensor) -> set[Quantity]:
    trace = Trace()
    with torch.inference_mode():
        model(ids, trace=trace)
        model.predict(model.stream(ids), trace=trace)
    return {hold(in_a_decoder(model, trace, step.name), step.name) for step in trace}


@pytest.mark.parametrize("name", families.CONFIGS)
def test_every_step_of_a_decoder_is_its_formula(pair, name):
    model = pair(name).ours
    held = {one.name for one in of_a_decoder(model, IDS)}
    assert {"embed", "q", "scores", "weights", "z", "attn_out", "ffn_act", "resid_post", "probs", "next_probs"} <= held


# ---- everything else that is recorded ----


def softmaxes() -> set[Quantity]:
    trace, z = Trace(), torch.tensor([2.0, -1.0, 0.5, 3.1], dtype=torch.float64)
    soft.jacobian(soft.softmax(z, 0.7, trace=trace), trace=trace)
    return hold_all(trace, z=numbers(z), T=0.7)


def positions() -> Iterator[Quantity]:
    trace = Trace()
    sinusoids(9, 6, 50.0, trace=trace)
    yield from hold_all(trace, shape=(9, 6), b=50.0)
    trace, slopes = Trace(), torch.tensor([0.5, 0.125], dtype=torch.float64)
    alibi_bias(4, slopes, trace=trace)
    yield from hold_all(trace, n=4, m=numbers(slopes))
    trace, x = Trace(), torch.randn(9, 6)
    rotate_by_tables(x, *tables(angles(9, 6, 50.0), trace=trace), trace=trace)
    theta = numbers(frequencies(6, 50.0))
    np.testing.assert_allclose(theta, [50.0 ** (-2 * i / 6) for i in range(3)], rtol=1e-6)
    yield from hold_all(trace, x=numbers(x), m=np.arange(9), theta=theta)


def one_head() -> set[Quantity]:
    """Vectors typed by hand, at another temperature."""
    trace, q, k, v = Trace(), *torch.randn(3, 1, 5, 4)
    q, k, v = trace(Q, q), trace(K, k), trace(V, v)
    attention(q, k, v, allowed_pairs("causal", 5), temperature=0.3, trace=trace)
    return {
        hold(At(trace, "", dict(tau=0.3)), name) for name in ("scores", "scaled", "allowed", "masked", "weights", "z")
    }


def tables_of_rows() -> set[Quantity]:
    trace, table = Trace(), torch.randn(11, 5)
    by_product(torch.tensor([4, 4, 0]), table, trace=trace)
    return hold_all(trace, t=np.array([4, 4, 0]), E=table.numpy())


def feedforwards() -> Iterator[Quantity]:
    sizes = ModelConfig(d_model=6, n_layers=1, n_heads=1, d_ff=9, vocab_size=1, context=1, ffn_bias=True)
    for kind, bend in ((Gelu, "gelu"), (Relu, "relu"), (SwiGlu, "gated")):
        trace, x, ffn = Trace(), torch.randn(4, 6), kind(sizes)
        trace(Quantity("norm2", "query d_model", "", ""), x)
        with torch.inference_mode():
            ffn(x, trace=trace)
        given = dict(ffn=ffn, bend=bend)
        yield from (hold(At(trace, "", given), step.name) for step in trace if step.name != "norm2")


def mixtures() -> Iterator[Quantity]:
    """With what no family that runs has: shared experts, and a bias that moves the choice alone."""
    moe = Moe(5, 2, 7, layers=(0,), n_shared=2, router_bias=True)
    trace, x = Trace(), torch.randn(9, 6)
    made = Mixture(ModelConfig(d_model=6, n_layers=1, n_heads=1, d_ff=9, vocab_size=1, context=1, moe=moe))
    made.bias.copy_(torch.tensor([0.3, -0.2, 0.0, 0.1, -0.4]))
    trace(Quantity("norm2", "query d_model", "", ""), x)
    with torch.inference_mode():
        made(x, trace=trace)
    for step in list(trace)[1:]:
        which = step.name.rpartition(".")[0]
        yield hold(of_an_expert(trace, "", which, made) if which else At(trace, "", dict(ffn=made)), step.name)


def norms() -> Iterator[Quantity]:
    for kind in (LayerNorm, RMSNorm):
        trace, x, norm = Trace(), 3 * torch.randn(4, 6), kind(6, 0.25)
        with torch.inference_mode():
            for parameter in norm.parameters():
                parameter.copy_(torch.randn(6))
            norm(x, trace=trace)
        shift = numbers(norm.bias) if kind is LayerNorm else 0
        yield from hold_all(trace, x=numbers(x), eps=0.25, gain=numbers(norm.weight), shift=shift)


def topics() -> Iterator[Quantity]:
    reading = text.read(text.SENTENCE)
    trace, z, out = Trace(), torch.randn(3, 5, 4), torch.randn(7, 12)
    volume.contribution(z, out, trace=trace)
    yield from hold_all(trace, z=numbers(z), W_O=numbers(out).T)
    trace, demo = Trace(), query.Demo(text.of(reading))
    query.turn(demo, trace=trace)
    q = query.part(demo, "q_rot")[-1].double()
    one, two, _kept = query.axes(q, query.part(demo, "k_rot").double())
    assert abs(float(one @ two)) < 1e-9
    np.testing.assert_allclose(trace["turned_q"].value[0], q, atol=1e-6)
    yield from hold_all(trace, q=numbers(q), e1=numbers(one), e2=numbers(two), degrees=np.array(query.ANGLES))
    trace, u, square = Trace(), torch.randn(6, 4).double(), torch.randn(4, 4).double()
    recurrence.rnn(u, square, trace=trace)
    yield from hold_all(trace, Wx=numbers(u), U=numbers(square))
    trace, u, square = Trace(), torch.randn(3, 6, 4).double(), torch.randn(3, 4, 4).double()
    recurrence.gru(u, square, trace=trace)
    yield from hold_all(trace, Wx=numbers(u), U=numbers(square))
    yield from of_the_tiles()
    trace, x = Trace(), torch.randn(5, 3).double()
    maps = [torch.randn(3, 3).double() for _ in "qkvp"]
    line_nets.linear_attention(line_nets.Layer(*maps), x, 4, trace=trace)
    yield from hold_all(trace, X=numbers(x), n=4, **dict(zip("qkvp", map(numbers, maps), strict=True)))
    yield from in_principle()


def in_principle() -> Iterator[Quantity]:
    """What the theory page measures, reads back and matches."""
    trace, w, b, x = Trace(), torch.randn(4, 2, 5).double(), torch.randn(4, 5).double(), torch.randn(4, 3, 5).double()
    packed.read_back(w, b, x, trace=trace)
    yield from hold_all(trace, W=numbers(w), b=numbers(b), x=numbers(x))
    trace, x = Trace(), torch.randn(4, 6, 5).double()
    collapse.different(x, trace=trace)
    yield from hold_all(trace, X=numbers(x))
    trace, cells, times = Trace(), np.array([3, -2, 3, 0]), np.array([2, 3, 4, 5])
    tape.match(3, torch.stack([tape.key(int(c), int(t)) for c, t in zip(cells, times, strict=True)]), trace=trace)
    yield from hold_all(trace, c=3, cells=cells, times=times)


def of_the_tiles() -> Iterator[Quantity]:
    """What Flash holds after each of its tiles, against all keys read so far at once."""
    trace, (q, k, v), tile = Trace(), torch.randn(3, 11, 4).double(), 3
    flash.flash(q, k, v, allowed_pairs("causal", 11), tile, trace=trace)
    scores = numbers(torch.where(allowed_pairs("causal", 11), q @ k.mT / 2, -torch.inf))
    for step in trace:
        scope, end = step.name.rpartition(".")[0] + ".", tile * (int(step.name[4]) + 1)
        yield hold(At(trace, scope, dict(S=scores, V=numbers(v), end=end)), step.name)


def training() -> Iterator[Quantity]:
    """What stands over training on the norms page: a random J at every size, and every warm-up of the schedule."""
    trace, drawn = Trace(), torch.randn(64, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64).numpy()
    depth.stretches(trace=trace)
    yield from hold_all(trace, J=[size * drawn / np.linalg.norm(drawn, 2) for size in depth.SIZES])
    trace = Trace()
    found = warmup.schedules(512, trace=trace)
    yield from hold_all(trace, d=512, t=found.steps, w=warmup.WARMS)


def laws() -> Iterator[Quantity]:
    """What training costs, and the published formulas of what it buys."""
    trace, n, d = Trace(), torch.tensor([4.6e2, 3.4e5], dtype=torch.float64), torch.tensor([4e4, 4e6, 8e6])
    scaling.compute(n, d.double(), trace=trace)
    yield from hold_all(trace, N=n.numpy(), D=d.double().numpy())
    trace, k = Trace(), scaling.PRINTED
    scaling.power(n, 1.5, 8.8e13, 0.076, trace=trace)
    yield from hold_all(trace, N=n.numpy(), E=1.5, N_c=8.8e13, alpha=0.076)
    given = dict(E=k.e, A=k.a, B=k.b, alpha=k.alpha, beta=k.beta)
    for call, more in (
        (lambda t: scaling.parametric(k, n, 20 * n, trace=t), dict(N=n.numpy(), D=20 * n.numpy())),
        (lambda t: scaling.best_size(k, 1e15 * n, trace=t), dict(C=1e15 * n.numpy())),
    ):
        trace = Trace()
        call(trace)
        yield from hold_all(trace, **given, **more)


def written(model: Decoder) -> Iterator[Quantity]:
    """Two tokens drawn from the four likeliest, and what is kept of each."""
    trace, read = Trace(), Trace()
    made = generation.sample(model, IDS, 2, seed=1, temperature=0.8, top_k=4, trace=trace)
    model(torch.tensor([*IDS.tolist(), *made.ids]), trace=read)
    for i, id in enumerate(made.ids):
        n = len(IDS) + i
        said = read["logits"].value[n - 1].astype(np.float64)
        given = dict(z=said, T=0.8, N=set(np.argsort(said)[-4:].tolist()), taken=id)
        yield from (hold(At(trace, f"step{i}.", given), f"step{i}.{name}") for name in ("drawn_from", "drawn"))
        for layer in range(model.config.n_layers):
            k, v = (read[f"block{layer}.{name}"].value[:, :n] for name in ("k_rot", "v"))
            parts = dict(K_before=k[:, : n - 1], K_new=k[:, n - 1 :], V_before=v[:, : n - 1], V_new=v[:, n - 1 :])
            at = At(trace, f"step{i}.block{layer}.", parts)
            yield from (hold(at, at.scope + name) for name in ("kept_keys", "kept_values"))


@torch.inference_mode()
def the_date_model() -> Iterator[Quantity]:
    """Its attention, within a text and between two, and what it writes."""
    model, seen = dates.model(), []
    source = torch.tensor(dates_task.ids("3 May 2021"))
    written = torch.tensor([dates_task.VOCAB.index(dates_task.START), 5, 6])
    read, trace = Trace(), Trace()
    memory = model.encode(source, trace=read)
    hook = model.norm.register_forward_hook(lambda *given: seen.append(given[2]))
    model.decode(written, memory, trace=trace)
    hook.remove()
    yield hold(At(trace, "", dict(x=numbers(seen[0]), U=numbers(model.embed.weight))), "written_probs")
    for one in (read, trace):
        for name in (step.name for step in one if step.quantity in MEETING):
            yield hold(At(one, name.rpartition(".")[0] + "."), name)
    yield hold(At(read, "", dict(t=source.numpy())), "source")
    yield hold(At(trace, "", dict(t=written.numpy())), "written")
    for one, side, ids, places in (
        (read, "enc", source, model.source_place),
        (trace, "dec", written, model.target_place),
    ):
        x = numbers(model.embed.weight)[ids] + numbers(places.weight)[: len(ids)]
        for i, block in enumerate(model.encoder if side == "enc" else model.decoder):
            at = At(one, f"{side}{i}.", dict(x=x, norm3=getattr(block, "norm3", None)))
            some = ("x", "after_self", "after_cross", "norm3", "out")
            yield from (hold(at, at.scope + name) for name in some if at.scope + name in one)
            x = one[f"{side}{i}.out"].value


def test_every_other_quantity_is_its_formula_and_none_is_left_out(pair):
    torch.manual_seed(0)
    held = {one for name in ("gpt2", "qwen3", "mixtral") for one in of_a_decoder(pair(name).ours, IDS)}
    reading = text.read(text.SENTENCE)
    held |= of_a_decoder(subject.model(), torch.tensor(reading.ids))
    for made in (
        softmaxes(),
        norms(),
        training(),
        positions(),
        one_head(),
        tables_of_rows(),
        feedforwards(),
        mixtures(),
        topics(),
        laws(),
        the_date_model(),
        written(pair("qwen3").ours),
    ):
        held |= set(made)
    reasons = {one for one in quantities() if (one.name, one.formula) in NO_CLOSED_FORM}
    assert len(reasons) == len(NO_CLOSED_FORM), "a reason for a formula that is gone"
    ledger = {one for one in quantities() if one.name in IN_THE_LEDGER}
    assert ledger == {costs.PARAMETERS, costs.CACHE, costs.FLOPS, costs.TRAINING}
    assert {one.name for one in quantities() - held - reasons - ledger} == set(), "nobody held its formula"
    assert {(one.name, one.formula) for one in held - reasons} == set(SAYS), "an entry that nobody uses"
