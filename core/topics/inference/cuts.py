"""What may be drawn: cuts in the sorted chances of the next token, each over its whole range; and the likeliest text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from core import generation, tokenizer
from core.generation import Sampler
from core.lab import subject
from core.lab.text import Text, Word, folder, top
from core.softmax import entropy
from core.trace import to_numpy

Kind = Literal["temperature", "top_k", "top_p", "min_p"]
KINDS: tuple[Kind, ...] = ("top_p", "temperature", "top_k", "min_p")
STOPS = 49
SHOWN = 10  # words with a bar of their own; the others share one
NUCLEUS = 0.9  # of the question
WRITTEN = 24  # tokens of the texts that are compared


def stops(kind: Kind, vocab: int) -> tuple[float, ...]:
    """The values of a cut, from the one that cuts most to the one that cuts nothing. Temperature: from cold to hot."""
    if kind == "temperature":
        return tuple(round(float(2 ** (k / 12)), 3) for k in range(-24, 25))
    if kind == "top_k":
        return tuple(sorted({*range(1, 20), *(round(x) for x in np.geomspace(20, vocab, STOPS - 19))}))
    if kind == "top_p":
        even = {*np.linspace(0.02, 0.98, STOPS - 5).round(3).tolist(), NUCLEUS}  # the question's own stop among them
        return (*sorted(even), 0.99, 0.995, 0.999, 1.0)
    return tuple(round(float(x), 4) for x in (*np.geomspace(1, 0.001, STOPS - 1), 0.0))


def neutral(kind: Kind) -> float:
    """The value at which nothing is cut and nothing bent."""
    return {"temperature": 1.0, "top_k": 0.0, "top_p": 1.0, "min_p": 0.0}[kind]


@torch.inference_mode()
def chances(text: Text, place: int) -> np.ndarray:
    """What the model says after token `place`, (vocab,)."""
    layers = subject.config(text.subject).n_layers
    x = subject.untouched(text)[f"block{layers - 1}.resid_post"].tensor
    return to_numpy(subject.model(text.subject).predict(x[: place + 1]).softmax(-1))


@dataclass(frozen=True)
class Places:
    """Of every token of a text: how open the next one is, in bits, and how many tokens a nucleus of NUCLEUS holds."""

    bits: np.ndarray
    nucleus: np.ndarray

    @property
    def widest(self) -> int:
        """Where the most may follow; the opening sign aside, if there is anything else."""
        return int(self.bits[1:].argmax()) + 1 if len(self.bits) > 1 else 0


@torch.inference_mode()
def places(text: Text) -> Places:
    """One read-out of all places."""
    model, layers = subject.model(text.subject), subject.config(text.subject).n_layers
    probs = model.read_out(subject.untouched(text)[f"block{layers - 1}.resid_post"].tensor).softmax(-1)
    kept = (Sampler(top_p=NUCLEUS).cut(probs) > 0).sum(-1)
    return Places(to_numpy(entropy(probs)), to_numpy(kept))


@dataclass(frozen=True)
class Demo:
    """place: the token after which is drawn."""

    text: Text
    place: int
    kind: Kind = "top_p"


@dataclass(frozen=True)
class Cut:
    """One cut at every stop. words: the likeliest; before: (word + 1,), their chances and what all others have together;
    after: (stop, word + 1), what each has of the draw. kept: (stop,) tokens left; lost: (stop,) chance cut away."""

    stops: tuple[float, ...]
    words: tuple[Word, ...]
    before: np.ndarray
    after: np.ndarray
    kept: np.ndarray
    lost: np.ndarray


@torch.inference_mode()
def run(demo: Demo) -> Cut:
    """The same function that the generator draws with, at every stop."""
    p = torch.from_numpy(np.array(chances(demo.text, demo.place)))
    values, words = stops(demo.kind, len(p)), tuple(top(p.numpy(), SHOWN, demo.text.subject))
    shown = torch.tensor([one.id for one in words])
    after, kept, lost = [], [], []
    for value in values:
        how = Sampler(**{demo.kind: int(value) if demo.kind == "top_k" else value})
        shares = how.shares(p.log())
        own = shares[shown]
        after.append(torch.cat([own, (1 - own.sum()).clamp(min=0)[None]]))
        kept.append(int((shares > 0).sum()))
        lost.append(float(p[shares == 0].sum()))
    before = torch.cat([p[shown], (1 - p[shown].sum()).clamp(min=0)[None]])
    rest = torch.stack(after)
    rest[:, -1] = torch.where(torch.tensor(kept) > len(words), rest[:, -1], 0.0)
    return Cut(values, words, to_numpy(before), to_numpy(rest), np.array(kept), np.array(lost))


# ---- the likeliest text ----


@dataclass(frozen=True)
class Line:
    """A continuation as words, and the log of how likely the model holds it, in nats."""

    text: str
    score: float


@dataclass(frozen=True)
class Search:
    """The greedy continuation, and the best that was found while `width` were followed."""

    greedy: Line
    beam: Line

    @property
    def times(self) -> float:
        """How many times as likely the beam's text is."""
        return float(np.exp(min(700.0, self.beam.score - self.greedy.score)))


def search(text: Text, width: int) -> Search:
    """Both of them WRITTEN tokens long, or as many as the model still reads; a story's end does not end them."""
    model, ids = subject.model(text.subject), torch.tensor(text.ids)
    n = min(WRITTEN, subject.config(text.subject).context - len(text))
    plain = generation.greedy(model, ids, n)
    best = generation.beams(model, ids, n, width=width)[0]
    return Search(
        Line(written(plain.ids, text.subject), float(np.log(plain.chances).sum()) if n else 0.0),
        Line(written(best.ids, text.subject), best.score),
    )


def written(ids: tuple[int, ...], name: str) -> str:
    """Ids as words; a model without a tokenizer of its own has numbers alone."""
    if not (folder(name) / "tokenizer.json").is_file():
        return " ".join(f"#{id}" for id in ids)
    return str(tokenizer.of_model(folder(name)).decode(list(ids)))
