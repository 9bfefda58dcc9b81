"""Nets before attention, against torch's own layers, Hugging Face, and counting by brute force."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.autograd.functional import jacobian
from torch.utils.flop_counter import FlopCounterMode

from core.lab import subject
from core.lab import text as sentence
from core.topics.why import recurrence as rec

READING = sentence.read(sentence.SENTENCE)
STOP = 11  # a radius other than one
TEXT = sentence.of(READING)
SHORT = sentence.Text(TEXT.subject, TEXT.ids[:5], TEXT.tokens[:5])


def weights(gates, seed, d_model):
    """The input and recurrent weights that the module draws for a seed, drawn again by hand."""
    generator = torch.Generator().manual_seed(seed)
    into = torch.randn(gates, rec.WIDTH, d_model, generator=generator).double() * rec.INPUT / d_model**0.5
    between = torch.randn(gates, rec.WIDTH, rec.WIDTH, generator=generator).double()
    spectral = torch.tensor([np.abs(np.linalg.eigvals(m.numpy())).max() for m in between])
    return into, between / spectral[:, None, None], generator


def filled(layer, into, recurrent, update_bias=0.0):
    """torch's layer with these weights and no biases but that of the update gate."""
    with torch.no_grad():
        layer.weight_ih_l0.copy_(into.flatten(0, 1))
        layer.weight_hh_l0.copy_(recurrent.flatten(0, 1))
        for bias in (layer.bias_ih_l0, layer.bias_hh_l0):
            bias.zero_()
        if update_bias:
            layer.bias_ih_l0[rec.WIDTH : 2 * rec.WIDTH] = update_bias
    return layer


def torchs(kind, demo, stop):
    """torch's RNN or GRU with the module's weights at one radius, and the words it reads."""
    words = rec.words_of(demo.read)
    into, recurrent, _ = weights(3, demo.seed, words.shape[1])
    gates = 1 if kind is torch.nn.RNN else 3
    layer = kind(words.shape[1], rec.WIDTH).double()
    bias = 0.0 if gates == 1 else math.log(demo.keeps / (1 - demo.keeps))
    return filled(layer, into[:gates], rec.RADII[stop] * recurrent[:gates], bias), words


def lengths(function, words):
    """|| d function(words) / d word ||, the last word's first, that of the last word being one."""
    found = jacobian(function, words, vectorize=True).square().sum((0, 2)).sqrt()
    return (found / found[-1]).flip(0).numpy()


def test_states_are_those_of_torchs_rnn_and_gru():
    demo = rec.Demo(TEXT, keeps=0.75, seed=2)
    for kind in (torch.nn.RNN, torch.nn.GRU):
        layer, words = torchs(kind, demo, STOP)
        u = F.linear(words, layer.weight_ih_l0).unflatten(-1, (-1, rec.WIDTH)).transpose(0, 1)
        between = layer.weight_hh_l0.unflatten(0, (-1, rec.WIDTH))
        ours = rec.rnn(u[0], between[0]) if kind is torch.nn.RNN else rec.gru(u, between, math.log(3))
        np.testing.assert_allclose(ours.detach(), layer(words)[0].detach(), atol=1e-12)


@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.GRU])
@pytest.mark.parametrize("stop", [0, STOP, 30, 50])
def test_influence_is_the_length_of_torchs_jacobian(kind, stop):
    demo = rec.Demo(SHORT, times=2, keeps=0.97, seed=1)
    layer, words = torchs(kind, demo, stop)
    found = rec.fading(demo)
    ours = found.rnn if kind is torch.nn.RNN else found.gru
    np.testing.assert_allclose(ours[stop], lengths(lambda w: layer(w)[0][-1], words), rtol=1e-6)


def test_the_attention_layer_is_torchs_attention():
    demo = rec.Demo(SHORT, times=1, seed=3)
    words = rec.words_of(demo.read)
    generator = weights(3, demo.seed, words.shape[1])[2]
    q, k, v = torch.randn(3, words.shape[1], rec.WIDTH, generator=generator).double() / words.shape[1] ** 0.5

    def last(w):
        return F.scaled_dot_product_attention((w @ q)[None], (w @ k)[None], (w @ v)[None], is_causal=True)[0, -1]

    np.testing.assert_allclose(rec.fading(demo).attention, lengths(last, words), rtol=1e-8)


def test_the_trained_model_is_measured_as_transformers_would(theirs):
    words = theirs.model.embed_tokens(torch.tensor(SHORT.ids)).detach()
    exact = lengths(lambda w: theirs.model(inputs_embeds=w[None]).last_hidden_state[0, -1], words)
    found = rec.trained(SHORT, probes=600)
    np.testing.assert_allclose((found / found[-1]).flip(0), exact, rtol=0.1)


