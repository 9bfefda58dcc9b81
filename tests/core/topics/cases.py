"""Every public function of core.topics (and of the bench below) that looks at a model, and how it is called: one table for all tests.

`g.text` is what a topic is told about the text. A law beside a call is something that the result itself must fulfil on
any model, so that a family whose parts were ignored (a bias, a norm of queries, shared keys) does not pass in silence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import torch

from core.lab import cuts, subject
from core.lab import head as heads_lab
from core.lab.text import Text, exactly
from core.model import Decoder
from core.topics.attention import facts, heat
from core.topics.efficient import flash, instead, state
from core.topics.efficient import patterns as pairs
from core.topics.exam import blanks, cards, painted, questions
from core.topics.feedforward import alone, bends, needed, neuron
from core.topics.feedforward import volume as ffn_volume
from core.topics.heads import fewer_keys, volume
from core.topics.home import chase, flow, writing
from core.topics.inference import cuts as sieve
from core.topics.inference import drafts, roofline, squeezed, stale
from core.topics.inference import writing as running
from core.topics.masks import gradients, in_numpy, padding, patterns
from core.topics.model import details, parts, repair, walk
from core.topics.norms import contributions, depth, losses, loudness, readings, switches
from core.topics.position import schemes, shuffle
from core.topics.projections import product, query
from core.topics.rope import clocks
from core.topics.theory import collapse, context, copies
from core.topics.theory import lookup as looking
from core.topics.tokens import table
from core.topics.why import recurrence, window
from core.whatif import Change, WhatIf


@dataclass(frozen=True)
class Given:
    """A text as a model reads it. Layer and head are the model's last ones: only there group and index differ."""

    text: Text
    words: str

    @property
    def ids(self) -> tuple[int, ...]:
        return self.text.ids

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.text.tokens

    @property
    def model(self) -> Decoder:
        return subject.model(self.text.subject)

    @property
    def layer(self) -> int:
        return self.model.config.n_layers - 1

    @property
    def head(self) -> int:
        return self.model.config.n_heads - 1

    def demo(self, topic: ModuleType, **other: Any) -> Any:
        """A topic's own Demo of this text, layer and head."""
        return topic.Demo(self.text, self.layer, self.head, **other)

    def clocks(self) -> clocks.Demo:
        return clocks.Demo(self.text, self.layer, self.head, len(self.ids) - 1, 1)

    def neuron(self) -> neuron.Demo:
        """One in a middle block, so that blocks come after it."""
        return neuron.Demo(self.text, self.layer // 2, self.model.config.d_ff - 1)

    def trace(self, *names: str) -> Any:
        return subject.run(self.text, subject.UNTOUCHED, names)


@dataclass(frozen=True)
class Case:
    """call: (given) -> result. law: (result) -> whether it is true of itself; None where there is nothing to compare."""

    call: Callable[[Given], Any]
    law: Callable[[Any], bool] | None = None


def _pushed(g: Given) -> tuple[np.ndarray, np.ndarray]:
    """What a neuron of the last block pushes, and what the logits lose without it where the last norm stands still."""
    demo, model = neuron.Demo(g.text, g.layer, 0), g.model
    x = torch.tensor(g.trace(f"block{g.layer}.resid_post")[f"block{g.layer}.resid_post"].value[-1])
    column = torch.tensor(neuron.inside(demo).column)
    centred = x - x.mean() if model.config.norm == "layernorm" else x
    scale = (centred.square().mean() + model.config.norm_eps).sqrt()
    table = model.embed.weight if model.head is None else model.head.weight
    added = column - column.mean() if model.config.norm == "layernorm" else column
    return neuron.pushes(demo), (table @ (added * model.norm.weight) / scale).detach().numpy()


def near(a: Any, b: Any, within: float = 2e-4) -> bool:
    """Equal up to float32, measured against the size of what is compared."""
    a, b = (np.asarray(x, np.float64) for x in (a, b))
    return bool(np.abs(a - b).max() <= within * max(1.0, np.abs(b).max()))


def _plane(g: Given) -> Any:
    one = heads_lab.head_of(g.demo(heads_lab))
    return facts.plane(one.v, one.weights[None] @ one.v)


def _head(g: Given) -> Any:
    return heads_lab.head_of(g.demo(heads_lab))


def _contribution(g: Given) -> Any:
    block = f"block{g.layer}"
    trace, out = g.trace(f"{block}.z", f"{block}.attn_out"), g.model.blocks[g.layer].attn.o
    z = torch.from_numpy(np.array(trace[f"{block}.z"].value))
    whole = volume.contribution(z, out.weight.detach()).sum(0)
    bias = 0 if out.bias is None else out.bias.detach()
    return whole + bias, trace[f"{block}.attn_out"].value


def _cut(g: Given) -> Any:
    """The strongest cut beside the whole model run with that one weight at zero."""
    worst = cuts.rank(g.model, subject.untouched(g.text), 5)[0]
    change = Change(cut=(worst.layer, worst.head, worst.query, worst.key))
    return worst.p, subject.chances(g.text, change, (5,))[0]


def _switched(g: Given) -> Any:
    """The next word read out as trained, beside the model's own."""
    x = g.trace("*resid_post")[f"block{g.layer}.resid_post"].tensor[-1]
    return switches.logits(g.model, x, switches.AS_TRAINED).softmax(-1).detach(), g.trace("next_probs")[
        "next_probs"
    ].value


def _both(g: Given) -> Any:
    """Both ways to cut a link beside the model run with each: what it says, and the sum of the row."""
    cell = (g.layer, g.head, len(g.ids) - 1, 1)
    found, made = cuts.both(g.text, cell), [Change(), Change(cut=cell, share=True), Change(cut=cell)]
    lost = found.rows[0, 1]
    said = [subject.chances(g.text, change, found.ids) for change in made]
    return (found.probs, said), (found.rows.sum(-1), [1, 1, 1 - lost]), (found.rows[1:, 1], 0)


def _greedily(model: Decoder, ids: torch.Tensor, n: int) -> list[int]:
    """The likeliest token n times, every time from the whole text."""
    found: list[int] = []
    for _step in range(n):
        found.append(int(model(torch.cat([ids, ids.new_tensor(found)]))[-1].argmax()))
    return found


def _swap(g: Given) -> stale.Demo:
    return stale.Demo(g.text, 2, 7)


def _patched(g: Given) -> Any:
    """No cell renewed, and all of them: both texts as they are."""
    new, sizes = stale.swapped(_swap(g)), (1, g.model.config.n_layers, len(g.ids) - 1)
    renewed = torch.cat([torch.zeros(sizes, dtype=torch.bool), torch.ones(sizes, dtype=torch.bool)])
    found = stale.patched(g.text, new, renewed)
    return list(zip(found, (subject.untouched(t)["next_probs"].value for t in (g.text, new)), strict=True))


def _inside_a_cell(g: Given) -> Any:
    """All heads, keys and values, beside the cell renewed as a whole."""
    demo, found = _swap(g), stale.run(_swap(g))
    parts = stale.inside(demo, g.layer, 2, found.words[0].id)
    return parts.all_heads[2], found.alone[g.layer, 2, 0]


def _heated(g: Given) -> Any:
    """The next word at some stops, with a link cut, beside the whole model run with these changes."""
    cell, demo = (len(g.ids) - 1, 1), g.demo(heads_lab)
    pairs = []
    for everywhere, cut in ((False, None), (False, cell), (True, cell)):
        found = heat.said(replace(demo, everywhere=everywhere), cut)
        for stop in (0, 24, 48):
            here = None if everywhere else (g.layer, g.head)
            link = cut and (g.layer, g.head, *cut)
            change = Change(temperature=found.temperatures[stop], head=here, cut=link, share=True)
            pairs.append((found.probs[stop], subject.chances(g.text, change, found.ids)))
    return pairs


def _ranked(g: Given) -> Any:
    worst = cuts.ranking(g.text, True)
    first = worst.worst[0]
    change = Change(cut=(first.layer, first.head, first.query, first.key), share=True)
    return first.p, subject.chances(g.text, change, (worst.answer,))[0]


def _rest(g: Given) -> Any:
    """The frame at temperature 1 beside the head as it is."""
    demo, at = g.demo(heads_lab), heads_lab.TEMPERATURES.index(1.0)
    every = [heads_lab.frames(demo, "weights"), heads_lab.frames(replace(demo, everywhere=True), "weights")]
    return [one.values[at] for one in every], heads_lab.head_of(demo).weights


def _fewer_keys(g: Given) -> Any:
    """Errors where nothing is lost: as the model is, and at full rank; the next word there and untouched."""
    found, stops = fewer_keys.run(g.demo(volume)), fewer_keys.stops(g.text)
    full = next(i for i, stop in enumerate(stops) if stop.rank is not None)
    one = found["converted"]
    return one.error[[0, full]], one.probs[full], g.trace("next_probs")["next_probs"].value[list(one.ids)]


def _kept_wire(g: Given) -> Any:
    return repair.edits(g.model, "scale", torch.ones(1)) + repair.edits(g.model, "merge", torch.ones(1))


def _outputs(g: Given) -> Any:
    """What the product page says goes in and comes out."""
    found = product.product(g.demo(query), "v")
    written = [found.made(2, column, "V").value for column in range(found.y.shape[1])]
    return [found.partial[-1][2], written], found.y[2]


def _one_zeroed(g: Given) -> Any:
    """How far each token's z moves without the third one's input, beside the whole model run without it."""
    name, z = f"block{g.layer}.norm1", f"block{g.layer}.z"
    trace = WhatIf([(name, lambda x: x * (torch.arange(len(x)) != 2)[:, None])], (z,), **g.text.labels)
    g.model.stream(torch.tensor(g.ids), trace=trace)
    moved = trace[z].value[g.head] - g.trace(z)[z].value[g.head]
    return product.alone(g.demo(query)).mixed[2], np.linalg.norm(moved, axis=-1)


def _words_read(g: Given) -> Any:
    return recurrence.looked(recurrence.words_of(g.text), torch.Generator().manual_seed(0))


def _first_and_last(g: Given) -> Any:
    """Home's flow, and how likely the first word is where the model ends before its first block."""
    before = g.model.predict(g.model.stream(torch.tensor(g.ids), until=0))
    return flow.compute(g.text), float(before.softmax(-1).max())


def _chased(g: Given) -> Any:
    """The link that matters most, cut, as the ranking of all links has it; and what it hands on."""
    worst = cuts.ranking(g.text, True).worst[0]
    found = chase.without(g.text, (worst.layer, worst.head, worst.query, worst.key))
    return found.answer.p, worst.p, chase.handed(g.text, worst)


def _own_scheme(g: Given) -> Any:
    """The scaled scores of the model's own scheme, beside what it recorded."""
    every = {scheme: schemes.scores(g.demo(schemes), scheme, (0, 3))[0] for scheme in schemes.SCHEMES}
    return every["rope"], g.trace(f"block{g.layer}.scaled")[f"block{g.layer}.scaled"].value[g.head]


def _turned(g: Given) -> Any:
    """A factor of ten on the stream before the last block: by its own edit, and as the slider has it."""
    found, stop = loudness.turned(loudness.Demo(g.text, g.layer)), loudness.FACTORS.index(10.0)
    name = f"block{g.layer}.resid_pre"
    trace = WhatIf([(name, lambda x: 10 * x)], (name, f"block{g.layer}.resid_post", "next_probs"), **g.text.labels)
    g.model.predict(g.model.stream(torch.tensor(g.ids), trace=trace), trace=trace)
    sizes = [np.sqrt((trace[one].value[-1] ** 2).mean()) for one in (name, f"block{g.layer}.resid_post")]
    said, calm = trace["next_probs"].value[list(found.ids)], g.trace("next_probs")["next_probs"].value[list(found.ids)]
    last = [found.said[i] for i in found.lens[:, -1]]
    return (
        (found.probs[stop], said),
        (found.probs[loudness.FACTORS.index(1.0)], calm),
        (found.sizes[stop, [-3, -1]], sizes),
        (last, found.top),
    )


def _bus(g: Given) -> Any:
    """The sum against the model's own logits; and one part against the model without it, its last divisor held."""
    found, name = contributions.bus(g.text), f"block{g.layer}.ffn_out"
    last = g.trace(f"block{g.layer}.resid_post")[f"block{g.layer}.resid_post"].value[-1].astype(np.float64)
    write, norm = g.trace(name)[name].value[-1].astype(np.float64), g.model.norm
    shift = getattr(norm, "bias", None)
    table = (g.model.embed.weight if g.model.head is None else g.model.head.weight).detach().double().numpy()

    def logits(x: np.ndarray, of: np.ndarray) -> np.ndarray:
        """Written out: x through the last norm, divided by what `of` is divided by."""
        x, of = (v - v.mean() if shift is not None else v for v in (x, of))
        normed = x / np.sqrt((of**2).mean() + norm.eps) * norm.weight.detach().double().numpy()
        return table @ normed

    moved = logits(last, last) - logits(last - write, last)
    return found, max(1.0, abs(found.whole)), (found.parts[-1], moved[found.answer] - moved[found.other])


def _loosened(g: Given) -> Any:
    """Another eps in every norm of the stream: in a copy of the model, and at that stop of the slider."""
    found, stop = readings.loosened(g.text), 36
    other = copy.deepcopy(g.model)
    for norm in [other.norm, *(norm for block in other.blocks for norm in (block.norm1, block.norm2))]:
        norm.eps = readings.EPSILONS[stop]
    with torch.inference_mode():
        said = other.predict(other.stream(torch.tensor(g.ids))).softmax(-1)
    return found.probs[stop], said[list(found.ids)]


def _struck(g: Given) -> Any:
    """The second token's largest number struck out before the last block, by an edit."""
    found, name = readings.struck(g.text, g.layer), f"block{g.layer}.resid_pre"

    def strike(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[1, x[1].abs().argmax()] = 0.0
        return x

    trace = WhatIf([(name, strike)], ("next_probs",), **g.text.labels)
    g.model.predict(g.model.stream(torch.tensor(g.ids), trace=trace), trace=trace)
    return found.p[1], trace["next_probs"].value[found.answer]


def _blanks(g: Given) -> Any:
    """The right line at 0, −1e9 and minus infinity: only the last two are the model itself, where no window is narrower."""
    costs = blanks.Costs(np.ones(len(blanks.FILLS)), 1.0)
    found = blanks.measured(blanks.Demo(g.text), g.layer, g.head, costs, (0.0, -1e9, blanks.NEVER))
    narrow = (g.model.config.window or len(g.ids)) < len(g.ids)
    lit = [found.lit(blanks.FILLS.index(fill)) for fill in (0.0, -1e9, blanks.NEVER)]
    return lit, found.p[-1] if not narrow else found.before, found.before


def _carded(g: Given) -> Any:
    """Every card on this model; and the reversed text, whose outputs go along with the words."""
    found = {id: cards.facts(g.text, id) for id in cards.CARDS}
    return found["order"]["error"], 0.0


def _claim(g: Given) -> copies.Demo:
    """The first words of the text, said again and again; the cat, of which nothing was said."""
    claim = copies.read("the dog saw a")
    assert claim is not None
    return copies.Demo(claim, "the cat", g.text.subject)


def _after_two(g: Given) -> Any:
    """Two copies and the lead, read alone, and so the other subject: all chances of the one pass."""
    demo, found = _claim(g), copies.run(_claim(g))
    pairs = []
    for lead, column in ((demo.claim.lead, 0), (demo.other_lead, 2)):
        words = exactly(" ".join([*2 * [demo.claim.sentence], lead]), g.text.subject)
        said = subject.run(words, subject.UNTOUCHED, ("next_probs",))["next_probs"].value
        pairs.append((found.p[2, column], said[found.words[0].id]))
    return pairs, found


def _one_head_silent(g: Given) -> Any:
    demo = _claim(g)
    words = exactly(" ".join([demo.claim.sentence, demo.claim.lead]), g.text.subject)
    found, said = copies.carriers(demo), copies.run(demo).words[0].id
    alone = [subject.chances(words, Change(muted=((0, h),)), (said,))[0] for h in range(g.model.config.n_heads)]
    return (found.p[1, 0], alone), (found.untouched[1], subject.chances(words, Change(), (said,))[0])


SIDES = ("left", "right")


def _start(g: Given) -> Text:
    return Text(g.text.subject, g.ids[:5], g.tokens[:5])


# The name of a function without `core.` or `core.topics.` -> how it is called.
CASES: dict[str, Case] = {
    "exam.blanks.run": Case(lambda g: blanks.run(blanks.Demo(g.text))),
    "exam.blanks.measured": Case(
        _blanks,
        lambda r: [one["leak"] for one in r[0]] == [True, False, False] and not r[0][2]["sums"] and near(r[1], r[2]),
    ),
    "exam.blanks.another": Case(
        lambda g: (blanks.another(g.text).ids, g.ids), lambda r: r[0][:-1] == r[1][:-1] and r[0] != r[1]
    ),
    "exam.blanks.called": Case(lambda g: blanks.called(5, g.text), lambda r: len(r) > 0),
    "exam.painted.heads": Case(
        lambda g: painted.heads(g.text, (1, 3, 6)), lambda r: near(r.maps.sum(-1), 1) and near(np.triu(r.maps, 1), 0)
    ),
    "exam.questions.every": Case(
        lambda g: (len(g.ids), questions.every(g.text, 1)),
        lambda r: r[1]["pieces"].answer == r[0] and all(q.right(q.answer) for q in r[1].values()) and len(r[1]) > 9,
    ),
    "exam.cards.facts": Case(_carded, lambda r: near(*r)),
    "exam.questions.make": Case(lambda g: questions.make(g.text, 1), lambda r: len({q.kind for q in r}) == 5),
    "lab.head.run": Case(lambda g: heads_lab.run(g.demo(heads_lab))),
    "lab.head.head_of": Case(_head),
    "lab.head.heated": Case(lambda g: heads_lab.heated(_head(g), 0.5), lambda r: near(r.weights.sum(-1), 1)),
    "lab.head.frames": Case(_rest, lambda r: all(near(one, r[1]) for one in r[0])),
    "lab.head.tempered": Case(lambda g: [heads_lab.tempered(_head(g), step) for step in heads_lab.STEPS]),
    "lab.head.overview": Case(lambda g: heads_lab.overview(g.demo(heads_lab)), lambda r: near(r[0].sum(-1), 1)),
    "lab.subject.outlook": Case(lambda g: subject.outlook(g.text, subject.UNTOUCHED)),
    "lab.subject.surprise": Case(lambda g: subject.surprise(g.text)),
    "lab.cuts.rank": Case(_cut, lambda r: near(*r)),
    "lab.cuts.ranking": Case(_ranked, lambda r: near(*r)),
    "lab.cuts.both": Case(_both, lambda r: all(near(*pair) for pair in r)),
    "attention.heat.said": Case(_heated, lambda r: all(near(*pair) for pair in r)),
    "attention.facts.plane": Case(_plane, lambda r: 0 <= r.kept <= 1 + 1e-6),
    "attention.facts.against_torch": Case(lambda g: facts.against_torch(_head(g)), lambda gap: gap < 1e-4),
    "attention.facts.sink": Case(lambda g: facts.sink(_head(g))),
    "attention.facts.unprojected": Case(lambda g: facts.unprojected(g.text, g.layer)),
    "attention.facts.bilinear": Case(
        lambda g: facts.bilinear(g.demo(heads_lab), len(g.ids) - 1, 1), lambda r: near(*r)
    ),
    "feedforward.needed.dense": Case(lambda g: needed.dense(g.text.subject)),
    "feedforward.needed.columns": Case(lambda g: needed.columns(needed.dense(g.text.subject)), lambda r: r.ndim == 2),
    "feedforward.needed.edits": Case(
        lambda g: needed.edits(needed.dense(g.text.subject), "own", torch.tensor(3), needed.orders(g.text)),
        lambda r: len(r) > 0,
    ),
    "feedforward.needed.run": Case(
        lambda g: needed.run(g.text), lambda r: near(r.p[:, -1], [w.p for w in r.words]) and r.p.shape[0] == 3
    ),
    "feedforward.needed.orders": Case(
        lambda g: needed.orders(g.text), lambda r: near(np.sort(r, -1), np.arange(r.shape[1])[None] + 0 * r)
    ),
    "feedforward.needed.grouped": Case(
        lambda g: needed.grouped(needed.dense(g.text.subject), needed.orders(g.text) % 4, 2), lambda r: len(r) > 1
    ),
    "efficient.patterns.losses": Case(lambda g: pairs.losses(g.text), lambda r: r.shape == (7, 49)),
    "efficient.patterns.frames": Case(
        lambda g: [pairs.frames(pairs.Demo(g.text, kind)) for kind in pairs.KINDS],
        lambda r: all(near(r[i].probs[-1], r[i].before) for i in (0, 1, 2, 3, 5)),
    ),
    "efficient.flash.vectors": Case(
        lambda g: (
            torch.nn.functional.scaled_dot_product_attention(
                *(x[None] for x in flash.vectors(g.demo(flash))), is_causal=True
            )[0],
            g.trace(f"block{g.layer}.z")[f"block{g.layer}.z"].value[g.head],
        ),
        lambda r: near(*r),
    ),
    "efficient.flash.run": Case(lambda g: flash.run(g.demo(flash)), lambda r: "tile0.run_out" in r),
    "efficient.flash.tiles": Case(
        lambda g: flash.tiles(g.demo(flash)), lambda r: near(r.gap, 0) and near(r.away[-1], 0)
    ),
    "efficient.instead.rank": Case(lambda g: instead.rank(g.demo(flash)), lambda r: set(r.counted) == set(r.enough)),
    "efficient.state.forms": Case(
        lambda g: state.forms(g.demo(flash), "abcd", 1), lambda r: near([r.linear, r.scan], 0)
    ),
    "theory.copies.run": Case(
        _after_two, lambda r: all(near(*pair) for pair in r[0]) and r[1].changed == 0 and r[1].copies > 3
    ),
    "theory.copies.carriers": Case(_one_head_silent, lambda r: all(near(*pair) for pair in r)),
    "heads.fewer_keys.stops": Case(
        lambda g: fewer_keys.stops(g.text), lambda r: r[0].name != "MLA" and r[-1].rank == 1
    ),
    "heads.fewer_keys.offered": Case(lambda g: fewer_keys.offered(g.text)),
    "heads.fewer_keys.basis": Case(
        lambda g: [fewer_keys.basis(g.text, g.layer, side) for side in fewer_keys.sides(g.text)],
        lambda r: all(near(one.T @ one, np.eye(one.shape[1])) for one in r),
    ),
    "heads.fewer_keys.edits": Case(lambda g: fewer_keys.edits(g.text, fewer_keys.stops(g.text), "converted")),
    "heads.fewer_keys.run": Case(_fewer_keys, lambda r: near(r[0], 0, 1e-5) and near(r[1], r[2])),
    "heads.fewer_keys.sides": Case(lambda g: fewer_keys.sides(g.text)),
    "heads.fewer_keys.wiring": Case(
        lambda g: fewer_keys.wiring(fewer_keys.stops(g.text)), lambda r: near(r.sum(-1), 1)
    ),
    "heads.fewer_keys.losses": Case(
        lambda g: (fewer_keys.losses(g.text), fewer_keys.stops(g.text)), lambda r: r[0].shape[1] == len(r[1])
    ),
    "feedforward.neuron.network": Case(lambda g: neuron.network(g.model, g.layer)),
    "feedforward.neuron.gated": Case(lambda g: neuron.gated(g.text)),
    "feedforward.neuron.inside": Case(
        lambda g: (neuron.inside(g.neuron()), g.trace(f"block{g.layer // 2}.ffn_act")),
        lambda r: near(r[0].value, next(iter(r[1])).value[:, -1]),
    ),
    "feedforward.neuron.factors": Case(lambda g: neuron.factors(g.neuron()), lambda r: r[15] == 0 and r[30] == 1),
    "feedforward.neuron.streams": Case(
        lambda g: (neuron.streams(g.neuron(), torch.ones(2)), g.trace(f"block{g.layer}.resid_post")),
        lambda r: near(r[0][1], next(iter(r[1])).value[-1]),
    ),
    "feedforward.neuron.chances": Case(
        lambda g: (neuron.chances(g.neuron(), (1.0,))[0], g.trace("next_probs")["next_probs"].value),
        lambda r: near(*r),
    ),
    "feedforward.neuron.turned": Case(
        lambda g: (neuron.turned(g.neuron()), g.trace("next_probs")["next_probs"].value),
        lambda r: near(r[0].probs[30], r[1][list(r[0].ids)]),
    ),
    "feedforward.neuron.twin": Case(
        lambda g: (neuron.twin(g.neuron(), (3,), (1.0, 0.0)), g.trace("next_probs")["next_probs"].value),
        lambda r: near(r[0][0, 0], r[1][3]),
    ),
    "feedforward.neuron.pushes": Case(lambda g: _pushed(g), lambda r: near(*r, within=1e-3)),
    "feedforward.neuron.writes": Case(
        lambda g: neuron.writes(g.neuron()), lambda r: r.up[0].p >= r.up[-1].p > r.down[-1].p >= r.down[0].p
    ),
    "feedforward.neuron.muted": Case(
        lambda g: (neuron.muted(g.neuron()), neuron.chances(g.neuron(), (0.0,))[0]),
        lambda r: near(r[0].after, r[1][r[0].answer.id]) and near(r[0].then.p, r[1].max()),
    ),
    "feedforward.alone.changed": Case(
        lambda g: (
            alone.changed(alone.Demo(g.text, g.layer)),
            alone.Demo(g.text, g.layer).at,
            1e-5 if g.model.config.moe else 0.0,  # with other rows beside it, an expert's product may round otherwise
        ),
        lambda r: r[0].elsewhere <= r[2] and (r[0].ffn[-1] > 10 * r[2]).nonzero()[0].tolist() == [r[1]],
    ),
    "feedforward.bends.through": Case(
        lambda g: bends.through(g.text, g.layer), lambda r: near(r.negative, (r.before < 0).mean())
    ),
    "feedforward.bends.dead": Case(lambda g: bends.dead(g.text), lambda r: (np.diff(r.open) >= 0).all()),
    "feedforward.volume.turned": Case(
        lambda g: (ffn_volume.turned(ffn_volume.Demo(g.text, g.layer)), g.trace("next_probs")["next_probs"].value),
        lambda r: near(r[0].probs[25], r[1][list(r[0].ids)]),
    ),
    "heads.volume.turned": Case(lambda g: volume.turned(g.demo(volume)), lambda r: near(r.views.sum(-1), 1)),
    "heads.volume.without": Case(lambda g: volume.without(g.demo(volume))),
    "heads.volume.silenced": Case(
        lambda g: (volume.silenced(g.text)[1][g.layer, g.head], volume.without(g.demo(volume))), lambda r: near(*r)
    ),
    "heads.volume.contribution": Case(_contribution, lambda r: near(*r)),
    "heads.volume.contributions": Case(lambda g: volume.contributions(g.text, g.layer), lambda r: r.gap < 1e-3),
    "heads.volume.habits": Case(lambda g: volume.habits(g.text)),
    "heads.volume.reshaped": Case(lambda g: volume.reshaped(g.text, g.layer)),
    "heads.volume.fresh": Case(
        lambda g: volume.fresh(g.text, g.model.config.n_heads), lambda r: near(r.weights.sum(-1), 1)
    ),
    "heads.volume.ranks": Case(
        lambda g: (volume.ranks(g.text, g.layer, g.head), g.model.config.head_dim),
        lambda r: r[0].count(r[0].one) <= r[1],
    ),
    "home.flow.flow": Case(
        lambda g: (flow.flow(g.text), flow.flow(g.text, Change(temperature=3.0))),
        lambda r: r[0].words != r[1].words,
    ),
    "home.flow.compute": Case(
        _first_and_last,
        lambda r: near(r[0].lens[-1][0].p, r[0].words[0].p) and near(r[0].lens[0][0].p, r[1]),
    ),
    "home.flow.stages": Case(
        lambda g: (flow.stages(subject.untouched(g.text), g.model, 3), g.ids[3:]),
        lambda r: all(len(one) == len(r[1]) for one in r[0]),
    ),
    "home.chase.without": Case(_chased, lambda r: near(r[0], r[1])),
    "home.chase.handed": Case(_chased, lambda r: r[2].place >= 1 and 0 <= r[2].weight <= 1),
    "home.writing.write": Case(
        lambda g: writing.write(g.text, 0.0, 0),
        lambda r: all(
            step.written in (step.words[0], None) and near(step.words[0].p, step.lens[-1][0].p) for step in r.steps
        ),
    ),
    "inference.stale.readable": Case(lambda g: (stale.readable(g.text), g.text), lambda r: r[0] == r[1]),
    "inference.stale.places": Case(lambda g: stale.places(g.text), lambda r: min(r) > 0),
    "inference.stale.names": Case(lambda g: stale.names(g.text)),
    "inference.stale.alike": Case(lambda g: (stale.alike(g.text, 2), g.ids[2]), lambda r: r[1] not in r[0]),
    "inference.stale.first_swap": Case(lambda g: (stale.first_swap(g.text), g.ids), lambda r: r[0][1] != r[1][r[0][0]]),
    "inference.stale.swapped": Case(lambda g: stale.swapped(_swap(g)), lambda r: r.ids[2] == 7),
    "inference.stale.caches": Case(
        lambda g: (stale.caches(g.text), g.ids), lambda r: r[0][0][0].shape[1] == len(r[1]) - 1
    ),
    "inference.stale.patched": Case(_patched, lambda r: all(near(*pair) for pair in r)),
    "inference.stale.run": Case(
        lambda g: stale.run(_swap(g)),
        lambda r: near(r.chance(r.old.id, 0), r.old.p) and near(r.chance(r.new.id, -1), r.new.p),
    ),
    "inference.stale.column": Case(lambda g: stale.column(_swap(g))),
    "inference.stale.inside": Case(_inside_a_cell, lambda r: near(*r)),
    "inference.stale.changed": Case(
        lambda g: (stale.changed(_swap(g)), g), lambda r: near(r[0][:, :2], 0) and (r[0][:, 2] > 1e-3).all()
    ),
    "inference.cuts.chances": Case(
        lambda g: (sieve.chances(g.text, 4), g.model(torch.tensor(g.ids))[4].softmax(-1)), lambda r: near(*r)
    ),
    "inference.cuts.places": Case(
        lambda g: sieve.places(g.text), lambda r: (r.nucleus >= 1).all() and (r.bits > 0).all()
    ),
    "inference.cuts.run": Case(
        lambda g: [sieve.run(sieve.Demo(g.text, 3, kind)) for kind in sieve.KINDS],
        lambda r: (
            all(near(one.after.sum(-1), 1) for one in r) and all(near(r[i].after[-1], r[i].before) for i in (0, 2, 3))
        ),
    ),
    "inference.cuts.search": Case(lambda g: sieve.search(g.text, 3), lambda r: r.beam.score < 0 and r.greedy.score < 0),
    "inference.cuts.written": Case(lambda g: sieve.written(g.ids[1:4], g.text.subject), lambda r: len(r) > 0),
    "inference.drafts.run": Case(
        lambda g: (drafts.run(drafts.Demo(g.text, g.layer)), drafts.plain(g.text)),
        lambda r: all(one.ids == r[1] and len(one.drafted) == len(one.ids) for one in r[0]),
    ),
    "inference.drafts.drafter": Case(
        lambda g: drafts.drafter(drafts.Demo(g.text, 1))(torch.tensor(g.ids)), lambda r: near(r.sum(), 1)
    ),
    "inference.roofline.measure": Case(
        lambda g: roofline.measure(g.text.subject), lambda r: {p.kind for p in r.points} == {"read", "write"}
    ),
    "inference.drafts.read": Case(lambda g: drafts.read(drafts.Demo(g.text, 1)), lambda r: 0 < r.head < r.draft <= 1),
    "inference.drafts.times": Case(
        lambda g: drafts.times(drafts.Demo(g.text, 1)), lambda r: len(r.taken) == len(drafts.AHEAD) and min(r.taken) > 0
    ),
    "inference.roofline.spent": Case(
        lambda g: (g.model.config, [roofline.spent(g.model.config, kind, 2) for kind in ("read", "write")]),
        lambda r: all(flops > 0 and fetched > 4 * r[0].d_model for flops, fetched in r[1]),
    ),
    "inference.drafts.plain": Case(lambda g: drafts.plain(g.text), lambda r: len(r) == drafts.WRITTEN),
    "inference.squeezed.edits": Case(lambda g: squeezed.edits(g.text.subject, 4, 4), lambda r: len(r) == 2),
    "inference.squeezed.said": Case(
        lambda g: (squeezed.said(g.text), subject.untouched(g.text)["next_probs"].value),
        lambda r: (
            near(r[0].p[:, 0], r[1][[one.id for one in r[0].words]])
            and np.abs(r[0].p[0, 0] - r[0].p[0, 6]).max() > 1e-4
        ),
    ),
    "inference.writing.room": Case(lambda g: (running.room(g.text), g), lambda r: r[0] + len(r[1].ids) == 64),
    "inference.writing.write": Case(
        lambda g: (running.write(running.Demo(g.text, n=3)), g.model, torch.tensor([g.ids])[0]),
        lambda r: _greedily(r[1], r[2], len(r[0].steps)) == [step.written.id for step in r[0].steps],
    ),
    "inference.writing.work": Case(
        lambda g: running.work(g.model.config, (1, 9)),
        lambda r: near(r.cached[0], r.whole[0]) and r.whole[1] > r.cached[1],
    ),
    "inference.writing.token_bytes": Case(
        lambda g: (running.token_bytes(g.model.config), g.trace("block*.k", "block*.v"), len(g.ids)),
        lambda r: r[0] * r[2] == sum(step.value.nbytes for step in r[1]),
    ),
    "inference.writing.measure": Case(lambda g: running.measure(g.text.subject, (4, 12)), lambda r: min(r.cached) > 0),
    "masks.gradients.influence": Case(
        lambda g: gradients.influence(g.demo(patterns, size=len(g.ids))), lambda r: not any(r.leaks)
    ),
    "masks.in_numpy.outcome": Case(
        lambda g: in_numpy.outcome(g.text, in_numpy.Recipe()), lambda r: near(r.p, r.answer.p)
    ),
    "masks.padding.padded": Case(
        lambda g: [padding.padded(padding.Batch((g.text, _start(g)), g.layer, g.head, side)) for side in SIDES],
        lambda r: all(near(one.leaked, 0) and near(one.p, one.alone) for one in r),
    ),
    "masks.patterns.run": Case(lambda g: patterns.run(g.demo(patterns, size=2))),
    "masks.patterns.frames": Case(lambda g: patterns.frames(g.demo(patterns)), lambda r: near(r.probs[-1], r.before)),
    "masks.patterns.above": Case(lambda g: patterns.above(g.text, g.layer, g.head), lambda r: 0 <= r <= 1),
    "model.details.tied": Case(lambda g: details.tied(g.text), lambda r: near(r.logit, r.product)),
    "model.details.dropped": Case(lambda g: details.dropped(g.text)),
    "model.details.smoothed": Case(lambda g: details.smoothed(g.text)),
    "model.parts.edits": Case(lambda g: parts.edits(g.text, ("residual",)), lambda r: len(r) > 2),
    "model.parts.run": Case(
        lambda g: [parts.run(g.text, on) for on in (parts.PARTS, ("residual",))],
        lambda r: r[0].words[0] == r[0].whole and r[0].size != r[1].size,
    ),
    "model.repair.edits": Case(_kept_wire),
    "model.repair.run": Case(
        lambda g: [repair.run(repair.Demo(g.text, wire, wire)) for wire in repair.wires(g.text)],
        lambda r: all(near(one.size[-1], one.healthy) and one.away[0].max() > 1e-3 for one in r),
    ),
    "model.repair.lines": Case(lambda g: repair.lines(g.text), lambda r: len(r) > 15),
    "model.repair.wires": Case(lambda g: repair.wires(g.text), lambda r: len(r) > 8),
    "model.repair.ward": Case(lambda g: repair.ward(g.text), lambda r: len(r.wires) == len(r.p)),
    "model.walk.decoder_only": Case(lambda g: walk.decoder_only(g.text), lambda r: r[-1].name == "probs"),
    "model.walk.written_out": Case(
        lambda g: (walk.written_out(g.model, torch.tensor([g.ids]))[0].detach(), g.model(torch.tensor(g.ids))),
        lambda r: near(*r),
    ),
    "model.walk.loop": Case(lambda g: walk.loop(g.text), lambda r: r.gap < 1e-3),
    "model.walk.at_true_size": Case(
        lambda g: (walk.at_true_size(g.model.config, 7).parameters, sum(p.numel() for p in g.model.parameters())),
        lambda r: r[0] == r[1],
    ),
    "norms.contributions.bus": Case(_bus, lambda r: r[0].gap < 1e-3 * r[1] and near(*r[2])),
    "norms.contributions.rivals": Case(lambda g: contributions.rivals(g.text), lambda r: len(r) > 4),
    "norms.contributions.direction": Case(
        lambda g: contributions.direction(g.text, 5, 3), lambda r: bool(r[0].isfinite().all())
    ),
    "norms.contributions.divisor": Case(
        lambda g: contributions.divisor(g.model.norm, torch.ones(3, 24) * torch.arange(1, 4)[:, None]),
        lambda r: r.shape == (3, 1),
    ),
    "norms.contributions.heads": Case(
        lambda g: (contributions.heads(g.text, g.layer).sum(), contributions.bus(g.text).parts[2 * g.layer + 1]),
        lambda r: near(*r),
    ),
    "norms.depth.through": Case(
        lambda g: depth.through(g.text), lambda r: near(r.cosines[-1], 1) and r.sizes.min() > 0
    ),
    "norms.switches.stream": Case(
        lambda g: (
            switches.stream(g.model, torch.tensor(g.ids), switches.AS_TRAINED),
            g.trace("*resid_post")[f"block{g.layer}.resid_post"].value,
        ),
        lambda r: near(*r),
    ),
    "norms.switches.logits": Case(_switched, lambda r: near(*r)),
    "norms.switches.wirings": Case(
        lambda g: (switches.wirings(g.text), g.trace("next_probs")["next_probs"].value.max()),
        lambda r: near(r[0].p[0], r[1]) and near(r[0].sure[0], r[1]) and near(r[0].same[-1], 1),
    ),
    "norms.switches.strengths": Case(
        lambda g: (switches.strengths(g.text), g.trace("next_probs")["next_probs"].value),
        lambda r: near(r[0].probs[-1], r[1][list(r[0].ids)]),
    ),
    "norms.switches.one_off": Case(lambda g: switches.one_off(g.text), lambda r: r.min() >= 0 and r.max() <= 1),
    "norms.loudness.turned": Case(_turned, lambda r: all(near(*pair) for pair in r)),
    "norms.loudness.stations": Case(lambda g: loudness.stations(g.text), lambda r: len(r) > 1),
    "norms.loudness.before": Case(
        lambda g: [loudness.before(g.text, k) for k in loudness.stations(g.text)], lambda r: len({*map(len, r)}) == 1
    ),
    "norms.loudness.everywhere": Case(
        lambda g: (loudness.everywhere(g.text), loudness.turned(loudness.Demo(g.text, g.layer)).probs[::5, 0]),
        lambda r: near(r[0][-2], r[1]),
    ),
    "norms.loudness.law": Case(
        lambda g: [loudness.law(loudness.Demo(g.text, k)) for k in loudness.stations(g.text)][1:],
        lambda r: all(one.gap < 0.02 * one.spread for one in r) and r[-1].lens < 1e-3,
    ),
    "norms.readings.loosened": Case(_loosened, lambda r: near(*r)),
    "norms.readings.renormed": Case(
        lambda g: (
            readings.renormed(g.model.norm, torch.arange(48.0).view(1, 2, 24), torch.tensor(g.model.norm.eps)),
            g.model.norm(torch.arange(48.0).view(1, 2, 24)),
        ),
        lambda r: near(r[0].detach(), r[1].detach()),
    ),
    "norms.readings.eps_edits": Case(lambda g: readings.eps_edits(g.text.subject, torch.tensor(0.1))),
    "norms.readings.before_and_after": Case(
        lambda g: readings.before_and_after(g.text), lambda r: near(r.shares.sum(-1), 1)
    ),
    "norms.losses.louder": Case(lambda g: losses.louder(g.text)),
    "norms.losses.loosened": Case(lambda g: losses.loosened(g.text)),
    "norms.losses.struck": Case(lambda g: losses.struck(g.text)),
    "norms.readings.pooled": Case(
        lambda g: readings.pooled(g.text),
        lambda r: r["feature"].here == r["feature"].later == r["feature"].other and r["batch"].many == 2,
    ),
    "norms.readings.struck": Case(_struck, lambda r: near(*r)),
    "norms.readings.cost": Case(
        lambda g: (readings.cost(g.text), g.model),
        lambda r: r[0].all == sum(p.numel() for p in r[1].parameters()) and 0 < r[0].share < 1,
    ),
    "position.schemes.scores": Case(_own_scheme, lambda r: near(*r)),
    "position.schemes.projected": Case(
        lambda g: (
            schemes.projected(
                g.model.blocks[0].attn, "k", g.head, g.trace("block0.norm1")["block0.norm1"].tensor.double()
            ),
            g.trace("block0.k", "block0.k_norm"),
            g.head // g.model.config.group,
        ),
        lambda r: near(r[0].detach(), list(r[1])[-1].value[r[2]]),
    ),
    "position.schemes.moved": Case(
        lambda g: [schemes.moved(g.demo(schemes), s) for s in ("none", "alibi", "rope")],
        lambda r: all(near(one.moved, 0) for one in r),
    ),
    "position.schemes.run": Case(lambda g: schemes.run(g.demo(schemes))),
    "position.shuffle.shuffled": Case(
        lambda g: shuffle.shuffled(shuffle.Demo(g.text)), lambda r: near(r.changed, 0, 1e-3)
    ),
    "position.shuffle.law": Case(lambda g: shuffle.law(shuffle.Demo(g.text)), lambda r: r.carried < 1e-9),
    "projections.product.weight": Case(lambda g: [product.weight(g.demo(query), m) for m in query.MAPS]),
    "projections.product.product": Case(_outputs, lambda r: all(near(one, r[1]) for one in r[0])),
    "projections.product.nudged": Case(
        lambda g: (product.nudged(g.demo(query), "q"), product.product(g.demo(query), "q")),
        lambda r: near(r[0].points[r[0].at][:, 0], r[1].y[:, r[0].place[1]], 1e-2),
    ),
    "projections.product.arrays": Case(
        lambda g: product.arrays(g.demo(query)),
        lambda r: all(near(r["x"] @ r[f"w_{m}"] + r.get(f"b_{m}", 0), r[m]) for m in query.MAPS),
    ),
    "projections.product.alone": Case(_one_zeroed, lambda r: near(*r, within=1e-3)),
    "projections.product.spectrum": Case(lambda g: [product.spectrum(g.demo(query), m) for m in query.MAPS]),
    "projections.product.collapsed": Case(lambda g: product.collapsed(g.demo(query)), lambda gap: gap < 1e-3),
    "projections.product.bias": Case(lambda g: [product.bias(g.demo(query), m) for m in query.MAPS]),
    "projections.query.part": Case(lambda g: [query.part(g.demo(query), name) for name in (*query.MAPS, "scores")]),
    "projections.query.met": Case(
        lambda g: [query.met(g.demo(query), which).value.shape[1:] for which in "qk"],
        lambda r: r[0] == r[1],
    ),
    "projections.query.block": Case(lambda g: query.block(g.demo(query), "norm1")),
    "projections.query.turn": Case(
        lambda g: (query.turn(g.demo(query)), g.trace("block*.weights")[f"block{g.layer}.weights"].value[g.head, -1]),
        lambda r: near(r[0].scores[0], r[0].scores[-1]) and near(r[0].shares[0], r[1]),
    ),
    "projections.query.onward": Case(
        lambda g: query.onward(g.demo(query)), lambda r: near(r.p[0], [word.p for word in r.words])
    ),
    "projections.query.flip": Case(lambda g: query.flip(g.demo(query))),
    "projections.query.heard": Case(
        lambda g: query.heard(g.demo(query), 30), lambda r: r is None or 0 <= r.after <= 1 >= r.before > 0
    ),
    "projections.query.pair": Case(lambda g: query.pair(g.demo(query))),
    "projections.query.alike": Case(lambda g: query.alike(g.demo(query))),
    "rope.clocks.meeting": Case(lambda g: clocks.meeting(g.clocks())),
    "rope.clocks.recorded": Case(lambda g: clocks.recorded(g.clocks())),
    "rope.clocks.clocks": Case(
        lambda g: (clocks.clocks(g.clocks()), clocks.meeting(g.clocks())),
        lambda r: near(r[0].scores[:, 0], r[1].recorded),
    ),
    "rope.clocks.law": Case(
        lambda g: clocks.law(g.clocks()),
        lambda r: all(near(x, r.recorded) for x in (r.turned, r.relative, r.spun)),
    ),
    "rope.clocks.swings": Case(
        lambda g: (clocks.swings(g.clocks()).start[g.layer, g.head], clocks.meeting(g.clocks()).recorded),
        lambda r: near(*r),
    ),
    "rope.clocks.turning": Case(lambda g: clocks.turning(float(clocks.meeting(g.clocks()).theta[0]))),
    "rope.clocks.morph": Case(
        lambda g: (
            [clocks.morph(g.clocks(), m).values[-1] for m in "qk"],
            clocks.recorded(g.clocks()),
            (g.layer, g.head, g.head // g.model.config.group),
        ),
        lambda r: all(
            near(values, r[1][f"block{r[2][0]}.{m}_rot"].value[at])
            for values, m, at in zip(r[0], "qk", r[2][1:], strict=True)
        ),
    ),
    "rope.clocks.cos_sin": Case(lambda g: clocks.cos_sin(g.text, len(g.ids))),
    "rope.clocks.stripes": Case(lambda g: clocks.stripes(g.clocks()), lambda r: r.uneven < 1e-6),
    "rope.clocks.adjacent_edits": Case(lambda g: clocks.adjacent_edits(g.text, True)),
    "rope.clocks.conventions": Case(lambda g: clocks.conventions(g.text), lambda r: r.gap_permuted < 1e-2),
    "rope.clocks.turning_model": Case(lambda g: clocks.turning_model(g.text)),
    "rope.clocks.values_turned": Case(lambda g: clocks.values_turned(g.text)),
    "rope.clocks.value_drift": Case(lambda g: clocks.value_drift(g.clocks()), lambda r: near(r[0], 1)),
    "rope.clocks.cost": Case(
        lambda g: (clocks.cost(g.text), g.model),
        lambda r: (
            r[0].all == sum(p.numel() for p in r[1].parameters())
            and sum(r[0].maps) == sum(p.numel() for name, p in r[1].blocks[0].attn.named_parameters() if p.ndim == 2)
        ),
    ),
    "theory.lookup.heads": Case(
        lambda g: (looking.heads(g.text), g.trace(f"block{g.layer}.weights")[f"block{g.layer}.weights"].value),
        lambda r: near(r[0][looking.at_one(), -1], r[1][:, 1:].max(-1).mean(-1)),
    ),
    "theory.lookup.found": Case(
        lambda g: (looking.found(g.demo(looking)), g.trace(f"block{g.layer}.weights")[f"block{g.layer}.weights"].value),
        lambda r: near(r[0].share[looking.at_one()], r[1][-1].max(-1)) and near(r[0].away[:, 0], 0),
    ),
    "theory.lookup.resting": Case(lambda g: looking.resting(g.text), lambda r: 0 <= r <= 1),
    "theory.context.shared": Case(lambda g: context.shared(g.text, g.text), lambda r: len(r) == len(set(r))),
    "theory.context.copies": Case(
        lambda g: context.copies(context.Demo(g.text, g.text, g.tokens[-1])), lambda r: near(r.cosine, 1)
    ),
    "theory.context.library": Case(
        lambda g: context.library(g.text.subject), lambda r: r.vectors.shape[1] == len(r.tokens) == len(r.names)
    ),
    "theory.collapse.run": Case(
        lambda g: (
            collapse.run(collapse.Demo(g.text)).different[-1, -1],
            g.trace(f"block{g.layer}.resid_post")[f"block{g.layer}.resid_post"].tensor,
        ),
        lambda r: near(r[0], collapse.different(r[1])),
    ),
    "theory.collapse.streams": Case(
        lambda g: collapse.streams(
            collapse.Demo(g.text, ffn=False, mask=False), torch.tensor(g.ids), torch.ones(2, 1, 1)
        ),
        lambda r: r[-1].shape[0] == 2,
    ),
    "tokens.table.run": Case(lambda g: table.run(table.Demo(g.text, product=True))),
    "tokens.table.table": Case(lambda g: table.table(g.text.subject)),
    "tokens.table.as_pieces": Case(lambda g: table.as_pieces(g.ids, g.text.subject)),
    "tokens.table.gap": Case(lambda g: table.gap(table.run(table.Demo(g.text, product=True))), lambda gap: gap == 0),
    "tokens.table.neighbours": Case(
        lambda g: table.neighbours(g.ids[1], 5, g.text.subject), lambda r: len(r) == 5 and r[0].token
    ),
    "tokens.table.plane": Case(lambda g: table.plane(tuple(dict.fromkeys(g.ids)), g.text.subject)),
    "tokens.table.ours": Case(lambda g: table.ours(g.text.subject), lambda r: r.spare == 0),
    "tokens.table.spread": Case(lambda g: table.spread(g.text.subject)),
    "tokens.table.untouched": Case(lambda g: table.untouched(5, g.text.subject)),
    "tokens.table.drift": Case(
        lambda g: table.drift(table.Sense("dog", ("the dog", "a dog sat"), ("dog ran", "one dog")), g.text.subject),
        lambda r: near([r.one[0], r.other[0], r.between[0]], 1),
    ),
    "tokens.table.outlook": Case(
        lambda g: (table.outlook(g.words, g.text.subject).words[0].p, g.trace("next_probs")["next_probs"].value.max()),
        lambda r: near(*r),
    ),
    "tokens.table.write_on": Case(lambda g: table.write_on(g.text, 8), lambda r: 1 <= len(r.ids) <= 8),
    "why.recurrence.fading": Case(lambda g: recurrence.fading(recurrence.Demo(g.text, times=9))),
    "why.recurrence.words_of": Case(lambda g: recurrence.words_of(g.text)),
    "why.recurrence.looked": Case(_words_read),
    "why.recurrence.trained": Case(lambda g: recurrence.trained(g.text)),
    "why.window.next_probs": Case(
        lambda g: (window.next_probs(g.text, (1, len(g.ids)))[-1], g.trace("next_probs")["next_probs"].value),
        lambda r: near(*r),
    ),
    "why.window.run": Case(lambda g: window.run(window.Demo(g.text)), lambda r: near(r.p[-1], [w.p for w in r.words])),
}

# Public functions of these modules that never look at a model, or at one of their own: their own tests call them.
NO_MODEL = {
    "exam.mask_code", "exam.waves", "exam.offsets", "exam.manifold", "exam.block_work", "exam.whatifs",
    "exam.painted.text_of", "exam.painted.normalised", "exam.painted.away", "exam.painted.spell", "exam.painted.unspell",
    "exam.painted.pressed", "exam.blanks.weights", "exam.blanks.values", "exam.blanks.edits", "exam.blanks.story_losses",
    "exam.blanks.costs", "exam.blanks.computed", "exam.blanks.first_sentence", "exam.blanks.outcomes", "exam.blanks.caught",
    "exam.blanks.silent", "exam.blanks.alone",
    "exam.question", "exam.typed", "exam.shelf",
    "theory.scaling", "theory.family",
    "theory.collapse.different", "theory.machines", "theory.packed", "theory.tape",
    "theory.lookup.keys", "theory.lookup.share", "theory.lookup.expected", "theory.lookup.ask", "theory.lookup.at_one",
    "feedforward.machines", "feedforward.mixture",
    "feedforward.needed.sizes", "feedforward.needed.computed", "feedforward.needed.kept", "feedforward.needed.importance_ranks",
    "feedforward.needed.recorded", "feedforward.needed.losses", "feedforward.needed.grains", "feedforward.needed.energy",
    "efficient.hops",
    "theory.line", "theory.copies.read", "theory.copies.recorded",
    "efficient.patterns.mask", "efficient.patterns.luck", "efficient.patterns.best", "efficient.patterns.edits",
    "efficient.patterns.stories", "efficient.patterns.story_loss", "efficient.patterns.loss",
    "efficient.patterns.whole", "efficient.patterns.alone", "efficient.patterns.share", "efficient.patterns.pictures",
    "efficient.patterns.computed", "efficient.patterns.own", "efficient.patterns.own_edits",
    "efficient.patterns.own_loss", "efficient.patterns.spell", "efficient.patterns.unspell",
    "efficient.flash.flash", "efficient.flash.story", "efficient.flash.measured", "efficient.flash.measure",
    "efficient.flash.recorded", "efficient.flash.traffic",
    "efficient.instead.scores", "efficient.instead.exact", "efficient.instead.directions",
    "efficient.instead.positive", "efficient.instead.waves", "efficient.instead.elu", "efficient.instead.weights_of",
    "efficient.instead.pool", "efficient.instead.pooled", "efficient.instead.low_rank", "efficient.instead.edits",
    "efficient.instead.by_weights", "efficient.instead.forgetful", "efficient.instead.even",
    "efficient.instead.featured", "efficient.instead.recorded", "efficient.instead.gallery",
    "efficient.instead.multiplications", "efficient.instead.remembered", "efficient.instead.heads_rank",
    "efficient.state.handed_on", "efficient.state.read",
    "attention.own_vectors", "attention.program", "model.assemble", "position.place_losses", "projections.linear",
    "feedforward.recorded", "rope.long_losses", "rope.stretching", "softmax.lab", "tokens.bpe",
    "feedforward.alone.mixes", "feedforward.bends.curve", "feedforward.bends.gelu_gap", "feedforward.bends.target",
    "feedforward.bends.fitted", "feedforward.bends.spread", "feedforward.bends.small", "feedforward.bends.widths",
    "feedforward.bends.shares", "feedforward.bends.same_size", "feedforward.volume.volumes",
    "heads.volume.volumes", "heads.volume.head_width", "heads.volume.origins", "heads.volume.scales",
    "home.flow.recorded", "home.flow.first", "home.flow.picture",
    "inference.bank", "inference.sink", "inference.many", "inference.roofline.roof", "inference.roofline.gpus",
    "inference.writing.alone_here", "efficient.skipped",
    "inference.squeezed.rounded", "inference.squeezed.sides", "inference.squeezed.loss", "inference.squeezed.losses",
    "inference.cuts.stops", "inference.cuts.neutral", "inference.stale.cells", "inference.stale.valid",
    "masks.gradients.reach",
    "masks.in_numpy.built", "masks.in_numpy.weights", "masks.in_numpy.fill_of", "masks.in_numpy.cook",
    "masks.in_numpy.sweep", "masks.in_numpy.code_of", "masks.in_numpy.printed",
    "masks.reach.window", "masks.reach.pattern", "masks.reach.sizes", "masks.reach.loss",
    "masks.patterns.pattern", "masks.patterns.stops", "masks.patterns.usual", "masks.patterns.forbidden",
    "masks.patterns.spell", "masks.patterns.unspell",
    "model.details.lengths", "model.details.inverted", "model.details.target", "model.details.smoothed_loss",
    "model.repair.stops_for",
    "norms.loudness.factors", "norms.loudness.some", "norms.readings.epsilons", "norms.vectors", "norms.warmup",
    "norms.switches.kept_by",
    "norms.depth.profile", "norms.depth.bottom", "norms.depth.batches", "norms.depth.gradients",
    "norms.depth.products", "norms.depth.stretches",
    "norms.switches.guessing", "norms.switches.losses", "norms.switches.story_loss",
    "model.walk.encoder_decoder", "model.walk.runnable", "model.walk.sized", "model.walk.longest",
    "position.schemes.table_by_numpy", "position.schemes.tables", "position.schemes.wavelengths",
    "position.schemes.longest_and_shortest", "position.schemes.dots", "position.schemes.uneven",
    "position.schemes.offset_map", "position.schemes.offsets", "position.schemes.slopes",
    "position.schemes.t5_buckets", "position.schemes.ramps", "position.schemes.untrained_table",
    "position.schemes.slope_of", "position.schemes.odd_width",
    "position.shuffle.orders", "position.shuffle.out_of_order",
    "projections.product.multiplied", "projections.product.small", "projections.query.axes",
    "rope.clocks.four",
    "tokens.table.pieces", "tokens.table.qwen3",
    "why.recurrence.rnn", "why.recurrence.gru", "why.recurrence.drive", "why.recurrence.orbits",
    "why.recurrence.influence", "why.recurrence.recall", "why.recurrence.white", "why.recurrence.layers",
    "why.recurrence.hops", "why.recurrence.steps", "why.recurrence.work", "why.recurrence.kept",
    "why.recurrence.bill", "why.recurrence.way", "why.recurrence.race",
    "why.window.windows",
}  # fmt: skip
