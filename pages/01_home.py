"""Home: one question, the model's answer, the map it comes from, and one link that decides it."""

import streamlit as st

from core.lab import text
from core.topics.home import flow as fl
from pages.parts.home import opening
from pages.shared import controls, frame, glossary, headings
from pages.shared.asks import predict
from pages.shared.text import prose

frame.begin()

# The question: which word comes next?
first = fl.recorded()
reading = opening.reading()
asked = reading.text == text.SENTENCE
opening.line(reading.text, asked)
guess = predict.ask(opening.question(first), bare=True, p=f"{first.words[0].p:.1%}") if asked else predict.UNSURE
if guess:
    opening.preload()

# The map: the sentence on its way, and one link that can be cut.
cut = opening.is_cut(asked)
way = frame.cached(fl.flow, text.of(reading), opening.change(cut))
opening.show_map(way, unrolled=bool(guess), cut=cut, asked=asked)
if guess:
    opening.links(way, cut=cut, asked=asked)

# Your own sentence.
with st.container(border=True):
    prose("home", "own")
    controls.sentence("Type your own sentence", text.SENTENCE, text.read)

# All pages, the language, and where the model comes from.
headings.section("The rooms of this house")
opening.rooms()
prose("home", "model", **opening.facts())
glossary.show()
