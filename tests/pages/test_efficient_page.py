"""The efficient page: what it shows is core's, nothing is told before its guess, and a link restores it."""

import numpy as np
import pytest

from core.lab import text as words_of
from core.topics.efficient import flash as fl
from core.topics.efficient import instead as ins
from core.topics.efficient import patterns as pt
from pages.shared.text import sections
from tests.pages.opening import address, labels, open_page, picture, words

PAGE = "16_efficient"
GUESSED = dict(pairs="window", flash_gap="none")


def test_the_mask_and_the_lines_are_cores():
    app = open_page(PAGE, pairs_kind="bigbird", **GUESSED)
    meta, arrays = picture(app, "pairs")
    np.testing.assert_array_equal(arrays["values"], pt.pictures("bigbird"))
    assert meta["signature"]
    assert len(meta["slider"]["stops"]) >= 43
    _meta, arrays = picture(app, "pairs_losses")
    shown = arrays["values"].reshape(-1, len(pt.K))
    np.testing.assert_allclose(shown[:7], pt.losses(words_of.exactly("x")), rtol=1e-6)
    assert meta["captions"][pt.K.index(32)].endswith(f"loss {pt.loss('bigbird', 32):.2f}")
    assert "at least 3" in meta["captions"][0]


def test_nothing_is_told_before_it_is_guessed():
    app = open_page(PAGE)
    assert not app.exception
    _meta, arrays = picture(app, "pairs_losses")
    assert set(arrays["values"].flatten().tolist()) == {np.float32(pt.whole()), np.float32(pt.alone())}
    said = words(app) + "\n".join(labels(app))
    for kind, k in (("window", 8), ("random", 64), ("second", 128)):
        assert f"{pt.loss(kind, k):.2f} nats" not in words(app).replace("\\", "")
    assert "loss 2.46" not in said
    with pytest.raises(AssertionError):
        picture(app, "flash_away")
    assert "guess first" in words(app)


def test_the_text_under_the_slider_tells_no_answer():
    for lang, near in (("en", ("nearest", "neighbour", "just before")), ("zh", ("最近", "紧挨", "前几个"))):
        assert not [one for one in near if one in sections(lang, "efficient")["pairs"]]


def test_the_last_sentence_waits_for_both_guesses():
    told = "matters more than how many"
    assert told in words(open_page(PAGE, **GUESSED))
    assert told not in words(open_page(PAGE, pairs="window"))


def test_the_sentence_follows_the_same_slider():
    app = open_page(PAGE, pairs_k="4", **GUESSED)
    found = pt.frames(pt.Demo(words_of.exactly(words_of.SENTENCE)))
    meta, arrays = picture(app, "pairs_next")
    np.testing.assert_allclose(arrays["values"].reshape(found.probs.shape), found.probs, rtol=1e-5, atol=1e-6)
    assert meta["slider"]["name"] == picture(app, "pairs")[0]["slider"]["name"]
    assert meta["slider"]["at"] == pt.K.index(4)


def test_tiles_are_shown_as_they_were_recorded():
    meta, arrays = picture(open_page(PAGE, **GUESSED), "flash_row")
    found = fl.tiles(fl.Demo(fl.story()))
    shown = arrays["values"].reshape(64, 2, 256)
    for tile in (0, 7, 63):
        np.testing.assert_allclose(shown[tile, 0, : 4 * tile + 4], found.scores[: 4 * tile + 4], rtol=1e-6)
        assert np.isnan(shown[tile, 0, 4 * tile + 4 :]).all()
    assert len(meta["slider"]["stops"]) == 64


@pytest.mark.parametrize("name", ins.GALLERY)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_tile_of_the_gallery_tells_what_it_costs(name, lang):
    app = open_page(PAGE, instead=name, lang=lang, depth="idea")
    assert not app.exception
    assert "«" not in words(app)
    if name == "linear":
        assert f"{ins.recorded().nats['linear'][0]:.2f}" in words(app).replace("\\", "")


def test_a_link_restores_everything():
    link = dict(pairs_kind="random", pairs_k="32", instead="linear", instead_n="1024", hops="both", scan_mark="3")
    app = open_page(PAGE, **link)
    assert {word: address(app)[word] for word in link} == link
    assert picture(app, "instead_cost")[0]["slider"]["at"] == ins.LENGTHS.index(1024)


@pytest.mark.parametrize(
    "junk",
    [
        dict(pairs_kind="?", pairs_k="1e9", pairs_own="zz", instead="gpt", hops="up", flash_tile="0"),
        dict(words="你好 <b>🙂</b> مرحبا", pairs_kind="best", pairs_own="0"),
        dict(words="Hi", pairs_kind="strided", scan_mark="99", hops_w="1", instead_n="7"),
        dict(words="Tom ran. " * 200, pairs_kind="random"),
    ],
)
def test_any_text_and_any_address_give_a_page(junk):
    assert not open_page(PAGE, **junk).exception


def test_a_pattern_of_ones_own_is_measured():
    app = open_page(PAGE, pairs_own=pt.spell(frozenset(range(pt.CELLS)) - {1}))
    found = pt.own_loss(frozenset(range(pt.CELLS)) - {1})
    assert f"**{found.loss:.2f}**" in words(app).replace("\\", "")


def test_a_press_measures_torchs_kernel_here_and_now():
    app = open_page(PAGE, at="measure-it-memory-and-time-of-torch-s-ow", flash_n="512")
    assert "here, now" not in words(app)
    app.button(key="flash_measure").click().run()
    assert not app.exception
    (row,) = [line for line in words(app).splitlines() if line.endswith("here, now |")]
    assert row.startswith("| 512 | 2.1 MB |")
