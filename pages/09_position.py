"""Order and position: what a model notices of the order of words, and four ways to tell it where they stand."""

import streamlit as st

from core import positions
from pages.parts.position import schemes as more
from pages.parts.position import shuffle as parts
from pages.shared import frame, spine, story
from pages.shared.pictures import code

frame.begin()

# The question, the sentence, a guess.
spine.opening("09_position")
left, right = st.columns([3, 2], vertical_alignment="bottom", gap="medium")
with left:
    reading = story.ask()
with right:
    line = parts.settings()
demo = parts.shuffle_demo(reading, line)
parts.prediction(demo)


# Shuffle the words. A release runs this part alone.
@st.fragment
def shuffle() -> None:
    parts.shuffle(demo)


shuffle()
parts.told(demo)


# A vector for every place. In every picture below a release runs that picture alone.
st.fragment(more.sinusoids)()
if spine.deep():
    code.show(positions.SINUSOIDS)


# The schemes on the same input.
@st.fragment
def schemes() -> None:
    more.schemes(reading)


schemes()

# What position is worth, and how far it carries.
if spine.deep():
    more.slopes(reading)
    parts.worth(reading)
    st.fragment(parts.past_training)()

# What to take home, check yourself, common mistakes, the words.
spine.take_home("position", "shuffled")
more.check(reading)
if spine.deep():
    more.common_mistakes(reading)
    more.words()
spine.offer(*more.DEEPER)
spine.ending("09_position")
