"""The code on a handout leads back to what was printed."""

import io

import numpy as np
import pytest
import segno
from streamlit.testing.v1 import AppTest

from pages.shared import frame, handout
from tests.pages.opening import open_page


@pytest.mark.parametrize(("depth", "led"), [("teach", "depth=all"), ("idea", "depth=idea")])
def test_the_code_holds_the_state_and_not_how_it_is_shown(monkeypatch, depth, led):
    """What is for the teacher is not for those who point a telephone at it."""
    made, make = [], segno.make
    monkeypatch.setattr(segno, "make", lambda text, **how: made.append(text) or make(text, **how))

    def page():
        from pages.shared import handout as on_paper

        on_paper._code()

    app = AppTest.from_function(page)
    app.query_params.update(
        {"temperature": "0.5", "words": "A & B 你", "print": "1", "present": "1", "mine": "/softmax"} | {"depth": depth}
    )
    app.run()
    assert not app.exception
    assert made[0].endswith("?temperature=0.5&words=A+%26+B+%E4%BD%A0&" + led)


def test_a_text_too_long_for_a_code_is_printed_without(monkeypatch):
    monkeypatch.setattr(handout, "here", lambda: "x" * 5000)
    assert handout._code() is None
    out = io.BytesIO()
    segno.make("x" * 2900, error="l", boost_error=False, micro=False).save(out, kind="svg")
    assert out.getvalue()


def printed(file, **state):
    """The key on the paper: what stands behind its heading, and nothing that was guessed before."""
    app = open_page(file, depth="idea", print="1", **state)
    assert not app.exception
    said = [markdown.value for markdown in app.markdown]
    return "\n".join(said[said.index("### The answer") :])


@pytest.mark.parametrize("file", [entry.file for entry in frame.entries()])
def test_every_room_has_a_handout_with_its_answer(file):
    key = printed(file)
    assert "☑ **" in key
    assert "«" not in key


def test_the_answer_on_paper_is_computed_though_nobody_has_guessed():
    assert "**only the answer** · 11 wires" in printed("13_model")
    assert "at 0\\.0% of the places" not in printed("08_heads")


@pytest.mark.parametrize("heat", [0.5, 2.0])
def test_softmax_on_paper_halves_the_temperature_of_its_picture(heat):
    def share(t):
        powers = np.exp(np.array([2, 1, 0.1]) / t)
        return f"{powers.max() / powers.sum():.3f}".replace(".", "\\.")

    key = printed("05_softmax", temperature=str(heat))
    assert f"at T = {heat:g} ".replace(".", "\\.") in key
    assert f"{share(heat)} becomes {share(heat / 2)}" in key
