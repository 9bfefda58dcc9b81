"""What holds for any input at all. hypothesis draws the inputs, always the same ones, and looks for the smallest break."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import costs, tokenizer
from core.attention import allowed_pairs, attention, share_out
from core.checkpoint import empty
from core.config import RUNS, ModelConfig
from core.counting import total
from core.lab import text as reading
from core.rope import adjacent_order, angles, rotate, rotate_adjacent, rotate_half
from core.softmax import entropy, jacobian, softmax
from core.topics.masks.patterns import PAINTABLE, Paint, spell, unspell
from core.topics.tokens import bpe
from core.trace import AXES, Quantity, Trace
from pages.shared.pictures.live.block import KINDS, pack, unpack

LAW = settings(derandomize=True, deadline=None, database=None, max_examples=60)
FEW = settings(LAW, max_examples=25)
MODEL = tokenizer.of_model(reading.FOLDER)

TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.lists(
    st.sampled_from(["Sam", " ", "threw", "我", "🙂", "▁", "<s>", "<unk>", "\n", "<0xE2>", "e\u0301", "  ", "\t", "'s"])
).map("".join)
REAL = st.floats(-50, 50, width=32)


def numbers(shape):
    return hnp.arrays(np.float32, shape, elements=st.floats(-5, 5, width=32)).map(torch.from_numpy)


# ---- texts ----


def lie_end_to_end(pieces, data):
    """Every byte of the text belongs to one piece, and each piece that has bytes of its own shows where they are."""
    assert [piece.start for piece in pieces] == [0, *(piece.end for piece in pieces[:-1])][: len(pieces)]
    assert (pieces[-1].end if pieces else 0) == len(data)


@LAW
@given(TEXT, st.sampled_from([*tokenizer.ENCODINGS, "characters", "bytes"]), st.booleans())
def test_pieces_cover_every_byte_of_any_text(text, way, special):
    pieces = tokenizer.cut(text, way, special=special)
    lie_end_to_end(pieces, text.encode())
    assert all(piece.data == text.encode()[piece.start : piece.end] for piece in pieces)
    assert tokenizer.joined(pieces) == text
    assert all(0 <= piece.id < tokenizer.size(way) or way == "characters" for piece in pieces)


@LAW
@given(TEXT)
def test_words_leave_out_nothing_but_blanks(text):
    data, pieces = text.encode(), tokenizer.cut(text, "words")
    assert all(piece.data == data[piece.start : piece.end] for piece in pieces)
    between = [0, *(edge for piece in pieces for edge in (piece.start, piece.end)), len(data)]
    left = b"".join(data[a:b] for a, b in zip(between[::2], between[1::2], strict=True))
    assert not left.decode().strip()


@LAW
@given(TEXT)
def test_the_models_pieces_cover_every_byte_of_any_text(text):
    """Also the first one after `<s>`: it stands for its word, not for the blank that was added in front."""
    pieces, data = tokenizer.cut_by(MODEL, text), text.encode()
    lie_end_to_end(pieces, data)
    for piece in pieces:
        shown = data[piece.start : piece.end].decode("utf8", "surrogateescape").replace("▁", " ")
        assert piece.data.endswith(shown.encode("utf8", "surrogateescape")) or piece.kind == "special"


@LAW
@given(TEXT)
def test_what_was_read_once_is_read_the_same_again(text):
    first = reading.read(text)
    again = reading.read(first.text)
    assert (again.text, again.ids, again.tokens, again.notes) == (first.text, first.ids, first.tokens, ())
    assert len(first.ids) == len(first.tokens) <= reading.context()


@FEW
@given(TEXT)
def test_merges_lose_nothing_and_never_make_a_text_longer(text):
    learned = bpe.train(text, 12)
    states = bpe.grown(text, learned.merges)
    assert all(b"".join(state) == text.encode() for state in states)
    assert [len(state) for state in states] == list(learned.lengths)
    assert all(a > b for a, b in zip(learned.lengths, learned.lengths[1:], strict=False))


# ---- blocks of bytes ----

ARRAYS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
    st.sampled_from(sorted(KINDS)).flatmap(
        lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
    ),
    max_size=4,
)
META = st.dictionaries(st.text(max_size=6), st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9),
                                                         lambda one: st.lists(one, max_size=3)), max_size=4)  # fmt: skip


@LAW
@given(META, ARRAYS)
def test_a_picture_unpacks_to_what_was_packed(meta, arrays):
    data = pack(meta, arrays)
    said, found = unpack(data)
    assert said == meta
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes(), "to the last bit, NaN too"


@LAW
@given(st.data())
def test_a_trace_loads_as_it_was_saved(data):
    sizes = {axis: data.draw(st.integers(0, 3)) for axis in AXES}
    kinds = st.sampled_from(["float32", "float64", "int64", "bool", "uint8"])
    trace, kept = Trace(query=[f"t{i}" for i in range(sizes["query"])]), {}
    for scope in data.draw(st.lists(st.sampled_from(["a", "block0", "é.b"]), unique=True, max_size=3)):
        axes = data.draw(st.lists(st.sampled_from(sorted(AXES)), unique=True, max_size=3))
        array = data.draw(hnp.arrays(data.draw(kinds), tuple(sizes[axis] for axis in axes)))
        with trace.inside(scope):
            trace(Quantity("x", " ".join(axes), "x^2", "Ä tensor."), torch.from_numpy(array))
        kept[f"{scope}.x"] = array
    file = io.BytesIO()
    trace.save(file)
    file.seek(0)
    again = Trace.load(file)
    assert [step.name for step in again] == list(kept)
    for name, array in kept.items():
        assert again[name].value.tobytes() == array.tobytes()
        assert again[name].value.dtype == array.dtype
        assert again[name].shape == trace[name].shape
        assert again[name].quantity == trace[name].quantity
        assert again[name].labels.get("query") == (trace.labels["query"] if "query" in again[name].shape else None)


@LAW
@given(st.data(), st.integers(1, PAINTABLE))
def test_a_painting_is_read_as_it_was_spelled(data, n):
    cells = st.frozensets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)
    opened, shut = data.draw(cells), data.draw(cells)
    paint = Paint(opened, shut - opened)
    assert unspell(spell(paint), n) == paint or paint == Paint()


# ---- counting ----


@st.composite
def configs(draw):
    """Any sizes and parts that core.model can compute, whether anybody built them or not."""
    heads, group = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 4]))
    return ModelConfig(
        d_model=draw(st.integers(1, 9)),
        n_layers=draw(st.integers(1, 3)),
        n_heads=heads * group,
        n_kv_heads=heads,
        head_dim=2 * draw(st.integers(1, 5)),
        d_ff=draw(st.integers(1, 20)),
        vocab_size=draw(st.integers(1, 30)),
        context=draw(st.integers(1, 12)),
        norm=draw(st.sampled_from(["layernorm", "rmsnorm"])),
        position=draw(st.sampled_from(["learned", "rope"])),
        ffn=draw(st.sampled_from(["gelu_tanh", "swiglu"])),
        qkv_bias=draw(st.booleans()),
        out_bias=draw(st.booleans()),
        ffn_bias=draw(st.booleans()),
        qk_norm=draw(st.booleans()),
        tied=draw(st.booleans()),
        family=draw(st.sampled_from(RUNS)),
    )


@LAW
@given(configs())
def test_counting_agrees_with_a_model_that_is_built(config):
    built = empty(config)
    assert total(config) == sum(p.numel() for p in built.parameters())
    parts = costs.by_part(config)
    assert sum(parts.values()) == total(config)
    assert costs.blocks(config) == sum(p.numel() for p in built.blocks.parameters())
    assert sum(row.value for row in costs.layer(config)) * config.n_layers == costs.blocks(config)
    assert costs.active(config) == total(config)
    assert parts["norms"] == sum(p.numel() for name, p in built.named_parameters() if "norm" in name.split(".")[-2][:4])


@LAW
@given(configs(), st.integers(1, 40), st.integers(1, 5))
def test_the_cache_meets_the_weights_where_it_is_said_to(config, window, readers):
    for one in (config, replace(config, window=window)):
        talk = costs.Talk(one, readers)
        even = talk.even()
        if even is None:
            assert talk.cache(10**9) < talk.weights
        else:
            assert talk.cache(even) >= talk.weights > talk.cache(even - 1)


@LAW
@given(configs(), st.integers(1, 50), st.none() | st.integers(1, 30))
def test_a_mask_leaves_the_pairs_that_it_allows(config, n, window):
    work = costs.Work(replace(config, window=window), masked=True)
    allowed = allowed_pairs("window" if window else "causal", n, window)
    assert float(work.pairs(torch.tensor(float(n)))) == int(allowed.sum())
    assert allowed.sum(-1).tolist() == [min(i + 1, window or n) for i in range(n)]


CONFIG_KEYS = ["model_type", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size",
               "num_hidden_layers", "rope_theta", "rope_scaling", "sliding_window", "layer_types", "tie_word_embeddings",
               "n_embd", "n_head", "max_position_embeddings", "rms_norm_eps", "hidden_act"]  # fmt: skip
ANY = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
)


@LAW
@given(st.sampled_from(RUNS), st.dictionaries(st.sampled_from(CONFIG_KEYS), ANY | st.integers(1, 64), max_size=5))
def test_any_config_is_read_or_refused_in_words(family, config):
    try:
        said = total(ModelConfig.from_hf({"model_type": family} | config))
    except ValueError as error:
        said = str(error)
    assert said if isinstance(said, str) else said > 0


# ---- softmax ----

ROW = st.lists(REAL, min_size=1, max_size=9).map(lambda row: torch.tensor(row, dtype=torch.float64))
WARMTH = st.floats(0.05, 20)


@LAW
@given(ROW, WARMTH, st.floats(-100, 100))
def test_shares_add_up_keep_their_order_and_know_only_differences(z, t, c):
    p = softmax(z, t)
    assert torch.isclose(p.sum(), torch.tensor(1.0, dtype=p.dtype))
    assert ((p >= 0) & (p <= 1)).all()
    order = z.argsort(stable=True)
    assert (p[order].diff() >= 0).all()
    torch.testing.assert_close(softmax(z + c, t), p, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(softmax(z / t), p)
    torch.testing.assert_close(softmax(z, t), torch.softmax(z / t, -1))
    assert -1e-12 <= float(entropy(p)) <= math.log2(len(z)) + 1e-9


@LAW
@given(ROW, WARMTH)
def test_slopes_are_those_of_autograd_and_nothing_is_gained(z, t):
    p = softmax(z, t)
    slopes = jacobian(p)
    torch.testing.assert_close(slopes, slopes.mT)
    torch.testing.assert_close(slopes.sum(-1), torch.zeros_like(p), rtol=0, atol=1e-12)
    theirs = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), z / t)
    torch.testing.assert_close(slopes, theirs, rtol=1e-7, atol=1e-9)


@LAW
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6, unique=True), st.floats(0.1, 4), st.floats(1.01, 4))
def test_warmer_is_more_even(scores, t, factor):
    z = torch.tensor(scores, dtype=torch.float64)
    assert float(entropy(softmax(z, t * factor))) >= float(entropy(softmax(z, t))) - 1e-12


# ---- attention ----


@st.composite
def meetings(draw):
    heads, queries, keys, width, values = (draw(st.integers(1, 4)) for _ in range(5))
    q, k, v = (draw(numbers(shape)) for shape in ((heads, queries, width), (heads, keys, width), (heads, keys, values)))
    return q, k, v, draw(hnp.arrays(bool, (queries, keys)).map(torch.from_numpy))


@LAW
@given(meetings(), st.floats(0.2, 5), st.booleans())
def test_rows_share_out_one_unit_among_what_is_allowed(meeting, t, scaling):
    q, k, v, allowed = meeting
    trace = Trace()
    z = attention(q, k, v, allowed, temperature=t, scaling=scaling, trace=trace)
    weights, open_ = torch.from_numpy(trace["weights"].value.copy()), allowed.any(-1)
    torch.testing.assert_close(weights.sum(-1), open_.float().expand(len(q), -1))
    assert (weights[:, ~allowed] == 0).all()
    root = q.shape[-1] ** 0.5 if scaling else 1.0
    theirs = F.scaled_dot_product_attention(q, k, v, allowed, scale=1 / (t * root)).nan_to_num(0)
    torch.testing.assert_close(z, theirs, rtol=1e-4, atol=1e-4)
    for i in open_.nonzero()[:, 0]:
        seen = v[:, allowed[i]]
        assert (z[:, i] <= seen.amax(1) + 1e-4).all(), "a mixture stays among what is mixed"
        assert (z[:, i] >= seen.amin(1) - 1e-4).all()


@LAW
@given(numbers((3, 4)), hnp.arrays(bool, (3, 4)).map(torch.from_numpy))
def test_sharing_out_needs_an_open_cell(scores, allowed):
    shares = share_out(scores.masked_fill(~allowed, -torch.inf), allowed)
    assert not shares.isnan().any()
    assert (shares.sum(-1) > 0.5).tolist() == allowed.any(-1).tolist()


# ---- RoPE ----

WIDE = st.integers(1, 8).map(lambda pairs: 2 * pairs)
BASE = st.floats(2, 1e6)


def vectors(width):
    return numbers((2, width)).map(torch.Tensor.double)


@LAW
@given(WIDE.flatmap(vectors), BASE, st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_a_score_knows_only_the_distance(both, base, m, n, shift):
    turn = angles(128, both.shape[-1], base).double()

    def score(place, other, way):
        return float(way(both[:1], turn[place : place + 1])[0] @ way(both[1:], turn[other : other + 1])[0])

    for way in (rotate, rotate_adjacent):
        assert math.isclose(score(m, n, way), score(m + shift, n + shift, way), rel_tol=0, abs_tol=2e-3)
        assert math.isclose(score(m, m, way), float(both[0] @ both[1]), rel_tol=0, abs_tol=1e-6)
    lengths = rotate(both, turn[[m, n]]).norm(dim=-1)
    torch.testing.assert_close(lengths, both.norm(dim=-1))


@LAW
@given(WIDE.flatmap(vectors), st.floats(-9, 9), st.floats(-9, 9))
def test_turns_add_up_and_both_pairings_are_one(both, a, b):
    width = both.shape[-1]
    one, two = (torch.full((2, width // 2), x, dtype=torch.float64) for x in (a, b))
    torch.testing.assert_close(rotate(rotate(both, one), two), rotate(both, one + two))
    torch.testing.assert_close(rotate(rotate(both, one), -one), both)
    order = adjacent_order(width)
    torch.testing.assert_close(rotate_adjacent(both[..., order], one), rotate(both, one)[..., order])
    assert torch.equal(rotate_half(rotate_half(both)), -both)
