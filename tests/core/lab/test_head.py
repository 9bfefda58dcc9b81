"""One head on the attention page: frames, sources and provenance against independent computation."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import cuts, provenance, story_losses, subject
from core.lab import head as onehead
from core.lab import outcomes as what
from core.lab import text as sentence
from core.make import story_losses as make_story_losses
from core.topics.attention import facts, own_vectors
from core.topics.attention import program as snippet
from core.topics.home import flow
from core.whatif import Change

READING = sentence.read(sentence.SENTENCE)
FIRST = sentence.of(READING)
DEMO = onehead.Demo(sentence.of(READING))


def reference(q, k, v, allowed, tau, scaling=True):
    """torch's own attention at one temperature: (weights, z)."""
    q, k, v = (torch.tensor(np.array(x)).double()[None] for x in (q, k, v))
    scale = 1 / (tau * (math.sqrt(q.shape[-1]) if scaling else 1))
    mask = torch.tensor(np.array(allowed))
    weights = F.scaled_dot_product_attention(q, k, torch.eye(k.shape[1]).double()[None], mask, scale=scale)[0]
    return weights.numpy(), (weights @ v[0]).numpy()


@pytest.mark.parametrize("stop", [0, 13, 24, 48])
@pytest.mark.parametrize("setting", [{}, dict(layer=2, head=0), dict(scaling=False), dict(mask=False)])
def test_frames_of_a_head_equal_torch_at_every_temperature(stop, setting):
    demo = onehead.Demo(sentence.of(READING), **setting)
    head, tau = onehead.head_of(demo), onehead.TEMPERATURES[stop]
    weights, z = reference(head.q, head.k, head.v, head.allowed, tau, demo.scaling)
    frames = onehead.frames(demo, "weights")
    np.testing.assert_allclose(frames.values[stop], weights, atol=2e-5)
    np.testing.assert_allclose(onehead.frames(demo, "z").values[stop], z, atol=2e-4)
    bits = -(weights * np.log2(np.where(weights > 0, weights, 1))).sum(-1)
    np.testing.assert_allclose(frames.entropy[stop], bits, atol=1e-4)


