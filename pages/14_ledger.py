"""The ledger: what a model is made of, what it costs to run and to train, exact to the last parameter."""

import streamlit as st

from pages.parts.ledger import compare as more
from pages.parts.ledger import conversation as parts
from pages.parts.ledger import models, parameters, work
from pages.shared import controls, frame, spine
from pages.shared.text import N_

frame.begin()

# Which model.
left, right = st.columns([3, 2], vertical_alignment="bottom")
with left:
    spine.opening("14_ledger")
with right:
    picker = st.container()
model = models.chosen(picker)
answered = parts.prediction(model)


# The cache against the weights: a release or a click runs this part alone.
@st.fragment
def conversation(model: models.Model, answered: bool) -> None:
    parts.conversation(model, answered)


conversation(model, answered)

# The four books of the ledger, one open at a time.
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


book(model)

# Check yourself, common mistakes, the words.
more.check(model)
more.common_mistakes()
more.words()
spine.ending("14_ledger")
