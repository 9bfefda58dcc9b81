"""Train and record everything that ships, or one thing by its name: `python -m core.make [name ...]`.

Each module of this folder makes one thing with its `make()`. Nets come before the tables that are measured with them.
"""

from __future__ import annotations

import sys
from importlib import import_module

import torch

NAMES = (
    *("dates", "cheat", "neighbours", "healed", "places", "moe"),
    *("home", "sharing_losses", "place_losses", "long_losses", "story_losses", "reach_losses"),
    *("norms", "norm_losses", "neurons", "needed", "cache_losses"),
    *("patterns", "instead", "ssm", "bank", "sinks", "swaps"),
    *("blanks", "whatifs"),
    *("line", "sky", "scaling"),
    *("by_heart", "superposition"),
)


def main(names: list[str]) -> None:
    if unknown := set(names) - set(NAMES):
        sys.exit(f"nothing is called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    torch.set_num_threads(1)  # the same sums in the same order: the same numbers every time
    for name in names or NAMES:
        print(f"== {name}", flush=True)
        import_module(f"core.make.{name}").make()


if __name__ == "__main__":
    main(sys.argv[1:])
