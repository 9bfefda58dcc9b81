"""Parts of the block switched on and off: each choice against the blocks' own modules, wired by hand."""

from itertools import combinations

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.topics.model import parts

TEXT = sentence.of(sentence.read(sentence.SENTENCE))
EVERY = [on for n in range(len(parts.PARTS) + 1) for on in combinations(parts.PARTS, n)]


@torch.inference_mode()
def by_hand(on):
    """The next word's probabilities, block by block."""
    model = subject.model()
    ids = torch.tensor(TEXT.ids)
    x, (turn, allowed) = model.embed(ids), model.surroundings(len(ids))
    for block in model.blocks:
        for part, norm, layer in (
            ("attention", block.norm1, lambda y, block=block: block.attn(y, turn, allowed)),
            ("ffn", block.norm2, block.ffn),
        ):
            found = layer(norm(x) if "norms" in on else x) if part in on else torch.zeros_like(x)
            x = x + found if "residual" in on else found
    return model.predict(x).softmax(-1).numpy()


@pytest.mark.parametrize("on", EVERY, ids=lambda on: "+".join(on) or "none")
def test_only_the_parts_that_are_on_take_part(on):
    found, expected = parts.run(TEXT, on), by_hand(on)
    np.testing.assert_allclose([word.p for word in found.words], [expected[w.id] for w in found.words], atol=2e-5)
    assert found.words[0].p == pytest.approx(expected.max(), abs=2e-5)


def test_all_of_them_are_the_untouched_model_and_no_three_say_its_word():
    whole = parts.run(TEXT, parts.PARTS)
    trace = subject.untouched(TEXT)
    assert whole.words[0] == whole.whole
    for line, size, shape in zip(parts.LINES, whole.size, whole.shapes, strict=True):
        value = trace[f"block0.{line}"].value
        assert shape == value.shape
        assert size == pytest.approx(np.sqrt((value.astype(float) ** 2).mean()))
    assert all(parts.run(TEXT, on).words[0].id != whole.whole.id for on in combinations(parts.PARTS, 3))


def test_the_stream_alone_says_the_last_word_again():
    assert parts.run(TEXT, ("residual",)).words[0].token == TEXT.tokens[-1] == "to"
