"""The stream multiplied: against a loop over the model's own parts that shares nothing with the topic."""

from functools import cache

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.topics.norms import loudness

TEXT = sentence.of(sentence.read(sentence.SENTENCE))
SOME = (  # sentences whose answer is a matter of what was read
    sentence.SENTENCE,
    sentence.TWIN,
    "The cat slept on the rug. The dog slept on the",
    "Tom was very thirsty. He wanted to",
    "Anna is a girl. Tom is a",
    "Tom dropped the glass and it",
)


def rms(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def said(words):
    return sentence.id_of(words)


@cache
def by_loop(words, station, factor):
    """(probabilities of the next token, sizes of the last token's stream after every block), in NumPy but for the
    sub-layers themselves."""
    model, ids = subject.model(), sentence.read(words).ids
    around = model.surroundings(len(ids))
    x = model.embed.weight.detach().numpy()[list(ids)].astype(np.float32)
    sizes = []
    with torch.inference_mode():
        for i, block in enumerate(model.blocks):
            x = x * np.float32(factor if i == station else 1)
            for part, norm in ((lambda y, b=block: b.attn(y, *around), block.norm1), (block.ffn, block.norm2)):
                x = x + part(torch.from_numpy(rms(x, norm.weight.numpy(), norm.eps).astype(np.float32))).numpy()
            sizes.append(float(np.sqrt((x[-1].astype(np.float64) ** 2).mean())))
    x = x[-1] * (factor if station == len(model.blocks) else 1)
    logits = rms(x, model.norm.weight.detach().numpy(), model.norm.eps) @ model.embed.weight.detach().numpy().T
    e = np.exp(logits - logits.max())
    return e / e.sum(), sizes


@pytest.mark.parametrize("station", [0, 3, 6])
@pytest.mark.parametrize("factor", [0.01, 1.0, 10.0, 100.0])
def test_every_factor_is_the_model_run_with_it(station, factor):
    found, stop = loudness.turned(loudness.Demo(TEXT, station)), loudness.FACTORS.index(factor)
    probs, sizes = by_loop(sentence.SENTENCE, station, factor)
    np.testing.assert_allclose(found.probs[stop], probs[list(found.ids)], atol=2e-4)
    assert int(found.top[stop]) == int(probs.argmax())
    np.testing.assert_allclose(found.most[stop], probs.max(), atol=2e-4)
    np.testing.assert_allclose(found.sizes[stop, 2 * station + 2 :: 2], sizes[station:], rtol=1e-4)


def test_ten_times_as_loud_after_block_2_and_after_the_last():
    """What the page predicts, and the lesson says: Amy 0.986, then 0.0003, his 0.465, him 0.178; and nothing at the end."""
    for station, want in ((3, {"Amy": 0.0003, "his": 0.465, "him": 0.178}), (6, {"Amy": 0.986})):
        probs, _sizes = by_loop(sentence.SENTENCE, station, 10.0)
        found = loudness.turned(loudness.Demo(TEXT, station))
        shown = dict(zip(found.ids, found.probs[loudness.FACTORS.index(10.0)], strict=True))
        for word, p in want.items():
            assert probs[said(word)] == pytest.approx(p, abs=6e-4)
            assert shown[said(word)] == pytest.approx(p, abs=6e-4)


@pytest.mark.parametrize("words", SOME)
def test_it_is_so_in_other_sentences(words):
    text = sentence.of(sentence.read(words))
    table, some = loudness.everywhere(text), loudness.some(len(text))
    ten, one = some.index(10.0), some.index(1.0)
    assert table[3, ten] < 0.5 <= table[3, one]
    assert abs(table[-1, ten] - table[-1, one]) <= 0.001
    answer = int(by_loop(words, 3, 1.0)[0].argmax())
    np.testing.assert_allclose(table[3, ten], by_loop(words, 3, 10.0)[0][answer], atol=2e-4)


def test_the_lens_is_the_head_on_what_is_there():
    """At the station it hears no factor, but for eps; at the end it is the answer."""
    found = loudness.turned(loudness.Demo(TEXT, 3))
    names = [[sentence.called(found.said[i]) for i in row] for row in found.lens[[15, 30, 60]]]
    assert names[1] == ["to"] * 6 + ["him", "him", "him", "his", "his", "Amy", "Amy"]
    assert names[2][6:] == ["him"] * 7, "the later blocks fall silent, the answer slides back"
    model, x = subject.model(), subject.untouched(TEXT)["block2.resid_post"].value[-1]
    for stop in (0, 30):
        logits = rms(x * loudness.FACTORS[stop], model.norm.weight.detach().numpy(), model.norm.eps)
        e = np.exp(logits @ model.embed.weight.detach().numpy().T)
        assert found.sure[stop, 6] == pytest.approx(e.max() / e.sum(), abs=3e-5)
    assert abs(found.sure[0, 6] - found.sure[30, 6]) > 1e-4, "so small a stream feels eps"
    assert [found.said[i] for i in found.lens[:, -1]] == list(found.top)
    np.testing.assert_allclose(found.sure[:, -1], found.most, atol=1e-6)
    probs, _sizes = by_loop(sentence.SENTENCE, 3, 10.0)
    assert found.sure[45, -1] == pytest.approx(probs.max(), abs=2e-4)


def test_writes_and_sizes_are_those_of_the_untouched_pass():
    found, trace = loudness.turned(loudness.Demo(TEXT, 2)), subject.untouched(TEXT)
    stop = loudness.FACTORS.index(1.0)
    size = lambda name: np.sqrt((trace[name].value[-1].astype(np.float64) ** 2).mean())  # noqa: E731
    names = [(f"block{i}.{a}", f"block{i}.{b}") for i in range(6)
             for a, b in (("resid_mid", "attn_out"), ("resid_post", "ffn_out"))]  # fmt: skip
    np.testing.assert_allclose(found.sizes[stop], [size("embed"), *(size(a) for a, _b in names)], rtol=1e-4)
    np.testing.assert_allclose(found.writes[stop], [size("embed"), *(size(b) for _a, b in names)], rtol=1e-3)


def test_a_factor_is_the_inverse_factor_on_every_later_write():
    """To 0.002 in the logits after block 2; after the embedding, which is tiny, eps shows."""
    gaps = [loudness.law(loudness.Demo(TEXT, station)).gap for station in loudness.stations(TEXT)]
    assert gaps[3] < 0.005
    assert gaps[0] > 20 * gaps[3]
    assert max(gaps[3:]) < 0.005
    assert loudness.law(loudness.Demo(TEXT, 3)).lens < 0.06


def test_a_long_text_has_fewer_stops():
    text = sentence.of(sentence.read("One day the dog ran to the park with a ball. " * 12))
    assert len(text) > loudness.LONG
    found = loudness.turned(loudness.Demo(text, 5))
    assert len(found.probs) == len(loudness.factors(len(text))) == 13
    assert 1.0 in loudness.factors(len(text))
    assert {0.1, 1.0, 10.0} <= set(loudness.some(len(text)))


def test_stops():
    assert len(loudness.FACTORS) == 61
    assert (loudness.FACTORS[0], loudness.FACTORS[30], loudness.FACTORS[-1]) == (0.01, 1.0, 100.0)
    assert loudness.TOLD in loudness.COARSE


def logits_of(words, station, factor, divided=1.0):
    """The next token's logits with the stream multiplied, or with every later write divided."""
    model, ids = subject.model(), sentence.read(words).ids
    around = model.surroundings(len(ids))
    with torch.inference_mode():
        x = model.embed(torch.tensor(ids))
        for i, block in enumerate(model.blocks):
            x = x * (factor if i == station else 1)
            less = divided if i >= station else 1.0
            x = x + block.attn(block.norm1(x), *around) / less
            x = x + block.ffn(block.norm2(x)) / less
        x = x * (factor if station == len(model.blocks) else 1)
        return (model.norm(x[-1]) @ model.embed.weight.T).numpy()


@pytest.mark.parametrize("station", [0, 2, 6])
def test_the_law_in_numbers(station):
    found = loudness.law(loudness.Demo(TEXT, station))
    louder = logits_of(sentence.SENTENCE, station, 10.0)
    quieter = logits_of(sentence.SENTENCE, station, 1.0, 10.0)
    assert found.gap == pytest.approx(np.abs(louder - quieter).max(), rel=0.05, abs=2e-3)
    assert found.spread == pytest.approx(louder.std(ddof=1), rel=1e-3)
    far, model = logits_of(sentence.SENTENCE, station, 100.0), subject.model()
    name = "block0.resid_pre" if station == 0 else f"block{station - 1}.resid_post"
    with torch.inference_mode():
        lens = model.predict(subject.untouched(TEXT)[name].tensor).softmax(-1).numpy()
    share = np.exp(far - far.max()) / np.exp(far - far.max()).sum()
    assert found.lens == pytest.approx(np.abs(share - lens).sum() / 2, abs=1e-3)


def test_every_station_and_every_factor_of_the_overview():
    table, answer = loudness.everywhere(TEXT), said("Amy")
    assert table.shape == (7, 13)
    for station, at in ((0, 2), (0, 12), (4, 0), (6, 5)):
        wanted = by_loop(sentence.SENTENCE, station, loudness.COARSE[at])[0][answer]
        assert table[station, at] == pytest.approx(wanted, abs=3e-4)
    assert list(loudness.stations(TEXT)) == list(range(7))


def test_candidates_are_the_answer_and_what_is_ever_likeliest():
    found, calm = loudness.turned(loudness.Demo(TEXT, 1)), subject.untouched(TEXT)["next_probs"].value
    assert found.probs.shape == (61, 6)
    assert found.answer == found.ids[0] == calm.argmax()
    assert (np.diff(found.probs.max(0)[1:]) <= 0).all()
    assert found.sizes.shape == found.writes.shape == found.lens.shape == found.sure.shape == (61, 13)


def test_before_the_station_nothing_is_louder_but_all_that_is_in_the_stream():
    """What came before is multiplied where it enters: the last size before the station, and the last write."""
    found, one = loudness.turned(loudness.Demo(TEXT, 3)), loudness.FACTORS.index(1.0)
    np.testing.assert_allclose(found.sizes[:, :6], found.sizes[[one] * 61, :6])
    np.testing.assert_allclose(found.writes[:, :6], found.writes[[one] * 61, :6])
    np.testing.assert_allclose(found.sizes[:, 6], np.array(loudness.FACTORS) * found.sizes[one, 6], rtol=1e-4)
    np.testing.assert_allclose(found.writes[:, 6], np.array(loudness.FACTORS) * found.writes[one, 6], rtol=1e-4)
    np.testing.assert_array_equal(found.lens[:, :6], found.lens[[one] * 61, :6])
    assert [found.said[i] for i in found.lens[45]][6:] != [found.said[i] for i in found.lens[one]][6:]
