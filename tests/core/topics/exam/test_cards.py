"""The numbers on the cards, from transformers, from a config read by hand, and from the definition."""

import math

import numpy as np
import pytest
import torch

from core.lab import text as words_of
from core.topics.exam import cards
from core.topics.exam.shelf import ABOUT, BADGES, chosen, shelf
from tests.core.topics.exam import reference

TEXT = words_of.exactly(words_of.SENTENCE)
N, D, HEADS, LAYERS, WIDTH = 14, 288, 6, 6, 48


@pytest.fixture(scope="module")
def one(theirs):
    return reference.passes(theirs, [(TEXT.tokens, TEXT.ids)])[0]


def told(id):
    return cards.facts(TEXT, id)


def test_what_is_counted():
    assert len(TEXT) == N
    assert told("cost")["gpt_at"] == 6 * 768
    qwen = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 12_288  # a layer's matrices
    assert told("cost")["qwen_at"] == qwen / (2 * 32 * 128)
    assert told("square") == dict(n=N, d=WIDTH, cells=196, products=196 * 48, twice=784, share=588)
    assert told("parallel") == dict(n=N, layers=LAYERS, weights=196 * 36)
    assert told("far")["kept"] == pytest.approx(0.9**12)
    assert told("heads")["matrices"] == 4 * D * D
    assert told("projections") | dict(one=0) == dict(
        d=D, d_head=WIDTH, heads=HEADS, one=0, all=D * D, wrong=HEADS * WIDTH**2
    )
    assert told("model")["total"] == 15_191_712
    assert told("ledger")["training"] / told("ledger")["weights"] == pytest.approx(8)
    assert told("inference") == dict(n=N, each=13_824, all=13_824 * N, qwen=147_456, gib=4.5)
    assert told("efficient")["megabytes"] == pytest.approx(8192 * 8192 * 4 / 1e6)
    assert told("theory")["flops"] == pytest.approx(6 * 15_191_712 * 20 * 15_191_712, rel=0.2)
    assert told("tokens")["letters"] == len(words_of.SENTENCE)
    assert told("softmax")["largest"] == pytest.approx(math.log(3.4028235e38))
    assert (told("cross")["written"], told("cross")["source"]) == (11, len("March 5, 2021"))


def test_what_the_model_says_and_how_loud_it_is(one):
    home = told("home")
    assert [home["p"], home["q"]] == pytest.approx(list(np.sort(one.probs[-1])[::-1][:2]), rel=1e-4)
    norms = told("norms")
    assert norms["first"] == pytest.approx(math.sqrt((one.hidden[1][N - 1] ** 2).mean()), rel=1e-4)


def test_how_sharp_a_head_is_with_the_division_and_without(one):
    found = {True: [], False: []}
    for layer in range(LAYERS):
        for head in range(HEADS):
            row = torch.tensor(one.scores(layer, head)[-1])
            found[True].append(float((row / math.sqrt(WIDTH)).softmax(-1).max()))
            found[False].append(float(row.softmax(-1).max()))
    assert told("attention")["scaled"] == pytest.approx(np.mean(found[True]), rel=1e-4)
    assert told("attention")["plain"] == pytest.approx(np.mean(found[False]), rel=1e-4)
    assert told("attention")["root"] == pytest.approx(48**0.5)


def test_what_the_future_gets_where_zero_stands_for_minus_infinity(one):
    ahead = torch.ones(N, N, dtype=torch.bool).triu(1)
    leaks = []
    for layer in range(LAYERS):
        for head in range(HEADS):
            scores = torch.tensor(one.scores(layer, head)) / math.sqrt(WIDTH)
            leaks.append((scores.masked_fill(ahead, 0).softmax(-1) * ahead).sum(-1).mean())
    assert told("exam")["leak"] == pytest.approx(100 * float(torch.stack(leaks).mean()), rel=1e-4)
    assert told("exam")["cells"] == int(ahead.sum())


def test_outputs_go_along_with_the_words():
    assert told("order")["error"] < 1e-12
    assert told("order")["moved"] > 0.01


def test_the_net_that_was_trained_without_a_mask_has_copied():
    masked = told("masked")
    assert masked["open"] < 0.01 < masked["entropy"] < masked["fair"]
    assert masked["right"] < masked["all"] / 2


# ---- the shelf ----


def test_the_shelf_says_what_was_found():
    every = shelf()
    assert len({one.id for one in every}) == len(every) > 20
    assert {one.badge for one in every} == set(BADGES)
    assert {one.about for one in every} == set(ABOUT)
    assert all(one.link.startswith("https://") or one.badge in ("lost", "unconfirmed") for one in every)
    by = {one.id: one for one in every}
    assert by["an2024"].authors.startswith("An,")
    assert by["xie2022"].badge == by["oswald2023"].badge == by["dao2023"].badge == "corrected"
    assert by["liu2025"].badge == "lost"
    assert by["dao2022"].year == 2022
    assert by["bahdanau2014"].year < by["vaswani2017"].year


