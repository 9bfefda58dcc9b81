"""The exam room: the line, its lamps, exercises and what-ifs show what core says, and tell nothing before a guess."""

import numpy as np
import pytest

from core.lab import text as words_of
from core.topics.exam import blanks as bl
from core.topics.exam import mask_code, offsets, painted, waves, whatifs
from tests.pages.opening import address, labels, open_page, picture, words

PAGE = "18_exam"
GUESSED = dict(exam_lamp="loss")
TASKS = ("map", "flops", "mask", "waves", "copy", "law")


def plain(app):
    return words(app).replace("\\", "")


def test_the_lamps_are_cores():
    app = open_page(PAGE, exam_keep="lt", exam_fill="-1e9", **GUESSED)
    assert not app.exception
    found = bl.run(bl.Demo(words_of.of(words_of.read(words_of.SENTENCE)), bl.Line("lt")))
    meta, arrays = picture(app, "blanks")
    np.testing.assert_allclose(arrays["maps"], found.maps, atol=1e-6)
    lit = arrays["lit"].reshape(len(bl.FILLS), len(bl.LAMPS))
    for at in (0, 30, 49, 50):
        assert dict(zip(bl.LAMPS, lit[at].astype(bool), strict=True)) == found.lit(at)
    assert meta["slider"]["at"] == bl.FILLS.index(-1e9)
    assert meta["said"][49][1].startswith(f"{found.costs.nats[49]:.2f} ")
    assert meta["said"][50][4].startswith("a row without any key")
    assert meta["signature"]
    assert len(meta["slider"]["stops"]) >= 43
    assert meta["state"] == {"keep": "lt", "when": "before", "scale": "root", "axis": "key"}


def test_nothing_is_told_before_the_guess():
    app = open_page(PAGE)
    meta, arrays = picture(app, "blanks")
    assert (meta["lamps"], meta["said"]) == ([], [])
    assert "lit" not in arrays
    assert "1.70" not in plain(app)
    assert "lights alone" not in plain(app)
    for key in ("exam_fill_loss", "exam_every_before", "if_scale_accuracy"):
        with pytest.raises(AssertionError):
            picture(app, key)
    assert "guess first" in plain(app)


def test_the_verdict_says_that_the_loss_falls():
    said = plain(open_page(PAGE, exam_lamp="leak"))
    assert "**Right.**" in said
    assert f"from {bl.costs(bl.RIGHT).right:.2f} to {bl.costs(bl.RIGHT).nats[0]:.2f}" in said
    assert "**In one sentence:** a wrong line" in said


def test_where_the_answer_changes_too_both_are_right():
    text = "Tom was very thirsty. He wanted to"
    found = bl.run(bl.Demo(words_of.of(words_of.read(text))))
    lit = found.lit(0)
    assert lit["leak"]
    for guess in ("answer", "leak"):
        right = "**Right.**" in plain(open_page(PAGE, words=text, exam_lamp=guess))
        assert right == (lit["answer"] or guess == "leak")


def test_the_order_of_the_code_is_a_blank():
    before, after = (picture(open_page(PAGE, exam_when=when), "blanks")[0]["code"] for when in ("before", "after"))
    flat = ["".join(part[0] or f"[{part[1]}]" for part in line) for line in [*before, *after]]
    assert flat == [
        "scores = q @ k.T / [scale]",
        "scores = where([keep], scores, [fill])",
        "weights = softmax(scores, [axis])",
        "scores = q @ k.T / [scale]",
        "weights = softmax(scores, [axis])",
        "weights = where([keep], weights, [fill])",
    ]


def test_all_108_are_shown_and_the_one_that_is_in_is_framed():
    app = open_page(PAGE, **GUESSED)
    lit = bl.outcomes().sum(-1)
    meta, arrays = picture(app, "exam_every_before")
    shown = arrays["values"].reshape(6, 9)
    assert shown[0].tolist() == [
        0,
        0,
        1,
        *lit[bl.LINES.index(bl.Line(scale="width"))],
        *lit[bl.LINES.index(bl.Line(scale="one"))],
    ]
    assert shown[2, 0] == lit[bl.LINES.index(bl.Line("lt")), 0]
    assert (meta["point"], picture(app, "exam_every_after")[0]["point"]) == ([[0, 2]], []), "the line that is in"
    every = [picture(app, f"exam_every_{when}")[1]["values"].sum() for when in ("before", "after")]
    assert sum(every) == lit.sum()


def test_a_link_restores_everything():
    link = dict(exam_keep="ge", exam_when="after", exam_scale="one", exam_axis="query", exam_fill="-1e+10")
    link |= dict(exam_task="copy", exam_back="2", exam_sharp="64", exam_if="head")
    app = open_page(PAGE, **link, **GUESSED)
    assert not app.exception
    assert {word: address(app)[word] for word in link} == link
    meta, arrays = picture(app, "exam_copy")
    np.testing.assert_allclose(arrays["values"], offsets.run(64).weights, atol=1e-6)
    assert meta["slider"]["at"] == offsets.BACKS.index(2.0)
    assert "✓ copies token i − 2: **100%**" in plain(app)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_exercise_opens_in_both_languages(task, lang):
    app = open_page(PAGE, exam_task=task, lang=lang, exam_hint="4", exam_map="100110111", exam_cut="tril")
    assert not app.exception
    assert "«" not in words(app)