@pytest.mark.parametrize("step", onehead.STEPS)
@pytest.mark.parametrize("everywhere", [False, True])
def test_every_frame_is_what_the_model_computes_at_that_temperature(step, everywhere):
    stop = 31
    demo = onehead.Demo(sentence.of(READING), 4, 4, everywhere=everywhere)
    hot = onehead.Demo(sentence.of(READING), 4, 4, temperature=onehead.TEMPERATURES[stop], everywhere=everywhere)
    frames = onehead.frames(demo, step).values
    recorded = onehead.run(hot)[f"block4.{step}"].value[4]
    np.testing.assert_allclose(frames[min(stop, len(frames) - 1)], recorded, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("everywhere", [False, True])
def test_long_texts_are_heated_in_parts_and_have_the_same_numbers(everywhere):
    reading = sentence.read("One day the dog ran to the park with a ball. " * 14)
    frames = onehead.frames(onehead.Demo(sentence.of(reading), 3, 2, everywhere=everywhere), "weights").values
    assert len(frames) == len(onehead.TEMPERATURES) == 49
    tau = onehead.TEMPERATURES[32]
    hot = onehead.Demo(sentence.of(reading), 3, 2, temperature=tau, everywhere=everywhere)
    np.testing.assert_allclose(frames[32], onehead.run(hot)["block3.weights"].value[2], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("layer", "head", "clear"), [(5, 1, True), (4, 2, True), (0, 0, False), (2, 0, False)])
def test_a_sink_is_named_only_where_there_is_one(layer, head, clear):
    found = facts.sink(onehead.head_of(onehead.Demo(sentence.of(READING), layer, head)))
    assert found.clear == clear == (found.weight > 0.3 and found.length < 0.6 * found.others)


@pytest.mark.parametrize("setting", [{}, dict(scaling=False), dict(mask=False)])
def test_a_heated_head_is_the_head_of_a_hot_model(setting):
    tau = onehead.TEMPERATURES[7]
    calm = onehead.head_of(onehead.Demo(sentence.of(READING), **setting))
    hot = onehead.head_of(onehead.Demo(sentence.of(READING), temperature=tau, **setting))
    again = onehead.heated(calm, tau)
    np.testing.assert_allclose(again.weights, hot.weights, atol=1e-5)
    np.testing.assert_allclose(again.scaled, hot.scaled, rtol=1e-4, atol=1e-4)
    assert again.temperature == hot.temperature


def test_the_temperature_of_one_head_leaves_the_others_alone():
    hot = onehead.run(onehead.Demo(sentence.of(READING), 5, 1, temperature=3.0))
    calm = onehead.run(DEMO)
    changed = np.abs(hot["block5.weights"].value - calm["block5.weights"].value).max((1, 2)) > 1e-6
    assert changed.tolist() == [False, True, False, False, False, False]


@pytest.mark.parametrize("step", onehead.STEPS)
@pytest.mark.parametrize("tau", [1.0, onehead.TEMPERATURES[10]])
@pytest.mark.parametrize("cell", [(13, 3), (13, 13), (5, 0), (2, 9)])
def test_provenance_ends_in_the_number_on_the_screen(step, tau, cell):
    head = onehead.head_of(onehead.Demo(sentence.of(READING), temperature=tau))
    made = provenance.explain(head, step, *cell)
    recorded = onehead.run(onehead.Demo(sentence.of(READING), temperature=tau))[f"block5.{step}"].value[1][cell]
    if np.isneginf(recorded):
        assert np.isneginf(made.value)
        assert made.lines[-1].endswith(r"-\infty")
        return
    assert made.value == pytest.approx(float(recorded), rel=1e-4, abs=1e-5)
    assert made.lines[-1].endswith(provenance.number(made.value)) or abs(made.value) > 50
    terms = dict(made.rows)
    if step in ("scores", "z"):
        assert made.rows[-1][1].sum() == pytest.approx(float(recorded), rel=1e-4, abs=1e-4)
        np.testing.assert_allclose(made.rows[-1][1], made.rows[0][1] * made.rows[1][1], rtol=1e-5)
    if step == "weights":
        assert terms["A"].sum() == pytest.approx(1)


def test_the_written_terms_add_up_to_the_written_sum():
    made = provenance.explain(onehead.head_of(DEMO), "scores", 13, 3)
    text = " ".join(made.lines[1:-1])
    products = re.findall(r"\(?(-?[\d.]+)\)?\\cdot\(?(-?[\d.]+)\)?", text)
    rest = float(re.search(r"underbrace\{\(?(-?[\d.]+)", text)[1])
    assert len(products) == 6
    assert sum(float(a) * float(b) for a, b in products) + rest == pytest.approx(made.value, abs=0.02)


def test_all_heads_and_their_reduction():
    weights, step = onehead.overview(DEMO)
    assert (weights.shape, step) == ((36, 14, 14), 1)
    np.testing.assert_array_equal(weights[5 * 6 + 1], onehead.head_of(DEMO).weights)
    small, step = onehead.overview(DEMO, most=5)
    assert (small.shape, step) == ((36, 5, 5), 3)
    assert small[31, 4, 1] == weights[31, 12:15, 3:6].max()


@pytest.mark.parametrize("draw", own_vectors.DRAWS)
def test_random_vectors_have_the_promised_mean_and_variance(draw):
    x = own_vectors.drawn((200_000,), draw, seed=3)
    assert float(x.mean()) == pytest.approx(0, abs=0.02)
    assert float(x.var()) == pytest.approx(1, abs=0.02)
    assert torch.equal(x, own_vectors.drawn((200_000,), draw, seed=3))


@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("step", onehead.STEPS)
def test_the_frames_of_the_free_head_are_its_traces(step, scaling):
    free = own_vectors.Free(seed=2, scaling=scaling, mask=True, temperature=0.7)
    frames = own_vectors.widened(free, step).values
    for stop in (0, 20, len(own_vectors.WIDTHS) - 1):
        one = own_vectors.Free(seed=2, d_k=own_vectors.WIDTHS[stop], scaling=scaling, mask=True, temperature=0.7)
        np.testing.assert_allclose(frames[stop], own_vectors.free_trace(one)[step].value[0], rtol=1e-3, atol=1e-3)


def test_without_scaling_a_wide_free_head_snaps_to_one_hot():
    wide = {
        s: own_vectors.free_trace(own_vectors.Free(d_k=512, scaling=s))["weights"].value[0].max(-1)
        for s in (True, False)
    }
    assert wide[False].mean() > 0.9
    assert wide[True].mean() < 0.5


@pytest.mark.parametrize("d_k", [128, 512])
def test_the_spread_of_dot_products(d_k):
    raw = own_vectors.spread(own_vectors.Free(d_k=d_k, scaling=False))
    assert raw.std == pytest.approx(math.sqrt(d_k), rel=0.05)
    assert raw.inside == pytest.approx((0.683, 0.954), abs=0.03)
    assert raw.largest > 3 * math.sqrt(d_k)
    assert own_vectors.spread(own_vectors.Free(d_k=d_k)).std == pytest.approx(1, rel=0.05)


def test_typed_vectors_by_hand():
    hand = own_vectors.Hand(q=((1, 0), (0, 1)), k=((2, 0), (0, 0)), v=((1,), (3,)), scaling=False)
    trace = own_vectors.hand_trace(hand)
    np.testing.assert_allclose(trace["scores"].value[0], [[2, 0], [0, 0]])
    e = math.e**2
    np.testing.assert_allclose(trace["weights"].value[0], [[e / (e + 1), 1 / (e + 1)], [0.5, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(trace["z"].value[0], [[(e + 3) / (e + 1)], [2]], rtol=1e-6)


@pytest.mark.parametrize(
    ("hand", "complaint"),
    [
        (own_vectors.Hand(q=((1, 2, 3, 4),)), "4 columns and K has 3"),
        (own_vectors.Hand(v=((1,),)), "K has 4 rows and V has 1"),
        (own_vectors.Hand(q=((1, 2, 3),), mask=True), "Q has 1 rows and K has 4"),
    ],
)
def test_typed_sizes_that_do_not_fit_are_named(hand, complaint):
    with pytest.raises(ValueError, match=complaint):
        own_vectors.hand_trace(hand)


def test_a_mixture_never_leaves_its_values():
    head, z = onehead.head_of(DEMO), onehead.frames(DEMO, "z").values
    flat = facts.plane(head.v, z)
    weights = onehead.frames(DEMO, "weights").values
    np.testing.assert_allclose(weights @ flat.values, flat.z, atol=1e-4)
    assert 0 < flat.kept <= 1


def test_facts_that_the_page_tells():
    sink = facts.sink(onehead.head_of(onehead.Demo(sentence.of(READING), 4, 2)))
    assert sink.weight == pytest.approx(0.64, abs=0.01)
    assert (sink.length, sink.others) == (pytest.approx(0.51, abs=0.01), pytest.approx(4.43, abs=0.01))
    assert (
        facts.sink(onehead.head_of(onehead.Demo(sentence.Text(sentence.FIRST, READING.ids[:1], READING.tokens[:1]))))
        is None
    )
    recorded, both = facts.bilinear(DEMO, 13, 3)
    assert both == pytest.approx(recorded, rel=1e-4)
    assert facts.unprojected(sentence.of(READING), 5) > 0.99
    assert facts.against_torch(onehead.head_of(DEMO)) < 1e-5


def test_the_recording_is_what_the_model_computes():
    recorded, computed = flow.recorded(), flow.compute(sentence.of(sentence.read(sentence.SENTENCE)))
    for step in recorded.trace:
        np.testing.assert_allclose(step.value, computed.trace[step.name].value, rtol=1e-4, atol=1e-4, err_msg=step.name)
    assert {s.name for s in recorded.trace} == {s.name for s in computed.trace} - {"next_probs"}
    for kept, made in zip([recorded.words, *recorded.lens], [computed.words, *computed.lens], strict=True):
        assert [w.token for w in kept[:3]] == [w.token for w in made[:3]]
        assert [w.p for w in kept] == pytest.approx([w.p for w in made], rel=1e-3)


def test_the_recorded_outcomes_are_what_happens():
    outcomes = what.outcomes()
    assert outcomes.cells == 3744
    assert outcomes.deciders == 3
    for name, links in (("keep", outcomes.keep), ("share", outcomes.share)):
        for link in links[:4]:
            change = Change(cut=(link.layer, link.head, link.query, link.key), share=name == "share")
            probs = subject.run(sentence.of(READING), change, ("next_probs",))["next_probs"].value
            assert float(probs[sentence.id_of("Amy")]) == pytest.approx(link.p, rel=1e-3, abs=1e-6)
    assert [(w[0].token, round(w[0].p, 3)) for w in (outcomes.cut, outcomes.twin)] == [("Sam", 0.981), ("Sam", 0.968)]


def test_a_link_decides_where_the_answer_loses_more_than_half():
    reading = sentence.read("Tom is a")
    found = cuts.ranking(sentence.of(reading), share=False)
    before = subject.run(sentence.of(reading), subject.UNTOUCHED, ("next_probs",))["next_probs"].value
    assert found.p == pytest.approx(float(before.max()))
    assert found.p < 0.5
    cut = []
    for link in found.worst[: found.deciders + 1]:
        change = Change(cut=(link.layer, link.head, link.query, link.key))
        probs = subject.run(sentence.of(reading), change, ("next_probs",))["next_probs"].value
        cut.append(float(probs[found.answer]))
    assert all(p < found.p / 2 for p in cut[:-1])
    assert cut[-1] >= found.p / 2


def test_recorded_story_losses_are_computed_again():
    every = make_story_losses.changes(6, 6)
    seed = np.random.default_rng(5)
    for i in seed.choice(len(every), 5, replace=False):
        assert story_losses.loss(every[i]) == pytest.approx(subject.story_loss(every[i]), rel=1e-4)
    untouched = subject.story_loss()
    assert story_losses.loss(Change()) == pytest.approx(untouched, rel=1e-4)
    assert story_losses.loss(Change(mask=False)) > untouched + 1
    with pytest.raises(KeyError):
        story_losses.loss(Change(temperature=1.23))


@pytest.mark.parametrize("source", ["sentence", "random"])
def test_the_downloaded_program_prints_the_numbers_of_the_page(tmp_path, source):
    if source == "sentence":
        tau = onehead.TEMPERATURES[20]
        demo = onehead.Demo(sentence.of(READING), 4, 4, temperature=tau)
        trace, options = (
            onehead.run(demo),
            dict(scope="block4.", met=("q_rot", "k_rot"), head=4, kv_head=4, temperature=tau),
        )
    else:
        trace = own_vectors.free_trace(own_vectors.Free(d_k=32, scaling=False))
        options = dict(scope="", met=("q", "k"), head=0, kv_head=0, temperature=1.0)
    trace.save(tmp_path / "attention.npz")
    program = snippet.attention("attention.npz", row=9, scaling=source == "sentence", **options)
    (tmp_path / "attention.py").write_text(program)
    done = subprocess.run([sys.executable, "attention.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    gaps = [float(gap) for gap in re.findall(r"page: ([\d.e+-]+)", done.stdout)]
    assert len(gaps) == 5
    assert max(gaps) < 1e-4
    printed = [float(x) for x in re.search(r"weights\[9\] = \[(.*)\]", done.stdout)[1].split(",")]
    weights = trace[options["scope"] + "weights"].value[options["head"], 9]
    np.testing.assert_allclose(printed, weights, atol=6e-5)


def test_a_row_that_sees_nothing_is_explained_without_a_nan():
    shut = np.zeros((2, 2), bool)
    tensors = dict.fromkeys(("q", "k", "v", "scores", "scaled"), np.ones((2, 2), np.float32))
    head = provenance.Head(**tensors, allowed=shut, weights=np.zeros((2, 2), np.float32), tokens=("a", "b"))
    for step in ("masked", "weights", "z"):
        made = provenance.explain(head, step, 1, 0)
        assert not any("nan" in line.lower() for line in made.lines)
        assert not any(np.isnan(numbers).any() for _, numbers in made.rows)
    assert provenance.explain(head, "weights", 1, 0).value == 0


def test_no_more_words_than_there_are():
    assert [w.id for w in sentence.top(np.array([0.2, 0.5, 0.3]), 10)] == [1, 2, 0]
    assert [w.id for w in sentence.top(np.array([0.2, 0.5, 0.3]), 3)] == [1, 2, 0]
    assert [w.id for w in sentence.top(np.array([0.2, 0.5, 0.3]), 2)] == [1, 2]


@pytest.mark.parametrize("share", [True, False])
def test_a_cut_row_at_every_temperature_is_what_the_model_computes_with_that_cut(share):
    demo, cell = onehead.Demo(FIRST), (13, 3)
    found = onehead.after_cut(*(onehead.frames(demo, step) for step in ("weights", "masked")), cell, share)
    for at in (0, 33, len(onehead.TEMPERATURES) - 1):
        change = Change(
            temperature=onehead.TEMPERATURES[at],
            head=(demo.layer, demo.head),
            cut=(demo.layer, demo.head, *cell),
            share=share,
        )
        name = f"block{demo.layer}.weights"
        np.testing.assert_allclose(
            found.values[at], subject.run(FIRST, change, (name,))[name].value[demo.head, 13], atol=1e-6
        )
    assert not found.values[:, 3].any()
    assert (found.entropy is not None) == share


def test_the_link_that_home_cuts_leads_from_the_gap_to_the_name():
    layer, head, query, key = what.LINK
    assert (FIRST.tokens[query], FIRST.tokens[key], query) == ("to", "Amy", len(FIRST) - 1)
    assert subject.untouched(FIRST)[f"block{layer}.weights"].value[head, query].argmax() == key


@pytest.mark.parametrize("scaling", [True, False])
def test_dot_products_are_counted_in_41_bins_of_four_deviations_to_each_side(scaling):
    found = own_vectors.spread(own_vectors.Free(d_k=64, scaling=scaling))
    sigma = 1 if scaling else 8
    np.testing.assert_allclose(found.edges, sigma * np.linspace(-4, 4, 42), rtol=1e-6, atol=1e-6)
    normal = [
        math.erf(b / 2**0.5) / 2 - math.erf(a / 2**0.5) / 2 for a, b in zip(found.edges, found.edges[1:], strict=False)
    ]
    if scaling:
        np.testing.assert_allclose(found.counts / 4000, normal, atol=0.015)
    assert 3980 <= found.counts.sum() <= 4000
    assert found.inside == pytest.approx((0.683, 0.954), abs=0.03)


def test_the_words_of_a_flow_are_those_of_its_text():
    assert list(flow.recorded().tokens) == list(FIRST.tokens)
