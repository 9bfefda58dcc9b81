"""What such a machine can learn: from its prompt, from its size, and in principle; and the family it belongs to."""

from pages.shared import frame, spine

frame.begin()

# What it asks; a guess; copies of a sentence under the finger.
spine.opening("17_theory")

# One layer is one gradient step.

# Scaling: what size buys.

# What a layer can do: look up, mix by context, learn any map, copy under the head of a tape.

# What goes wrong, and what is packed: rank collapse, superposition.

# The family: encoders, decoders, both; years and sizes.

# What to take home, check yourself, common mistakes, the code.
spine.ending("17_theory")
