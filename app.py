"""The frame around every page: language, navigation, then the page itself."""

from pathlib import Path

import streamlit as st

from pages.shared import frame
from pages.shared.text import _

ASSETS = Path(__file__).parent / "assets"

st.set_page_config(_("Transformer, every number"), ASSETS / "icon.svg", layout="wide", initial_sidebar_state=256)
st.html(ASSETS / "style.css")
frame.language_switch()
page = st.navigation(frame.pages(), expanded=True)
with frame.around(page):
    page.run()
