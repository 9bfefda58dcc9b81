"""Can you answer it yourself? A line to repair, questions from one's own sentence, exercises, cards, and the end of the path."""

from pages.parts.exam import asking, cards, closing, shelf
from pages.shared import frame, spine

frame.begin()

# What it asks; a guess; the line with blanks, every wrong answer run.
spine.opening("18_exam")

# Questions from one's own sentence, five at a time; the result card.
asking.draw()
asking.card()

# Exercises: a map painted, FLOPs counted, a mask, a plot, weights set by hand, a law derived.

# What if: the usual answer beside what happened.

# Interview cards.
cards.draw()

# The shelf: what to read, and what is verified.
shelf.draw()

# The end of the path.
closing.draw()
spine.ending("18_exam")
