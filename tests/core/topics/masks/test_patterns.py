"""Masks on the live model: against transformers with the same mask, finite differences, NumPy and torch's own modules."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers import AutoModelForCausalLM

from core.lab import head as oh
from core.lab import story_losses, subject
from core.lab import text as sentence
from core.make import reach_losses as make_reach_losses
from core.topics.masks import gradients, in_numpy, padding, patterns, reach
from core.whatif import Change

READING = sentence.read(sentence.SENTENCE)
N = len(READING.ids)
AMY = sentence.id_of("Amy")


def demo(kind="window", size=N, paint=None, layer=5, head=1):
    return patterns.Demo(sentence.of(READING), layer, head, kind, size, paint or patterns.Paint())


# ---- patterns, sizes, paint ----

BY_HAND = {
    ("window", 4): ["1000", "1100", "1110", "1111"],
    ("window", 2): ["1000", "1100", "0110", "0011"],
    ("global", 1): ["1000", "1100", "1010", "1001"],
    ("prefix", 1): ["1000", "1100", "1110", "1111"],
    ("prefix", 3): ["1110", "1110", "1110", "1111"],
    ("padding", 2): ["0000", "0000", "0010", "0011"],
    ("reach", -999): ["1000", "0100", "0010", "0001"],
    ("reach", -998): ["1000", "1100", "0110", "0011"],
    ("reach", 0): ["1000", "1100", "1110", "1111"],
    ("reach", 1): ["1100", "1110", "1111", "1111"],
    ("reach", 999): ["1111", "1111", "1111", "1111"],
}


@pytest.mark.parametrize(("kind", "size"), BY_HAND)
def test_patterns_by_hand(kind, size):
    rows = ["".join(str(int(x)) for x in row) for row in patterns.pattern(kind, 4, size)]
    assert rows == BY_HAND[kind, size]


@pytest.mark.parametrize("kind", ["window", "global", "prefix", "padding", "reach"])
@pytest.mark.parametrize("n", [1, 2, 14, 100, 256])
def test_every_slider_offers_the_causal_mask_and_stays_small(kind, n):
    stops = patterns.stops(kind, n)
    usual = stops.index(patterns.usual(kind, n))
    assert kind == "reach" or usual == (0 if kind == "prefix" else len(stops) - 1)
    assert len(set(stops)) == len(stops)
    open_cells = [int(patterns.pattern(kind, n, size).sum()) for size in stops]
    assert open_cells == sorted(open_cells), "to the right more is in reach, as on the page before"
    assert len(stops) * n <= max(patterns.AT_ONCE, 3 * n) + 2 * n
    np.testing.assert_array_equal(patterns.pattern(kind, n, patterns.usual(kind, n)), np.tril(np.ones((n, n), bool)))
    if n == 14:
        assert len(stops) == (27 if kind == "reach" else 14)


def test_a_long_text_keeps_the_small_sizes():
    assert patterns.stops("window", 256) == (1, 2, 4, 9, 21, 48, 111, 256)
    assert patterns.stops("padding", 100)[-8:] == (8, 6, 5, 4, 3, 2, 1, 0)
    assert patterns.stops("prefix", 44) == tuple(range(1, 45))


@pytest.mark.parametrize("size", [-999, -995, -980, -968, 0, 1, 24, 48, 999])
def test_the_recorded_losses_of_a_reach_are_computed_again(size):
    assert reach.loss(size) == pytest.approx(make_reach_losses.computed(size), rel=1e-4)


@pytest.mark.parametrize("step", [64, 96, 128, 192])
def test_a_reach_beyond_the_longest_story_cuts_nothing(step):
    assert max(map(len, subject.stories())) < step
    assert (reach.loss(step - 1000), reach.loss(step)) == (reach.loss(reach.CAUSAL), reach.loss(reach.NONE))


def test_looking_ahead_costs_and_so_does_a_short_window():
    assert reach.loss(1) > reach.loss(reach.CAUSAL) + 0.5
    assert reach.loss(-999) > reach.loss(-990) > reach.loss(reach.CAUSAL) + 0.1
    assert reach.loss(reach.CAUSAL) == pytest.approx(story_losses.loss(Change()), rel=1e-4)
    assert reach.loss(reach.NONE) == pytest.approx(story_losses.loss(Change(mask=False)), rel=1e-4)
    assert reach.loss(-998) == pytest.approx(subject.story_loss(Change(window=2)), rel=1e-4)
    with pytest.raises(KeyError, match="not recorded"):
        reach.loss(500)


def test_a_painting_survives_its_link():
    paint = patterns.Paint(frozenset({(3, 4), (3, 13), (0, 7)}), frozenset({(3, 0), (9, 9)}))
    assert patterns.unspell(patterns.spell(paint), N) == paint
    assert patterns.unspell(patterns.spell(paint), 13) is None, "made for a longer text"
    mask = paint.over(torch.ones(N, N).tril().bool())
    assert bool(mask[3, 13])
    assert not bool(mask[9, 9])
    assert int(mask.sum()) == N * (N + 1) // 2 + 3 - 2


@pytest.mark.parametrize(
    "junk", ["", "x", "3-zz-", "99-1-", "3-1", "3-1-1", "3--_", "3-ffffffffffff-", "3-1-\n", "٣-1-"]
)
def test_no_painting_in_a_broken_link(junk):
    assert patterns.unspell(junk, N) is None


def test_strokes_undo_each_other_and_say_only_what_differs():
    cells = frozenset({(2, 5), (6, 1)})
    plain = patterns.pattern("window", N, N)
    opened = patterns.Paint().stroke(cells, True)
    assert opened.needed(plain) == patterns.Paint(frozenset({(2, 5)}))
    closed = opened.stroke(cells, False)
    assert (closed.open, closed.shut) == (frozenset(), cells)
    assert closed.needed(plain) == patterns.Paint(shut=frozenset({(6, 1)}))


# ---- the live model under a mask ----

PAINTED = patterns.Paint(frozenset({(2, 11)}), frozenset({(13, 3), (9, 1)}))
SETTINGS = [
    demo("window", 11),
    demo("global", 3, layer=2, head=4),
    demo("prefix", 6, layer=4, head=4),
    demo("prefix", N),
    demo("window", 9, PAINTED, layer=1, head=2),
]


def their_mask(mask):
    return torch.zeros(1, 1, N, N).masked_fill(~torch.as_tensor(mask), torch.finfo(torch.float32).min)


@pytest.mark.parametrize("setting", SETTINGS)
@torch.inference_mode()
def test_frames_and_trace_equal_transformers_under_the_same_mask(theirs, setting):
    expected = theirs(torch.tensor([READING.ids]), attention_mask=their_mask(setting.mask), output_attentions=True)
    probs = expected.logits[0, -1].softmax(-1)
    weights = expected.attentions[setting.layer][0, setting.head]
    found, stop = patterns.frames(setting), patterns.stops(setting.kind, N).index(setting.size)
    np.testing.assert_allclose(found.weights[stop], weights, atol=1e-4)
    np.testing.assert_allclose(found.probs[stop], probs[[word.id for word in found.words]], atol=1e-4)
    np.testing.assert_array_equal(found.shut[stop], ~setting.mask.numpy())
    trace = patterns.run(setting)
    np.testing.assert_allclose(trace[f"block{setting.layer}.weights"].value[setting.head], weights, atol=1e-4)
    np.testing.assert_allclose(trace["next_probs"].value, probs, atol=1e-4)
    bits = -(weights * weights.clamp_min(1e-30).log2()).sum(-1)
    np.testing.assert_allclose(found.entropy[stop], bits, atol=1e-3)


def test_what_the_page_tells_about_the_window():
    found = patterns.frames(demo())
    assert found.words[0].id == found.answer.id == AMY
    p = dict(zip(patterns.stops("window", N), found.probs[:, 0], strict=True))
    assert (p[10], p[11]) == (pytest.approx(0.009, abs=1e-3), pytest.approx(0.991, abs=1e-3))
    assert found.before[0] == pytest.approx(0.986, abs=1e-3)


def test_an_empty_row_takes_home_nothing_and_harms_nobody():
    found = patterns.frames(demo("padding", 0))
    np.testing.assert_array_equal(found.weights[5][:5], 0)
    assert np.isfinite(found.probs).all()
    q, k = torch.randn(2, 1, 4, 8)
    empty = torch.tensor([[False] * 4, [True] * 4])
    assert (F.scaled_dot_product_attention(q[:, :2], k, torch.eye(4)[None], empty)[0, 0] == 0).all(), "as torch does"


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_single_token_in_a_batch_is_read_where_it_stands(side):
    """The shortest row there is: all but one of its places are filling."""
    first, alone = sentence.of(READING), sentence.Text(sentence.FIRST, READING.ids[:1], READING.tokens[:1])
    found = padding.padded(padding.Batch((first, alone), side=side))
    assert found.pads.sum(1).tolist() == [0, N - 1]
    np.testing.assert_allclose(found.p, found.alone, atol=1e-4)


# ---- the leak detector ----


def test_influence_is_drawn_for_a_place_that_answers_and_a_place_that_is_read():
    assert gradients.INFLUENCE.dims == ("query", "key")


@torch.no_grad()
def scores_of(model, x, mask, best):
    """The scores of chosen words at every place, from input embeddings. x: (batch, token, d)."""
    hidden = model.model(inputs_embeds=x, attention_mask=mask.expand(len(x), -1, -1, -1)).last_hidden_state
    return (hidden * model.lm_head.weight[best]).sum(-1)


@pytest.mark.long
def test_gradients_equal_finite_differences_of_transformers():
    kind = dict(attn_implementation="eager", dtype=torch.float64)
    model = AutoModelForCausalLM.from_pretrained(sentence.FOLDER, **kind).eval()
    setting = demo("prefix", 5, patterns.Paint(frozenset({(7, 9)})))
    x = model.get_input_embeddings()(torch.tensor([READING.ids])).detach()
    mask = their_mask(setting.mask).double()
    with torch.no_grad():
        best = model(inputs_embeds=x, attention_mask=mask).logits.argmax(-1)[0]
    found = gradients.influence(setting, each_block=False)
    row, key = found.worst
    up, down = x.repeat(x.shape[-1], 1, 1), x.repeat(x.shape[-1], 1, 1)
    up[:, key] += 1e-4 * torch.eye(x.shape[-1])
    down[:, key] -= 1e-4 * torch.eye(x.shape[-1])
    slope = (scores_of(model, up, mask, best) - scores_of(model, down, mask, best)) / 2e-4  # (direction, row)
    np.testing.assert_allclose(found.values[-1, :, key], slope.norm(dim=0), rtol=1e-2, atol=1e-4)
    assert found.values[-1, row, key] > 0


@pytest.mark.parametrize(
    ("setting", "lit"),
    [
        (demo(), False),
        (demo("window", 3), False),
        (demo("global", 2), False),
        (demo("prefix", 1), False),
        (demo("prefix", 2), True),
        (demo("padding", 4), False),
        (demo("window", N, patterns.Paint(frozenset({(0, 13)}))), True),
        (demo("window", N, patterns.Paint(shut=frozenset({(5, 2)}))), False),
        (demo("padding", 4, patterns.Paint(frozenset({(9, 2)}))), True),
    ],
)
def test_the_lamp_is_right(setting, lit):
    found = gradients.influence(setting, each_block=False)
    assert bool(found.leaks[-1]) == lit
    assert (found.worst is not None) == lit


def test_a_leak_travels_into_every_row_that_sees_it():
    found = gradients.influence(demo("window", N, patterns.Paint(frozenset({(7, 9)}))))
    reached = found.values != 0
    assert reached[0, :, 9].nonzero()[0].tolist() == [7, 9, 10, 11, 12, 13], "one block: row 7 and those who may"
    assert reached[1, :, 9].nonzero()[0].tolist() == [7, 8, 9, 10, 11, 12, 13], "two blocks: row 8 has read row 7"
    assert found.leaks == (1, 3, 3, 3, 3, 3), "7 and 8 know of 9, and 7 of 8, which 9 had read"


@pytest.mark.parametrize("kind", ["window", "global", "prefix"])
@pytest.mark.parametrize("size", [1, 3, 6, N])
def test_autograd_finds_what_a_walk_through_the_mask_finds(kind, size):
    setting = demo(kind, size, patterns.unspell("3-200-_4-e00-_13--1", N))
    found, steps, reached = gradients.influence(setting), setting.mask.numpy().astype(int), np.eye(N, dtype=int)
    for values, leaked in zip(found.values, found.leaks, strict=True):
        reached = np.minimum(reached + steps @ reached, 1)
        np.testing.assert_array_equal(values != 0, reached > 0)
        assert leaked == np.triu(reached, 1).sum()


def test_what_a_setting_leaves_out_changes_nothing():
    setting = demo("prefix", 5, PAINTED, layer=2, head=3)
    np.testing.assert_array_equal(patterns.frames(setting).probs, patterns.frames(setting.sweep).probs)
    np.testing.assert_array_equal(patterns.frames(setting).weights, patterns.frames(setting.sweep).weights)
    np.testing.assert_array_equal(gradients.influence(setting).values, gradients.influence(setting.wiring).values)


def test_a_window_reaches_further_with_every_block():
    found = gradients.influence(demo("window", 3))
    counted = [int((one[-1] != 0).sum()) for one in found.values]
    assert counted == [min(N, gradients.reach(3, depth)) for depth in found.depths] == [3, 5, 7, 9, 11, 13]


def test_of_a_long_text_some_rows_are_followed_and_a_pattern_still_shows():
    long = sentence.read("Sam and Amy played in the park. " * 40)
    n = len(long.ids)
    for kind, size, lit in (("window", n, False), ("prefix", patterns.stops("prefix", n)[1], True)):
        found = gradients.influence(patterns.Demo(sentence.of(long), kind=kind, size=size), each_block=False)
        assert (len(found.rows), found.rows[0], found.rows[-1]) == (gradients.FOLLOWED, 0, n - 1)
        assert bool(found.leaks[0]) == lit


def test_of_a_text_that_can_be_painted_every_row_is_followed():
    reading = sentence.read(
        "Sam and Amy played in the park. Sam threw the ball to Amy. Amy threw it back to him. Then they ran"
    )
    n = len(reading.ids)
    assert 24 < n <= patterns.PAINTABLE
    for row in (11, 12):
        paint = patterns.Paint(frozenset({(row, row + 1)}))
        found = gradients.influence(patterns.Demo(sentence.of(reading), 5, 1, "window", n, paint), each_block=False)
        assert found.worst == (row, row + 1)


# ---- the mask as code ----

RECIPES = [
    in_numpy.Recipe(diagonal, says, fill, precision)
    for diagonal in (-1, 0, 1, 2)
    for says in in_numpy.SAYS
    for fill in in_numpy.FILLS
    for precision in in_numpy.PRECISIONS
]


def softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_lines_on_the_page_compute_the_picture(recipe):
    scaled = oh.head_of(oh.Demo(sentence.of(READING))).scaled
    space = {"np": np, "T": N, "scores": scaled.copy(), "softmax": softmax}
    with np.errstate(all="ignore"):
        exec(in_numpy.code_of(recipe), space)
    cooked = in_numpy.cook(scaled, recipe)
    np.testing.assert_array_equal(cooked.built, space["mask"])
    close = dict(atol=2e-3 if recipe.precision == "float16" else 1e-5)
    np.testing.assert_allclose(cooked.weights, space["weights"].astype(np.float32), **close)
    frames, shut = in_numpy.sweep(scaled, recipe)
    assert in_numpy.DIAGONALS == (-3, -2, -1, 0, 1, 2, 3, 4), "as many beyond the two right ones on either side"
    at = in_numpy.DIAGONALS.index(recipe.diagonal)
    np.testing.assert_array_equal(frames[at], cooked.weights)
    np.testing.assert_array_equal(shut[at], cooked.shut)
    rows = np.isnan(space["weights"]).any(-1)
    assert cooked.broken == rows.sum()
    assert cooked.ahead == pytest.approx(
        float(np.triu(space["weights"].astype(float), 1)[~rows].sum(-1).mean()), abs=2e-3
    )


def test_both_senses_of_a_boolean_mask_exist_in_torch():
    torch.manual_seed(3)
    x, above = torch.randn(1, 5, 8), torch.ones(5, 5).triu(1).bool()
    layer = nn.MultiheadAttention(8, 1, bias=False, batch_first=True).eval()
    _out, hidden = layer(x, x, x, attn_mask=above)
    q, k, _v = (x @ layer.in_proj_weight.T).chunk(3, -1)
    scaled = (q @ k.mT)[0].detach().numpy() / 8**0.5
    hide = in_numpy.cook(scaled, in_numpy.Recipe(1, "hide"))
    np.testing.assert_allclose(hide.weights, hidden[0].detach(), atol=1e-6)
    keep = in_numpy.cook(scaled, in_numpy.Recipe(1, "keep", "core"))
    kept = F.scaled_dot_product_attention(q, k, torch.eye(5)[None], above)[0].detach()
    np.testing.assert_allclose(keep.weights[:-1], kept[:-1], atol=1e-6)


def test_the_facts_behind_the_mistakes():
    scaled = oh.head_of(oh.Demo(sentence.of(READING))).scaled
    assert in_numpy.printed(in_numpy.cook(np.zeros((5, 5)), in_numpy.Recipe()).built).split("\n")[:4] == [
        "[F T T T T]",
        "[F F T T T]",
        "[F F F T T]",
        "[F F F F T]",
    ]
    wrong = in_numpy.cook(scaled, in_numpy.Recipe(1, "keep", "1e9"))
    np.testing.assert_allclose(wrong.weights[-1], 1 / N, atol=1e-6)
    np.testing.assert_allclose(np.triu(wrong.weights, 1)[:-1].sum(-1), 1, atol=1e-6)
    assert np.isneginf(in_numpy.cook(scaled, in_numpy.Recipe(fill="1e9", precision="float16")).fill)
    assert in_numpy.cook(scaled, in_numpy.Recipe(0, fill="1e9")).broken == 0
    assert in_numpy.cook(scaled, in_numpy.Recipe(0, fill="1e9", precision="float16")).broken == 1
    added = in_numpy.cook(np.zeros((4, 4)), in_numpy.Recipe()).added
    np.testing.assert_array_equal(added, torch.full((4, 4), -torch.inf).triu(1))


def test_one_empty_row_is_everybody_s_a_block_later():
    off = in_numpy.outcome(sentence.of(READING), in_numpy.Recipe(0))
    assert off.broken == (1, *[N] * 5)
    assert off.word is None
    right = in_numpy.outcome(sentence.of(READING), in_numpy.Recipe())
    assert (right.word.id, right.broken) == (AMY, (0,) * 6)
    assert right.p == pytest.approx(right.answer.p, abs=1e-5)
    ours = in_numpy.outcome(sentence.of(READING), in_numpy.Recipe(0, fill="core"))
    assert ours.word is not None
    late = in_numpy.outcome(sentence.of(READING), in_numpy.Recipe(2))
    assert late.p != pytest.approx(right.p, abs=1e-3)


# ---- a batch with padding ----

TEXTS = (sentence.SENTENCE, "Anna is a girl. Tom is a", "Tom was very thirsty. He wanted to")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("mask", [True, False])
@torch.inference_mode()
def test_a_padded_batch_equals_transformers(theirs, side, mask):
    texts = [sentence.of(sentence.read(text)) for text in TEXTS]
    rows = [text.ids for text in texts]
    found = padding.padded(padding.Batch(tuple(texts), 4, 4, side, mask))
    length = max(map(len, rows))
    for i, ids in enumerate(rows):
        fill = [padding.PAD_ID] * (length - len(ids))
        real = torch.tensor([0] * len(fill) + [1] * len(ids) if side == "left" else [1] * len(ids) + [0] * len(fill))
        allowed = torch.ones(length, length).tril().bool() & (real.bool() | (not mask))
        whole = torch.tensor([fill + list(ids) if side == "left" else list(ids) + fill])
        additive = torch.zeros(1, 1, length, length).masked_fill(~allowed, torch.finfo(torch.float32).min)
        expected = theirs(whole, attention_mask=additive, output_attentions=True)
        last = int(real.nonzero().max())
        probs = expected.logits[0, last].softmax(-1)
        assert found.p[i] == pytest.approx(float(probs[found.answers[i].id]), abs=1e-4)
        assert found.now[i].id == int(probs.argmax())
        attended = torch.stack(expected.attentions)[:, 0][..., real.bool(), :][..., ~real.bool()].sum(-1).mean()
        assert found.leaked[i] == pytest.approx(float(attended), abs=1e-4)
    assert found.alone == pytest.approx(found.p, abs=1e-4) or (side == "left" and not mask)
    if side == "right":
        assert found.leaked.max() == 0, "what lies in the future needs no second mask"
    elif not mask:
        assert found.leaked[1:].min() > 0.03


def test_above_the_diagonal_there_is_something_only_without_a_mask():
    assert 0.05 < patterns.above(sentence.of(READING), 5, 1) < 0.95
    assert np.triu(patterns.run(demo())["block5.weights"].value, 1).max() == 0


# ---- by hand ----


def test_what_no_output_may_depend_on():
    plain = ["0111", "0011", "0001", "0000"]
    padded = ["0111", "0011", "1101", "1100"]
    for kind, size, rows in (("window", 2, plain), ("prefix", 3, plain), ("padding", 0, plain), ("padding", 2, padded)):
        found = patterns.forbidden(kind, 4, size)
        assert ["".join(str(int(x)) for x in row) for row in found] == rows


def test_where_the_slider_starts():
    assert [patterns.usual(kind, 9) for kind in ("reach", "window", "global", "prefix", "padding")] == [0, 9, 9, 1, 0]
    with pytest.raises(KeyError):
        patterns.pattern("pyramid", 3, 1)


def test_reaches_in_their_order():
    assert reach.sizes(4, 44) == (-999, -998, -997, 0, 1, 2, 999)
    assert reach.sizes(1, 44) == (0,)
    assert reach.sizes(2, 44) == (-999, 0, 999)
    assert reach.sizes(14, 8) == (-999, -995, -991, -987, 0, 1, 4, 7, 10, 999)
    assert reach.sizes(300, 2) == (-999, 0, 1, 999)
    assert (reach.window(-996), reach.window(0), reach.window(3)) == (4, None, None)
    assert reach.SIZES[0] == -999
    assert len(reach.SIZES) == 2 * 24 + 2


def test_words_of_the_frames_begin_with_the_answer():
    found, calm = patterns.frames(demo("window", N)), subject.untouched(sentence.of(READING))["next_probs"].value
    assert len(found.words) == 8 == found.probs.shape[1]
    assert found.words[0] == found.answer
    assert found.answer.id == calm.argmax()
    np.testing.assert_allclose(found.before, calm[[word.id for word in found.words]])
    assert (np.diff(found.probs.max(0)[1:]) <= 0).all()
    assert len(patterns.frames(demo("prefix", 3), 3).words) == 3
    bits = -(found.weights * np.log2(np.where(found.weights > 0, found.weights, 1))).sum(-1)
    np.testing.assert_allclose(found.entropy, bits, atol=1e-4)
    for stop, size in ((0, 1), (4, 5)):
        np.testing.assert_array_equal(~found.shut[stop], patterns.pattern("window", N, size).numpy())


def test_above_the_diagonal_lies_the_weight_on_what_comes():
    trace = subject.run(sentence.of(READING), Change(mask=False), ("block2.weights",))
    weights = trace["block2.weights"].value[3]
    ahead = sum(weights[i, j] for i in range(N) for j in range(i + 1, N)) / N
    assert patterns.above(sentence.of(READING), 2, 3) == pytest.approx(ahead, rel=1e-4)


def test_a_painting_is_spelled_row_by_row():
    paint = patterns.Paint(frozenset({(3, 4), (3, 0), (12, 1)}), frozenset({(3, 2), (0, 0)}))
    assert patterns.spell(paint) == "0--1_3-11-4_12-2-"
    assert patterns.unspell("3-2000-", N) == patterns.Paint(frozenset({(3, 13)}))
    assert patterns.unspell("3-4000-", N) is None, "there is no token 14"
    assert patterns.unspell("13-1-", N) is not None
    assert patterns.unspell("14-1-", N) is None
    assert patterns.unspell("3-1-", 48) is not None
    assert patterns.unspell("3-1-", 49) is None, "too long to be painted"


def test_masks_are_printed_in_letters():
    mask = np.tri(7, dtype=bool)
    assert in_numpy.printed(mask, 2) == "[T F]\n[T T]"
    assert in_numpy.printed(mask).count("\n") == 4


def test_a_reach_grows_by_one_less_than_the_window_a_block():
    assert [gradients.reach(*one) for one in ((1, 6), (3, 1), (3, 6), (14, 2))] == [1, 3, 13, 27]
