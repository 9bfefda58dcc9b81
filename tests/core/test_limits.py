"""How much, how long, how many: the limits that visitors meet and the sizes that pages tell, one line each.

A page says "forty-eight copies" and "the last 128 words", a link holds so many cells: who changes such a number must mean it.
"""

import inspect

import numpy as np
import pytest
import torch

from core import config, costs, counting, generation, in_numpy, norms, positions, presets, rope, softmax, tokenizer
from core.lab import cuts, memory, subject
from core.lab import head as onehead
from core.lab import text as sentence
from core.nets import (
    by_heart,
    cheat,
    dates,
    dates_task,
    line,
    lookups,
    neighbours,
    packed,
    places,
    scaling,
    ssm,
    stacks,
)
from core.topics.attention import heat
from core.topics.efficient import flash, hops, instead, patterns, skipped, state
from core.topics.exam import (
    blanks,
    counted,
    manifold,
    named,
    offsets,
    painted,
    question,
    questions,
    shelf,
    traced,
    typed,
    whatifs,
)
from core.topics.feedforward import alone, bends, machines, mixture, needed, neuron
from core.topics.feedforward import volume as loud_ffn
from core.topics.heads import fewer_keys, volume
from core.topics.home import chase, writing
from core.topics.inference import bank, drafts, many, roofline, squeezed, stale
from core.topics.inference import cuts as drawing
from core.topics.inference import writing as writes
from core.topics.masks import gradients, padding
from core.topics.masks import patterns as masks
from core.topics.model import assemble, details, repair
from core.topics.norms import depth, losses, loudness, readings, switches, vectors, warmup
from core.topics.position import place_losses, schemes, shuffle
from core.topics.projections import linear
from core.topics.rope import long_losses, stretching
from core.topics.softmax import lab
from core.topics.theory import collapse, context, copies, family, lookup, tape
from core.topics.theory import line as points
from core.topics.theory import machines as folds
from core.topics.theory import packed as packing
from core.topics.theory import scaling as laws
from core.topics.tokens import bpe, table
from core.topics.why import recurrence, window

TOKENS = {  # how many tokens, letters or words are read, shown or written
    "one batched pass": (subject.AT_ONCE, 2048),
    "all frames of a pattern together": (patterns.AT_ONCE, 2048),
    "all frames of a mask together": (masks.AT_ONCE, 2048),
    "all frames of a fill value together": (blanks.AT_ONCE, 2048),
    "every link of a text is cut": (cuts.LONG, 20),
    "links cut together": (cuts.AT_ONCE, 256),
    "every head is turned at every volume": (volume.LONG, 64),
    "every temperature is computed": (heat.LONG, 64),
    "every rank is computed": (fewer_keys.LONG, 64),
    "every volume of an FFN is computed": (loud_ffn.LONG, 64),
    "every factor of a neuron is computed": (neuron.LONG, 64),
    "every mixture of two words is computed": (alone.LONG, 64),
    "every loudness is computed": (loudness.LONG, 64),
    "every strength of a wire is computed": (repair.LONG, 96),
    "every head is muted for a question": (named.LONG, 40),
    "a recurrent net reads": (recurrence.LONGEST, 128),
    "a text collapses": (collapse.LONGEST, 64),
    "a stale cache": (stale.MOST, 48),
    "a painted mask": (masks.PAINTABLE, 48),
    "a story under a pattern": (patterns.READ, 256),
    "a pattern's picture": (patterns.SHOWN, 64),
    "a tile of the gallery": (instead.TILE_TOKENS, 32),
    "a kernel is timed live": (flash.LIVE, 4096),
    "keys of a tile": (flash.TILE, 4),
    "letters of a scan": (state.MOST, 64),
    "words in a graph": (hops.N, 64),
    "words of a mask in tiles": (skipped.N, 64),
    "words read in a mask with tiles": (skipped.READ, 8),
    "a story in few bits": (squeezed.TOKENS, 256),
    "copied by one pass": (drafts.WRITTEN, 16),
    "searched by a beam": (drawing.WRITTEN, 24),
    "written on by Home": (writing.MOST, 24),
    "written on by the cache's page": (writes.MOST, 256),
    "written on by the table's page": (table.MOST_WRITTEN, 96),
    "shuffled": (shuffle.MOST, 24),
    "schemes of places": (schemes.MOST, 16),
    "losses by place": (place_losses.READ, 640),
    "losses past the trained length": (long_losses.TOKENS, 640),
    "one bin of them": (long_losses.BIN, 32),
    "a window past the trained length": (long_losses.WINDOW, 200),
    "the longest stretched text": (stretching.REACH, 32_768),
    "letters of a date": (dates_task.LONGEST, 24),
    "letters of a standard date": (dates_task.LENGTH, 11),
    "letters that a scan learned from": (ssm.TRAINED, 32),
    "letters that a stack reads": (stacks.READ, 32),
    "letters that a small model reads": (scaling.READ, 128),
    "characters of a claim": (copies.LONGEST, 120),
    "characters of a typed answer": (typed.LONGEST, 40),
    "characters typed": (tokenizer.LONGEST_TYPED, 2000),
    "characters of a piece": (tokenizer.LONGEST_PIECE, 16),
    "characters of a word that is merged": (bpe.LONGEST_WORD, 64),
    "pieces that a question lists": (counted.LISTED, 40),
    "tokens that a question writes": (counted.NEW, 4),
    "a question's window": (counted.WINDOW, 3),
    "a question's tile": (counted.TILE, 4),
    "words that a nucleus holds at most": (traced.MOST, 8),
    "places that a nucleus is tried at": (traced.TRIED, 6),
    "tokens by which two texts are told apart": (bank.OPENING, 8),
    "tokens held by each reader": (roofline.HELD, 128),
}

