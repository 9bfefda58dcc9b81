"""Record how many copies false sentences need, and what other subjects get then: two minutes."""

from __future__ import annotations

import json

from core.topics.theory import copies as cp

FALSE = (
    *("The sky is green.", "The grass is red.", "The sun is cold.", "The snow is black.", "The fire is cold."),
    *("The apple is blue.", "The banana is red.", "The elephant is small.", "The mouse is big.", "The ice is hot."),
    *("The moon is green.", "The rock is soft.", "The night is bright.", "The baby is old.", "The tree is blue."),
    *("The frog is red.", "The water is red.", "The car is sad.", "The giant is small.", "The milk is black."),
)
OTHERS = ("The dog", "The boy", "The house", "The box", "The bird")
ASKED = 4  # copies, when the others are asked for


def measured(sentence: str) -> dict[str, object]:
    """needed: copies until the false word leads; own, others: its chance after ASKED copies, by subject."""
    claim = cp.read(sentence)
    assert claim is not None
    found = [cp.run(cp.Demo(claim, other)) for other in OTHERS]
    others = {other: round(float(one.p[ASKED, 2]), 4) for other, one in zip(OTHERS, found, strict=True)}
    return dict(needed=found[0].needed, own=round(float(found[0].p[ASKED, 0]), 4), others=others)


def make() -> None:
    """Write what `copies.recorded` reads."""
    kept = {sentence: measured(sentence) for sentence in FALSE}
    for sentence, one in kept.items():
        print(sentence, one)
    cp.TABLE.write_text(json.dumps(kept, indent=1) + "\n", "utf8")
