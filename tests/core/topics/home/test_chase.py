"""What a link hands on, recomputed by hand; what is written, against transformers' own generation."""

import numpy as np
import pytest
import torch

from core import generation
from core.lab import outcomes, subject
from core.lab import text as sentence
from core.topics.home import chase, writing

FIRST = sentence.of(sentence.read(sentence.SENTENCE))


def test_what_a_link_hands_on_in_numpy(theirs):
    """The value of one key through one head's slice of W_O, the last norm and the table of words, all by hand."""
    link = outcomes.outcomes().share[0]
    found, state = chase.handed(FIRST, link), theirs.state_dict()
    trace, size = subject.untouched(FIRST), subject.config().head_dim
    value = trace[f"block{link.layer}.v"].value[link.head, link.key]
    out = state[f"model.layers.{link.layer}.self_attn.o_proj.weight"].numpy()[
        :, link.head * size : (link.head + 1) * size
    ]
    moved = out @ value
    logits = state["lm_head.weight"].numpy() @ (
        moved / np.sqrt((moved**2).mean() + 1e-5) * state["model.norm.weight"].numpy()
    )
    assert found.pushes.id == logits.argmax()
    assert found.pushes.token == "Amy"
    assert (found.place, found.names_the_answer) == (1, True)
    assert found.weight == pytest.approx(trace[f"block{link.layer}.weights"].value[link.head, link.query, link.key])


def test_an_early_link_names_no_answer():
    early = next(link for link in outcomes.outcomes().share if link.layer == 1)
    assert not chase.handed(FIRST, early).names_the_answer


def test_cutting_decides_where_the_answer_loses_more_than_half():
    assert chase.without(FIRST, outcomes.LINK).decides
    assert not chase.without(FIRST, (0, 0, 5, 2)).decides


def test_greedy_writing_is_transformers_own(any_model):
    """Every family, and the model that ships below."""
    ids = torch.tensor([[3, 5, 7, 11]])
    theirs = any_model.theirs.generate(ids, max_new_tokens=6, do_sample=False, eos_token_id=None, pad_token_id=0)
    written = generation.greedy(any_model.ours, ids[0], 6)
    assert list(written.ids) == theirs[0, 4:].tolist()
    probs = any_model.theirs(theirs[:, :-1]).logits[0, 3:].softmax(-1)
    chances = probs.gather(-1, theirs[0, 4:, None])[:, 0].tolist()
    assert written.chances == pytest.approx(chances, rel=1e-3)
    assert not written.ended


def test_the_model_that_ships_writes_as_transformers_does(theirs):
    written = writing.write(FIRST, 0.0, 0)
    ids = theirs.generate(torch.tensor([FIRST.ids]), max_new_tokens=writing.MOST, do_sample=False)
    assert written.flow.trace["ids"].value.tolist() == ids[0].tolist()
    assert written.start == len(FIRST)


def test_a_draw_is_repeated_by_its_seed_and_changed_by_another():
    model, ids = subject.model(), torch.tensor(FIRST.ids)
    draws = [generation.sample(model, ids, 8, temperature=1.5, seed=seed).ids for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    cold = generation.sample(model, ids, 8, temperature=0.01, seed=5)
    assert cold.ids == generation.greedy(model, ids, 8).ids, "almost no temperature: the likeliest"


def test_writing_ends_where_the_story_or_the_context_does(any_model):
    model, ids = any_model.ours, torch.tensor([3, 5, 7, 11])
    first = generation.greedy(model, ids, 1).ids[0]
    over = generation.greedy(model, ids, 5, ends=(first,))
    assert (over.ids, over.ended) == ((first,), True)
    long = sentence.exactly("the dog " * 40, str(any_model.folder))
    held = sentence.Text(long.subject, long.ids[:60], long.tokens[:60])
    assert len(writing.write(held, 0.0, 0).flow.tokens) <= model.config.context


def test_the_mark_of_the_end_is_no_word_of_the_story():
    """After its last full stop the model that ships says that the story is over."""
    said = sentence.of(sentence.read("Tom and Amy were happy. They all went home. The end"))
    over = writing.ends(said.subject)
    for temperature in (0.0, 1.0):
        story = writing.write(said, temperature, 0)
        written = [step.written.id for step in story.steps if step.written]
        assert 0 < len(written) < writing.MOST, "it ended"
        assert not set(written) & set(over)
        assert len(story.flow.tokens) == len(said) + len(written)
        assert story.steps[-1].words[0].id in over, "what comes next is the end"


@pytest.mark.parametrize(("kept", "decides"), [(0.0, True), (0.49, True), (0.5, False), (0.6, False), (1.2, False)])
def test_more_than_half_of_a_chance_is_lost_where_less_than_half_is_kept(kept, decides):
    assert chase.Without(sentence.Word(5, "Amy", 0.3), kept).decides is decides
