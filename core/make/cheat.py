"""Train the two small nets that learn with and without a mask: about a minute."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import save_file

from core.make.fit import drawn, fit
from core.model import Decoder
from core.nets.cheat import CONFIG, ENTROPY, KINDS, SIZE, STEPS, WEIGHTS, losses, texts


def train(kind: str, seed: int = 0) -> tuple[Decoder, list[float]]:
    """A model from nothing, and its loss at every step. kind: masked or open."""
    generator = torch.Generator().manual_seed(seed)
    model = drawn(CONFIG, generator, embed=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    history = fit(lambda: losses(model, texts(SIZE, generator), mask=kind == "masked").mean(), optimizer, STEPS)
    return model.requires_grad_(False), history


def make() -> None:
    """Train both and write their weights and histories."""
    kept: dict[str, torch.Tensor] = {}
    for kind in KINDS:
        made, history = train(kind)
        kept |= {f"{kind}.{name}": weight.contiguous() for name, weight in made.state_dict().items()}
        kept[f"history.{kind}"] = torch.tensor(history)
        print(kind, f"{history[0]:.3f} -> {np.mean(history[-20:]):.4f}; the language itself: {ENTROPY:.4f}")
    save_file(kept, WEIGHTS)
