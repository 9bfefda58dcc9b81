"""Order and position against transformers, torch and arithmetic by hand; what is recorded is measured again."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings

from core import positions
from core.lab import subject, text
from core.make import place_losses
from core.make import places as make_places
from core.nets import places
from core.topics.position import place_losses as wo
from core.topics.position import schemes as po
from core.topics.position import shuffle as sh
from core.whatif import Change

READING = text.read(text.SENTENCE)
WORDS = text.of(READING)


# ---- sinusoids ----


@pytest.mark.parametrize(("n", "d"), [(5, 2), (40, 16), (128, 64)])
def test_sinusoids_are_those_of_xlm(n, d):
    wanted = torch.zeros(n, d)
    create_sinusoidal_embeddings(n, d, out=wanted)
    np.testing.assert_allclose(positions.sinusoids(n, d), wanted, atol=1e-6)
    np.testing.assert_allclose(po.table_by_numpy(n, d), wanted, atol=1e-6)


def by_hand(m, i, d, base):
    turn = m / base ** ((i - i % 2) / d)
    return math.cos(turn) if i % 2 else math.sin(turn)


@pytest.mark.parametrize(("first", "base"), [(0, 10_000.0), (7, 10_000.0), (100, 50.0)])
def test_sinusoids_by_hand(first, base):
    wanted = [[by_hand(m, i, 6, base) for i in range(6)] for m in range(first, first + 9)]
    np.testing.assert_allclose(positions.sinusoids(9, 6, base, first=first), wanted, atol=1e-12)


def test_an_odd_width_is_refused():
    with pytest.raises(ValueError, match="even"):
        positions.sinusoids(4, 5)


@pytest.mark.parametrize("stop", [0, 11, 28, 48])
def test_the_table_at_every_base(stop):
    wanted = [[by_hand(m, i, 8, po.BASES[stop]) for i in range(8)] for m in range(16)]
    np.testing.assert_allclose(po.tables(16, 8)[stop], wanted, atol=1e-12)
    assert po.BASES[28] == 10_000


def test_wavelengths_run_from_a_turn_to_almost_the_base_times_a_turn():
    found = po.wavelengths(64)
    assert found[0] == pytest.approx(2 * math.pi)
    assert found[-1] == pytest.approx(2 * math.pi * 10_000 ** (62 / 64))
    wave = [by_hand(m, 2 * 5, 16, 100.0) for m in range(400)]
    period = po.wavelengths(16, 100.0)[5]
    assert math.sin(3 * 2 * math.pi / period) == pytest.approx(wave[3])


@pytest.mark.parametrize(("d", "frame"), [(4, 0), (32, 30), (64, 48)])
def test_the_shortest_and_the_longest_wave_at_every_base(d, frame):
    waves = po.wavelengths(d, po.BASES[frame])
    np.testing.assert_allclose(po.longest_and_shortest(d)[frame], [waves[0], waves[-1]])


def test_dot_products_are_a_sum_of_cosines_of_the_distance():
    square = po.dots(12, 8)[9]
    speeds = [po.BASES[9] ** (-2 * i / 8) for i in range(4)]
    wanted = [[sum(math.cos(w * (m - n)) for w in speeds) for n in range(12)] for m in range(12)]
    np.testing.assert_allclose(square, wanted, atol=1e-12)
    assert po.uneven(square) < 1e-12
    assert po.uneven(np.arange(9.0).reshape(3, 3)) == 4, "this measure can see a difference"


@pytest.mark.parametrize("k", [0, 1, 7, 48])
def test_the_map_k_places_on_is_a_rotation_and_its_constant_is_zero(k):
    rows = po.table_by_numpy(5000, po.FEW)
    here, later = rows[:4000], rows[k : 4000 + k]
    found = po.offsets()
    np.testing.assert_allclose(here @ found.exact[k].T, later, atol=1e-10)
    np.testing.assert_allclose(found.exact[k] @ found.exact[k].T, np.eye(po.FEW), atol=1e-12)
    fitted, *_rest = np.linalg.lstsq(np.c_[here, np.ones(4000)], later, rcond=None)
    np.testing.assert_allclose(found.fitted[k], fitted.T, atol=1e-9)
    assert np.abs(found.fitted[k][:, -1]).max() < 1e-10
    assert found.misses[k] < 1e-10
    assert found.apart[k] < 1e-10


def test_the_module_keeps_its_table_in_a_buffer():
    module = po.PositionalEncoding(8, 20)
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    np.testing.assert_allclose(module(x), x.numpy() + po.table_by_numpy(5, 8), atol=1e-6)
    assert list(module.parameters()) == []
    assert list(module.state_dict()) == ["table"]
    assert module.table.shape == (1, 20, 8)


# ---- biases ----


@pytest.mark.parametrize("heads", [1, 2, 4, 6, 8, 12, 32, 112])
def test_slopes_and_bias_are_blooms(heads):
    theirs = build_alibi_tensor(torch.ones(1, 7), heads, torch.float32)[:, 0]  # (head, key): slope times place
    np.testing.assert_allclose(po.slopes(heads), theirs[:, 1], rtol=1e-6)
    bias = positions.alibi_bias(7, positions.alibi_slopes(heads))
    np.testing.assert_allclose(bias[:, 6].softmax(-1), theirs.double().softmax(-1), atol=1e-7)


@pytest.mark.parametrize("stop", [0, 20, 36, 54])
def test_ramps_by_hand(stop):
    ramp = po.ramps(5)[stop]
    for i, j in itertools.product(range(5), repeat=2):
        assert ramp[i, j] == (pytest.approx(-po.SLOPES[stop] * (i - j)) if j <= i else -math.inf)
    assert po.SLOPES[36] == 2**-3


def test_buckets_are_t5s():
    distances = tuple(range(300))
    theirs = T5Attention._relative_position_bucket(-torch.tensor(distances), False, 32, 128)
    assert list(po.t5_buckets(distances)) == theirs.tolist()
    assert po.t5_buckets((112, 113, 128, 1000)) == (30, 31, 31, 31)


# ---- schemes on one head ----


def parts(demo):
    model = subject.model()
    name = f"block{demo.layer}.norm1"
    x = subject.run(demo.text, subject.UNTOUCHED, (name,))[name].value
    w = slice(demo.head * 48, demo.head * 48 + 48)
    attn = model.blocks[demo.layer].attn
    return x.astype(np.float64), attn.q.weight[w].double().numpy(), attn.k.weight[w].double().numpy()


def wanted(demo, scheme, start):
    x, w_q, w_k = parts(demo)
    n = len(x)
    if demo.same:
        x = np.repeat(x[-1:], n, 0)
    if scheme == "sinusoidal":
        x = x + po.table_by_numpy(start + n, x.shape[1])[start:]
    if scheme == "learned":
        x = x + po.untrained_table(288).numpy()[start : start + n]
    q, k = torch.tensor(x @ w_q.T), torch.tensor(x @ w_k.T)
    if scheme == "rope":
        turn = np.outer(np.arange(start, start + n), 10_000.0 ** -(np.arange(0, 48, 2) / 48))
        cos, sin = (torch.tensor(np.concatenate([f(turn)] * 2, -1)) for f in (np.cos, np.sin))
        q, k = (t[0, 0] for t in apply_rotary_pos_emb(q[None, None], k[None, None], cos[None], sin[None]))
    found = (q @ k.T).numpy() / math.sqrt(48)
    if scheme == "alibi":
        found = found - po.slopes(6)[demo.head] * (np.arange(n)[:, None] - np.arange(n))
    return found


@pytest.mark.parametrize("scheme", po.SCHEMES)
@pytest.mark.parametrize(
    ("layer", "head", "start", "same"), [(5, 1, 0, False), (2, 0, 13, False), (0, 3, 48, False), (4, 4, 5, True)]
)
def test_every_scheme_gives_the_scores_of_a_head_worked_out_by_hand(scheme, layer, head, start, same):
    demo = po.Demo(WORDS, layer, head, start, same)
    scores = wanted(demo, scheme, start)
    found = po.moved(demo, scheme)
    low = np.tril_indices(len(scores))
    np.testing.assert_allclose(found.scores[start][low], scores[low], atol=1e-6)
    shares = F.softmax(torch.tensor(np.where(np.tri(len(scores)), scores, -np.inf)), -1).numpy()
    np.testing.assert_allclose(found.weights[start], shares, atol=1e-6)
    gone = np.abs(scores - wanted(demo, scheme, 0))[low].max()
    assert found.moved[start] == pytest.approx(gone, abs=1e-9)
    trace = po.run(demo)
    np.testing.assert_allclose(trace[f"{scheme}.weights"].value[0], shares, atol=1e-6)
    np.testing.assert_allclose(trace[f"{scheme}.scaled"].value[0], scores, atol=1e-6)


def test_rope_at_the_start_is_the_models_own():
    own = subject.run(WORDS, subject.UNTOUCHED, ("block5.weights",))["block5.weights"].value[1]
    np.testing.assert_allclose(po.moved(po.Demo(WORDS), "rope").weights[0], own, atol=1e-5)


def test_relative_schemes_stand_still_and_absolute_ones_move():
    moved = {scheme: po.moved(po.Demo(WORDS), scheme).moved for scheme in po.SCHEMES}
    assert max(moved[s].max() for s in ("none", "alibi", "rope")) < 1e-12
    assert min(moved[s][1:].min() for s in ("sinusoidal", "learned")) > 0.1


def test_one_word_repeated_shows_position_alone():
    demo = po.Demo(WORDS, same=True)
    none = po.moved(demo, "none").weights[0]
    np.testing.assert_allclose(none, np.tri(14) / np.arange(1, 15)[:, None], atol=1e-12)
    rope = po.moved(demo, "rope").scores[0]
    assert rope[5, 3] == pytest.approx(rope[13, 11])
    assert abs(rope[5, 3] - rope[5, 4]) > 1e-3


def test_a_long_text_is_cut_and_one_token_is_enough():
    long = text.read("The cat sat on the mat. " * 9)
    assert po.moved(po.Demo(text.of(long)), "learned").scores.shape == (49, 16, 16)
    assert len(po.untrained_table(288)) == po.STARTS[-1] + po.MOST
    one = po.moved(po.Demo(text.Text(text.FIRST, READING.ids[:1], READING.tokens[:1])), "sinusoidal")
    np.testing.assert_array_equal(one.weights, 1)


# ---- shuffled words ----


@pytest.mark.parametrize("n", [1, 2, 3, 5, 14, 24])
@pytest.mark.parametrize("seed", [0, 4])
def test_orders_are_permutations_that_change_by_neighbours(n, seed):
    found = sh.orders(n, seed)
    assert found.shape == (sh.FRAMES, n)
    assert found[0].tolist() == list(range(n))
    assert (np.sort(found, 1) == np.arange(n)).all()
    assert (found[:, 0] == 0).all()
    if n > 2:
        assert (found[1:] != found[:-1]).any(1).all(), "every frame is another picture"
    assert n < 4 or (sh.orders(n, seed) != sh.orders(n, seed + 1)).any()


@pytest.mark.parametrize("own", [(0, 2, 1), (0, 3, 1, 2, 5, 4), (0, *range(13, 0, -1)), (0,)])
def test_the_way_to_an_order_that_was_laid_ends_there(own):
    found = sh.orders(len(own), 3, own)
    assert found.shape == (sh.FRAMES, len(own))
    assert found[0].tolist() == list(range(len(own)))
    assert found[-1].tolist() == list(own)
    turned = [sh.out_of_order(order) for order in found]
    assert turned == sorted(turned), "no pair is turned round and back"


def test_a_laid_order_is_run_as_it_lies():
    own = (0, 2, 1, *range(3, 14))
    last = sh.shuffled(sh.Demo(WORDS, True, True, own=own))
    ids = tuple(READING.ids[i] for i in own)
    wanted = subject.outlook(text.Text(text.FIRST, ids, READING.tokens)).words[0]
    assert last.best[-1].id == wanted.id
    assert last.best[-1].p == pytest.approx(wanted.p, abs=1e-4)


def test_pairs_are_counted():
    rng = np.random.default_rng(2)
    for order in [np.arange(5), np.arange(5)[::-1], rng.permutation(9)]:
        assert sh.out_of_order(order) == sum(a > b for a, b in itertools.combinations(order, 2))


@pytest.mark.parametrize("rotation", [True, False])
@pytest.mark.parametrize("mask", [True, False])
def test_every_order_is_the_model_run_on_that_order(rotation, mask):
    found = sh.shuffled(sh.Demo(WORDS, rotation, mask, 3))

    def alone(order):
        ids = tuple(READING.ids[i] for i in order)
        return subject.run(
            text.Text(text.FIRST, ids, tuple(map(str, order))),
            Change(rotation=rotation, mask=mask),
            ("block5.resid_post", "next_probs"),
        )

    weight = subject.model().norm.weight.detach().numpy()

    def normed(x):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + subject.model().config.norm_eps) * weight

    first = normed(alone(range(14))["block5.resid_post"].value)
    for stop in (0, 1, 30, 48):
        order = found.places[stop]
        trace = alone(order)
        output = normed(trace["block5.resid_post"].value)
        np.testing.assert_allclose(found.outputs[stop], output[:, ::9], atol=2e-3)
        lengths_ = np.linalg.norm(output - first[order], axis=1) / np.linalg.norm(first[order], axis=1)
        np.testing.assert_allclose(found.changed[stop], lengths_, rtol=1e-2, atol=1e-5)
        assert found.errors[stop] == pytest.approx(lengths_.max(), rel=1e-2, abs=1e-5)
        probs = trace["next_probs"].value
        assert found.best[stop].id == probs.argmax()
        assert found.best[stop].p == pytest.approx(probs.max(), abs=1e-4)
    blind = not rotation and not mask
    assert (found.errors.max() < 1e-5) == blind
    assert (found.errors[-1] > 0.05) != blind


def test_the_law_by_hand():
    x = subject.run(WORDS, subject.UNTOUCHED, ("block0.norm1",))["block0.norm1"].value.astype(np.float64)
    attn = subject.model().blocks[0].attn
    q, k, v = (torch.tensor(x) @ w.weight[:48].double().T for w in (attn.q, attn.k, attn.v))

    def reads(order, causal=False):
        rows = [t[list(order)][None] for t in (q, k, v)]
        return F.scaled_dot_product_attention(*rows, is_causal=causal)[0].detach().numpy()

    back = list(range(14))[::-1]
    law = sh.law(sh.Demo(WORDS))
    assert law.carried < 1e-13
    assert law.pooled < 1e-13
    assert law.unmoved == pytest.approx(np.abs(reads(back) - reads(range(14))).max())
    assert law.masked == pytest.approx(np.abs(reads(back, True) - reads(range(14), True)[back]).max())


# ---- what is recorded ----


def test_story_losses_are_those_of_the_model():
    for rotation, mask in ((False, True), (True, False)):
        assert wo.story_loss(rotation, mask) == pytest.approx(
            subject.story_loss(Change(rotation=rotation, mask=mask)), abs=1e-4
        )
    assert wo.story_loss(False, True) > wo.story_loss(True, True) + 1


@pytest.mark.long
@pytest.mark.parametrize("name", wo.CHANGES)
def test_losses_by_place_are_those_of_the_model(name):
    ids = place_losses.long_ids()
    assert len(ids) == wo.stories()
    row = wo.by_place()[list(wo.CHANGES).index(name)]
    assert row.shape == (wo.READ - 1,)
    np.testing.assert_allclose(place_losses.measured(wo.CHANGES[name], ids), row, atol=5e-3)


def test_the_model_fails_past_its_context_and_a_window_saves_it():
    plain, still, window = wo.by_place()
    assert plain[400:].mean() > 2 * plain[128:256].mean()
    assert window[400:].mean() < 1.3 * window[128:256].mean()
    assert still[128:256].mean() > 2 * plain[128:256].mean()
    np.testing.assert_allclose(window[:200], plain[:200], atol=1e-4)


def test_smoothing_is_a_mean_of_what_is_there():
    rows = np.array([[1.0, 2, 6, 4, np.nan]])
    np.testing.assert_allclose(wo.smooth(rows, 3, 4), [[1.5, 3, 4, 5, np.nan]])
    np.testing.assert_allclose(wo.smooth(rows, 3, 2), [[1.5, 1.5, 5, 5, np.nan]])


@pytest.mark.parametrize("scheme", places.SCHEMES)
def test_losses_of_the_tiny_models_are_measured_again(scheme):
    recorded = places.by_place()[places.SCHEMES.index(scheme)]
    np.testing.assert_allclose(places.measured(scheme), recorded, atol=5e-3)
    reach = places.TRAINED if scheme == "learned" else places.READ
    assert np.isfinite(recorded).sum() == reach


@pytest.mark.parametrize("scheme", ["none", "sinusoidal", "learned", "alibi"])
def test_a_tiny_model_by_hand(scheme):
    """The blocks run one by one: places go where the scheme says, and nowhere else."""
    rows = torch.randint(0, 50, (2, 20), generator=torch.Generator().manual_seed(0))
    model, table = places.model(scheme)
    x = model.embed.weight[rows[:, :-1]]
    added = {
        "sinusoidal": torch.tensor(po.table_by_numpy(19, 64)).float(),
        "learned": None if table is None else table[:19],
    }
    x = x if added.get(scheme) is None else x + added[scheme]
    for block in model.blocks:
        q, k, v = (
            f(block.norm1(x)).unflatten(-1, (4, 16)).transpose(1, 2) for f in (block.attn.q, block.attn.k, block.attn.v)
        )
        back = torch.arange(19)[:, None] - torch.arange(19)
        ramp = (
            torch.tensor([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8])[:, None, None] * back
            if scheme == "alibi"
            else 0.0 * back
        )
        mask = torch.where(back >= 0, -ramp, -torch.inf)
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = block.finish(x + block.attn.o(z.transpose(1, 2).flatten(-2)))
    wanted_losses = F.cross_entropy(model.read_out(x).flatten(0, 1), rows[:, 1:].flatten(), reduction="none")
    found = places.losses(model, scheme, rows, table)
    np.testing.assert_allclose(found.flatten().detach(), wanted_losses.detach(), atol=1e-4)


def test_an_odd_width_has_no_room_for_its_cosines():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(5, 7)[:, 1::2] = torch.zeros(5, 4)
    assert po.odd_width() == str(caught.value)


def test_a_learned_table_ends():
    model, table = places.model("learned")
    assert table.shape == (places.TRAINED, places.CONFIG.d_model)
    with pytest.raises(IndexError):
        places.losses(model, "learned", torch.zeros(1, places.TRAINED + 2, dtype=torch.long), table)
    with pytest.raises(IndexError) as caught:
        table[places.TRAINED]
    assert places.ask(places.TRAINED) == str(caught.value), "torch's own words"
    np.testing.assert_array_equal(places.ask(3), table[3])
    np.testing.assert_allclose(places.alike()[4, 9], F.cosine_similarity(table[4], table[9], dim=0), atol=1e-6)


def test_training_learns_and_is_the_same_every_time():
    letters = make_places.spelled("The cat sat on the mat. " * 40)
    one, again = (make_places.train("alibi", letters, steps=12) for _ in range(2))
    assert one[2] == again[2] < math.log(len(places.LETTERS))
    assert make_places.spelled("a\n é b").tolist() == [1, 0, 0, 2]


# ---- by hand ----


@pytest.mark.parametrize(("buckets", "longest"), [(8, 20), (32, 128), (16, 300)])
def test_buckets_of_other_sizes_are_t5s(buckets, longest):
    distances = tuple(range(400))
    theirs = T5Attention._relative_position_bucket(-torch.tensor(distances), False, buckets, longest)
    assert list(po.t5_buckets(distances, buckets, longest)) == theirs.tolist()


def test_sizes_of_tables():
    assert po.PositionalEncoding(4).table.shape == (1, 5000, 4)
    table = po.untrained_table(600).numpy()
    assert table.shape == (64, 600)
    assert (table**2).mean() == pytest.approx(0.5, rel=0.03), "as large as sines and cosines"
    assert abs(table.mean()) < 0.02
    np.testing.assert_array_equal(po.untrained_table(8), po.untrained_table(8, 0))
    assert not np.allclose(po.untrained_table(8), po.untrained_table(8, 1))
    assert po.ROWS == 64
    assert po.offsets().exact.shape == (49, 8, 8)
    assert po.offsets(4).fitted.shape == (49, 4, 5)
    np.testing.assert_allclose(po.offset_map(3), po.offset_map(3, 8, 10_000.0))
    assert po.wavelengths(8) == po.wavelengths(8, 10_000.0)
    assert po.uneven(np.ones((1, 1))) == 0


@pytest.mark.parametrize("scheme", po.SCHEMES)
def test_a_trace_holds_each_scheme_at_the_text_s_start(scheme):
    demo = po.Demo(WORDS, 2, 3, 7)
    trace = po.run(demo)
    scores = wanted(demo, scheme, 7)
    np.testing.assert_allclose(trace[f"{scheme}.scaled"].value[0], scores, atol=1e-4)
    masked = np.where(np.tri(14, dtype=bool), scores, -np.inf)
    powers = np.exp(masked - masked.max(1, keepdims=True))
    np.testing.assert_allclose(trace[f"{scheme}.weights"].value[0], powers / powers.sum(1, keepdims=True), atol=1e-4)
    np.testing.assert_array_equal(trace[f"{scheme}.allowed"].value, np.tri(14, dtype=bool))
    assert trace.labels["query"] == list(WORDS.tokens)
    assert po.slope_of(3, 6) == pytest.approx(po.slopes(6)[3])


def test_names_of_what_is_read():
    long = text.of(text.read("The cat sat on the mat. " * 9))
    assert po.Demo(long).names == long.tokens[:16]
    assert po.Demo(long, same=True).names == (long.tokens[15],) * 16


def test_a_model_with_places_of_its_own_has_no_other_scheme(pair):
    with pytest.raises(text.Cannot, match="no scheme can stand in its place"):
        po.moved(po.Demo(text.exactly("the dog", str(pair("gpt2").folder)), 0, 0), "rope")


def test_moved_is_how_far_any_score_went():
    demo = po.Demo(WORDS, 2, 0)
    found = po.moved(demo, "sinusoidal")
    seen = np.tri(14, dtype=bool)
    for frame in (0, 5, 48):
        gap = np.abs(wanted(demo, "sinusoidal", frame) - wanted(demo, "sinusoidal", 0))[seen].max()
        assert found.moved[frame] == pytest.approx(gap, abs=1e-6)
    assert np.isneginf(found.scores[3][~seen]).all()


def test_of_every_output_32_numbers_are_shown():
    found = sh.shuffled(sh.Demo(WORDS, True, True))
    assert found.outputs.shape == (49, 14, 32)
    assert found.pairs[0] == 0
    assert found.pairs == tuple(sh.out_of_order(row) for row in found.places)
    assert len(found.best) == 49
    long = text.of(text.read("The cat sat on the mat. " * 9))
    assert sh.shuffled(sh.Demo(long)).places.shape == (49, 24)
