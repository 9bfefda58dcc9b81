"""The embedded model's loss on the stories, against transformers reading one story at a time."""

import pytest
import torch
from transformers import LlamaForCausalLM

from core import tokenizer
from core.lab import subject
from core.lab.text import FOLDER, SENTENCE, exactly
from core.make import sharing_losses
from core.topics.heads import fewer_keys
from core.whatif import Change


@pytest.fixture(scope="module")
def theirs():
    return LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32, attn_implementation="eager").eval()


def alone(theirs, ids, mask, rotation):
    """Nats at every token but the first: an open mask is a matrix of zeros, no rotation is position 0 everywhere."""
    n = len(ids)
    closed = torch.full((n, n), -torch.inf).triu(1) if mask else torch.zeros(n, n)
    places = torch.arange(n) if rotation else torch.zeros(n, dtype=torch.long)
    with torch.inference_mode():
        logits = theirs(ids[None], attention_mask=closed[None, None], position_ids=places[None]).logits[0]
    return -logits[:-1].log_softmax(-1).gather(-1, ids[1:, None])[:, 0]


@pytest.mark.parametrize(
    ("mask", "rotation", "known"), [(True, True, 1.7622), (False, True, 3.2668), (False, False, 3.3152)]
)
def test_no_story_sees_what_is_not_its_own(theirs, mask, rotation, known):
    """Filled up to one length and read without the mask, short stories read the filling: 3.327 and 3.365."""
    texts = subject.STORIES.read_text("utf8").strip().split("\n\n")
    rows = [torch.tensor(tokenizer.of_model(FOLDER).encode(text).ids) for text in texts]
    assert len({len(row) for row in rows}) > 1
    wanted = float(torch.cat([alone(theirs, row, mask, rotation) for row in rows]).mean())
    found = subject.story_loss(Change(mask=mask, rotation=rotation))
    assert found == pytest.approx(wanted, abs=1e-4)
    assert found == pytest.approx(known, abs=1e-4)


def test_every_head_kept_loses_nothing(theirs):
    stop = fewer_keys.stops(exactly(SENTENCE))[0]
    assert sharing_losses.story_loss(stop, "converted") == pytest.approx(1.7622, abs=1e-4)