@pytest.mark.parametrize("case", ["scale", "head", "mask"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_what_if_is_told_after_its_guess(case, lang):
    usual = {"en": "The usual answer", "zh": "通常的回答"}[lang]
    assert usual not in words(open_page(PAGE, exam_if=case, lang=lang))
    app = open_page(PAGE, exam_if=case, lang=lang, **{f"exam_{case}_if": "?"})
    assert not app.exception
    assert usual in words(app)
    assert "«" not in words(app)


def test_the_what_ifs_are_as_recorded():
    found = whatifs.scaling()
    said = plain(open_page(PAGE, exam_if="scale", exam_scale_if="never"))
    assert f"{found.accuracy[1, 1]:.2f} right after 100 steps" in said
    assert "**Not quite.**" in said
    _meta, arrays = picture(open_page(PAGE, exam_if="head", exam_head_if="all"), "if_head")
    assert arrays["values"].reshape(4, -1)[:, -1].min() > 0.99


def test_heads_wait_until_every_row_is_painted():
    app = open_page(PAGE, exam_map="100110000")
    with pytest.raises(AssertionError):
        picture(app, "exam_heads")
    app = open_page(PAGE, exam_map="100110011")
    _meta, arrays = picture(app, "exam_heads")
    shown = arrays["values"].reshape(5, 3, 3).astype(float)
    np.testing.assert_allclose(shown[0], [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]], atol=1e-3)
    found = painted.heads(*painted.text_of("I love AI"))
    apart = painted.away(shown[0], found)
    assert f"**{found.names[int(apart.argmin())]}**" in plain(app)


def test_flops_are_right_within_a_hundredth_and_told_after_two_misses():
    app = open_page(PAGE, exam_task="flops")
    box = app.number_input(key="exam_flops_0")
    assert "**Right.**" in plain(box.set_value(8.06).run())
    app = open_page(PAGE, exam_task="flops")
    app.number_input(key="exam_flops_0").set_value(4.0).run()
    assert "2.416" not in plain(app)
    app.number_input(key="exam_flops_0").set_value(5.0).run()
    assert "2.416" in plain(app)
    assert "8.053" in plain(app)


def test_tests_of_the_mask_run_at_once():
    wrong = plain(open_page(PAGE, exam_task="mask"))
    assert "✗ position i sees itself" in wrong
    assert "✓ position i sees nothing ahead" in wrong
    for start, cut, end in (("ones", "tril", "bool"), ("ones", "triu1", "zero")):
        assert "✗" not in plain(open_page(PAGE, exam_task="mask", exam_start=start, exam_cut=cut, exam_end=end))
    assert len(mask_code.right()) == 2


def test_waves_that_match_are_said_to_match():
    base, d = waves.solutions(waves.TARGETS[0])[1]
    assert "**Found:**" in plain(open_page(PAGE, exam_task="waves", exam_base=str(base), exam_width=str(d)))
    assert "**Found:**" not in plain(open_page(PAGE, exam_task="waves", exam_base="50", exam_width=str(d)))


def test_the_law_is_not_told_before_its_hints():
    app = open_page(PAGE, exam_task="law")
    assert "4/d" not in plain(app)
    assert "α" not in "\n".join(labels(app))
    assert "Kaplan" in plain(open_page(PAGE, exam_task="law", exam_hint="4"))


@pytest.mark.parametrize(
    "junk",
    [
        dict(exam_fill="nan", exam_keep="x", exam_axis="", exam_task="?", exam_if="9"),
        dict(words="Hi", exam_keep="lt", exam_fill="-1e10"),
        dict(words="你好 <b>🙂</b> مرحبا", exam_when="after", exam_fill="-1e9", exam_words="<b> $x$ «a»"),
        dict(words="Tom ran. " * 200, exam_scale="one", exam_axis="query"),
        dict(exam_words="   ", exam_map="999999999", exam_task="map"),
        dict(exam_words="𝔘𝔫 🙂 مرحبا", exam_map="111111111", exam_task="map"),
        dict(exam_task="waves", exam_base="-3", exam_width="7", exam_target="12"),
        dict(exam_task="copy", exam_back="77", exam_sharp="3"),
        dict(exam_task="flops", exam_work="9"),
    ],
)
def test_any_text_and_any_address_give_a_page(junk):
    assert not open_page(PAGE, **junk, **GUESSED).exception


def test_the_idea_shows_the_line_and_offers_the_rest():
    app = open_page(PAGE, depth="idea", **GUESSED)
    picture(app, "blanks")
    with pytest.raises(AssertionError):
        picture(app, "exam_every_before")
    assert "There is more on this page." in plain(app)