def test_the_shelf_is_filtered_by_both():
    assert set(chosen("corrected")) | {one for b in BADGES if b != "corrected" for one in chosen(b)} == set(shelf())
    assert {one.id for one in chosen("lost")} == {"liu2025"}
    assert {one.id for one in chosen("verified", "scaling")} == {"yang2025"}
    assert chosen("lost", "course") == ()
    assert chosen() == shelf()
    assert chosen(about="scaling") == tuple(one for one in shelf() if one.about == "scaling")


def test_all_that_is_counted_from_the_sizes():
    """stories15M's config: width 288, 6 blocks of 6 heads of 48, FFN 768, context 256, 32,000 pieces."""
    qwen, total = 8_190_735_360, 15_191_712
    assert told("far") | dict(kept=0) == dict(first="Sam 1", last="to", steps=12, kept=0)
    assert told("cross") == dict(written=11, source=13, cells=143, n=N, own=196)
    assert told("heads") == dict(heads=6, d=288, d_head=48, matrices=331_776)
    rope = told("rope")
    assert (rope["pairs"], rope["context"]) == (24, 256)
    assert rope["slowest"] == pytest.approx(10_000 ** (-23 / 24))
    assert rope["turned"] == pytest.approx(256 * 10_000 ** (-23 / 24))
    assert (told("norms")["word"], told("norms")["norms"]) == ("to", 13)
    assert told("model") == dict(layers=6, writes=12, total=total)
    assert told("ledger") == dict(total=qwen, weights=2 * qwen / 2**30, training=16 * qwen / 2**30)
    assert told("efficient") == dict(n=8192, scores=67_108_864, megabytes=268.435456, products=96 * 67_108_864)
    assert told("theory") | dict(flops=0) == dict(n=total, tokens=20 * total, flops=0, one=2 * total)
    assert told("tokens")["times"] == pytest.approx((len(words_of.SENTENCE) / 14) ** 2)
    assert told("home")["vocab"] == 32_000
    assert told("attention")["d"] == 48
    assert told("projections")["one"] == 288 * 48
    assert told("cost")["gpt_d"] == 768
    assert told("cost")["qwen_d"] == 4096


def test_a_short_text_has_a_card_of_distance_too():
    hi = words_of.of(words_of.read("Hi"))
    found = cards.facts(hi, "far")
    assert (found["first"], found["last"], found["steps"], found["kept"]) == ("Hi", "Hi", 0, 1)


def test_what_share_of_a_model_is_ffn():
    """Three maps of 288 x 768 in six blocks; GPT-2's two of 768 x 3072 with biases in twelve; Qwen3's three in 36."""
    found = told("feedforward")
    assert found["own"] == pytest.approx(100 * 6 * 3 * 288 * 768 / 15_191_712)
    assert found["gpt"] == pytest.approx(100 * 12 * (2 * 768 * 3072 + 3072 + 768) / 124_439_808)
    assert found["qwen"] == pytest.approx(100 * 36 * 150_994_944 / 8_190_735_360)
    assert found["width"] == 768


def test_the_last_stream_and_the_largest_score_that_softmax_meets(one, theirs):
    heard = []
    hook = theirs.model.norm.register_forward_pre_hook(lambda _norm, given: heard.append(given[0][0, -1]))
    with torch.inference_mode():
        theirs(torch.tensor([TEXT.ids]))
    hook.remove()
    assert told("norms")["last"] == pytest.approx(float(heard[0].square().mean().sqrt()), rel=1e-4)
    open_to = np.tril(np.ones((N, N), bool))
    met = [
        one.scores(layer, head)[open_to].max() / math.sqrt(WIDTH) for layer in range(LAYERS) for head in range(HEADS)
    ]
    assert told("softmax")["score"] == pytest.approx(max(met), rel=1e-4)


def test_how_far_the_outputs_move_that_do_not_go_along(theirs):
    """The first head without mask and rotation: the first word's output beside what now stands in its place."""
    seen = {}
    attention = theirs.model.layers[0].self_attn
    hooks = [
        getattr(attention, f"{name}_proj").register_forward_hook(lambda _m, _x, y, name=name: seen.update({name: y[0]}))
        for name in "qkv"
    ]
    with torch.inference_mode():
        theirs(torch.tensor([TEXT.ids]))
    for hook in hooks:
        hook.remove()
    q, k, v = (seen[name].double().view(N, HEADS, WIDTH).transpose(0, 1) for name in "qkv")
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert told("order")["moved"] == pytest.approx(float((out - out.flip(1)).abs().max()), rel=1e-3)
    assert told("order")["n"] == N
