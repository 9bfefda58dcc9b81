"""Record the first sentence through the model, and what happens when each of its links is cut."""

from __future__ import annotations

import json
from dataclasses import asdict

from core.lab import cuts
from core.lab.outcomes import ABOUT, LINK, Outcomes
from core.lab.text import SENTENCE, TWIN, Link, of, read
from core.topics.home.flow import RECORDING, compute


def compute_outcomes() -> Outcomes:
    """What happens to the first sentence, now: seconds, for every link is cut once."""
    from core.whatif import Change

    first, twin = (of(read(words)) for words in (SENTENCE, TWIN))
    found = {name: cuts.ranking(first, name == "share") for name in ("keep", "share")}
    links = {name: tuple(Link(**vars(cut)) for cut in one.worst) for name, one in found.items()}
    cut = compute(first, Change(cut=LINK, share=True)).words
    return Outcomes(cut, compute(twin).words, found["keep"].cells, **links)


def make() -> None:
    """Write the recording that `recorded` and `outcomes` read."""
    live = compute(of(read(SENTENCE)))
    live.trace.save(RECORDING, lambda name: name != "next_probs")
    lens = [[asdict(word) for word in words] for words in live.lens]
    about = {"words": [asdict(w) for w in live.words], "lens": lens, "outcomes": asdict(compute_outcomes())}
    ABOUT.write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf8")
