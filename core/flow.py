"""One sentence through the whole model, as Home shows it: recorded for the first sentence, computed for any other.

Nothing here imports torch before a sentence has to be computed. `python -m core.flow` writes the recording anew.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from core.sentence import SENTENCE, Word, read, top
from core.tokenizer import ASSETS
from core.trace import Trace

RECORDING = ASSETS / "data" / "home.npz"
ABOUT = ASSETS / "data" / "home.json"
INSIDE = ("norm1", "q", "k", "v", "weights", "z", "attn_out", "resid_mid", "norm2", "ffn_act", "ffn_out", "resid_post")
ONLY = ("ids", "embed", "next_logits", *(f"block*.{name}" for name in INSIDE))
LINK = (5, 1, 13, 3)  # layer, head, query, key: the link that Home cuts, from "to" to "Amy"
TWIN = SENTENCE.replace("Sam threw", "Amy threw")  # one word changed, and the answer changes with it


@dataclass(frozen=True)
class Flow:
    """trace: the tensors Home draws. words: the next word's candidates. lens: what each block would say if the model
    ended there (logit lens), from the embedding on. cut: the candidates with LINK forbidden, where it was asked for."""

    trace: Trace
    words: tuple[Word, ...]
    lens: tuple[tuple[Word, ...], ...]

    @property
    def tokens(self) -> list[str]:
        return self.trace.labels["query"]


@dataclass(frozen=True)
class Link:
    """One attention weight, and the answer's probability without it."""

    layer: int
    head: int
    query: int
    key: int
    p: float


@dataclass(frozen=True)
class Outcomes:
    """What Home and the attention page tell of the first sentence: with LINK forbidden, with one word changed, and
    with every link cut in turn. keep, share: the most decisive links if the rest of the row stays as it was, or
    shares the freed weight."""

    cut: tuple[Word, ...]
    twin: tuple[Word, ...]
    cells: int
    keep: tuple[Link, ...]
    share: tuple[Link, ...]

    @property
    def deciders(self) -> int:
        """Links without which the answer falls below one half."""
        return sum(link.p < 0.5 for link in self.keep)


def flow(text: str, change: object = None) -> Flow:
    """The sentence through the model. change: a core.whatif.Change; None leaves the model as it is."""
    if text == SENTENCE and change is None:
        return recorded()
    return compute(text, change)


@cache
def recorded() -> Flow:
    """The first sentence, read from the recording: no torch, no model."""
    about = json.loads(ABOUT.read_text("utf8"))
    lens = tuple(tuple(Word(**word) for word in words) for words in about["lens"])
    return Flow(Trace.load(RECORDING), tuple(Word(**word) for word in about["words"]), lens)


@cache
def outcomes() -> Outcomes:
    """What happens to the first sentence, read from the recording."""
    about = json.loads(ABOUT.read_text("utf8"))["outcomes"]
    words = {name: tuple(Word(**word) for word in about[name]) for name in ("cut", "twin")}
    links = {name: tuple(Link(**link) for link in about[name]) for name in ("keep", "share")}
    return Outcomes(cells=about["cells"], **words, **links)


def compute(text: str, change: object = None) -> Flow:
    """The sentence through the model, now."""
    import torch

    from core import embedded

    reading, model = read(text), embedded.model()
    trace = embedded.run(reading.ids, reading.tokens, change or embedded.UNTOUCHED, (*ONLY, "next_probs"))
    streams = [trace["embed"], *(trace[f"block{i}.resid_post"] for i in range(model.config.n_layers))]
    with torch.inference_mode():
        ends = torch.stack([torch.from_numpy(np.array(step.value[-1:])) for step in streams])
        lens = model.predict(ends).softmax(-1).numpy()
    return Flow(trace, tuple(top(trace["next_probs"].value)), tuple(tuple(top(probs, 3)) for probs in lens))


def picture(values: np.ndarray, width: int = 48) -> np.ndarray:
    """(token, any) -> (token, at most width): each cell is the number farthest from zero among those it stands for."""
    group = -(-values.shape[-1] // width)
    if group == 1:
        return values
    filled = np.pad(values, ((0, 0), (0, -values.shape[-1] % group))).reshape(len(values), -1, group)
    return np.take_along_axis(filled, np.abs(filled).argmax(-1)[..., None], -1)[..., 0]


def compute_outcomes() -> Outcomes:
    """What happens to the first sentence, now: seconds, for every link is cut once."""
    from core import onehead
    from core.whatif import Change

    reading = read(SENTENCE)
    found = {name: onehead.ranking(reading.ids, reading.tokens, name == "share") for name in ("keep", "share")}
    links = {name: tuple(Link(**vars(cut)) for cut in one.worst) for name, one in found.items()}
    cut = compute(SENTENCE, Change(cut=LINK, share=True)).words
    return Outcomes(cut, compute(TWIN).words, found["keep"].cells, **links)


def record() -> None:
    """Write the recording that `recorded` and `outcomes` read."""
    live = compute(SENTENCE)
    live.trace.save(RECORDING, lambda name: name != "next_probs")
    lens = [[asdict(word) for word in words] for words in live.lens]
    about = {"words": [asdict(w) for w in live.words], "lens": lens, "outcomes": asdict(compute_outcomes())}
    ABOUT.write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    record()
