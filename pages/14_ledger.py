"""The ledger: what a model is made of, what it costs to run and to train, exact to the last parameter."""

import streamlit as st

from pages.parts.ledger import compare as more
from pages.parts.ledger import conversation as parts
from pages.parts.ledger import models, parameters, work
from pages.shared import controls, frame, headings, spine
from pages.shared.text import N_, prose

frame.begin()

# The question, and how things stand, in one line.
left, right = st.columns([3, 2], vertical_alignment="bottom")
with left:
    spine.opening("14_ledger")
with right:
    line = parts.settings()
model = models.chosen(line)
how = parts.how(model, line)
prose("ledger", "start")
answered = parts.prediction(model)


# The cache against the weights: a release or a click runs this part alone.
@st.fragment
def conversation(how: parts.How, answered: bool) -> None:
    parts.conversation(how, answered)


conversation(how, answered)

# The books of the ledger: at the idea the first two, else all, one open at a time.
BOOKS = {
    "parts": N_("Parameters"),
    "work": N_("FLOPs"),
    "training": N_("Training"),
    "versus": N_("Two models"),
    "every": N_("All models"),
}
OPENS = {
    "parts": parameters.show,
    "work": work.flops,
    "training": work.training,
    "versus": more.versus,
    "every": more.every,
}


@st.fragment
def book(model: models.Model) -> None:
    chosen = controls.choice("Open", BOOKS, "parts", key="book", hide_label=True)
    OPENS[chosen](model)


if spine.deep() or controls.Setting("book").now() != "parts":  # a link to a book opens it
    book(model)
else:
    st.fragment(parameters.f_slider)(model)
    st.fragment(work.flops)(model)

# What to take home, check yourself, common mistakes, the words.
prose("ledger", "closing")
more.check(model)
if spine.deep():
    headings.fold("What one token leaves, written out", lambda: parts.written(model, how.talk))
    more.common_mistakes()
    more.words()
spine.offer(*more.DEEPER)
spine.ending("14_ledger")
