"""Small encoders that learn a random map by heart: every sequence of four symbols to four symbols, with and without
positions.

The map is drawn by luck (seed 0): no rule is in it, so nothing but learning by heart helps. `python -m core.make
by_heart` trains one net for each width, with positions and without, and writes assets/models/by_heart: how right each
was along the way, and the weights of the two that the page looks into.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.assets import ASSETS
from core.blocks import DecoderBlock
from core.config import ModelConfig

FILE = ASSETS / "models" / "by_heart" / "model.safetensors"
SYMBOLS, PLACES = "abcd", 4
WIDTHS = (4, 8, 16, 32, 64)
KINDS = ("positions", "none")
STEPS = 1500
SEEN = tuple(
    sorted({round(1500 * (k / 48) ** 2) for k in range(49)})
)  # steps at which a net is asked, early ones close
DRAWN = {"positions": 16, "none": 64}  # the nets whose sequences are drawn one by one
OPENED = 16  # the width of the two nets whose weights ship


@cache
def sequences() -> Tensor:
    """(sequence, place): all of them, in the order of the alphabet."""
    return torch.cartesian_prod(*[torch.arange(len(SYMBOLS))] * PLACES)


@cache
def wanted() -> Tensor:
    """(sequence, place): what each shall become, by luck."""
    return torch.randint(0, len(SYMBOLS), sequences().shape, generator=torch.Generator().manual_seed(0))


class ByHeart(nn.Module):
    """Two blocks with two heads, every symbol reads every other; then one score for each symbol."""

    def __init__(self, width: int, positions: bool) -> None:
        super().__init__()
        config = ModelConfig(
            width, 2, 2, 4 * width, len(SYMBOLS), PLACES, norm="layernorm", ffn="gelu_tanh",
            position="learned", qkv_bias=True, out_bias=True, ffn_bias=True, family="gpt2",
        )  # fmt: skip
        self.embed = nn.Embedding(len(SYMBOLS), width)
        self.places = nn.Parameter(0.5 * torch.randn(PLACES, width)) if positions else None
        self.blocks = nn.ModuleList(DecoderBlock(config, i) for i in range(config.n_layers))
        self.out = nn.Linear(width, len(SYMBOLS))

    def streams(self, rows: Tensor) -> list[Tensor]:
        """rows: (..., place). The stream, (..., place, width), before the blocks and after each."""
        x = self.embed(rows)
        found = [x if self.places is None else x + self.places]
        for block in self.blocks:
            found.append(block(found[-1], None, None))
        return found

    def forward(self, rows: Tensor) -> Tensor:
        """(..., place, symbol): scores."""
        scores: Tensor = self.out(self.streams(rows)[-1])
        return scores


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(FILE)


def net(kind: str) -> ByHeart:
    """One of KINDS as it was trained, OPENED numbers wide. Raises KeyError for another."""
    made = ByHeart(OPENED, {"positions": True, "none": False}[kind]).requires_grad_(False)
    prefix = f"{kind}."
    made.load_state_dict({k.removeprefix(prefix): v for k, v in _stored().items() if k.startswith(prefix)})
    return made


def right(kind: str) -> np.ndarray:
    """(width, step seen) the share of all symbols that each net had right, as recorded."""
    found: np.ndarray = _stored()[f"right_{kind}"].numpy()
    return found


def by_sequence(kind: str) -> np.ndarray:
    """(step seen, sequence) how many of the four symbols the net of width DRAWN had right, as recorded."""
    found: np.ndarray = _stored()[f"of_four_{kind}"].numpy()
    return found
