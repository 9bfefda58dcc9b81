"""Order and position: what a model notices of the order of words, and four ways to tell it where they stand."""

import streamlit as st

from core import position as po
from pages.parts import position as parts
from pages.parts import position_more as more
from pages.shared import code, frame
from pages.shared.text import prose

frame.begin()

# What you can change.
frame.heading("09_position")
reading = parts.sentence()
demo = parts.shuffle_demo(reading)
parts.prediction(reading)


# Shuffle the words. A release runs this part alone.
@st.fragment
def shuffle() -> None:
    parts.shuffle(demo)


shuffle()
parts.told(demo)


# A vector for every place.
@st.fragment
def waves() -> None:
    more.sinusoids()
    code.show(po.SINUSOIDS)


waves()


# Four schemes on the same input.
@st.fragment
def schemes() -> None:
    more.schemes(reading)
    more.slopes(reading)


schemes()

# What to notice: what position is worth, and how far it carries.
parts.worth(reading)


@st.fragment
def lengths() -> None:
    parts.letters()
    parts.long_stories()


lengths()
prose("position", "closing")

# Check yourself, common mistakes, the words.
more.check(reading)
more.common_mistakes(reading)
more.words()
frame.onward("09_position")
