"""Train the letter models, one for each way to tell a position: about ten minutes."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from core.make.fit import drawn, fit
from core.model import Decoder
from core.nets.places import (
    CONFIG,
    FILE,
    READ,
    SCHEMES,
    TESTS,
    TRAINED,
    _stored,
    losses,
    measured,
    spelled,
)

STEPS, SIZE, RATE = 1000, 32, 3e-3


def story_letters(parts: int = 3, at_once: int = 80, tokens: int = 200) -> list[Tensor]:
    """Stories as the embedded model writes them, each as letters, up to its end."""
    from core import tokenizer
    from core.lab.text import FOLDER
    from core.make.healed import sampled

    reader, rows = tokenizer.of_model(FOLDER), []
    for seed in range(parts):
        for ids in sampled(at_once, tokens, seed + 100).tolist():
            end = next((i for i, x in enumerate(ids) if i and x in (1, 2)), len(ids))
            rows.append(spelled(reader.decode(ids[1:end])))
    return rows


def pieces(letters: Tensor, n: int, length: int, generator: torch.Generator) -> Tensor:
    """(n, length): cut out at random places."""
    starts = torch.randint(len(letters) - length, (n, 1), generator=generator)
    return letters[starts + torch.arange(length)]


def train(scheme: str, letters: Tensor, steps: int = STEPS, seed: int = 0) -> tuple[Decoder, Tensor | None, float]:
    """A model from nothing, its table, and its mean loss over the last steps."""
    generator = torch.Generator().manual_seed(seed)
    made = drawn(CONFIG, generator, embed=0.5, gain=0.5)
    table = None
    if scheme == "learned":
        table = torch.empty(TRAINED, CONFIG.d_model).normal_(std=0.5, generator=generator).requires_grad_()
    weights = [*made.parameters(), *([table] if table is not None else [])]
    moving = torch.optim.AdamW(weights, lr=RATE, weight_decay=0.01)
    falling = torch.optim.lr_scheduler.OneCycleLR(moving, RATE, steps, pct_start=0.1)

    def loss() -> Tensor:
        return losses(made, scheme, pieces(letters, SIZE, TRAINED + 1, generator), table).mean()

    history = fit(loss, moving, steps, rate=falling)
    return made.requires_grad_(False), None if table is None else table.detach(), float(np.mean(history[-50:]))


def make() -> None:
    """Sample, train, measure, store."""
    torch.set_num_threads(1)
    stories = story_letters()
    kept_out = len(stories) // 8
    letters = torch.cat(stories[kept_out:])
    tests = pieces(torch.cat(stories[:kept_out]), TESTS, READ + 1, torch.Generator().manual_seed(1))
    kept: dict[str, Tensor] = {"texts": tests.to(torch.uint8)}
    print(len(letters), "letters to learn from")
    for scheme in SCHEMES:
        made, table, loss = train(scheme, letters)
        kept |= {f"{scheme}.{name}": weight.half().contiguous() for name, weight in made.state_dict().items()}
        kept |= {f"{scheme}.table": table.half()} if table is not None else {}
        print(scheme, f"{loss:.3f}", flush=True)
    FILE.parent.mkdir(exist_ok=True)
    save_file(kept, FILE)
    _stored.cache_clear()
    kept["by_place"] = torch.from_numpy(np.stack([measured(scheme) for scheme in SCHEMES]))
    save_file(kept, FILE)