SHOWN = {  # words, bars, heads, frames
    "links in a list": (cuts.SHOWN, 5),
    "candidates of a heated head": (heat.CANDIDATES, 8),
    "candidates of a turned head": (volume.CANDIDATES, 8),
    "candidates of fewer keys": (fewer_keys.CANDIDATES, 10),
    "the untouched model's own among them": (fewer_keys.FIRST_WORDS, 4),
    "candidates of a turned FFN": (loud_ffn.CANDIDATES, 8),
    "candidates of a neuron": (neuron.CANDIDATES, 6),
    "words to either side of a neuron": (neuron.SPREAD, 5),
    "candidates of a loud stream": (loudness.CANDIDATES, 6),
    "candidates of a pattern": (patterns.CANDIDATES, 8),
    "neurons that are needed": (needed.SHOWN, 8),
    "words of a switch": (switches.SHOWN, 5),
    "words of a repair": (repair.SHOWN, 10),
    "words under few bits": (squeezed.SHOWN, 6),
    "words with a bar of their own": (drawing.SHOWN, 10),
    "words of a stale cache": (stale.SHOWN, 4),
    "words offered for a swap": (stale.OFFERED, 6),
    "words whose swap is tried": (stale.TRIED, 16),
    "stops of a stale cache": (stale.STOPS, 120),
    "words of a written text": (writes.SHOWN, 8),
    "words of copies": (copies.SHOWN, 6),
    "copies": (copies.MOST, 48),
    "copies while heads are muted": (copies.TRIED, 12),
    "words that a link may push harder": (chase.NAMES, 5),
    "words of a window": (window.SHOWN, 7),
    "windows one by one": (window.EVERY, 48),
    "words of a look-up": (lookup.SHOWN, 6),
    "numbers of an output": (shuffle.SHOWN, 32),
    "orders": (shuffle.FRAMES, 49),
    "rows of a text too long for paint": (gradients.FOLLOWED, 4),
    "stops of a mask": (masks.MOST_STOPS, 44),
    "stops of a cut": (drawing.STOPS, 49),
    "frames of an exercise": (blanks.FRAMES, 17),
    "words of an exercise": (blanks.SHOWN, 14),
    "tokens of a painted exercise": (painted.MOST, 3),
    "questions of a paper": (questions.MANY, 5),
    "numbers of an assembled map": (assemble.CROPPED, 40),
    "numbers of a repaired map": (repair.CROPPED, 40),
    "merges": (bpe.MOST_MERGES, 256),
    "neighbours in context": (context.NEAREST, 3),
    "words around a word": (context.AROUND, 2),
    "scores of a row": (lab.MOST_SCORES, 16),
    "texts kept of a tiny model": (places.TESTS, 160),
    "marks on a curve": (scaling.MARKS, 33),
    "rows of digits": (neighbours.ROWS, 512),
    "stops of a law": (laws.STOPS, 61),
    "its largest models": (laws.LARGEST, 4),
    "lengths of a stretched text": (stretching.LENGTHS, 65),
    "draws of a dropout": (details.DRAWS, 8),
    "numbers of a dropped stream": (details.READ, 64),
    "pairs of names": (many.PAIRS, 60),
    "positions that a map of an offset is fitted to": (schemes.FITTED, 4096),
    "dimensions looked at one by one": (schemes.FEW, 8),
    "neurons that may be cut": (needed.MOST, 900),
}

