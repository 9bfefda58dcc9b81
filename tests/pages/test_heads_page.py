"""Many heads: what the page shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import head as onehead
from core.lab import subject
from core.lab import text as sentence
from core.nets import neighbours
from core.topics.heads import fewer_keys, volume
from tests.pages.opening import address, come_back, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
TEXT = sentence.of(READING)
OTHER = "Tom was very thirsty. He wanted to"
PAGE = "08_heads"


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        ({}, volume.Demo(sentence.of(READING))),
        (
            {"loud": "4,3", "words": OTHER, "volume": "0"},
            volume.Demo(sentence.of(sentence.read(OTHER)), 4, 3),
        ),
    ],
)
def test_the_heads_of_the_model_at_every_volume(query, demo):
    app = open_page(PAGE, **query)
    meta, arrays = picture(app, "views")
    found = volume.turned(demo)
    np.testing.assert_allclose(arrays["values"].reshape(found.views.shape), found.views, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(picture(app, "heard")[1]["values"], found.probs, rtol=1e-5, atol=1e-7)
    assert len(meta["slider"]["stops"]) == 51
    assert meta["slider"]["at"] == (0 if query else 25)
    assert meta["row"] == demo.layer * 6 + demo.head
    parts = volume.contributions(demo.text, demo.layer)
    table = picture(app, "parts")[1]["values"].reshape(7, 288)
    np.testing.assert_allclose(table[:6], parts.each[:, -1], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(table[6], parts.whole[-1], rtol=1e-5, atol=1e-7)


def test_the_first_screen_is_one_head_against_two():
    digits = (1, 0, 2, 9, 3, 8, 4, 7, 5, 6, 1, 0)
    app = open_page(PAGE, digits="102938475610", toy_volume="0.1", depth="idea")
    found = neighbours.turned(digits)
    meta, arrays = picture(app, "toy_sure")
    np.testing.assert_allclose(arrays["values"], found.p, atol=1e-6)
    assert (meta["signature"], meta["slider"]["name"], meta["slider"]["at"]) == (True, "toy_volume", 5)
    assert len(meta["slider"]["stops"]) == 56
    assert meta["columns"] == [str(d) for d in digits]
    assert f"at {found.right[5]} of 12" in meta["captions"][5]
    assert f"at {found.share[5]:.0%}" in meta["captions"][5]
    np.testing.assert_allclose(picture(app, "toy_maps")[1]["values"], found.weights, atol=1e-3)
    bare = picture(open_page(PAGE), "toy_sure")[0]
    assert bare["slider"]["at"] == 50, "two heads, before one is asked about"


@pytest.mark.parametrize(("guess", "opening"), [("tenth", "Right."), ("half", "Not quite."), ("?", "")])
def test_the_first_guess_asks_what_the_slider_shows(guess, opening):
    shown = words(open_page(PAGE, two=guess, depth="idea")).replace("\\", "")
    assert (f"**{opening}**" in shown) == bool(opening)
    one, two = neighbours.scores("linear").mean(1)[:2]
    assert f"{one:.1%}" in shown
    assert f"{two:.1%}" in shown


def test_no_net_of_one_head_is_seen_before_the_guess():
    app = open_page(PAGE)
    assert not [e for e in app.get("bidi_component") if "toy_scores" in e.proto.id]
    assert "one head can name only one side" not in words(app)
    picture(open_page(PAGE, two="half", depth="idea"), "toy_scores")


def test_a_number_is_added_up():
    found = volume.contributions(sentence.of(READING), 1)
    shown = words(open_page(PAGE, part="2,40")).replace("\\", "")
    summands = " ".join(f"{x:+.3f}" for x in found.each[:, -1, 40]).replace("-", "−")
    assert f"Number 40: {summands}" in shown
    assert f"**{found.whole[-1, 40]:+.3f}**".replace("-", "−") in shown


def test_silent_heads_are_blank_and_missed():
    app = open_page(PAGE, muted="1.2_4.4")
    meta, arrays = picture(app, "maps")
    plain, _step = onehead.overview(onehead.Demo(sentence.of(READING), 0, 0))
    shown = arrays["values"].reshape(plain.shape)
    assert not shown[[8, 28]].any()
    np.testing.assert_allclose(shown[7], plain[7], atol=1e-3)
    assert (meta["names"][8], meta["names"][9]) == ("1.2 ✕", "1.3")
    change = volume.Demo(sentence.of(READING), muted=((1, 2), (4, 4))).change
    found = subject.outlook(sentence.of(READING), change)
    np.testing.assert_allclose(picture(app, "left_over")[1]["values"][0], [w.p for w in found.words], atol=1e-6)
    text = words(app).replace("\\", "")
    assert "2 of 36 heads are silent" in text
    assert f"**{subject.story_loss(change):.2f}** nats" in text


def test_the_slider_from_mha_to_mla():
    app = open_page(PAGE, kv="-125", loud="4,3")
    for side in fewer_keys.SIDES:
        found = fewer_keys.run(volume.Demo(TEXT, 4, 3))[side]
        meta, arrays = picture(app, f"kept_{side}")
        np.testing.assert_allclose(arrays["values"].reshape(found.weights.shape), found.weights, atol=1e-6)
        np.testing.assert_allclose(picture(app, f"says_{side}")[1]["values"], found.probs, atol=1e-6)
        at = meta["slider"]["at"]
        assert meta["slider"]["shown"][at] == "MLA · rank 125"
        loss = fewer_keys.losses(TEXT)[fewer_keys.SIDES.index(side), at]
        assert f"{2 * 125 * 6:,} bytes" in meta["captions"][at]
        assert f"{loss:.2f}" in meta["captions"][at]


def test_bytes_of_large_models():
    meta, arrays = picture(open_page(PAGE), "kv_bytes")
    shown = dict(zip(meta["names"], arrays["values"].ravel() * 1024, strict=True))
    assert shown["GQA 8"] == 147456  # 2 * 36 layers * 8 heads * 128 * 2 bytes
    assert shown["MHA 32"] == 4 * 147456
    assert shown["DeepSeek-V3"] == 61 * (512 + 64) * 2
    assert meta["names"][meta["marked"]] == "GQA 8"


@pytest.mark.parametrize(("heads", "reader"), [(4, "linear"), (1, "linear"), (1, "ffn")])
def test_the_small_net(heads, reader):
    app = open_page(PAGE, two="tenth", toy_heads=str(heads), toy_reader=reader, digits="102938475610")
    digits = (1, 0, 2, 9, 3, 8, 4, 7, 5, 6, 1, 0)
    weights, named = neighbours.read(heads, digits, reader)
    np.testing.assert_allclose(picture(app, "toy")[1]["values"].reshape(weights.shape), weights, atol=1e-3)
    right = int((named == neighbours.truth(digits)).all(-1).sum())
    assert f"**{right}** of 12" in words(app)


def test_a_long_text_has_fewer_ranks_and_the_right_losses():
    words_of = "One day the dog ran to the park with a ball. " * 12
    long = sentence.of(sentence.read(words_of))
    meta, arrays = picture(open_page(PAGE, words=words_of, kv="-1"), "kept_converted")
    some = fewer_keys.offered(long)
    assert len(meta["slider"]["stops"]) == len(arrays["values"]) == len(some) < 16
    assert meta["slider"]["at"] == len(some) - 1
    assert f"{fewer_keys.losses(TEXT)[0, -1]:.2f}" in meta["captions"][-1]


@pytest.mark.parametrize(("chosen", "key"), [("cut", "slabs"), ("rank", "ranks"), ("fresh", "fresh"), ("x", "slabs")])
def test_one_closer_look_at_a_time(chosen, key):
    app = open_page(PAGE, workings=chosen)
    assert picture(app, key)


@pytest.mark.parametrize(("loud", "verdict"), [("1,2", "gone"), ("2,0", "same"), ("4,3", "same")])
def test_the_guess_asks_about_the_very_head_that_is_framed(loud, verdict):
    layer, head = (int(x) for x in loud.split(","))
    app = open_page(PAGE, loud=loud, depth="idea", **{f"silent{layer}{head}": verdict})
    shown = words(app).replace("\\", "")
    assert f"head {layer}.{head} falls silent" in shown
    assert picture(app, "views")[0]["row"] == layer * 6 + head
    after = volume.without(volume.Demo(TEXT, layer, head))
    assert f"Without head {layer}.{head} it is {after:.1%}" in shown
    assert "**Right.**" in shown


def test_what_a_clear_pattern_is_worth():
    shown = words(open_page(PAGE, silent12="gone")).replace("\\", "")
    answer, table = volume.silenced(sentence.of(READING))
    before = subject.outlook(sentence.of(READING), subject.UNTOUCHED).asked
    assert answer == before.id
    assert f"Without it “Amy” has {table[2, 0]:.1%}, before {before.p:.1%}" in shown
    layer, head = divmod(int(table.argmin()), 6)
    assert f"is {layer}.{head}: without it {table.min():.1%} is left" in shown
    assert "A clear pattern is not yet an important one" not in words(open_page(PAGE))


@pytest.mark.parametrize(
    ("d", "h", "said"),
    [
        ("512", "8", "8 slabs of 512 × 64"),
        ("4096", "32", "32 slabs of 4096 × 128"),
        ("512", "5", "512 is not divisible by h = 5"),
    ],
)
def test_slabs(d, h, said):
    assert said in words(open_page(PAGE, cut_d=d, cut_h=h)).replace("\\", "")


@pytest.mark.parametrize(
    "query",
    [
        {"loud": "9,9", "volume": "nan", "muted": "9.9_x_1.2_", "kv": "1e99", "part": "99,999", "digits": "12"},
        {"loud": "-1", "volume": "-3", "muted": "💥", "kv": "abc", "init": "inf", "toy_heads": "3", "two": "?"},
        {"words": "Hi"},
        {"words": "a " * 300},
        {"words": "你好 🎈 <b>x</b>", "loud": "5,5", "muted": "0.0"},
    ],
)
def test_any_link_gives_a_page(query):
    app = open_page(PAGE, **query)
    assert not app.exception
    assert picture(app, "toy_sure")[0]["signature"]
    assert picture(app, "views")


def test_all_wake_again():
    app = open_page(PAGE, muted="0.0_0.1", lang="zh")
    next(b for b in app.button if b.key == "wake").click().run()
    assert "muted" not in app.query_params
    assert picture(app, "maps")[1]["values"].reshape(36, -1)[0].any()


@pytest.mark.parametrize(("guess", "right"), [("first", True), ("same", True), ("itself", False), ("none", False)])
def test_a_head_with_two_habits_has_two_right_answers(guess, right):
    """Head 1.2 gives 45 % to the first token, and as much to an earlier copy: both are above the page's threshold."""
    found = volume.habits(TEXT)
    shares = {name: getattr(found, name)[1, 2] for name in ("previous", "itself", "first", "same")}
    assert {name for name, share in shares.items() if share >= 0.4} == {"same", "first"}
    shown = words(open_page(PAGE, habit12=guess)).replace("\\", "")
    assert ("**Right.**" in shown) == right


CHOICES = {
    "toy_volume": "0.1", "loud": "4,3", "volume": "0.4", "part": "2,40", "muted": "0.0_4.4", "click": "alone", "kv": "-125",
    "workings": "fresh", "fresh_h": "12", "init": "0.1",
}  # fmt: skip


def test_every_choice_survives_leaving_and_coming_back():
    app = open_page(PAGE, **CHOICES)
    before = _state(app)
    assert address(app) == CHOICES
    come_back(app, PAGE, away="05_softmax")
    assert address(app) == CHOICES
    assert _state(app) == before
    assert before["views"] == (10, {"cell": None}, 4 * 6 + 3)
    assert before["parts"][1] == {"cell": [2, 40]}


def _state(app):
    """What the pictures show: where their sliders stand, their cells, the row that is followed."""
    found = {}
    for key in ("toy_sure", "views", "heard", "parts", "kept_converted", "says_healed", "fresh"):
        meta = picture(app, key)[0]
        found[key] = (meta.get("slider") and meta["slider"]["at"], meta["state"], meta.get("row"))
    return found
