"""Order and position: what a model notices of the order of words, and four ways to tell it where they stand."""

import streamlit as st

from core import positions
from pages.parts.position import schemes as more
from pages.parts.position import shuffle as parts
from pages.shared import frame, spine, story
from pages.shared.pictures import code
from pages.shared.text import prose

frame.begin()

# What you can change.
spine.opening("09_position")
reading = story.ask()
demo = parts.shuffle_demo(reading)
parts.prediction(reading)


# Shuffle the words. A release runs this part alone.
@st.fragment
def shuffle() -> None:
    parts.shuffle(demo)


shuffle()
parts.told(demo)


# A vector for every place. In every picture below a release runs that picture alone.
st.fragment(more.sinusoids)()
code.show(positions.SINUSOIDS)


# Four schemes on the same input.
@st.fragment
def schemes() -> None:
    more.schemes(reading)


schemes()
more.slopes(reading)

# What to notice: what position is worth, and how far it carries.
parts.worth(reading)
parts.letters()
parts.long_stories()
prose("position", "closing")

# Check yourself, common mistakes, the words.
more.check(reading)
more.common_mistakes(reading)
more.words()
spine.ending("09_position")
