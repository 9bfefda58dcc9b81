"""What all pages share: escaping, packing, colours, code, the account of kept values."""

import dataclasses
import importlib
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.runtime.context import ContextProxy, StreamlitTheme
from streamlit.testing.v1 import AppTest

from core.attention import SCORES, WEIGHTS
from core.feedforward import FFN_ACT, FFN_OUT
from core.trace import Quantity
from pages.parts.efficient import depths
from pages.parts.theory import family
from pages.shared import readers
from pages.shared.pictures import code, figures, live, palette
from pages.shared.pictures.plane import around
from pages.shared.text import filled, lang, plain, unmarked
from tests.pages.opening import open_page, picture

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "pages"


def test_visitors_text_is_escaped_for_markdown_html_and_latex():
    nasty = "<b>&amp; **x** $y$ [a](b) `c` :red[d] # _e_ ~f~ | \\ > 1. http://x"
    escaped = plain(nasty)
    assert "<" not in escaped
    assert not re.search(r"(?<!\\)[*$\[\]`_~|#:]", escaped.replace("&lt;", "").replace("&amp;", ""))
    assert filled("say «x» and «n»", x="a*b", n=3) == "say a\\*b and 3"
    assert filled("«x»", x="«y»") == "«y»"
    assert unmarked("say «x» and «n»", x="2.0 a*b", n=3) == "say 2.0 a*b and 3", "what reads no Markdown gets none"


def test_packed_numbers_come_back_bit_for_bit():
    arrays = {
        "a": np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32),
        "b": np.arange(7, dtype=np.uint8),
        "c": np.array([[1.5, -np.inf]], np.float16),
        "d": np.array([2**31 - 1], np.int32),
    }
    meta, again = live.unpack(live.pack({"text": "你好 \u2028 </script>"}, arrays))
    assert meta == {"text": "你好 \u2028 </script>"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)
        assert again[name].dtype == array.dtype


def test_no_number_travels_in_more_bytes_than_it_needs_or_twice():
    """Masks and counts in a byte, half floats in two, rows that are alike once: and what needs four bytes keeps them."""
    numbers = np.random.default_rng(0).normal(size=(49, 64)).astype(np.float32)
    least = {
        "mask": (numbers > 0, numbers.size),
        "halves": (numbers.astype(np.float16), 2 * numbers.size),
        "alike": (np.repeat(numbers[:1], 49, 0), 4 * 64 + 49),
        "places": (np.arange(numbers.size, dtype=np.int32) - 1, 2 * numbers.size),
        "numbers": (numbers, 4 * numbers.size),
    }
    for name, (array, size) in least.items():
        kept = array if name == "places" else array.astype(np.float32)
        data = live.pack({}, {name: kept})
        assert size <= len(data) < size + 256, name
        assert live.unpack(data)[1][name].tobytes() == kept.tobytes()


def test_arrays_start_where_typed_arrays_may():
    for extra in range(9):
        data = live.pack({"x": "y" * extra}, {"a": np.ones(3, np.uint8), "b": np.ones(2)})
        assert len(data) % 8 == 0
        np.testing.assert_array_equal(live.unpack(data)[1]["b"], [1, 1])


def luminance(colour):
    rgb = (
        [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] if isinstance(colour, str) else [c / 255 for c in colour]
    )
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("role", palette.ROLES)
@pytest.mark.parametrize("theme", [0, 1])
def test_every_role_can_be_read_on_its_paper(role, theme):
    assert contrast(palette.ROLES[role][theme], palette.PAPER[theme]) >= 4.5


@pytest.mark.parametrize(("theme", "ink"), [("light", "#111111"), ("dark", "#f2f4f8")])
@pytest.mark.parametrize("grounds", [palette.PIECES, palette.KINDS])
def test_ink_is_read_on_every_ground(grounds, theme, ink):
    assert ink == palette.INK[theme == "dark"]
    assert ink in (ROOT / ".streamlit/config.toml").read_text("utf8")
    assert min(contrast(ink, ground) for ground in grounds[theme]) >= 4.5


