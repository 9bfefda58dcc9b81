"""The answers once more: from transformers' eager attention and NumPy, for many sentences at once."""

import random
from collections import Counter
from functools import cached_property, partial

import numpy as np
import torch

NAMES = ["Tom", "Anna", "Lily", "Sam", "Ben", "Amy", "Max", "Mia"]
THINGS = ["ball", "hat", "cake", "fish", "book", "dog", "kite", "apple", "car", "flower"]
LOOKS = ["red", "big", "small", "blue", "old", "funny", "shiny"]
PLACES = ["the park", "the garden", "a big house", "the sea", "the forest"]
DEEDS = ["saw", "found", "wanted", "took", "liked", "lost", "made"]
PATTERNS = [
    "{a} and {b} played in {place}. {a} gave the {thing} to",
    "{a} {deed} a {look} {thing}. {b} {deed} a",
    "One day, {a} went to {place}. {a} {deed} a {look} {thing}",
    "The {look} {thing} was in {place}. {a} {deed} it. {b} {deed} the {thing} too",
    "{a} is happy. {b} is sad. {a} has a {thing}, but {b}",
    "{a} {deed} the {thing}",
]


def sentences(many, seed):
    """Different sentences out of a small grammar."""
    rng, found = random.Random(seed), {}
    while len(found) < many:
        a, b = rng.sample(NAMES, 2)
        words = dict(thing=rng.choice(THINGS), look=rng.choice(LOOKS), place=rng.choice(PLACES), deed=rng.choice(DEEDS))
        found[rng.choice(PATTERNS).format(a=a, b=b, **words)] = None
    return list(found)


class Pass:
    """What transformers computed of one sentence, and how it was put together by hand where transformers tells nothing."""

    def __init__(self, theirs, tokens, ids, hidden, attentions, heard):
        self.model, self.tokens, self.n = theirs, tokens, len(ids)
        self.ids, self.hidden, self.weights, self.heard = ids, hidden, attentions, heard
        self.c = theirs.config
        self.d = self.c.hidden_size // self.c.num_attention_heads
        seen = Counter(tokens)
        self.names = [f"{t} {tokens[: i + 1].count(t)}" if seen[t] > 1 else t for i, t in enumerate(tokens)]

    def part(self, layer, name, head):
        return self.heard[layer, name][: self.n, head * self.d : (head + 1) * self.d].astype(np.float64)

    def scores(self, layer, head):
        """q k^T of one head, every pair, after RoPE written out: number i and number i + d / 2 turn together."""
        angles = np.arange(self.n)[:, None] * 10_000.0 ** (-np.arange(0, self.d, 2) / self.d)

        def turned(x):
            a, b = x[:, : self.d // 2], x[:, self.d // 2 :]
            cos, sin = np.cos(angles), np.sin(angles)
            return np.concatenate([a * cos - b * sin, b * cos + a * sin], 1)

        return turned(self.part(layer, "q", head)) @ turned(self.part(layer, "k", head)).T

    @cached_property
    def probs(self):
        """(token, vocab)"""
        with torch.inference_mode():
            logits = self.model.lm_head(torch.tensor(self.hidden[-1][: self.n]))
            return logits.double().softmax(-1).numpy()

    @cached_property
    def losses(self):
        return -np.log(self.probs[np.arange(self.n - 1), self.ids[1:]])

    @cached_property
    def lens(self):
        """What would be said after each block."""
        with torch.inference_mode():
            last = torch.stack([torch.tensor(x[self.n - 1]) for x in self.hidden[1:-1]])
            said = self.model.lm_head(self.model.model.norm(last)).argmax(-1).tolist()
            return [*said, int(self.probs[-1].argmax())]


def passes(theirs, read):
    """read: (tokens, ids) of each sentence. All in one batch; a causal model never sees the filling."""
    longest = max(len(ids) for _tokens, ids in read)
    batch = torch.tensor([list(ids) + [2] * (longest - len(ids)) for _tokens, ids in read])
    heard, hooks = {}, []
    for i, layer in enumerate(theirs.model.layers):
        parts = dict(q=layer.self_attn.q_proj, k=layer.self_attn.k_proj, v=layer.self_attn.v_proj)
        parts |= dict(gate=layer.mlp.gate_proj, up=layer.mlp.up_proj)
        for name, module in parts.items():
            hooks.append(
                module.register_forward_hook(lambda _m, _i, out, at=(i, name): heard.update({at: out.numpy()}))
            )
    with torch.inference_mode():
        found = theirs.model(batch, output_attentions=True, output_hidden_states=True)
    for hook in hooks:
        hook.remove()
    made = []
    for at, (tokens, ids) in enumerate(read):
        n = len(ids)
        attentions = [layer[at, :, :n, :n].numpy() for layer in found.attentions]
        states = [x[at].numpy() for x in found.hidden_states]
        made.append(Pass(theirs, list(tokens), list(ids), states, attentions, {k: v[at] for k, v in heard.items()}))
    return made


def _silence(rows, size, layer, _module, given):
    x = given[0].clone()
    for at, (_ids, where, head, _token) in enumerate(rows):
        if where == layer:
            x[at, :, head * size : (head + 1) * size] = 0
    return (x,)


def muted(theirs, rows):
    """rows: (ids, layer, head, token). The probability of the token with that head's output out of the way, in batches."""
    size = theirs.config.hidden_size // theirs.config.num_attention_heads
    found = []
    for start in range(0, len(rows), 100):
        some = rows[start : start + 100]
        longest = max(len(ids) for ids, *_ in some)
        batch = torch.tensor([list(ids) + [2] * (longest - len(ids)) for ids, *_ in some])

        hooks = [
            layer.self_attn.o_proj.register_forward_pre_hook(partial(_silence, some, size, i))
            for i, layer in enumerate(theirs.model.layers)
        ]
        with torch.inference_mode():
            x = theirs.model(batch).last_hidden_state
            last = torch.stack([x[at, len(ids) - 1] for at, (ids, *_) in enumerate(some)])
            probs = theirs.lm_head(last).softmax(-1)
        for hook in hooks:
            hook.remove()
        found += [float(probs[at, token]) for at, (*_, token) in enumerate(some)]
    return found
