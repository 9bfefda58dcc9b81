"""The family: one block, four ways to use it, told apart by who may read whom and by what a token is; years and sizes.

Sizes are counted from configs (core.counting). Dates are those of the first preprint or announcement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from core import counting
from core.attention import allowed_pairs
from core.presets import presets

# ---- the four branches ----

BRANCHES = ("both", "encoder", "decoder", "vision")
SOURCE, WRITTEN = 4, 5  # tokens of the two texts of an encoder-decoder
LONG = 8  # tokens of a text
VIT = dict(d_model=768, d_ff=3072, n_layers=12, image=224, patch=16, classes=1000)  # ViT-B/16
BASE = dict(d_model=512, d_ff=2048, n_layers=6, vocab_size=37_000)  # "about 37000 tokens", says the paper
T5 = dict(d_model=768, d_ff=3072, n_layers=12, n_heads=12, vocab_size=32_128)  # T5-base


@cache
def parameters(member: str) -> int:
    """Of one of BRANCHES: the Transformer of 2017, BERT-base, GPT-1, ViT-B/16. Or of any other that is counted here:
    t5, or a preset's name. Raises KeyError for another."""
    if member in ("both", "transformer"):
        return _sum(counting.encoder_decoder(**BASE))
    if member in ("vision", "vit"):
        return _sum(counting.vision(**VIT))
    if member == "t5":
        return _sum(counting.relative_encoder_decoder(**T5))
    return counting.total(presets()[{"encoder": "bert-base", "decoder": "gpt1"}.get(member, member)].config)


def _sum(rows: list[counting.Row]) -> int:
    return sum(row.value for row in rows)


def mask(branch: str) -> np.ndarray:
    """(query, key), True where one may look. both: the source reads itself, the written text reads the source and what
    was written before. vision: all patches and the class token. Raises KeyError for another branch."""
    if branch == "both":
        whole = np.zeros((SOURCE + WRITTEN, SOURCE + WRITTEN), bool)
        whole[:SOURCE, :SOURCE] = allowed_pairs("none", SOURCE).numpy()
        whole[SOURCE:, :SOURCE] = True
        whole[SOURCE:, SOURCE:] = allowed_pairs("causal", WRITTEN).numpy()
        return whole
    kind, n = {"encoder": ("none", LONG), "decoder": ("causal", LONG), "vision": ("none", PATCHES + 1)}[branch]
    return allowed_pairs("causal" if kind == "causal" else "none", n).numpy()


# ---- what a token of an image is ----

IMAGE, PATCH = 64, 16  # numbers a side
PATCHES = (IMAGE // PATCH) ** 2


@cache
def image() -> np.ndarray:
    """(row, column) between 0 (paper) and 1 (ink): a sun over two hills, drawn by arithmetic."""
    y, x = np.mgrid[0:IMAGE, 0:IMAGE] / IMAGE
    sky = 0.45 - 0.3 * y
    sun = np.hypot(x - 0.7, y - 0.28) < 0.15
    far, near = 0.66 - 0.16 * np.sin(2.2 * np.pi * x), 0.8 - 0.1 * np.cos(2.6 * np.pi * x)
    made = np.where(sun, 0.0, sky)
    made = np.where(y > far, 0.6 + 0.3 * (y - far), made)
    return np.asarray(np.where(y > near, np.minimum(1.0, 0.85 + 0.8 * (y - near)), made))


def patches(picture: np.ndarray, side: int = PATCH) -> np.ndarray:
    """(row, column) -> (patch, side, side), row by row, as a vision Transformer reads them.

    Raises ValueError where the picture is no whole number of patches.
    """
    rows, columns = picture.shape
    if rows % side or columns % side:
        raise ValueError(f"{rows} x {columns} numbers are no whole patches of {side} x {side}")
    return np.asarray(picture.reshape(rows // side, side, columns // side, side).swapaxes(1, 2).reshape(-1, side, side))


def cut_image() -> np.ndarray:
    """(patch, PATCH, PATCH): the small image as tokens."""
    return patches(image())


def patch_count(image: int = VIT["image"], patch: int = VIT["patch"]) -> int:
    """Patches of a square image; the class token comes on top."""
    return (image // patch) ** 2


# ---- years and sizes ----


@dataclass(frozen=True)
class Event:
    """id: a name; month: of its first publication; kind: "idea", or the branch of a model; paper: its arXiv number or
    what else it stands in; member: what `parameters` calls it; told: parameters that were reported, never confirmed."""

    id: str
    year: int
    month: int
    kind: str
    paper: str = ""
    member: str = ""
    told: float = 0.0

    @property
    def when(self) -> float:
        """The middle of its month, in years."""
        return self.year + (self.month - 0.5) / 12

    @property
    def size(self) -> float:
        """Parameters, counted or told; 0 for an idea."""
        return parameters(self.member) if self.member else self.told


EVENTS = (
    Event("attention", 2014, 9, "idea", "1409.0473"),
    Event("transformer", 2017, 6, "both", "1706.03762", "transformer"),
    Event("gpt1", 2018, 6, "decoder", "OpenAI 2018", "gpt1"),
    Event("bert", 2018, 10, "encoder", "1810.04805", "bert-base"),
    Event("gpt2", 2019, 2, "decoder", "OpenAI 2019", "gpt2-xl"),
    Event("t5", 2019, 10, "both", "1910.10683", "t5"),
    Event("kaplan", 2020, 1, "idea", "2001.08361"),
    Event("gpt3", 2020, 5, "decoder", "2005.14165", "gpt3-175b"),
    Event("efficient", 2020, 9, "idea", "2009.06732"),
    Event("vit", 2020, 10, "vision", "2010.11929", "vit"),
    Event("chinchilla", 2022, 3, "idea", "2203.15556"),
    Event("flash", 2022, 5, "idea", "2205.14135"),
    Event("gpt4", 2023, 3, "decoder", "2303.08774", told=1.76e12),
    Event("flash2", 2023, 7, "idea", "2307.08691"),
    Event("llama2", 2023, 7, "decoder", "2307.09288", "llama-2-70b"),
    Event("mixtral", 2023, 12, "decoder", "2401.04088", "mixtral-8x7b"),
    Event("llama3", 2024, 4, "decoder", "2407.21783", "llama-3-8b"),
    Event("mla", 2024, 5, "idea", "2405.04434"),
    Event("deepseek3", 2024, 12, "decoder", "2412.19437", "deepseek-v3"),
)


@dataclass(frozen=True)
class Trend:
    """One model on three axes. layers, context: None where nobody said; confirmed: False for what was only reported."""

    id: str
    when: float
    size: float
    layers: int
    context: int
    confirmed: bool = field(default=True)


TOLD = {"gpt4": (120, 32_768)}  # layers as reported, never confirmed; the context is OpenAI's own


def trends() -> tuple[Trend, ...]:
    """The decoders of EVENTS, in time."""
    found = []
    for event in EVENTS:
        if event.kind != "decoder":
            continue
        if event.member:
            config = presets()[event.member].config
            found.append(Trend(event.id, event.when, event.size, config.n_layers, config.context))
        else:
            layers, context = TOLD[event.id]
            found.append(Trend(event.id, event.when, event.size, layers, context, confirmed=False))
    return tuple(found)