COLOUR_BLIND = {  # Machado et al. 2009, severity 1.0, linear RGB
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("kind", COLOUR_BLIND)
@pytest.mark.parametrize("theme", [0, 1])
def test_both_ends_of_the_diverging_scale_stay_apart_for_the_colour_blind(kind, theme):
    low, high = (np.array(palette.DIVERGING[theme][i]) / 255 for i in (0, -1))
    seen = [np.array(COLOUR_BLIND[kind]) @ c**2.2 for c in (low, high)]
    assert np.abs(seen[0] - seen[1]).max() > 0.25


@pytest.mark.parametrize("theme", [0, 1])
def test_a_larger_weight_is_always_farther_from_the_paper(theme):
    steps = [contrast(c, palette.WEIGHTS[theme][0]) for c in palette.WEIGHTS[theme]]
    assert steps == sorted(steps)
    assert steps[-1] > 7


def source_line(source):
    return (ROOT / source.path).read_text("utf8").splitlines()[source.line - 1]


@pytest.mark.parametrize("quantity", [FFN_ACT, FFN_OUT])
def test_of_several_functions_the_one_that_the_model_runs_is_shown(quantity):
    """GPT-2's FFN and that of 2017 record the same quantities; the model that ships has a gate."""
    source = code.where(quantity)
    assert "F.silu(gate) * up" in source.text
    assert "F.silu(gate) * up" in source_line(source)


def test_the_code_of_a_number_is_the_line_that_records_it():
    source = code.where(WEIGHTS)
    assert source.path == "core/attention.py"
    assert "trace(WEIGHTS" in source.text
    with open(source.path, encoding="utf8") as file:
        assert "trace(WEIGHTS" in file.read().splitlines()[source.line - 1]
    assert code.where(SCORES).text == source.text
    assert source.text.splitlines()[source.inside - 1] == source_line(source)
    with pytest.raises(LookupError, match="nowhere"):
        code.where(Quantity("nowhere", "", "", ""))


@pytest.mark.parametrize(
    ("text", "cell"),
    [("13,3", (13, 3)), ("0,0", (0, 0)), ("-1,3", None), ("1", None), ("1,2,3", None), ("1.5,2", None), ("²,1", None),
     ("999999999999,1", None), ("", None), ("a,b", None)],
)  # fmt: skip
def test_cells_in_a_link(text, cell):
    assert readers.cell(text) == cell


@pytest.mark.parametrize(("text", "number"), [("1.5", 1.5), ("nan", None), ("inf", None), ("1e400", None), ("x", None)])
def test_numbers_in_a_link(text, number):
    assert readers.number(-1e12, 1e12)(text) == number


def test_the_hull_of_points():
    square = np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 0.5]])
    assert set(around(square)) == {0, 1, 3, 4}


def painters():
    """Every function that puts a picture on the page, wherever its folder stands."""
    for script in sorted(PAGES.rglob("*.js")):
        if "live/base.js" in script.read_text("utf8"):
            module = ".".join(script.parent.relative_to(PAGES.parent).parts)
            found = inspect.getmembers(importlib.import_module(module), inspect.isfunction)
            yield from (f for name, f in found if "picture.mount(" in inspect.getsource(f))


def test_every_painter_takes_one_picture_and_its_own_numbers():
    common = {field.name for field in dataclasses.fields(live.Picture)}
    shows = set(painters())
    assert len(shows) >= 20
    for show in shows:
        names = list(inspect.signature(show).parameters)
        assert names[0] == "picture"
        assert not common & set(names), show


def test_what_is_let_go_after_the_page_was_left_is_kept_for_it_and_not_said():
    def late():
        from pages.shared import address

        address.write("mask_kind", "prefix")

    script = AppTest.from_function(late)
    script.session_state["_here"] = "attention"
    script.run()
    assert not script.exception
    assert "mask_kind" not in script.query_params
    assert script.session_state["_kept"]["masks"] == {"mask_kind": "prefix"}


def test_a_hand_on_a_page_that_was_left_before_it_was_whole_breaks_nothing():
    """Streamlit calls for what was let go of, and has thrown away what it was."""

    def late():
        from pages.shared.pictures import live

        live._let_go("gone", "step", None, False, ())

    assert not AppTest.from_function(late).run().exception


