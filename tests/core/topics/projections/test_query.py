"""Queries, keys and values of the embedded model, and the turned query, against Hugging Face transformers and NumPy."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from core.lab import head as onehead
from core.lab import text as sentence
from core.topics.projections import product
from core.topics.projections import query as pj

READING = sentence.read(sentence.SENTENCE)
OTHER = sentence.read("The dog saw the cat. The cat ran to the dog")
DEMO = pj.Demo(sentence.of(READING))
MOVED = pj.Demo(sentence.of(OTHER), 2, 3)
BOTH = pytest.mark.parametrize("demo", [DEMO, MOVED], ids=["first", "moved"])


def watched(model, demo):
    """What enters the block's projections, and what leaves q_proj, k_proj and v_proj, for the demo's head."""
    seen = {}
    attention = model.model.layers[demo.layer].self_attn
    width, group = model.config.hidden_size // model.config.num_attention_heads, model.config.num_key_value_heads
    shared = demo.head // (model.config.num_attention_heads // group)

    def keep(name, head):
        def hook(_, given, made):
            seen["x"] = given[0][0]
            seen[name] = made[0, :, head * width : (head + 1) * width]

        return hook

    places = {"q": demo.head, "k": shared, "v": shared}
    hooks = [getattr(attention, f"{n}_proj").register_forward_hook(keep(n, h)) for n, h in places.items()]
    with torch.inference_mode():
        out = model(torch.tensor([demo.text.ids]), output_hidden_states=True)
        cos, sin = model.model.rotary_emb(out.hidden_states[0], torch.arange(len(demo.text.ids))[None])
        q, k = apply_rotary_pos_emb(seen["q"][None, None], seen["k"][None, None], cos, sin)
    for hook in hooks:
        hook.remove()
    return seen | {"q_rot": q[0, 0], "k_rot": k[0, 0], "cos": cos, "sin": sin, "embed": out.hidden_states[0][0]}


@BOTH
@pytest.mark.parametrize("which", pj.MAPS)
def test_a_product_is_what_the_projection_of_transformers_makes(theirs, demo, which):
    seen, made = watched(theirs, demo), product.product(demo, which)
    np.testing.assert_allclose(made.x, seen["x"], atol=1e-4)
    np.testing.assert_allclose(made.y, seen[which], atol=1e-4)
    np.testing.assert_allclose(made.x @ made.w, seen[which], atol=1e-4)
    assert (made.steps[0], made.steps[-1]) == (0, len(made.w))
    for frame in (0, 7, len(made.steps) - 1):
        done = made.steps[frame]
        np.testing.assert_allclose(made.partial[frame], made.x[:, :done] @ made.w[:done], atol=1e-4)


@pytest.mark.parametrize(("n", "parts"), [(64, 48), (65, 12)])
def test_a_long_text_s_product_has_fewer_stops(n, parts):
    """288 rows in steps of 6, or of 24."""
    ids = (READING.ids * 6)[:n]
    found = product.product(replace(DEMO, text=sentence.Text(sentence.FIRST, ids, tuple("x" * n))), "k")
    assert list(found.steps) == list(range(0, 289, 288 // parts))


def test_a_product_written_out_ends_in_its_number():
    made = product.product(MOVED, "k")
    written = made.made(4, 9, "K")
    assert written.value == pytest.approx(float(made.y[4, 9]), abs=1e-4)
    np.testing.assert_allclose(written.rows[2][1], made.x[4] * made.w[:, 9], rtol=1e-5)
    assert "K_{4,9}" in written.lines[0]


def test_other_matrices_are_refused():
    with pytest.raises(ValueError, match="'o' is none"):
        product.weight(DEMO, "o")


def test_the_small_product_by_hand():
    made = product.small()
    np.testing.assert_array_equal(made.y, [[0, 1, 5], [7, -1, 0]])
    np.testing.assert_array_equal(made.partial[:, 0, 2], [0, 2, 4, 4, 5])


@BOTH
def test_the_first_coordinate_is_the_score(theirs, demo):
    seen, turn = watched(theirs, demo), pj.turn(demo)
    q, k = (seen[n].numpy().astype(float) for n in ("q_rot", "k_rot"))
    np.testing.assert_allclose(turn.keys[:, 0] * turn.length, k @ q[-1], atol=1e-3)
    assert turn.length == pytest.approx(np.linalg.norm(q[-1]), rel=1e-4)
    scaled = k @ q[-1] / math.sqrt(q.shape[1])
    np.testing.assert_allclose(turn.shares[0], np.exp(scaled) / np.exp(scaled).sum(), atol=1e-4)


@BOTH
@pytest.mark.parametrize("frame", [0, 17, 60, 100, 120])
def test_at_every_angle_the_picture_is_the_arithmetic(theirs, demo, frame):
    turn, k = pj.turn(demo), watched(theirs, demo)["k_rot"].numpy().astype(float)
    angle = math.radians(pj.ANGLES[frame])
    ahead = np.array([math.cos(angle), math.sin(angle)])
    np.testing.assert_allclose(turn.query[frame], turn.length * ahead, atol=1e-4)
    np.testing.assert_allclose(turn.scores[frame], k @ turn.vectors[frame], atol=2e-3)
    np.testing.assert_allclose(turn.scores[frame], turn.keys @ turn.query[frame], atol=2e-3)
    assert np.linalg.norm(turn.vectors[frame]) == pytest.approx(turn.length, rel=1e-5)
    np.testing.assert_allclose((turn.keys - turn.feet[frame]) @ ahead, 0, atol=1e-4)
    assert turn.shares[frame].sum() == pytest.approx(1, abs=1e-5)


def test_the_second_axis_is_where_keys_differ_most():
    turn = pj.turn(DEMO)
    head = onehead.head_of(onehead.Demo(sentence.of(READING), 4, 4))
    k, q = np.array(head.k, float), np.array(head.q[-1], float)
    one = q / np.linalg.norm(q)
    across = k - np.outer(k @ one, one)
    across -= across.mean(0)
    spread, directions = np.linalg.eigh(across.T @ across)
    assert turn.kept == pytest.approx(spread[-1] / spread.sum(), rel=1e-3)
    along = np.abs(np.corrcoef(turn.keys[:, 1], k @ directions[:, -1])[0, 1])
    assert along == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("frame", [0, 55, 104])
@BOTH
def test_the_next_word_is_what_transformers_writes_with_that_query(theirs, demo, frame):
    seen, turn, after = watched(theirs, demo), pj.turn(demo), pj.onward(demo)
    turned = torch.from_numpy(np.array(turn.vectors[frame]))[None, None, None]
    cos, sin = seen["cos"][:, -1:], seen["sin"][:, -1:]
    unturned, _ = apply_rotary_pos_emb(turned, turned, cos, -sin)  # position will turn it again
    width = turned.shape[-1]

    def ask(_, given, made):
        made = made.clone()
        made[0, -1, demo.head * width : (demo.head + 1) * width] = unturned[0, 0, 0]
        return made

    hook = theirs.model.layers[demo.layer].self_attn.q_proj.register_forward_hook(ask)
    with torch.inference_mode():
        seen = theirs(torch.tensor([demo.text.ids]), output_attentions=True)
    hook.remove()
    probs = seen.logits[0, -1].softmax(-1).numpy()
    np.testing.assert_allclose(after.p[frame], probs[[w.id for w in after.words]], atol=1e-3)
    above = [layer[0, :, -1].numpy() for layer in seen.attentions[demo.layer + 1 :]]
    assert len(above) == len(after.later)
    for ours, layer in zip(after.later, above, strict=True):
        np.testing.assert_allclose(ours[frame], layer, atol=1e-3)


def test_the_smallest_turn_to_another_word():
    turn, after, other = pj.turn(DEMO), pj.onward(DEMO), pj.flip(DEMO)
    first = [after.words[i].token for i in after.p.argmax(1)]
    apart = [min(a, 360 - a) for a, word in zip(pj.ANGLES, first, strict=True) if word != first[0]]
    assert min(other.angle, 360 - other.angle) == min(apart)
    frame = pj.ANGLES.index(other.angle)
    assert other.word == first[frame]
    assert other.key == np.argmax(turn.shares[frame])
    assert (other.word, READING.tokens[other.key]) == ("Sam", "Amy")


def test_the_head_above_that_hears_of_the_turn():
    later, frame = pj.onward(DEMO).later, pj.ANGLES.index(pj.flip(DEMO).angle)
    found = pj.heard(DEMO, frame)
    assert (found.layer, found.head, READING.tokens[found.token]) == (5, 1, "Amy"), "the head that reads the receiver"
    fallen = later[0, 0].max(-1) - later[0, frame][np.arange(6), later[0, 0].argmax(-1)]
    assert found.head == fallen.argmax()
    assert found.before - found.after == pytest.approx(fallen.max(), abs=1e-6)
    assert pj.heard(pj.Demo(DEMO.text, 5, 1), 30) is None, "nobody is above the last block"


def test_names_tell_repeated_tokens_apart():
    assert sentence.names(("a", "b", "a", ".")) == ["a 1", "b", "a 2", "."]


@BOTH
def test_one_embedding_two_keys(theirs, demo):
    seen, found = watched(theirs, demo), pj.pair(demo)

    def cosine(x):
        a, b = x[found.first].numpy(), x[found.second].numpy()
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    assert demo.text.ids[found.first] == demo.text.ids[found.second]
    assert found.embed == pytest.approx(1)
    told = (found.embed, found.stream, found.key, found.turned)
    assert told == pytest.approx([cosine(seen[n]) for n in ("embed", "x", "k", "k_rot")], abs=1e-4)
    scores = (seen["k_rot"] @ seen["q_rot"][-1]).numpy()
    scaled = np.exp(scores / math.sqrt(seen["q"].shape[1]))
    places = [found.first, found.second]
    assert found.weights == pytest.approx(scaled[places] / scaled.sum(), abs=1e-4)
    assert found.key < 0.999


def test_before_the_first_block_the_keys_are_still_one():
    found = pj.pair(pj.Demo(sentence.of(READING), 0, 1))
    assert (found.stream, found.key) == (pytest.approx(1), pytest.approx(1))
    assert found.turned < 0.9999


def test_a_match_is_not_a_likeness(theirs):
    seen, found = watched(theirs, DEMO), pj.alike(DEMO)
    x = seen["embed"].numpy()
    cosine = x @ x[-1] / np.linalg.norm(x, axis=1) / np.linalg.norm(x[-1])
    assert found.token == np.argmax(cosine[:-1])
    assert found.cosine == pytest.approx(cosine[:-1].max(), abs=1e-5)
    assert found.asked_cosine == pytest.approx(cosine[found.asked], abs=1e-5)
    assert found.asked_weight > 0.9 > 0.1 > found.weight


@pytest.mark.parametrize("which", pj.MAPS)
def test_one_weight_moves_one_number_of_every_token(which):
    made, real = product.nudged(MOVED, which), product.product(MOVED, which)
    row, column = made.place
    assert made.real == pytest.approx(real.w[row, column])
    for frame in (0, made.at, len(made.stops) - 1):
        w = real.w.copy()
        w[row, column] = made.stops[frame]
        np.testing.assert_allclose(made.points[frame], (real.x @ w)[:, [column, made.other]], atol=2e-3)
    assert len(made.stops) >= 43


def test_a_linear_layer_minds_one_token_and_a_head_minds_the_earlier(theirs):
    made, seen = product.alone(MOVED), watched(theirs, MOVED)
    x, n = seen["x"], len(MOVED.text.ids)
    layer = theirs.model.layers[MOVED.layer]
    cos, sin = seen["cos"], seen["sin"]
    width = seen["q"].shape[1]

    def head(x):
        with torch.inference_mode():
            z = []
            layer.self_attn.o_proj.register_forward_hook(lambda _, given, out: z.append(given[0]))
            mask = torch.full((n, n), -math.inf).triu(1)[None, None]
            layer.self_attn(x[None], position_embeddings=(cos, sin), attention_mask=mask)
            layer.self_attn.o_proj._forward_hooks.clear()
        return z[0][0, :, MOVED.head * width : (MOVED.head + 1) * width]

    calm = head(x)
    for changed in (0, 5, n - 1):
        one = x.clone()
        one[changed] = 0
        moved = (head(one) - calm).norm(dim=-1)
        np.testing.assert_allclose(made.mixed[changed], moved, atol=1e-3)
        assert (made.mixed[changed, :changed] < 1e-5).all()
    np.testing.assert_allclose(np.diag(made.linear), seen["q"].norm(dim=-1), atol=1e-3)
    assert made.linear[~np.eye(n, dtype=bool)].max() == 0


@pytest.mark.parametrize("which", pj.MAPS)
def test_the_spectrum_of_a_real_matrix(which):
    made, real = product.spectrum(MOVED, which), product.product(MOVED, which)
    np.testing.assert_allclose(made.values, np.linalg.svd(real.w, compute_uv=False), rtol=1e-4)
    assert made.lost == len(real.w) - np.linalg.matrix_rank(real.w)
    seen = real.x @ real.w @ np.linalg.pinv(real.w)  # the part that survives
    assert made.kept == pytest.approx((seen**2).sum() / (real.x**2).sum(), rel=1e-3)


def test_two_layers_without_a_bend_are_one():
    assert product.collapsed(DEMO) < 1e-4


def test_the_download_holds_what_multiplies_to_what_it_holds():
    arrays = product.arrays(MOVED)
    for which in pj.MAPS:
        np.testing.assert_allclose(arrays["x"] @ arrays[f"w_{which}"], arrays[which], atol=1e-4)
    scores = arrays["q_rot"] @ arrays["k_rot"].T
    seen = np.tril(np.ones_like(scores, dtype=bool))
    np.testing.assert_allclose(arrays["scores"][seen], scores[seen], atol=1e-3)


@pytest.mark.parametrize("text", ["a", "你好，世界 🙂", "word " * 300])
def test_any_text_can_be_asked(text):
    reading = sentence.read(text)
    demo = pj.Demo(sentence.of(reading), 5, 0)
    turn, after = pj.turn(demo), pj.onward(demo)
    assert np.isfinite(turn.scores).all()
    assert np.isfinite(after.p).all()
    pj.flip(demo), pj.pair(demo), pj.alike(demo)


def test_a_text_of_one_token_has_no_pair_and_nothing_alike():
    demo = pj.Demo(sentence.Text(sentence.FIRST, READING.ids[:1], READING.tokens[:1]))
    assert (pj.pair(demo), pj.alike(demo)) == (None, None)
    np.testing.assert_allclose(pj.turn(demo).shares, 1)


# ---- by hand: axes, turns and later heads that no sentence happens to have ----


def test_axes_of_keys_that_hardly_differ():
    """Thousandths apart across the query: the second axis is still theirs, and its share is counted."""
    q = torch.tensor([3.0, 4.0, 0.0, 0.0], dtype=torch.float64)
    k = torch.tensor([[0, 0, 3e-3, 0], [0, 0, -3e-3, 0], [0, 0, 0, 1e-3], [0, 0, 0, -1e-3]], dtype=torch.float64)
    one, two, kept = pj.axes(q, k)
    assert one.tolist() == pytest.approx([0.6, 0.8, 0, 0])
    assert two.abs().tolist() == pytest.approx([0, 0, 1, 0], abs=1e-9)
    assert kept == pytest.approx(9 / 10)


def test_of_one_axis_the_farthest_key_is_above():
    q = torch.tensor([1.0, 0.0], dtype=torch.float64)
    for far in (2.0, -2.0):
        two = pj.axes(q, torch.tensor([[5.0, far], [0.0, -far / 4]], dtype=torch.float64))[1]
        assert two.tolist() == pytest.approx([0, far / 2], abs=1e-9)


@pytest.mark.parametrize("k", [[[0.0, 0.0, 0.0]] * 3, [[1.0, 2.0, 3.0]] * 3, [[6.0, 2.0, 1.0]]])
def test_keys_that_do_not_differ_still_get_a_plane(k):
    q = torch.tensor([0.1, 2.0, 1.0], dtype=torch.float64)
    one, two, kept = pj.axes(q, torch.tensor(k, dtype=torch.float64))
    assert kept == pytest.approx(0, abs=1e-9)
    assert float(two.norm()) == pytest.approx(1)
    assert float(one @ two) == pytest.approx(0, abs=1e-9)


def made_up(monkeypatch, shares, after):
    monkeypatch.setattr(pj, "kept", lambda run, demo: after if run is pj.onward else shares)


def onward(p, later):
    words = tuple(sentence.Word(i, f"w{i}", 0.1) for i in range(np.shape(p)[1]))
    return pj.Onward(words, np.array(p), np.array(later))


def test_a_turn_to_the_right_may_be_the_smaller_one(monkeypatch):
    """Another word at 30, 31, ... steps one way, and one step the other way; the key that is asked for there."""
    p = np.tile([0.7, 0.2, 0.1], (121, 1))
    p[30:60], p[119] = [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]
    shares = np.zeros((121, 4))
    shares[:, 0], shares[119, 2] = 0.4, 0.9
    made_up(monkeypatch, replace(pj.turn(DEMO), shares=shares), onward(p, np.zeros((0, 121, 2, 4))))
    assert pj.flip(DEMO) == pj.Flip(357, 2, "w2", 0.6)
    made_up(monkeypatch, replace(pj.turn(DEMO), shares=shares), onward(p[:1].repeat(121, 0), np.zeros((0, 121, 2, 4))))
    assert pj.flip(DEMO) is None, "the head decides nothing"


def test_the_head_that_hears_most_is_the_one_whose_first_choice_falls_most(monkeypatch):
    """Two blocks of two heads over three keys. Frame 1 must not matter where frame 2 is asked."""
    later = np.zeros((2, 3, 2, 3))
    later[:, 0] = [[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.6, 0.2, 0.2], [0.2, 0.1, 0.7]]]
    later[:, 1] = [[[0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], [[0.0, 0.5, 0.5], [0.9, 0.1, 0.0]]]
    later[:, 2] = [[[0.4, 0.4, 0.2], [0.2, 0.5, 0.3]], [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3]]]
    made_up(monkeypatch, None, onward(np.ones((3, 1)), later))
    found = pj.heard(replace(DEMO, layer=3), 2)
    assert found == pj.Heard(5, 1, 2, 0.7, 0.3)


def test_what_follows_is_told_likeliest_first_and_above_the_last_block_is_nothing():
    found = pj.onward(DEMO)
    assert len(found.words) == 6 == found.p.shape[1]
    assert [w.p for w in found.words] == sorted((w.p for w in found.words), reverse=True)
    np.testing.assert_allclose(found.p[0], [w.p for w in found.words], atol=1e-4)
    assert found.later.shape == (1, 121, 6, 14)
    assert pj.onward(replace(DEMO, layer=5)).later.shape == (0, 121, 6, 14)


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("Tom saw a ball. Tom saw a ball. Tom saw a ball.", "ball"),
        ("Tom met Sam. Tom met Sam.", "Tom"),
        ("Sam ran. Amy sat.", None),
    ],
)
def test_the_longest_word_that_stands_twice_is_compared(words, places):
    """At its first two places; a full stop is no word."""
    text = sentence.exactly(words)
    found = pj.pair(pj.Demo(text))
    if places is None:
        assert found is None
        return
    assert found.token == places
    assert [found.first, found.second] == [i for i, token in enumerate(text.tokens) if token == places][:2]


def test_scores_and_weights_of_a_pair_are_the_recorded_ones():
    found, trace = pj.pair(DEMO), pj.subject.untouched(DEMO.text)
    for told, name in ((found.scores, "scores"), (found.weights, "weights")):
        row = trace[f"block{DEMO.layer}.{name}"].value[DEMO.head, -1]
        assert told == pytest.approx([row[found.first], row[found.second]])
    assert found.met == found.turned
    assert replace(found, turned=None).met == found.key


def test_a_match_is_told_with_its_own_numbers():
    found = pj.alike(MOVED)
    weights = pj.subject.untouched(MOVED.text)[f"block{MOVED.layer}.weights"].value[MOVED.head, -1]
    assert found.asked == weights.argmax()
    assert (found.asked_weight, found.weight) == pytest.approx((weights.max(), weights[found.token]))
    assert MOVED.text.ids[found.token] != MOVED.text.ids[-1]


# ---- the product, by hand ----


def test_a_bias_is_one_more_product():
    x, w, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]]), torch.tensor([0.5, -9.0])
    made = product.multiplied(x, w, b=b)
    np.testing.assert_allclose(made.y, x.numpy() @ w.numpy() + b.numpy())
    np.testing.assert_allclose(made.partial[0], b.expand(2, 2))
    written = made.made(1, 1, "V")
    assert written.value == pytest.approx(3 * 6 + 4 * 8 - 9)
    assert written.rows[2][1].tolist() == [18, 32, -9]
    assert r"b_{1}" in written.lines[0]
    assert product.multiplied(torch.ones(1, 100), torch.ones(100, 1)).steps == tuple(
        sorted({round(i * 100 / 48) for i in range(49)})
    )


@pytest.mark.parametrize("which", pj.MAPS)
def test_the_weight_that_is_nudged_has_most_behind_it(which):
    made, real = product.nudged(DEMO, which), product.product(DEMO, which)
    assert made.place[0] == np.abs(real.x).mean(0).argmax()
    spread = real.y.std(0)
    assert [made.place[1], made.other] == np.argsort(-spread)[:2].tolist()
    assert made.stops[made.at] == pytest.approx(made.real, abs=5.1e-5)
    others = [stop for i, stop in enumerate(made.stops) if i != made.at]
    np.testing.assert_array_equal(others, [s for s in np.linspace(-0.5, 0.5, 65).round(4) if s != made.stops[made.at]])


def test_the_download_names_all_it_holds():
    held = product.arrays(DEMO)
    assert set(held) == {"x", *(f"w_{m}" for m in pj.MAPS), *pj.MAPS, "q_rot", "k_rot", "scores", "weights"}
    np.testing.assert_allclose(held["weights"].sum(1), 1, atol=1e-5)


def test_of_a_long_text_forty_tokens_are_changed_in_turn():
    text = sentence.exactly("One day the dog ran to the park. " * 8)
    assert product.alone(pj.Demo(text)).mixed.shape == (40, 40)