@pytest.mark.parametrize("family", ["gpt2", "llama, GQA, biases, base", "qwen3"])
def test_any_family_is_measured_as_transformers_would(pair, family):
    one = pair(family)
    read = sentence.exactly("the dog saw a cat", str(one.folder))
    whole = one.theirs.base_model
    words = whole.get_input_embeddings()(torch.tensor(read.ids)).detach()
    exact = lengths(lambda w: whole(inputs_embeds=w[None]).last_hidden_state[0, -1], words)
    found = rec.trained(read, probes=3000)
    np.testing.assert_allclose((found / found[-1]).flip(0), exact, rtol=0.1)


def test_a_text_is_read_no_longer_than_its_model_reads(pair):
    read = sentence.exactly("the dog saw a cat. " * 2, str(pair("gpt2").folder))
    found = rec.Demo(read, times=8).read
    assert len(found) == 64
    assert found.ids == (read.ids * 8)[-64:]


def test_what_a_visitor_may_move_moves_the_lines():
    base, text = rec.fading(rec.Demo(SHORT)), rec.Demo(SHORT, times=8)
    assert (text.read.ids, text.read.tokens) == (SHORT.ids * 8, SHORT.tokens * 8)
    long = sentence.Text(SHORT.subject, tuple(range(100)), tuple(map(str, range(100))))
    assert rec.Demo(long, times=2).read.ids == (*range(72, 100), *range(100))
    for other in (rec.Demo(SHORT, seed=1), rec.Demo(SHORT, keeps=0.5)):
        assert not np.allclose(rec.fading(other).gru, base.gru)
    far = [rec.fading(rec.Demo(TEXT, keeps=keeps)).gru[rec.RADII.index(0.8), -1] for keeps in rec.KEEPS]
    assert far == sorted(far), "a gate that keeps more carries further"
    np.testing.assert_allclose(base.power[STOP], [rec.RADII[STOP] ** t for t in range(20)])
    for line in (base.rnn, base.gru, base.attention[None], base.trained[None]):
        np.testing.assert_allclose(line[:, 0], 1)