def test_a_word_for_a_picture_that_is_not_drawn_yet_waits_for_it():
    """The link shows the triangle, and knows of a cell of the steps; they are asked for after a look at another room."""
    link = dict(closer="triangle", score="1,2", temperature="junk")
    app = open_page("05_softmax", **link)
    assert "temperature" not in app.session_state["_kept"]["softmax"]
    app.switch_page("pages/08_heads.py").run()
    assert "score" not in app.query_params
    app.switch_page("pages/05_softmax.py").run()
    app.session_state["_kept"]["softmax"].pop("closer")
    app.query_params.pop("closer", None)
    app.run()
    assert picture(app, "steps")[0]["state"] == {"cell": [1, 2]}
    assert not app.exception


def test_a_button_writes_a_number_as_texts_do_and_a_language_by_its_name():
    app = open_page("13_model", model_bench="size")
    groups = {group.label: [option.content for option in group.proto.options] for group in app.get("button_group")}
    assert "4,096" in groups["Tokens"]
    assert groups["Language / 语言"] == ["English", "中文"]
    assert app.query_params["lang"] in ("en", ["en"])


def test_a_chart_is_checked_when_it_is_sent_and_its_parts_are_not_before():
    alt = figures.altair()
    wrong = alt.Chart(alt.InlineData([])).mark_bar(opacity="much")
    with pytest.raises(alt.utils.schemapi.SchemaValidationError, match="much"):
        wrong.to_dict()


@pytest.mark.parametrize("page", ["16_efficient", "17_theory"])
def test_a_chart_wears_what_our_own_pictures_wear(page):
    charts = specs(page)
    assert charts
    for spec in charts:
        dress = spec["config"]
        assert dress["axis"]["gridColor"] == palette.ROLES["quiet"][0]
        assert dress["axis"]["gridOpacity"] == 0.22
        assert dress["axis"]["labelColor"] == dress["legend"]["labelColor"] == dress["text"]["color"] == palette.INK[0]
        assert dress["line"]["strokeWidth"] == 2.5
        assert not dress["axisX"]["grid"]
        assert not re.search(r'"format": ?"[^,.]*[~es]"', json.dumps(spec)), "axes write numbers as the theme does"


def specs(page, **query):
    """The charts of a page as the browser gets them."""
    return [json.loads(element.proto.spec) for element in open_page(page, **query).get("vega_lite_chart")]


def test_a_chart_is_put_together_once_for_all_visitors_who_see_the_same(monkeypatch):
    asked, tree = [], family._tree
    monkeypatch.setattr(family, "_tree", lambda branch: asked.append((branch, lang())) or tree(branch))
    for language in ("en", "zh", "en", "zh"):
        specs("17_theory", lang=language)
    first, again = (specs("17_theory", lang="en", branch="vision") for _visitor in range(2))
    assert asked == [("both", "en"), ("both", "zh"), ("vision", "en")]
    assert first == again


def test_a_kept_chart_speaks_its_visitors_language_and_wears_their_theme(monkeypatch):
    values = depths._values
    monkeypatch.setattr(depths, "_values", lambda head: values(head))  # a chart that nobody has asked for before
    said = {
        "en": ("singular value", "relative to the first · log scale"),
        "zh": ("第几个奇异值", "相对于第一个 · 对数刻度"),
    }
    for language in ("en", "zh", "en"):
        for dark, theme in enumerate(("light", "dark")):
            monkeypatch.setattr(ContextProxy, "theme", StreamlitTheme({"type": theme}))
            (spec,) = specs("16_efficient", lang=language)
            shown = spec["encoding"]
            assert (shown["x"]["title"], shown["y"]["title"]) == said[language]
            assert shown["color"]["scale"]["range"] == [palette.ROLES[role][dark] for role in ("q", "k", "a")]
            assert spec["config"]["text"]["color"] == palette.INK[dark]


def test_a_logarithmic_axis_has_the_numbers_that_our_own_pictures_have():
    assert figures.ticks(1e6, 1e13) == [1e6, 1e8, 1e10, 1e12]
    assert figures.ticks(300, 2e6) == [1e3, 1e4, 1e5, 1e6]
    assert figures.ticks(6, 250) == [10, 20, 50, 100, 200]