SIZES = {  # of what is drawn, trained or counted
    "blocks of equal factors": (depth.BLOCKS, 32),
    "directions of a random map": (depth.WIDE, 64),
    "width of a recurrent net": (recurrence.WIDTH, 24),
    "lags of a memory": (recurrence.LAGS, 60),
    "probes of a trained model": (recurrence.PROBES, 8),
    "what a word adds to a state": (recurrence.INPUT, 0.2),
    "steps before a memory is read": (recurrence.WARM_UP, 300),
    "width of a look-up": (lookup.WIDTH, 48),
    "queries of a look-up": (lookup.ASKED, 64),
    "the value that is fetched": (lookup.VALUE, 12),
    "steps of a training with warm-up": (warmup.END, 20_000),
    "a block whose norm is struck": (losses.STRUCK_AT, 2),
    "times a stream that is told of": (loudness.TOLD, 10.0),
    "a head's width in a kernel": (flash.D_HEAD, 48),
    "random links a word": (hops.LINKS, 3),
    "distances with a cell of their own": (patterns.NEAR, 16),
    "the paper's width": (bends.BASE, 512),
    "the paper's pieces": (bends.VOCABULARY, 37_000),
    "machines that hold experts": (machines.MACHINES, 4),
    "bytes that an expert's number takes on its way": (machines.BYTES, 2),
    "rounds of a busy machine": (machines.ROUNDS, 9),
    "a block whose experts are shown": (mixture.BLOCK, 1),
    "heads of an assembled block": (assemble.HEADS, 8),
    "frames of a stage": (linear.STEPS, 20),
    "points of a line": (line.MOST, 16),
    "points of a layer": (line.GIVEN, 12),
    "noise of a point": (line.NOISE, 0.1),
    "how far a line reaches": (line.REACH, 1.0),
    "points that a visitor sets": (points.MOST, 15),
    "steps of descent": (points.DEPTH, 48),
    "their rate": (points.RATE, 0.35),
    "days kept from training": (dates_task.HELD_OUT, 10),
    "steps by heart": (by_heart.STEPS, 1500),
    "sentences that are opened": (by_heart.OPENED, 16),
    "a row without a slope": (lookups.DEAD, 1e-6),
    "where a level is drawn": (scaling.LEVEL, 0.7),
    "a stack's epsilon": (stacks.EPS, 1e-5),
    "a norm's epsilon": (vectors.EPS, 1e-5),
    "a tiny vector's epsilon": (vectors.TINY_EPS, 1e-6),
    "a stretch by base": (stretching.ABF, 100.0),
    "a kept feature": (packing.KEPT, 0.5),
    "a grid of folds": (folds.GRID, 400),
    "steps of a busy beaver": (tape.STEPS, 107),
    "a blank on the tape": (tape.BLANK, 0.5),
    "points on a manifold": (manifold.POINTS, 4000),
    "Kaplan's exponent": (manifold.KAPLAN, 0.076),
    "enough of a head's weight": (offsets.ENOUGH, 0.9),
    "a learned curve": (whatifs.LEARNED, 0.99),
    "small in an exercise": (blanks.SMALL, 1e-4),
    "worse in an exercise": (blanks.WORSE, 0.05),
    "a nucleus in a question": (drawing.NUCLEUS, 0.9),
    "an edge of a nucleus": (traced.EDGE, 0.004),
    "a clear winner": (named.CLEAR, 0.2),
    "apart in nats": (named.APART, 0.5),
    "apart in a lens": (named.LENS, 0.1),
    "how near a number must be": (question.NEAR, 0.01),
    "how near a count must be": (question.EXACT, 0.0),
    "bytes of a question's number": (question.FLOAT, 4),
    "bytes of a cached number": (writes.FLOAT, 4),
    "pairs of a written text": (writes.PAIRS, 7),
    "runs behind a drafted time": (drafts.RUNS, 3),
    "runs behind a time": (roofline.RUNS, 5),
    "side of a timed square": (roofline.SIDE, 1024),
    "numbers of a timed copy": (roofline.COPIED, 16_777_216),
    "no block drafts": (drafts.TABLE, 0),
    "the id of padding": (padding.PAD_ID, 0),
    "tokens of an encoder's text": (family.LONG, 8),
    "patches of a small image": (family.PATCHES, 16),
    "Gopher's budget": (laws.GOPHER, 5.76e23),
    "a budget that is asked about": (laws.ASKED, 1e11),
    "bytes of all results": (memory.ROOM, 150_000_000),
    "bytes of the smallest result": (memory.LEAST, 100),
    "nats of a strange text": (sentence.STRANGE, 8.0),
    "a config's largest number": (config.LARGEST, 10**9),
    "a config's most layers": (config.MOST_LAYERS, 10_000),
    "Mistral's window": (config.SLIDING, 4096),
    "longest text of a preset": (presets.LONGEST, 200_000),
    "deepest preset that is drawn": (presets.DEEPEST, 40),
}


