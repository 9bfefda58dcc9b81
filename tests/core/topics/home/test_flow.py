"""One sentence on its way: pictures of any width, the lens of every block, and the stream that it reads."""

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.topics.home import flow
from core.whatif import Change

FIRST = sentence.of(sentence.read(sentence.SENTENCE))
OTHER = sentence.exactly("The cat slept on the rug. The dog")


@pytest.mark.parametrize(("n", "width", "cells"), [(288, 48, 48), (48, 48, 48), (49, 48, 25), (100, 48, 34), (7, 3, 3)])
def test_a_cell_is_the_number_farthest_from_zero_of_those_it_stands_for(n, width, cells):
    values = np.random.default_rng(0).normal(size=(3, n))
    found = flow.picture(values, width)
    assert found.shape == (3, cells)
    group = -(-n // width)
    for row, made in zip(values, found, strict=True):
        parts = [row[i : i + group] for i in range(0, n, group)]
        assert made.tolist() == [max(part, key=abs) for part in parts]
    assert flow.picture(values).shape[1] == cells or width != 48


def test_every_block_is_asked_what_it_would_say():
    found, trace, model = flow.compute(OTHER), subject.untouched(OTHER), subject.model()
    assert (len(found.words), len(found.lens), {len(words) for words in found.lens}) == (10, 7, {3})
    streams = ["block0.resid_pre", *(f"block{i}.resid_post" for i in range(6))]
    for words, name in zip(found.lens, streams, strict=True):
        with torch.inference_mode():
            p = model.read_out(trace[name].tensor[-1]).softmax(-1).numpy()
        assert [w.id for w in words] == np.argsort(-p)[:3].tolist()
        assert [w.p for w in words] == pytest.approx(np.sort(p)[::-1][:3], abs=1e-5)
    assert [w.id for w in found.words] == np.argsort(-trace["next_probs"].value)[:10].tolist()
    assert found.tokens == list(OTHER.tokens)


def test_what_is_changed_is_computed_and_the_first_sentence_is_read():
    assert flow.flow(FIRST) is flow.recorded()
    hot = Change(temperature=3.0)
    assert flow.flow(FIRST, hot).words != flow.recorded().words
    changed = flow.compute(OTHER, hot)
    wanted = subject.run(OTHER, hot, ("next_probs",))["next_probs"].value
    assert changed.words[0].p == pytest.approx(float(wanted.max()), abs=1e-6)
    assert flow.flow(OTHER).words == flow.compute(OTHER).words


def test_stages_are_the_streams_from_a_token_on():
    trace, model = subject.untouched(OTHER), subject.model()
    found = flow.stages(trace, model, 3)
    assert [tuple(x.shape) for x in found] == [(len(OTHER) - 3, 288)] * 7
    np.testing.assert_array_equal(found[0], trace["embed"].value[3:])
    np.testing.assert_array_equal(found[4], trace["block3.resid_post"].value[3:])


def test_a_learned_table_of_places_is_part_of_the_first_stage(pair):
    text = sentence.exactly("the dog saw a cat", str(pair("gpt2").folder))
    trace, model = subject.untouched(text), subject.model(text.subject)
    found = flow.stages(trace, model, 2)[0]
    np.testing.assert_allclose(found.detach(), trace["block0.resid_pre"].value[2:], atol=1e-6)
