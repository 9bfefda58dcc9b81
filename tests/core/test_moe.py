"""The mixture of experts against transformers' own blocks, against its balancing loss, and by hand."""

import copy
import json

import pytest
import torch
import torch.nn.functional as F
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock, load_balancing_loss_func
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock

from core.config import ModelConfig, Moe
from core.moe import Mixture, balancing, choose, load, nudged, seated, seats, weigh
from core.trace import Trace
from tests.core import families

SIZES = dict(d_model=24, n_layers=1, n_heads=1, d_ff=16, vocab_size=1, context=1)


def ours(moe, **weights):
    made = Mixture(ModelConfig(**SIZES, moe=moe)).requires_grad_(False)
    made.load_state_dict(weights, strict=False)
    return made


def filled(block):
    """What transformers keeps in two tensors, under core's names; all drawn anew."""
    state, experts = {"router.weight": block.gate.weight.normal_()}, block.experts
    for e, (both, down) in enumerate(
        zip(experts.gate_up_proj.normal_(std=0.3), experts.down_proj.normal_(), strict=True)
    ):
        gate, up = both.chunk(2)
        state |= {f"experts.{e}.{n}.weight": w for n, w in (("gate", gate), ("up", up), ("down", down))}
    return state


@pytest.mark.parametrize(
    ("kind", "k", "renormalise"), [("mixtral", 2, True), ("qwen3_moe", 3, False), ("qwen3_moe", 1, True)]
)
@torch.no_grad()
def test_a_mixture_is_the_block_of_transformers(kind, k, renormalise):
    torch.manual_seed(k)
    config = copy.deepcopy(families.CONFIGS[kind])
    config.num_experts_per_tok, config.norm_topk_prob = k, renormalise
    block = {"mixtral": MixtralSparseMoeBlock, "qwen3_moe": Qwen3MoeSparseMoeBlock}[kind](config).requires_grad_(False)
    state = filled(block)
    width = state["experts.0.gate.weight"].shape[0]
    mine = ours(Moe(config.num_local_experts, k, width, (0,), renormalise=renormalise), **state)
    x = torch.randn(2, 11, 24)
    torch.testing.assert_close(mine(x), block(x), rtol=1e-4, atol=1e-4)
    alone = torch.stack([mine(row, trace=Trace()) for row in x])
    torch.testing.assert_close(alone, mine(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_balancing_loss_is_that_of_transformers(k):
    scores = torch.randn(50, 6) + torch.tensor([2.0, 0, 0, 0, -1, 0])
    p = scores.softmax(-1)
    wanted = load_balancing_loss_func((scores,), 6, k)
    torch.testing.assert_close(balancing(p, choose(p, k)), torch.as_tensor(wanted))
    even = torch.eye(6)
    assert float(balancing(even, choose(even, 1))) == pytest.approx(1.0)
    crowd = F.one_hot(torch.zeros(9, dtype=torch.long), 6).float()
    assert float(balancing(crowd, choose(crowd, 1))) == pytest.approx(6.0)


def test_its_gradient_pushes_the_busiest_expert_down():
    scores = (torch.randn(80, 4) + torch.tensor([3.0, 0, 0, 0])).requires_grad_()
    p = scores.softmax(-1)
    balancing(p, choose(p, 1)).backward()
    pushed = scores.grad.sum(0)
    assert pushed.argmax() == 0
    assert (pushed[1:] < 0).all()


def test_seats_by_hand():
    chosen = F.one_hot(torch.tensor([0, 0, 1, 0, 2, 0, 1, 0]), 4).bool()
    assert load(chosen).tolist() == [0.625, 0.25, 0.125, 0.0]
    two = torch.stack([chosen, chosen.flip(-1)])
    assert load(two).tolist() == [[0.625, 0.25, 0.125, 0.0], [0.0, 0.125, 0.25, 0.625]], "each text by itself"
    assert [seats(8, 1, 4, c) for c in (0.5, 1.0, 1.25, 1.5, 4.0)] == [1, 2, 2, 3, 8]
    assert seats(8, 2, 4, 1.0) == 4
    assert seats(20, 1, 4, 1.2) == 6  # 6 in arithmetic, 5.999999 in floating point
    kept = seated(chosen, 2)
    assert [int(row.int().argmax()) if row.any() else None for row in kept] == [0, 0, 1, None, 2, None, 1, None]
    assert torch.equal(seated(chosen, 5), chosen)


def test_a_bias_moves_the_choice_and_no_gate():
    p = torch.tensor([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]])
    bias = torch.tensor([-0.3, 0.0, 0.0])
    chosen = choose(p + bias, 1)
    assert chosen.tolist() == [[False, True, False], [False, True, False]]
    assert weigh(p, chosen, False).sum(-1).tolist() == pytest.approx([0.3, 0.35])
    assert weigh(p, chosen, True).sum(-1).tolist() == [1.0, 1.0]
    moved = nudged(torch.zeros(3), torch.tensor([0.6, 0.4, 0.0]), 0.01)
    assert moved.tolist() == pytest.approx([-0.01, -0.01, 0.01])
    assert nudged(torch.zeros(2), torch.tensor([0.5, 0.5]), 0.01).tolist() == [0, 0]
    layers = nudged(torch.zeros(3, 2), torch.tensor([[0.9, 0.1], [0.5, 0.5], [2.0, 4.0]]), 0.5)  # each its own mean
    assert layers.tolist() == [[-0.5, 0.5], [0, 0], [0.5, -0.5]]


@torch.no_grad()
def test_shared_experts_see_everybody_and_others_only_who_was_sent():
    torch.manual_seed(0)
    made = Mixture(ModelConfig(**SIZES, moe=Moe(4, 1, 8, (0,), n_shared=1, renormalise=False)))
    x, trace = torch.randn(7, 24), Trace(query=list("abcdefg"))
    out = made(x, trace=trace)
    p = (x @ made.router.weight.T).softmax(-1)
    by_hand = [made.shared[0](row) + p[i].max() * made.experts[int(p[i].argmax())](row) for i, row in enumerate(x)]
    torch.testing.assert_close(out, torch.stack(by_hand))
    seen = [
        name for e in range(4) if f"expert{e}.ffn_out" in trace for name in trace[f"expert{e}.ffn_out"].labels["query"]
    ]
    assert sorted(seen) == list("abcdefg")
    assert trace["shared0.ffn_out"].labels["query"] == list("abcdefg")


def test_which_blocks_have_experts():
    read = lambda **more: ModelConfig.from_hf(json.loads(json.dumps({"model_type": "qwen3_moe"} | more)))  # noqa: E731
    assert read(num_hidden_layers=4, decoder_sparse_step=2).moe.layers == (1, 3)
    assert read(num_hidden_layers=4, mlp_only_layers=[0, 2]).moe.layers == (1, 3)
    assert read().moe.renormalise is False
    assert read(norm_topk_prob=True).moe.renormalise is True
    assert ModelConfig.from_hf({"model_type": "mixtral", "norm_topk_prob": False}).moe.renormalise is True


def test_of_shapes_without_numbers_an_even_share_comes():
    """Ten tokens, two of four experts each: five to every expert; nine tokens of one of four: three, rounded up."""
    for n, experts, k, share in ((10, 4, 2, 5), (9, 4, 1, 3), (8, 4, 1, 2)):
        made = Mixture(ModelConfig(**SIZES, moe=Moe(experts, k, 8, (0,)))).to("meta")
        rows = made._sent(torch.empty(n, device="meta"))
        assert (tuple(rows.shape), rows.dtype, rows.is_meta) == ((share,), torch.long, True)
        assert made(torch.empty(n, 24, device="meta")).shape == (n, 24)
    assert made._sent(torch.tensor([0.0, 0.5, 0.0, -0.1])).tolist() == [1, 3]


def test_places_are_rounded_down_but_for_rounding():
    assert seats(10, 1, 4, 1.1) == 2, "2.75"
    assert seats(10, 1, 4, 1.19) == 2, "2.975"
    assert seats(12, 1, 4, 1.0) == 3
    assert load(torch.zeros(5, 3).bool()).tolist() == [0, 0, 0], "nobody chose"
    assert load(torch.eye(2).bool()[:, None].expand(2, 4, 2)).tolist() == [[1, 0], [0, 1]]
