"""Shown = computed: every recorded step is recomputed in NumPy from the steps recorded before it."""

import numpy as np
import pytest
import torch

from core.lab import subject, text
from core.trace import Trace
from tests.core import families

CLOSE = dict(rtol=2e-4, atol=2e-4)


def norm(x, module):
    x, weight = x.astype(np.float64), module.weight.numpy()
    if hasattr(module, "bias"):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + module.eps) * weight + module.bias.numpy()
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + module.eps) * weight


def linear(x, module):
    out = x @ module.weight.numpy().T
    return out if module.bias is None else out + module.bias.numpy()


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def turned(x, angle):
    half = x.shape[-1] // 2
    z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    return np.concatenate([z.real, z.imag], -1)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def follow(model, trace):
    """(name, recorded, recomputed from what was recorded before) for every step of a decoder."""
    got = lambda name: trace[name].value  # noqa: E731
    config, x = model.config, got("embed")
    yield "embed", x, model.embed.weight.numpy()[got("ids")]
    if config.position == "learned":
        yield "pos_embed", got("pos_embed"), model.pos_embed.weight.numpy()[: len(x)]
        x = x + got("pos_embed")
    else:
        theta = config.rope_theta ** (-np.arange(0, config.head_dim, 2) / config.head_dim)
        yield "angles", got("angles"), np.arange(len(x))[:, None] * theta
    for i, block in enumerate(model.blocks):
        at = lambda name, i=i: got(f"block{i}.{name}")  # noqa: E731
        yield f"{i} resid_pre", at("resid_pre"), x
        yield f"{i} norm1", at("norm1"), norm(at("resid_pre"), block.norm1)
        yield from attention(i, at, block.attn, config, trace)
        yield f"{i} resid_mid", at("resid_mid"), at("resid_pre") + at("attn_out")
        yield f"{i} norm2", at("norm2"), norm(at("resid_mid"), block.norm2)
        own = mixture if hasattr(block.ffn, "experts") else feedforward
        yield from own(i, at, block.ffn, config)
        x = at("resid_mid") + at("ffn_out")
        yield f"{i} resid_post", at("resid_post"), x
    yield "norm_final", got("norm_final"), norm(x, model.norm)
    head = model.embed.weight if model.head is None else model.head.weight
    yield "logits", got("logits"), got("norm_final") @ head.numpy().T
    yield "probs", got("probs"), softmax(got("logits").astype(np.float64))


def attention(i, at, attn, config, trace):
    def heads(x, n):
        return x.reshape(len(x), n, -1).transpose(1, 0, 2)

    for name, n in (("q", config.n_heads), ("k", config.n_kv_heads), ("v", config.n_kv_heads)):
        yield f"{i} {name}", at(name), heads(linear(at("norm1"), getattr(attn, name)), n)
    q, k, v = at("q"), at("k"), at("v")
    if config.qk_norm:
        yield f"{i} q_norm", at("q_norm"), norm(q, attn.q_norm)
        yield f"{i} k_norm", at("k_norm"), norm(k, attn.k_norm)
        q, k = at("q_norm"), at("k_norm")
    if config.position == "rope":
        angle = trace["angles"].value
        yield f"{i} q_rot", at("q_rot"), turned(q, angle)
        yield f"{i} k_rot", at("k_rot"), turned(k, angle)
        q, k = at("q_rot"), at("k_rot")
    k, v = (np.repeat(x, config.n_heads // config.n_kv_heads, 0) for x in (k, v))
    n = q.shape[1]
    yield f"{i} scores", at("scores"), q @ k.transpose(0, 2, 1)
    yield f"{i} scaled", at("scaled"), at("scores") / np.sqrt(config.head_dim)
    yield f"{i} allowed", at("allowed"), np.tril(np.ones((n, n), bool))
    yield f"{i} masked", at("masked"), np.where(at("allowed"), at("scaled"), -np.inf)
    yield f"{i} weights", at("weights"), softmax(at("masked").astype(np.float64))
    yield f"{i} z", at("z"), at("weights") @ v
    yield f"{i} attn_out", at("attn_out"), linear(at("z").transpose(1, 0, 2).reshape(n, -1), attn.o)


def feedforward(i, at, ffn, config):
    if config.ffn == "swiglu":
        yield f"{i} ffn_gate", at("ffn_gate"), linear(at("norm2"), ffn.gate)
        yield f"{i} ffn_up", at("ffn_up"), linear(at("norm2"), ffn.up)
        gate = at("ffn_gate").astype(np.float64)
        yield f"{i} ffn_act", at("ffn_act"), gate / (1 + np.exp(-gate)) * at("ffn_up")
    else:
        yield f"{i} ffn_pre", at("ffn_pre"), linear(at("norm2"), ffn.up)
        yield f"{i} ffn_act", at("ffn_act"), gelu(at("ffn_pre").astype(np.float64))
    yield f"{i} ffn_out", at("ffn_out"), linear(at("ffn_act"), ffn.down)


def mixture(i, at, ffn, config):
    yield f"{i} router", at("router"), linear(at("norm2"), ffn.router)
    p = softmax(at("router").astype(np.float64))
    yield f"{i} router_probs", at("router_probs"), p
    best = np.argsort(-p, -1)[:, : config.moe.n_active]
    yield f"{i} chosen", at("chosen"), np.array([[e in row for e in range(len(ffn.experts))] for row in best])
    of = (p * at("chosen")).sum(-1, keepdims=True) if config.moe.renormalise else 1
    yield f"{i} gates", at("gates"), p * at("chosen") / of
    out = np.zeros_like(at("norm2"))
    for e, expert in enumerate(ffn.experts):
        sent = [t for t, row in enumerate(best) if e in row]
        if sent:
            inside = lambda name, e=e: at(f"expert{e}.{name}")  # noqa: E731
            yield f"{i} expert {e}", inside("expert_in"), at("norm2")[sent]
            for step, recorded, recomputed in feedforward(
                i, lambda n, g=inside: g(n.replace("norm2", "expert_in")), expert, config
            ):
                yield f"{step} of expert {e}", recorded, recomputed
            out[sent] += at("gates")[sent, e, None] * inside("ffn_out")
    yield f"{i} ffn_out", at("ffn_out"), out


@pytest.mark.parametrize("name", ["embedded", *families.CONFIGS])
def test_every_step_follows_from_the_steps_before(name, pair):
    model = subject.model() if name == "embedded" else pair(name).ours
    ids = text.read(text.SENTENCE).ids if name == "embedded" else (3, 17, 3, 0, 60, 42, 9)
    trace = Trace()
    model(torch.tensor(ids), trace=trace)
    followed = 0
    for step, recorded, recomputed in follow(model, trace):
        scale = np.abs(recorded[np.isfinite(recorded)]).max()
        np.testing.assert_allclose(recorded / scale, recomputed / scale, **CLOSE, err_msg=step)
        followed += 1
    assert followed == len(trace) - 1, "every step but the ids was followed"
