"""The code on a handout leads back to what was printed."""

import io

import segno
from streamlit.testing.v1 import AppTest

from pages.shared import handout


def test_the_code_holds_the_state_and_not_how_it_is_shown(monkeypatch):
    made, make = [], segno.make
    monkeypatch.setattr(segno, "make", lambda text, **how: made.append(text) or make(text, **how))

    def page():
        from pages.shared import handout as on_paper

        on_paper._code()

    app = AppTest.from_function(page)
    app.query_params.update(
        {"temperature": "0.5", "words": "A & B 你", "print": "1", "present": "1", "mine": "/softmax"}
    )
    app.run()
    assert not app.exception
    assert made[0].endswith("?temperature=0.5&words=A+%26+B+%E4%BD%A0")


def test_a_text_too_long_for_a_code_is_printed_without(monkeypatch):
    monkeypatch.setattr(handout, "here", lambda: "x" * 5000)
    assert handout._code() is None
    out = io.BytesIO()
    segno.make("x" * 2900, error="l", boost_error=False, micro=False).save(out, kind="svg")
    assert out.getvalue()
