"""Train the encoder-decoder that writes dates: about five minutes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from core.make.fit import fit
from core.nets.dates import WEIGHTS, EncoderDecoder, accuracy, batch
from core.nets.dates_task import START, VOCAB, examples


def train(steps: int = 3000, size: int = 96, seed: int = 0, peak: float = 2e-3) -> EncoderDecoder:
    """A model from nothing: AdamW, a short warm-up, then a cosine down to zero. About five minutes on one core."""
    torch.manual_seed(seed)
    made = EncoderDecoder()
    for name, weight in made.named_parameters():
        if weight.ndim == 2:
            nn.init.normal_(weight, std=0.1 if "embed" in name or "place" in name else weight.shape[1] ** -0.5)
    optimizer = torch.optim.AdamW(made.parameters(), lr=peak, betas=(0.9, 0.98), weight_decay=0.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, total_steps=steps, pct_start=0.1)
    data = examples(seed)

    def loss() -> Tensor:
        sources, real, targets = batch([next(data) for _ in range(size)])
        fed = torch.cat([torch.full((size, 1), VOCAB.index(START)), targets[:, :-1]], 1)
        logits = made.decode(fed, made.encode(sources, real), real)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    history = fit(loss, optimizer, steps, rate=rate, clip=1.0)
    print(f"loss {history[0]:.4f} -> {history[-1]:.4f}")
    return made.eval().requires_grad_(False)


def make() -> None:
    """Train it and write its weights: the same sums in the same order, so the same weights every time."""
    torch.use_deterministic_algorithms(True)
    trained = train()
    torch.use_deterministic_algorithms(False)
    print(f"unseen days written without a mistake: {accuracy(trained):.4f}")
    save_file(trained.state_dict(), WEIGHTS)
