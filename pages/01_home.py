"""Home: one question, the model's answer, the map it comes from, and one link that decides it."""

import streamlit as st

from core import flow as fl
from core import sentence
from pages.parts import home
from pages.shared import controls, frame, predict
from pages.shared.text import _, prose

frame.begin()

# The question: which word comes next?
first = fl.recorded()
words = controls.text(sentence.SENTENCE)
asked = words == sentence.SENTENCE
home.line(words, asked)
guess = predict.ask(home.question(first), bare=True, p=f"{first.words[0].p:.1%}") if asked else predict.UNSURE
if guess:
    home.preload()

# The map: the sentence on its way, and one link that can be cut.
cut = controls.kept("link", "0", controls.one_of(("0", "1"))) == "1" and asked
reading = home.reading(words)
way = frame.cached(fl.flow, reading.text, home.change(cut))
home.show_map(way, unrolled=bool(guess), cut=cut, asked=asked)
if guess:
    home.links(way, cut=cut, asked=asked)

# Your own sentence.
with st.container(border=True):
    prose("home", "own")
    controls.sentence("Type your own sentence", sentence.SENTENCE, sentence.read)

# All pages, the language, and where the model comes from.
st.header(_("The rooms of this house"), anchor=False)
home.rooms()
prose("home", "model", **home.facts())
