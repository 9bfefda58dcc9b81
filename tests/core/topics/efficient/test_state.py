"""Two forms of one thing, and the nets that ship."""

import numpy as np
import pytest
import torch

from core.make import ssm as making
from core.nets import ssm
from core.topics.efficient import flash as fl
from core.topics.efficient import state as st

LETTERS = "abcdefghhgfedcba"


def test_the_scan_is_a_loop_over_numbers():
    """The selective recurrence, written out in NumPy with scalars."""
    net = ssm.net("selective").double()
    done = ssm.run(net, ssm.encoded(LETTERS, 5).double()[None])
    named = {name: value.numpy() for name, value in net.state_dict().items()}
    x = ssm.encoded(LETTERS, 5).double().numpy() @ named["letter.weight"].T + named["letter.bias"]
    x = x / (1 + np.exp(-x))
    h = np.zeros((24, 4))
    for t in range(len(LETTERS)):
        delta = np.log1p(np.exp(x[t] @ named["step.weight"][0] + named["step.bias"][0]))
        b, c = (x[t] @ named[f"{way}.weight"].T + named[f"{way}.bias"] for way in ("write", "read"))
        for s in range(4):
            h[:, s] = np.exp(-delta * np.exp(named["rate"][s])) * h[:, s] + delta * b[s] * x[t]
        assert done.y[0, t].numpy() == pytest.approx(h @ c, abs=1e-10)


def test_both_forms_agree():
    found = st.forms(fl.Demo(fl.story()), LETTERS, 5)
    assert found.scan < 1e-12
    assert found.linear < 1e-4
    assert (found.state, found.even) == (48 * 48 + 48, 25)


def test_linear_attention_by_hand():
    q, k = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [3.0]])
    v = torch.tensor([[10.0], [20.0]])
    assert st.handed_on(q, k, v).flatten().tolist() == [10.0, (1 * 10 + 3 * 20) / 4]


def test_the_nets_are_small_and_remember():
    assert sum(p.numel() for p in ssm.net("selective").parameters()) == 678
    for kind, at_last in (("selective", 1.0), ("fixed", 0.75)):
        recorded = ssm.accuracy(kind)
        assert recorded[ssm.TRAINED] == 1.0
        assert recorded[128] == pytest.approx(at_last, abs=0.05)
        assert recorded[64] == pytest.approx(making.tested(ssm.net(kind), 64), abs=1e-6)


def test_the_step_is_wide_at_the_mark():
    generator = np.random.default_rng(0)
    marked, others = [], []
    for _ in range(40):
        letters, at = "".join(generator.choice(list(ssm.LETTERS), 32)), int(generator.integers(32))
        found = st.read(letters, at)
        marked.append(found.delta[at])
        others += [step for i, step in enumerate(found.delta) if i != at]
        assert found.said["selective"].argmax() == ssm.LETTERS.index(letters[at])
    assert np.mean(marked) == pytest.approx(1.6, abs=0.3)
    assert np.mean(others) == pytest.approx(0.02, abs=0.02)


def test_training_starts_where_it_says():
    """Two steps from the same seed are two steps: nothing else draws."""
    one, other = (making.train("selective", steps=2).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_is_left_of_a_letter_is_what_every_step_after_it_let_through():
    """The decays from that letter's own step to the last one, multiplied."""
    letters, at = "abcabcab", 2
    decay = ssm.run(ssm.net("selective"), ssm.encoded(letters, at)[None]).decay[0].detach().numpy().astype(float)
    wanted = [np.prod(decay[i:], axis=0) for i in range(len(decay))]
    np.testing.assert_allclose(st.read(letters, at).left, wanted, rtol=1e-4, atol=1e-7)


def test_what_one_head_keeps_and_how_strongly_each_letter_is_read():
    assert st.forms(fl.Demo(fl.story()), LETTERS, 5).cache == 2 * 48 * 256
    found = st.read(LETTERS, 5)
    run = ssm.run(ssm.net("selective"), ssm.encoded(LETTERS, 5)[None])
    wanted = np.linalg.norm(ssm.pairs(run)[0].detach().numpy(), axis=-1)
    np.testing.assert_allclose(found.map, wanted / wanted.max(), atol=1e-5)
    assert found.map.max() == 1
    assert not np.triu(found.map, 1).any()
    fixed = ssm.run(ssm.net("fixed"), ssm.encoded(LETTERS, 5)[None])
    assert found.fixed == pytest.approx(float(fixed.delta[0, 7]))
    for kind, one in (("selective", run), ("fixed", fixed)):
        powers = np.exp(one.said[0].detach().numpy().astype(float))
        np.testing.assert_allclose(found.said[kind], powers / powers.sum(), atol=1e-5)
