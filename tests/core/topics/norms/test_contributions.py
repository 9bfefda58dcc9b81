"""Every part's share of the answer: a sum, written out in NumPy from the weights and the recorded writes."""

import numpy as np
import pytest

from core.lab import subject
from core.lab import text as sentence
from core.topics.norms import contributions

TEXTS = {
    words: sentence.of(sentence.read(words))
    for words in (sentence.SENTENCE, "One day, a little fish swam in the", "Tom was very thirsty. He wanted to")
}


def shares(text, a, b):
    """(place,) of logit(a) - logit(b), from what was recorded."""
    trace, model = subject.untouched(text), subject.model()
    writes = [trace["embed"].value[-1]]
    for i in range(6):
        writes += [trace[f"block{i}.attn_out"].value[-1], trace[f"block{i}.ffn_out"].value[-1]]
    writes = np.array(writes, np.float64)
    last = writes.sum(0)
    read = model.embed.weight.detach().double().numpy()
    normed = writes / np.sqrt((last**2).mean() + model.norm.eps) * model.norm.weight.detach().double().numpy()
    return normed @ (read[a] - read[b])


@pytest.mark.parametrize("words", TEXTS)
def test_the_parts_add_up_to_the_models_own_difference(words):
    text = TEXTS[words]
    for other in (None, sentence.id_of("Sam")):
        found = contributions.bus(text, other)
        logits = subject.untouched(text)["next_logits"].value
        assert found.answer == int(logits.argmax())
        assert found.whole == pytest.approx(float(logits[found.answer] - logits[found.other]))
        assert found.gap < 1e-4
        assert found.rest == 0
        np.testing.assert_allclose(found.parts, shares(text, found.answer, found.other), atol=2e-4)


def test_who_wrote_amy_and_not_sam():
    """The lesson's numbers: 8.455 = embedding -0.06 ... attention 5 +9.19 ... FFN 5 +1.21; head 5.1 alone +9.75."""
    text, sam = TEXTS[sentence.SENTENCE], sentence.id_of("Sam")
    found = contributions.bus(text, sam)
    assert found.whole == pytest.approx(8.455, abs=0.005)
    for place, share in ((0, -0.06), (11, 9.19), (12, 1.21)):
        assert found.parts[place] == pytest.approx(share, abs=0.006)
    heads = contributions.heads(text, 5, sam)
    assert heads[1] == pytest.approx(9.75, abs=0.01)
    assert heads.sum() == pytest.approx(float(found.parts[11]), abs=1e-3)
    assert heads[-1] == 0, "no bias"


def test_thirsty_is_quenched_in_block_4():
    found = contributions.bus(TEXTS["Tom was very thirsty. He wanted to"])
    assert found.parts[9] == pytest.approx(4.95, abs=0.01)
    assert found.parts.argmax() == 9


def test_the_lens_along_the_stream():
    found = contributions.bus(TEXTS[sentence.SENTENCE])
    assert [sentence.called(id) for id in found.lens][-3:] == ["his", "Amy", "Amy"]
    assert found.lens[-1] == found.answer


def test_rivals_are_the_likeliest_others_and_the_words_of_the_text():
    text = TEXTS[sentence.SENTENCE]
    found, logits = contributions.rivals(text), subject.untouched(text)["next_logits"].value
    assert found[0] == int(np.argsort(-logits)[1])
    assert sentence.id_of("Sam") in found
    assert int(logits.argmax()) not in found


def test_what_each_part_adds_and_to_what():
    text = TEXTS[sentence.SENTENCE]
    found, trace, model = contributions.bus(text), subject.untouched(text), subject.model()
    added = [trace["embed"].value[-1].astype(float)]
    for i in range(6):
        added += [trace[f"block{i}.{name}"].value[-1].astype(float) for name in ("attn_out", "ffn_out")]
    streams = np.cumsum(added, 0)
    np.testing.assert_allclose(found.sizes, [np.sqrt((one**2).mean()) for one in added], rtol=1e-4)
    onto = [added[0], *streams[:-1]]
    wanted = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(added, onto, strict=True)]
    np.testing.assert_allclose(found.alike, wanted, atol=1e-4)
    for place in (0, 5, 12):
        x = streams[place]
        logits = model.embed.weight.detach().double().numpy() @ (
            x / np.sqrt((x**2).mean() + model.norm.eps) * model.norm.weight.detach().double().numpy()
        )
        p = np.exp(logits - logits.max())
        assert found.lens[place] == logits.argmax()
        assert found.sure[place] == pytest.approx(p.max() / p.sum(), abs=1e-4)
    assert (len(found.lens), found.sure.shape) == (13, (13,))
    assert found.other == int(np.argsort(-trace["next_logits"].value)[1]), "the runner-up, unless told otherwise"


def test_a_gap_is_what_the_sum_misses():
    parts = dict(answer=1, other=2, sizes=np.zeros(2), alike=np.zeros(2), lens=(), sure=np.zeros(2))
    assert contributions.Bus(parts=np.array([1.0, 2.5]), rest=-0.5, whole=4.0, **parts).gap == 1.0
    assert contributions.Bus(parts=np.array([1.0, 2.5]), rest=0.5, whole=3.0, **parts).gap == 1.0


def test_five_rivals_and_forty_words():
    text = TEXTS[sentence.SENTENCE]
    found, order = contributions.rivals(text), np.argsort(-subject.untouched(text)["next_logits"].value, kind="stable")
    assert list(found[:5]) == order[1:6].tolist()
    assert set(found[5:]) == set(text.ids) - set(order[:6].tolist())
    assert list(contributions.rivals(text, 2)[:2]) == order[1:3].tolist()
    long = sentence.exactly("One day a big dog ran to the park. " + "Tom sat. " * 20)
    early = set(long.ids[:-40]) - set(long.ids[-40:])
    assert early
    likely = set(np.argsort(-subject.untouched(long)["next_logits"].value)[:6].tolist())
    assert not (early - likely) & set(contributions.rivals(long))


@pytest.mark.parametrize("layer", [0, 3])
def test_every_head_speaks_for_itself(layer):
    text, sam = TEXTS[sentence.SENTENCE], sentence.id_of("Sam")
    found, trace, model = contributions.heads(text, layer, sam), subject.untouched(text), subject.model()
    towards, rest = contributions.direction(text, contributions.bus(text, sam).answer, sam)
    out = model.blocks[layer].attn.o.weight.detach().numpy()
    for head in range(6):
        z = trace[f"block{layer}.z"].value[head, -1]
        wanted = out[:, head * 48 : head * 48 + 48] @ z @ towards.numpy()
        assert found[head] == pytest.approx(float(wanted), abs=1e-3)
    assert found.shape == (7,)
    assert found.sum() == pytest.approx(float(contributions.bus(text, sam).parts[1 + 2 * layer]), abs=1e-3)
    assert rest == 0
