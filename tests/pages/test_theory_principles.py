"""The theory page's look-up, machines, collapse and superposition: core's numbers, nothing told before its guess."""

import numpy as np
import pytest

from core.lab import text as words_of
from core.nets import by_heart
from core.topics.theory import collapse as co
from core.topics.theory import lookup as lk
from core.topics.theory import machines as mc
from core.topics.theory import packed as pk
from core.topics.theory import tape as tp
from tests.pages.opening import address, labels, open_page, picture, words

PAGE = "17_theory"
GUESSED = dict(collapse="same", by_heart="bound", packed="5")
SENTENCE = words_of.exactly(words_of.SENTENCE)


def said(app):
    return words(app).replace("\\", "")


def test_one_slider_moves_keys_and_shares():
    app = open_page(PAGE, look_sharp="2")
    meta, arrays = picture(app, "look_keys")
    np.testing.assert_allclose(arrays["values"], lk.ask(256).weights, rtol=1e-5)
    shares, lines = picture(app, "look_shares")
    np.testing.assert_allclose(lines["values"].reshape(-1, 3, 49)[0], [lk.share(n) for n in lk.KEYS], rtol=1e-5)
    assert meta["slider"]["name"] == shares["slider"]["name"]
    assert len(meta["slider"]["stops"]) == 49
    assert meta["slider"]["at"] == lk.SHARP.index(2)


def test_the_chosen_head_is_looked_into():
    app = open_page(PAGE, look_head="4,2")
    found = lk.found(lk.Demo(SENTENCE, 4, 2))
    meta, arrays = picture(app, "look_rows")
    np.testing.assert_allclose(arrays["values"], found.share[:, 1:], rtol=1e-5)  # all but <s>, which has only itself
    at, rows = lk.at_one(), arrays["values"].shape[1]
    away = f"{found.away[at, -rows:].mean():.0%}"
    assert (
        f"last {rows} words: {arrays['values'][at].mean():.0%} on the best key, z is {away} away"
        in meta["captions"][at]
    )
    assert f"{away} away from the value of its best key, mean of the last {rows} words" in words(app)
    assert meta["names"][-1] == f"to → {SENTENCE.names[found.best[-1]]}"
    _meta, arrays = picture(app, "look_heads")
    np.testing.assert_allclose(arrays["values"], lk.heads(SENTENCE), rtol=1e-5)


def test_the_lines_of_collapse_come_after_the_guess():
    app = open_page(PAGE, depth="idea")
    with pytest.raises(AssertionError):
        picture(app, "collapse")
    meta, arrays = picture(open_page(PAGE, depth="idea", **GUESSED), "collapse")
    shown = arrays["values"]
    for i, (ffn, mask) in enumerate([(True, True), (True, False), (False, True), (False, False)]):
        np.testing.assert_allclose(shown[:, i], co.run(co.Demo(SENTENCE, ffn, mask)).different, rtol=1e-4, atol=1e-6)
    assert meta["slider"]["at"] == 0
    assert len(meta["slider"]["stops"]) == 49


def test_no_answer_before_its_guess():
    app = open_page(PAGE)
    for key in ("heart_positions", "heart_none", "packed", "packed_read", "collapse_alike"):
        with pytest.raises(AssertionError):
            picture(app, key)
    everything = said(app) + "\n".join(labels(app))
    assert "39.45" not in everything
    assert "pentagon" not in everything
    assert "learn it by heart" not in everything
    assert "permutation-equivariant" not in everything
    with pytest.raises(AssertionError):
        picture(app, "proof_stairs")


def test_grids_tape_and_arrows_are_cores():
    app = open_page(PAGE, tape_format="float16", **GUESSED)
    for kind in by_heart.KINDS:
        _meta, arrays = picture(app, f"heart_{kind}")
        np.testing.assert_allclose(arrays["values"], mc.learned().grid[kind], atol=1e-3)
    found = tp.run(tp.Demo("float16"))
    meta, arrays = picture(app, "tape")
    assert len(meta["slider"]["stops"]) == tp.STEPS + 1
    pulls = arrays["pull"].reshape(tp.STEPS + 1, -1)
    np.testing.assert_allclose(pulls[found.wrong], found.weights[found.wrong], atol=1e-6)
    assert not pulls[found.wrong + 1 :].any(), "a machine that misread goes no further"
    assert np.isnan(arrays["points"][10, 11:]).all(), "what comes later is not there yet"
    assert f"Misread in step {found.wrong + 1}" in said(app)
    _meta, arrays = picture(app, "packed")
    np.testing.assert_allclose(arrays["points"], pk.frames().w.swapaxes(1, 2), atol=1e-3)


def test_two_sentences_of_ones_own():
    app = open_page(PAGE, copy_one="Tom saw a dog run", copy_two="The sun and the run", copy_word="run")
    assert "“run” begins as the same row twice" in said(app)
    app = open_page(PAGE, copy_one="Tom ran", copy_two="Eat!")
    assert "No word stands in both sentences" in said(app)


def test_a_link_restores_everything():
    link = dict(look_sharp="4", look_head="3,1", heart_step="94", stairs="12", tape_step="9", tape_format="bfloat16")
    link |= dict(tape_from="100", tape_sharp="1000", collapse_skip="0.5", collapse_left="ffn", packed_on="0.1")
    app = open_page(PAGE, **link, **GUESSED)
    assert not app.exception
    assert {word: address(app)[word] for word in link} == link


@pytest.mark.parametrize(
    "junk",
    [
        dict(look_sharp="nan", look_head="99,99", tape_step="-1", tape_sharp="3", packed_on="0", collapse_left="?"),
        dict(words="你好 <b>🙂</b> مرحبا", copy_one="", copy_two="🙂" * 60, copy_word="zzz"),
        dict(words="Hi", copy_one="<script>", copy_two="<script>", tape_from="10000", tape_format="float16"),
        dict(words="Tom ran. " * 200, copy_one="a " * 90, copy_two="a", tape_sharp="10"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_any_text_and_any_address_give_a_page(junk, lang):
    app = open_page(PAGE, lang=lang, **junk, **GUESSED)
    assert not app.exception
    assert "«" not in said(app)
