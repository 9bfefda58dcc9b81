"""The norms page, from the skips on: what it shows is core's, no answer before its guess, and any text is welcome."""

import numpy as np
import pytest

from core.lab import text as sentence
from core.nets import stacks
from core.topics.norms import depth, switches, warmup
from pages.shared.pictures import live
from tests.pages.opening import open_page, picture, words

PAGE = "11_norms"
GIVEN = sentence.of(sentence.read(sentence.SENTENCE))
EVERY = (
    *("norm_skip", "norm_ways", "norm_one", "norm_stack", "norm_factor", "norm_j", "norm_through", "norm_learners"),
    *("norm_warm", "norm_alike", "norm_below", "norm_noam", "norm_adam"),
)
GUESSES = dict(norms_off="worse", norms_deep="grows", norms_learn="nothing", norms_warm="post0")


def close(shown, made):
    np.testing.assert_allclose(np.asarray(shown).reshape(np.shape(made)), made, rtol=1e-4, atol=1e-6)


def keys(app):
    return {live.unpack(element.proto.bytes)[0]["key"] for element in app.get("bidi_component")}


def test_skips_at_every_strength():
    meta, arrays = picture(open_page(PAGE), "norm_skip")
    close(arrays["values"], switches.strengths(GIVEN).probs)
    assert meta["slider"]["stops"] == list(switches.STRENGTHS)
    assert meta["captions"][-1] == "stories: 1.76 nats a token; blind guessing: 10.37"
    assert "2.03" in meta["captions"][switches.STRENGTHS.index(0.9)]


def test_batches_wait_with_what_is_guessed():
    fold = dict(depth="all", at="how-many-texts-at-once")
    for guessed, names in ((GUESSES, [*stacks.ARRANGED]), ({}, [name for name in stacks.ARRANGED if name != "skips"])):
        meta, arrays = picture(open_page(PAGE, **fold, **guessed), "norm_batch")
        rows = depth.batches()[
            stacks.BATCHES.index(stacks.TEXTS), [list(stacks.ARRANGED).index(name) for name in names]
        ]
        close(arrays["values"], np.clip(rows, 1e-24, 1e24))
        assert len(meta["series"]) == len(names)


def test_the_stack_waits_with_what_is_guessed():
    meta, arrays = picture(open_page(PAGE, depth="idea"), "norm_stack")
    rows = [list(stacks.ARRANGED).index(name) for name in ("pre", "post", "neither")]
    close(arrays["values"], np.clip(depth.profile("down").middle[:, rows], 1e-24, 1e24))
    close(arrays["low"], np.clip(depth.profile("down").low[:, rows], 1e-24, 1e24))
    assert len(meta["slider"]["stops"]) == 64
    assert "no norms" not in [one["name"] for one in meta["series"]]
    meta, arrays = picture(open_page(PAGE, depth="idea", norms_deep="fades"), "norm_stack")
    assert "no norms" in [one["name"] for one in meta["series"]]
    assert "10¹³" in meta["captions"][-1]


def test_the_idea_has_one_of_its_pictures_and_everything_has_all():
    assert {key for key in keys(open_page(PAGE, depth="idea")) if key in EVERY} == {"norm_stack"}
    shown = keys(open_page(PAGE, depth="all"))
    assert not shown & {"norm_ways", "norm_learners", "norm_warm", "norm_alike"}, "no answer before its guess"
    app = open_page(PAGE, depth="all", **GUESSES)
    assert not app.exception
    assert keys(app) >= set(EVERY)
    told = words(app).replace("\\", "")
    assert "42.7" in told
    assert "6.99" in told


def test_what_is_drawn_is_cores():
    app = open_page(PAGE, depth="all", stack_kind="alike", noam_d="128", adam_beta="0.99", **GUESSES)
    close(picture(app, "norm_stack")[1]["values"], depth.profile("alike").middle)
    meta, arrays = picture(app, "norm_noam")
    close(arrays["values"], warmup.schedules(128).rates)
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 4000
    meta, arrays = picture(app, "norm_adam")
    close(arrays["low"][:, 0], warmup.estimates().low)
    assert meta["slider"]["stops"][meta["slider"]["at"]] == pytest.approx(0.99)
    four = [np.sort(warmup.warmed(place, warm).loss, 1)[:, 1] for place in ("pre", "post") for warm in (0, 75)]
    close(picture(app, "norm_warm")[1]["values"], four)
    close(picture(app, "norm_through")[1]["values"].ravel()[:7], (f := depth.through(GIVEN).sizes) / f[-1])


@pytest.mark.parametrize(
    "link",
    [
        dict(words="Hi", lang="zh"),
        dict(words="你好 <b>🙂</b> **مرحبا**", lang="en"),
        dict(words="word " * 100, lang="zh"),
        dict(
            lang="en", norm_skip="7", stack_blocks="0", stack_kind="?", norm_slope="nan", norm_j="-1", warm_steps="1e9"
        ),
        dict(lang="zh", noam_d="3", adam_beta="2", stack_texts="5"),
    ],
)
def test_any_text_and_any_link_give_a_page(link):
    app = open_page(PAGE, depth="all", **link, **GUESSES)
    assert not app.exception
    assert "<b>" not in words(app)