@pytest.mark.parametrize("name", TOKENS)
def test_as_many_tokens_as_are_told(name):
    assert TOKENS[name][0] == TOKENS[name][1]


@pytest.mark.parametrize("name", SHOWN)
def test_as_many_are_shown_as_are_told(name):
    assert SHOWN[name][0] == SHOWN[name][1]


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_that_are_told(name):
    assert SIZES[name][0] == SIZES[name][1]


@pytest.mark.parametrize(("n", "texts"), [(1, 2048), (2, 1024), (14, 146), (256, 8), (1024, 2), (2048, 1), (9999, 1)])
def test_as_many_texts_pass_at_once_as_tokens_allow_and_one_at_least(n, texts):
    assert subject.at_once(n) == texts


def test_features_matter_less_and_less():
    np.testing.assert_allclose(packed.IMPORTANCE, 0.9 ** np.arange(packed.FEATURES))
    assert torch.tensor(packed.IMPORTANCE).diff().max() < 0


SHORT = {  # stops that stand in links: at most so many digits behind the point
    "radius": (recurrence.RADII, 2),
    "wishes": (linear.WISHES, 4),
    "blends": (vectors.BLENDS, 4),
    "path": (vectors.PATH, 4),
    "biases": (bends.BIASES, 4),
    "factors": (neuron.FACTORS, 4),
    "betas": (warmup.BETAS, 5),
    "bases": (schemes.BASES, 2),
    "largest score": (lab.LARGEST, 3),
    "temperatures": (heat.TEMPERATURES, 4),
    "chances": (details.CHANCES, 6),
}


@pytest.mark.parametrize("name", SHORT)
def test_a_stop_is_short_enough_for_a_link(name):
    stops, digits = SHORT[name]
    np.testing.assert_array_equal(stops, np.round(stops, digits))
    assert (np.round(stops, digits - 1) != stops).any(), "and no longer than it must be"


def test_the_timeline_holds_months_that_papers_do_not_tell():
    when = {event.id: (event.year, event.month) for event in family.EVENTS}
    known = {"gpt1": (2018, 6), "gpt2": (2019, 2), "mixtral": (2023, 12), "llama3": (2024, 4)}
    assert {id: when[id] for id in known} == known
    gpt4 = next(event for event in family.EVENTS if event.id == "gpt4")
    assert (gpt4.size, gpt4.when) == (1.76e12, pytest.approx(2023 + 2.5 / 12))
    assert {event.kind for event in family.EVENTS} == {"idea", *family.BRANCHES}
    assert all(event.size == 0 for event in family.EVENTS if event.kind == "idea")


@pytest.mark.parametrize(
    ("id", "layers", "context"),
    [
        ("gpt1", 12, 512),
        ("gpt2", 48, 1024),
        ("gpt3", 96, 2048),
        ("gpt4", 120, 32_768),
        ("llama2", 80, 4096),
        ("mixtral", 32, 32_768),
        ("llama3", 32, 8192),
        ("deepseek3", 61, 163_840),
    ],
)
def test_depth_and_reach_of_the_decoders(id, layers, context):
    one = next(trend for trend in family.trends() if trend.id == id)
    assert (one.layers, one.context, one.confirmed) == (layers, context, id != "gpt4")
    assert one.size == next(event for event in family.EVENTS if event.id == id).size


@pytest.mark.parametrize(
    ("stops", "few", "many"),
    [
        (volume.volumes, 51, 11),
        (volume.scales, 51, 11),
        (loudness.factors, 61, 13),
        (loudness.some, 13, 5),
        (readings.epsilons, 49, 13),
        (alone.mixes, 49, 9),
        (loud_ffn.volumes, 51, 11),
    ],
)
def test_up_to_64_tokens_every_stop_is_computed(stops, few, many):
    assert (len(stops(64)), len(stops(65))) == (few, many)
    assert set(stops(65)) < set(stops(64))


