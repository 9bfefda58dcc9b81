"""The frame around every page: language, navigation, then the page itself.

`streamlit run` uses this file twice. The server imports it once, for `app`: Streamlit behind our gate. Every visit runs
it as its main script, and then it draws.
"""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from pages.shared import address, classroom, frame, gate, handout, spine, text, uploads

ASSETS = Path(__file__).parent / "assets"


def draw() -> None:
    text.speak()
    st.set_page_config(page_icon=ASSETS / "icon.svg", layout="wide", initial_sidebar_state=256)
    page = st.navigation(frame.pages(), expanded=True)
    address.give_back(frame.topic(page))
    frame.language_switch()
    with st.sidebar:
        spine.switch()
        classroom.tools(frame.topic(page))
    uploads.arrive()
    with frame.around(page):
        classroom.arrive()
        page.run()
        handout.draw()


if __name__ == "__main__":
    draw()
else:
    app = st.App(__file__, middleware=[Middleware(gate.Gate)], lifespan=gate.opened)
