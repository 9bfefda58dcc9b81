"""Train the two small nets that learn with and without a mask: about a minute."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import save_file

from core.checkpoint import empty
from core.model import Decoder
from core.nets.cheat import CONFIG, ENTROPY, KINDS, SIZE, STEPS, WEIGHTS, losses, texts


def train(kind: str, seed: int = 0) -> tuple[Decoder, list[float]]:
    """A model from nothing, and its loss at every step. kind: masked or open."""
    generator = torch.Generator().manual_seed(seed)
    model = empty(CONFIG).to_empty(device="cpu").requires_grad_(True)
    for name, weight in model.named_parameters():
        with torch.no_grad():
            weight.fill_(1.0) if weight.ndim == 1 else weight.normal_(
                std=0.1 if "embed" in name else weight.shape[1] ** -0.5, generator=generator
            )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    history = []
    for _step in range(STEPS):
        loss = losses(model, texts(SIZE, generator), mask=kind == "masked").mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(float(loss.detach()))
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
