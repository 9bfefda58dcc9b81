"""The cache: keys and values of every token that was read, kept, so that a new token is the only one computed.

A decoder never looks ahead, so what an earlier token has made does not change when another follows. The numbers are
those of a full pass; nothing is approximated.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from core.model import Decoder
from core.rope import angles
from core.trace import SILENT, Quantity, Trace

KEPT_KEYS = Quantity(
    "kept_keys",
    "kv_head kept d_head",
    r"[K_{<t};\,K_t]",
    "The keys of all tokens so far, normed and turned as they meet the queries.",
)
KEPT_VALUES = Quantity(
    "kept_values", "kv_head kept d_v", r"[V_{<t};\,V_t]", "What all tokens so far hand over when they are attended to."
)

Pair = tuple[Tensor, Tensor]  # keys and values of one block, (..., kv_head, token, d_head)
AS_THEY_MEET = {"k": 0, "k_norm": 0, "k_rot": 0, "v": 1}  # the last of the keys' three forms is the one to keep


class _Ear(Trace):
    """Hears the keys and values that a block makes of its new tokens."""

    def __init__(self) -> None:
        super().__init__(only=())
        self.heard: dict[int, Tensor] = {}

    def __call__(self, quantity: Quantity, value: Tensor) -> Tensor:
        if quantity.name in AS_THEY_MEET:
            self.heard[AS_THEY_MEET[quantity.name]] = value
        return value

    def inside(self, scope: str, **labels: list[str]) -> AbstractContextManager[None]:
        return nullcontext()


@torch.inference_mode()
def read_on(
    model: Decoder, ids: Tensor, past: list[Pair] | None, at: int, until: int | None = None
) -> tuple[Tensor, list[Pair]]:
    """Read new tokens on top of what is kept of those before them, in all blocks or in the first `until`.

    ids: (..., new); at: the position of the first of them. past: a pair for each block, (..., kv_head, kept, d_head),
    of the positions right before; None where nothing is kept. Axes before are batches, the same in both.
    Returns the stream of the new tokens (..., new, d_model), and their own pairs.
    Raises ValueError where a learned table of positions ends before the last of them.
    """
    new, config = ids.shape[-1], model.config
    kept = past[0][0].shape[-2] if past else 0
    x = model.embed(ids)
    if model.pos_embed is not None:
        if at + new > config.context:
            raise ValueError(f"{at + new} tokens do not fit: this model reaches {config.context}")
        x = x + model.pos_embed.weight[at : at + new]
    turn = angles(at + new, config.head_dim, config.rope_theta)[at:] if config.position == "rope" else None
    allowed = _allowed(new, kept, config.window)
    made: list[Pair] = []
    for i, block in enumerate(model.blocks[:until]):
        ear = _Ear()
        x = block(x, turn, allowed, past=past[i] if past else None, trace=ear)
        made.append((ear.heard[0], ear.heard[1]))
    return x, made


def _allowed(new: int, kept: int, window: int | None) -> Tensor | None:
    """(new, kept + new): everything kept and the new ones up to itself, no further back than the window."""
    if new == 1 and (window is None or kept < window):
        return None
    back = torch.arange(kept, kept + new)[:, None] - torch.arange(kept + new)
    return (back >= 0) & (back < window) if window else back >= 0


class Cache:
    """What a model, or its first `until` blocks, has kept of a text. `length` tokens were read; a window lets go of those
    it can no longer see."""

    def __init__(self, model: Decoder, until: int | None = None) -> None:
        self.model, self.until, self.length = model, until, 0
        self.kept: list[Pair] | None = None

    def read(self, ids: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """ids: (new,) or (batch, new), the next tokens. Returns their stream (..., new, d_model), as model.stream does.

        Records `block0.kept_keys`, `block0.kept_values`, ... Raises what `read_on` raises.
        """
        x, made = read_on(self.model, ids, self.kept, self.length, self.until)
        self.length += ids.shape[-1]
        if self.kept is not None:
            pairs = zip(self.kept, made, strict=True)
            made = [(torch.cat([k, new_k], -2), torch.cat([v, new_v], -2)) for (k, v), (new_k, new_v) in pairs]
        self.kept = [self._in_sight(pair) for pair in made]
        for i, (keys, values) in enumerate(self.kept):
            with trace.inside(f"block{i}"):
                trace(KEPT_KEYS, keys)
                trace(KEPT_VALUES, values)
        return x

    def _in_sight(self, pair: Pair) -> Pair:
        window = self.model.config.window
        return (pair[0][..., -window:, :], pair[1][..., -window:, :]) if window else pair

    @property
    def held(self) -> int:
        """Tokens whose keys and values are kept."""
        return self.kept[0][0].shape[-2] if self.kept else 0

    def reaches(self, length: int) -> bool:
        """Is all still kept that the tokens after the first `length` see?"""
        window = self.model.config.window
        return not window or self.held - (self.length - length) >= min(length, window - 1)

    def back_to(self, length: int) -> None:
        """Forget the tokens after the first `length`. Raises ValueError where a window has let go of what they need."""
        gone = self.length - length
        if self.kept is None or gone <= 0:
            return
        if not self.reaches(length):
            raise ValueError(f"{length} tokens are not kept any more: the window is {self.model.config.window}")
        self.length = length
        self.kept = [(k[..., : k.shape[-2] - gone, :], v[..., : v.shape[-2] - gone, :]) for k, v in self.kept]

    def take(self, rows: Tensor) -> None:
        """Of a batch, go on with these rows: (row,), any of them any number of times."""
        self.kept = None if self.kept is None else [(k[rows], v[rows]) for k, v in self.kept]
