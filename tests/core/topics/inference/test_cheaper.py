"""Fewer bits and drafted tokens, by hand and against transformers."""

import math

import numpy as np
import pytest
import torch

from core.lab import text as sentence
from core.topics.inference import drafts, squeezed
from core.whatif import WhatIf

FIRST = sentence.of(sentence.read(sentence.SENTENCE))


def test_a_vector_in_two_bits_by_hand():
    x = torch.tensor([[0.0, 1.0, 2.4, 3.0, 1.6]])
    assert squeezed.rounded(x, 2).tolist() == [[0.0, 1.0, 2.0, 3.0, 2.0]]
    assert squeezed.rounded(x, 1).tolist() == [[0.0, 0.0, 3.0, 3.0, 3.0]]
    assert torch.equal(squeezed.rounded(x, 16), x)
    assert torch.equal(squeezed.rounded(torch.ones(2, 3), 3), torch.ones(2, 3)), "nothing to tell apart"
    one = torch.randn(7, 48, generator=torch.Generator().manual_seed(0))
    for bits in (8, 3):
        assert all(len(set(row)) <= 2**bits for row in squeezed.rounded(one, bits).tolist())


@pytest.mark.parametrize(("side", "bits"), [("both", 16), ("keys", 2), ("values", 2)])
def test_the_recorded_losses_are_measured_again(side, bits):
    recorded = squeezed.losses()[squeezed.SIDES.index(side), squeezed.BITS.index(bits)]
    assert squeezed.loss(side, bits) == pytest.approx(float(recorded), abs=2e-3)


def test_what_the_page_tells_of_bits():
    """Four bits cost next to nothing; at two, values bear it better than keys; at one it is the other way round."""
    table = {
        side: dict(zip(squeezed.BITS, row, strict=True))
        for side, row in zip(squeezed.SIDES, squeezed.losses(), strict=True)
    }
    assert table["both"][16] == pytest.approx(1.906, abs=2e-3)
    assert table["both"][4] - table["both"][16] < 0.03
    assert table["values"][2] < table["keys"][2] < table["both"][2]
    assert table["keys"][1] < table["values"][1] < table["both"][1]


@torch.no_grad()
def test_a_squeezed_cache_says_what_transformers_says_with_it(theirs):
    """Keys and values of every layer rounded by hand, a layer's before the next one is run: with a hook on both maps."""
    from transformers.models.llama import modeling_llama

    found, kept = squeezed.said(FIRST), modeling_llama.eager_attention_forward

    def rounding(module, query, key, value, *rest, **more):
        def by_hand(x):
            low, high = x.numpy().min(-1, keepdims=True), x.numpy().max(-1, keepdims=True)
            return torch.from_numpy(np.rint((x.numpy() - low) / ((high - low) / 7)) * ((high - low) / 7) + low)

        return kept(module, query, by_hand(key), by_hand(value), *rest, **more)

    modeling_llama.eager_attention_forward = rounding
    try:
        p = theirs(torch.tensor([FIRST.ids])).logits[0, -1].softmax(-1)
    finally:
        modeling_llama.eager_attention_forward = kept
    expected = p[[word.id for word in found.words]]
    np.testing.assert_allclose(found.p[0, squeezed.BITS.index(3)], expected, atol=1e-3)


def test_a_drafted_text_is_the_models_own(theirs):
    found = drafts.run(drafts.Demo(FIRST, 5))
    whole = theirs.generate(torch.tensor([FIRST.ids]), max_new_tokens=drafts.WRITTEN, do_sample=False)[0, 14:].tolist()
    assert drafts.plain(FIRST) == tuple(whole)
    for one in found:
        assert one.ids == tuple(whole)
        assert sum(one.drafted) == one.taken
        assert one.passes == drafts.WRITTEN - one.taken
        assert one.passes >= math.ceil(drafts.WRITTEN / (one.ahead + 1))
    assert found[0].passes == drafts.WRITTEN > found[2].passes


def test_what_a_draft_reads_of_the_weights(theirs):
    """Counted in the model's own file: five of six blocks and the head, which is the table of tokens."""
    weights = {name: p.numel() for name, p in theirs.state_dict().items()}
    of = lambda *parts: sum(n for name, n in weights.items() if name.startswith(parts))  # noqa: E731
    head = of("lm_head", "model.norm")
    found = drafts.read(drafts.Demo(FIRST, 5))
    assert found.head == pytest.approx(head / (head + of("model.layers")))
    assert found.draft == pytest.approx(1 - of("model.layers.5.") / (head + of("model.layers")))
    assert found.head > 0.6, "the page says that it is most of the work"


def test_keys_are_rounded_as_the_cache_keeps_them(any_model):
    """In every family the edited tensors are there, and one bit leaves two levels a row in what is multiplied."""
    text = sentence.exactly("the dog ran to the", str(any_model.folder))
    seen = {}
    watched = [("block0.k_rot", "k_rot"), ("block0.k_norm", "k_norm"), ("block0.k", "k"), ("block0.v", "v")]
    watch = [(place, lambda x, name=name: seen.setdefault(name, x)) for place, name in watched]
    edits = squeezed.edits(text.subject, 1, 1)
    any_model.ours(torch.tensor(text.ids), trace=WhatIf([*edits, *watch]))
    key = next(name for name in ("k_rot", "k_norm", "k") if name in seen)
    for name in (key, "v"):
        assert all(len(set(row)) <= 2 for row in seen[name].flatten(0, -2).tolist()), name