@pytest.mark.parametrize("seed", range(4))
def test_what_the_page_says_about_fading_holds_for_every_seed(seed):
    found, n = rec.fading(rec.Demo(TEXT, seed=seed)), 56
    below, above = rec.RADII.index(0.8), rec.RADII.index(2.0)
    assert (found.rnn[:, -1] < found.power[:, -1]).all(), "tanh shrinks every step once more"
    assert found.rnn[below, -1] < 1e-5 < found.gru[below, -1] < 1
    assert found.rnn[above, -1] > found.rnn[below, -1] * 1e4
    near, far = found.attention[1 : n // 2].mean(), found.attention[n // 2 :].mean()
    assert 0.5 < far / near < 2, "attention does not fall with the distance"


@pytest.mark.parametrize("length", [1, 2, 300])
def test_no_length_breaks_it(length):
    ids, tokens = ((part * 60)[:length] for part in (SHORT.ids, SHORT.tokens))
    found = rec.fading(rec.Demo(sentence.Text(SHORT.subject, ids, tokens), times=1))
    n = min(length, 128)
    for line in (found.rnn, found.gru, found.power):
        assert line.shape == (51, n)
        assert np.isfinite(line).all()
    assert found.attention.shape == found.trained.shape == (n,)


# ---- what fits into a state ----


def test_a_state_never_gives_back_more_than_it_has_numbers():
    shares = rec.recall()
    assert shares.shape == (48, 60)
    assert (shares >= 0).all()
    assert (shares <= 1 + 1e-9).all()
    total = shares.sum(1)
    assert (total <= np.array(rec.WIDTHS) + 0.01).all(), "Jaeger 2001"
    assert total[47] > total[11] > total[3] > 0.8
    assert shares[11, :4].min() > 0.9
    assert shares[11, 30:].mean() < 0.1


def test_white_numbers_do_not_go_together():
    x = rec.white(999, torch.Generator().manual_seed(1)).numpy()
    assert x.var() == pytest.approx(1 / 3, rel=0.01)
    for lag in (1, 7, 400):
        assert abs(np.corrcoef(x, np.roll(x, lag))[0, 1]) < 0.002


def test_a_reader_is_numpys_least_squares():
    generator = torch.Generator().manual_seed(5)
    states = torch.randn(640, 2, 6, generator=generator).double()
    x = torch.randn(640, generator=generator).double()
    states[1:, 1, 2] += 2 * x[:-1]
    states[:, 0, 3:] = 0  # a smaller net
    shares = rec._readable(states, x).numpy()
    for net in range(2):
        rows = states[300:, net, : 3 + 3 * net].numpy()
        rows = rows - rows.mean(0)
        for lag in (0, 1, 17):
            past = x[300 - lag : 640 - lag].numpy()
            past = past - past.mean()
            rest = past - rows @ np.linalg.lstsq(rows, past, rcond=None)[0]
            assert shares[net, lag] == pytest.approx(1 - rest @ rest / (past @ past), abs=1e-9)
    assert shares[1, 1] > 0.7


# ---- counting ----


def taken_in(kind, n, k):
    """For each of n words, which words it has taken in after k steps; by passing sets around."""
    seen = [{i} if kind == "conv" else set() for i in range(n)]
    for step in range(k):
        if kind == "rnn" and step < n:
            seen[step] = {step} | (seen[step - 1] if step else set())
        if kind == "conv":
            seen = [seen[i] | (seen[i - 2**step] if i >= 2**step else set()) for i in range(n)]
        if kind == "attention":
            seen = [set(range(i + 1)) for i in range(n)]
    return seen


@pytest.mark.parametrize("n", [1, 2, 3, 14, 33])
def test_the_race_is_what_happens_when_words_pass_on_what_they_have(n):
    shares = rec.race(n)
    assert shares.shape == (n + 1, 3, n)
    for k in range(n + 1):
        for lane, kind in enumerate(rec.KINDS):
            if kind == "conv" and k == 0:
                assert (shares[0, lane] == 0).all()
                continue
            expected = [len(seen) / (i + 1) for i, seen in enumerate(taken_in(kind, n, k))]
            np.testing.assert_allclose(shares[k, lane], expected, rtol=1e-6)
    for lane, end in enumerate(rec.steps(n)):
        assert (shares[end, lane] == 1).all()
        assert (shares[end - 1, lane] < 1).any()


@pytest.mark.parametrize("distance", [1, 2, 3, 4, 10, 13, 64, 255])
def test_hops_are_the_least_that_brings_a_word_there(distance):
    belt, convolutions, direct = rec.hops(distance)
    assert (belt, direct) == (distance, 1)
    for layers in (convolutions, convolutions - 1):
        reached = {0}
        for layer in range(layers):
            reached |= {at + 2**layer for at in reached}
        assert (distance in reached) == (layers == convolutions)


@pytest.mark.parametrize("distance", [1, 2, 5, 10, 255])
def test_every_way_arrives_hop_by_hop(distance):
    for kind, count in zip(rec.KINDS, rec.hops(distance), strict=True):
        way = rec.way(kind, distance)
        assert len(way) == count + 1
        assert way[0] == (0, 0)
        assert way[-1][0] == distance
        for (x, layer), (to, above) in pairwise(way):
            if kind == "conv":
                assert above == layer + 1
                assert to - x in (0, 2**layer)
            else:
                assert to - x == (1 if kind == "rnn" else distance)


def multiplications(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2


@pytest.mark.parametrize(("n", "d"), [(1, 8), (2, 8), (14, 12), (33, 4)])
def test_work_is_what_torch_multiplies(n, d):
    x, square = torch.zeros(n, d), torch.zeros(d, d)
    taps = torch.zeros(d, d, 2)

    def belt():
        h = torch.zeros(1, d)
        for word in x:
            h = torch.tanh(word[None] @ square + h @ square)

    def convolutions():
        y = x.T[None]
        for layer in range(max(1, math.ceil(math.log2(n)))):
            y = F.conv1d(F.pad(y, (2**layer, 0)), taps, dilation=2**layer)
        assert y.shape == (1, d, n)

    def attention():
        q, k, v = x @ square, x @ square, x @ square
        ((q @ k.T).softmax(-1) @ v) @ square

    assert rec.work(n, d) == tuple(multiplications(run) for run in (belt, convolutions, attention))


@pytest.mark.parametrize("n", [1, 2, 14, 33])
def test_what_is_kept_is_what_the_next_word_needs(n):
    d = 6
    layers = max(1, math.ceil(math.log2(n)))
    queues = sum(torch.zeros(2**layer, d).numel() for layer in range(layers))
    assert rec.kept(n, d) == (d, queues, 2 * torch.zeros(n, d).numel())


def test_the_bill_grows_as_it_should():
    found, lengths_ = rec.bill(288), np.array(rec.LENGTHS)
    assert (lengths_[0], lengths_[-1]) == (1, 100_000)
    assert (np.diff(lengths_) > 0).all()
    assert len(lengths_) >= 43
    for measure, function in (("work", rec.work), ("kept", rec.kept)):
        np.testing.assert_array_equal(found[measure][:, 30], function(rec.LENGTHS[30], 288))
    np.testing.assert_array_equal(found["steps"][0], lengths_)
    np.testing.assert_array_equal(found["steps"][2], 1)
    np.testing.assert_array_equal(found["steps"][1], np.maximum(1, np.ceil(np.log2(lengths_))))
    rnn, _conv, attention = found["work"]
    assert rnn[-1] / rnn[-13] == pytest.approx(10, rel=0.01)
    assert attention[-1] / attention[-13] == pytest.approx(100, rel=0.1)
    n, d = 2 * 288, 288
    assert rec.work(n, d)[2] - 4 * n * d * d == 4 * n * d * d, "at n = 2d the pairs are half the work"


def test_words_enter_with_variance_one():
    text = sentence.exactly("Tom ran. The sun is hot.")
    rows, table = rec.words_of(text).numpy(), subject.model().embed.weight.detach().double().numpy()[list(text.ids)]
    assert (rows**2).mean() == pytest.approx(1)
    np.testing.assert_allclose(rows / rows[0, 0], table / table[0, 0], rtol=1e-9)


def test_a_memory_of_five_numbers_by_loops():
    """The net of width 5, drawn again by hand: its states word by word, and NumPy's best reader of the third word back."""
    generator = torch.Generator().manual_seed(1)
    x = rec.white(2999, generator).numpy()
    x = np.concatenate([x[-300:], x])
    into = torch.randn(48, generator=generator).double().numpy()[:5]
    turning = torch.linalg.qr(torch.randn(48, 48, 48, generator=generator).double())[0][4].numpy()[:5, :5]
    turning = 0.97 * turning / np.abs(np.linalg.eigvals(turning)).max()
    states, h = [], np.zeros(5)
    for one in x:
        h = np.tanh(0.02 * one * into + turning @ h)
        states.append(h)
    rows = np.array(states)[300:]
    rows = rows - rows.mean(0)
    shares = rec.recall(1)
    for lag in (0, 3, 8):
        past = x[300 - lag : len(x) - lag]
        past = past - past.mean()
        rest = past - rows @ np.linalg.lstsq(rows, past, rcond=None)[0]
        assert shares[4, lag] == pytest.approx(1 - rest @ rest / (past @ past), abs=1e-6)
    assert not np.allclose(rec.recall(), shares)


def test_white_numbers_have_every_frequency_alike():
    x = rec.white(999, torch.Generator().manual_seed(3)).numpy()
    strength = np.abs(np.fft.rfft(x))
    np.testing.assert_allclose(strength[1:], strength[1])
    assert strength[0] == pytest.approx(0, abs=1e-9)
    assert x.std() == pytest.approx((998 / 999 / 3) ** 0.5, rel=1e-3)


def test_influence_is_told_relative_to_the_last_word():
    found = rec._by_distance(torch.tensor([[0.02, 0.04, 0.1], [0.0, 0.0, 0.0]], dtype=torch.float64))
    np.testing.assert_allclose(found, [[1, 0.4, 0.2], [0, 0, 0]])


def test_what_words_add_is_a_fifth_of_what_they_are():
    words = rec.words_of(TEXT)
    u, square = rec.drive(words, 3, torch.Generator().manual_seed(0))
    assert u.shape == (3, 14, 24)
    assert float(u.std()) == pytest.approx(0.2, rel=0.1)
    weights = (0.2 * torch.randn(3, 24, 288, generator=torch.Generator().manual_seed(0)).double() / 288**0.5).numpy()
    np.testing.assert_allclose(u, np.einsum("gwd,td->gtw", weights, words), atol=1e-9)
    np.testing.assert_allclose(square[1, :, 2], weights[1] @ weights[2].T, atol=1e-9)


def test_probes_are_eight_unless_told_otherwise():
    """Random directions of the last state, drawn from seed 0, through autograd one by one."""
    model, found = subject.model(), rec.trained(SHORT)
    words = model.embed.weight.detach()[list(SHORT.ids)].clone().requires_grad_()
    turn, allowed = model.surroundings(5)
    stream = words
    for block in model.blocks:
        stream = block(stream, turn, allowed)
    last = model.norm(stream[-1])
    ways = torch.randn(8, 288, generator=torch.Generator().manual_seed(0))
    grads = [torch.autograd.grad((last * way).sum(), words, retain_graph=True)[0] for way in ways]
    wanted = torch.stack(grads).double().square().mean(0).sum(-1).sqrt()
    np.testing.assert_allclose(found, wanted, rtol=1e-3)


def test_lengths_and_first_steps():
    assert rec.layers(1) == rec.layers(2) == 1
    assert [rec.layers(n) for n in (3, 4, 5, 8, 9)] == [2, 2, 3, 3, 4]
    assert rec.hops(1) == (1, 1, 1)
    assert rec.way("conv", 5) == [(0, 0), (1, 1), (1, 2), (5, 3)]
    assert rec.Demo(TEXT, times=3).read.tokens == TEXT.tokens * 3
    assert not rec.race(3)[0].any()