def test_other_ends_of_what_can_be_waited_for():
    assert (len(repair.stops_for(96)), len(repair.stops_for(97))) == (49, 25)
    texts = {n: sentence.Text(sentence.FIRST, (5,) * n, ("x",) * n) for n in (64, 65, 128, 129)}
    assert {n: len(neuron.factors(neuron.Demo(one, 2, 3))) for n, one in texts.items()} == {
        64: 61,
        65: 13,
        128: 13,
        129: 13,
    }
    assert len(neuron.factors(neuron.Demo(texts[65], 5, 3))) == 61, "after the last block a product is enough"
    ranks = {n: np.diff(fewer_keys.offered(one)[4:-1]) for n, one in texts.items()}
    assert {n: set(steps.tolist()) for n, steps in ranks.items()} == {64: {1}, 65: {4}, 128: {4}, 129: {8}}
    assert [len(needed.computed(n)) for n in (18, 19, 36, 37)] == [49, 25, 25, 17]


@pytest.mark.parametrize(
    ("family_name", "said"),
    [("gpt2", "n_head 5 does not divide n_embd 24"), ("llama", "num_attention_heads 5 does not divide hidden_size 24")],
)
def test_a_width_that_heads_do_not_divide_is_told_in_the_family_s_words(family_name, said):
    sizes = dict(d_model=24, n_layers=1, n_heads=5, d_ff=8, vocab_size=9, context=4)
    with pytest.raises(ValueError, match=f"^{said}$"):
        config.ModelConfig(**sizes, family=family_name)


DEFAULTS = [  # what is meant where nothing is said
    (costs.days, dict(used=0.4)),
    (counting.encoder_decoder, dict(attention_bias=True)),
    (counting.relative_encoder_decoder, dict(buckets=32)),
    (counting.vision, dict(channels=3)),
    (generation.steps, dict(seed=0)),
    (generation.sample, dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repetition=1.0)),
    (generation.speculate, dict(seed=0)),
    (in_numpy.layer_norm, dict(eps=1e-6)),
    (in_numpy.positions, dict(max_len=5000)),
    (in_numpy.encode, dict(batch=2, length=10, d=64, heads=8, d_ff=256, layers=2)),
    (cuts.rank, dict(share=False)),
    (onehead.overview, dict(most=48)),
    (sentence.top, dict(n=10)),
    (cheat.measured, dict(n=64, seed=1)),
    (cheat.write, dict(seed=0, n=36)),
    (dates.accuracy, dict(n=1000, seed=1)),
    (dates_task.examples, dict(unseen=False)),
    (line.allowed, dict(growing=False)),
    (neighbours.net, dict(seed=0, reader="linear")),
    (neighbours.read, dict(reader="linear", seed=0)),
    (neighbours.Net.__init__, dict(reader="linear")),
    (scaling.marks, dict(first=10)),
    (norms.size, dict(unbiased=False)),
    (positions.wave_speeds, dict(base=10_000.0)),
    (positions.sinusoids, dict(base=10_000.0, first=0)),
    (rope.frequencies, dict(theta=10_000.0)),
    (softmax.softmax, dict(temperature=1.0)),
    (softmax.temperatures, dict(per_decade=24)),
    (tokenizer.cut, dict(special=False)),
    (tokenizer.end_to_end, dict(start=0)),
    (tokenizer.find, dict(most=60)),
    (heat.said, dict(share=True)),
    (flash.run, dict(rescale=True)),
    (patterns.pictures, dict(layer=5, head=1)),
    (manifold.needed, dict(less=2.0)),
    (painted.normalised, dict(causal=False)),
    (question.said, dict(digits=3)),
    (question.signs, dict(digits=4)),
    (shelf.chosen, dict(badge="all", about="all")),
    (bends.fitted, dict(scattered=False, seed=0)),
    (bends.dead, dict(seed=0)),
    (machines.best, dict(kind="aux")),
    (mixture.learning, dict(seed=0)),
    (mixture.specialities, dict(most=6)),
    (needed.Needed.least, dict(share=0.5)),
    (bank.drawn, dict(seed=0)),
    (many.texts, dict(seed=0)),
    (gradients.influence, dict(each_block=True)),
    (assemble.drawn, dict(d_ff=0)),
    (readings.struck, dict(station=2)),
    (linear.arrows, dict(long=1.0)),
    (linear.stack, dict(seed=0)),
    (laws.valleys, dict(most=5.2)),
    (laws.surface, dict(places=41)),
    (table.neighbours, dict(n=10)),
    (recurrence.gru, dict(bias=0.0)),
    (recurrence.recall, dict(seed=0, n=2999)),
    (copies.Carriers.worst, dict(n=4)),
]


@pytest.mark.parametrize(("function", "wanted"), DEFAULTS, ids=lambda one: getattr(one, "__qualname__", ""))
def test_what_is_meant_where_nothing_is_said(function, wanted):
    said = inspect.signature(function).parameters
    assert {name: said[name].default for name in wanted} == wanted
