"""A sheet for questions whose numbers are written down, not computed."""

from types import SimpleNamespace

import numpy as np

D = 16


class Given:
    """A sheet of one head whose numbers are known. tensors: by name, with the head's axis where there is one."""

    def __init__(self, n=3, d=D, layers=1, **tensors):
        self.n, self.names = n, [f"w{i}" for i in range(n)]
        parts = dict(head_dim=d, group=1, norm="rmsnorm", ffn="swiglu", moe=None, n_layers=layers)
        self.config, self.tensors = SimpleNamespace(**parts), tensors
        self.logs = np.array(tensors.get("logs", []))
        self.next = np.array(tensors.get("next", []))

    def of(self, layer, name):
        return np.array(self.tensors[name], np.float64)

    def head(self, rng):
        return 0, 0

    def heads(self, rng):
        return [(0, 0)]

    def after(self, place):
        return np.array(self.tensors["after"])
