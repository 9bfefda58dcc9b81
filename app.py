"""The frame around every page: language, navigation, then the page itself."""

from pathlib import Path

import streamlit as st

from pages.shared import frame, text

ASSETS = Path(__file__).parent / "assets"

text.speak()
st.set_page_config(page_icon=ASSETS / "icon.svg", layout="wide", initial_sidebar_state=256)
st.html(ASSETS / "style.css")
frame.language_switch()
page = st.navigation(frame.pages(), expanded=True)
with frame.around(page):
    page.run()
