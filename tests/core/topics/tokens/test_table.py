"""Rows of the table: PyTorch's own embedding, NumPy by hand, and transformers' Llama on the same weights."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from core import tokenizer
from core.embeddings import by_product
from core.lab import subject
from core.lab import text as sentence
from core.topics.tokens import table as vectors

READING = sentence.read(sentence.SENTENCE)
TEXT = sentence.of(READING)
WEIGHTS = load_file(sentence.FOLDER / "model.safetensors")
TABLE = next(t for name, t in WEIGHTS.items() if name.endswith("embed_tokens.weight")).float()
NAMES = tokenizer.of_model(sentence.FOLDER)


def test_a_look_up_is_torchs_embedding():
    trace = vectors.run(vectors.Demo(sentence.of(READING), product=True))
    ids = torch.tensor(READING.ids)
    assert trace["ids"].value.tolist() == list(READING.ids)
    wanted = F.embedding(ids, TABLE).numpy()
    np.testing.assert_array_equal(trace["embed"].value, wanted)
    np.testing.assert_allclose(trace["embed_product"].value, wanted, atol=1e-6)
    assert vectors.gap(trace) == np.abs(trace["embed_product"].value - wanted).max()
    assert "embed_product" not in [s.quantity.name for s in vectors.run(vectors.Demo(sentence.of(READING)))]


def test_the_product_is_the_look_up_in_any_table():
    table = torch.randn(50, 7, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    ids = torch.tensor([3, 49, 0, 3])
    torch.testing.assert_close(by_product(ids, table), F.embedding(ids, table), rtol=0, atol=0)
    one_hot = np.zeros((4, 50))
    one_hot[range(4), ids] = 1
    np.testing.assert_array_equal(by_product(ids, table), one_hot @ table.numpy())


@pytest.mark.parametrize("token", ["▁Amy", "▁threw", ".", "<0x41>"])
def test_neighbours_are_those_of_a_count_over_all_rows(token):
    id = NAMES.token_to_id(token)
    cosines = F.cosine_similarity(TABLE, TABLE[id : id + 1]).numpy()
    cosines[id] = -2
    found = vectors.neighbours(id, 5)
    np.testing.assert_allclose([one.cosine for one in found], np.sort(cosines)[::-1][:5], atol=2e-6)
    assert id not in [one.id for one in found]
    for one in found:
        assert one.cosine == pytest.approx(cosines[one.id], abs=2e-6)
        assert one.token == tokenizer.label(NAMES.id_to_token(one.id))
    assert vectors.neighbours(id, 5) == found, "asking changes nothing"


def test_the_map_is_the_plane_of_largest_variance():
    ids = tuple(dict.fromkeys(READING.ids))
    found, rows = vectors.plane(ids), TABLE[list(ids)].double().numpy()
    middle = rows - rows.mean(0)
    sizes, axes = np.linalg.eigh(middle.T @ middle)
    wanted = middle @ axes[:, [-1, -2]]
    np.testing.assert_allclose(np.abs(found.points), np.abs(wanted), atol=1e-5)
    assert found.kept == pytest.approx(sizes[-2:].sum() / sizes.sum(), abs=1e-5)


@pytest.mark.parametrize("ids", [(5,), (5, 900)])
def test_a_map_of_one_or_two_rows(ids):
    found = vectors.plane(ids)
    assert found.points.shape == (len(ids), 2)
    assert np.isfinite(found.points).all()
    if len(ids) == 2:
        apart = float((TABLE[5] - TABLE[900]).norm())
        assert np.linalg.norm(found.points[0] - found.points[1]) == pytest.approx(apart, rel=1e-5)


def test_the_table_of_qwen3_8b():
    size = vectors.qwen3()
    assert (size.rows, size.width, size.entries, size.spare) == (151_936, 4096, 151_669, 267)
    assert size.parameters == 622_329_856
    assert size.share == pytest.approx(622_329_856 / 8_190_735_360)
    assert f"{size.share:.2%}" == "7.60%"


def test_our_table_is_counted_in_the_file():
    size = vectors.ours()
    stored = sum(t.numel() for name, t in WEIGHTS.items() if "lm_head" not in name)
    assert (size.rows, size.width, size.parameters) == (*TABLE.shape, TABLE.numel())
    assert (size.entries, size.spare) == (NAMES.get_vocab_size(), 0)
    assert size.share == pytest.approx(TABLE.numel() / stored)


def test_how_large_the_numbers_are():
    spread = vectors.spread()
    assert spread.trained == pytest.approx(float(np.std(TABLE.numpy(), ddof=1)), rel=1e-4)
    assert spread.random == pytest.approx(1.0, abs=0.01)
    assert spread.start == 0.02  # initializer_range of Qwen3's config


def test_rows_that_training_never_told_apart():
    rounded = np.round(TABLE.numpy() / 0.002).astype(np.int16)
    _, group, counts = np.unique(rounded[:, :8], axis=0, return_inverse=True, return_counts=True)  # eight are enough
    alike = TABLE.numpy()[group.ravel() == counts.argmax()]
    assert 1e-4 < np.ptp(alike, axis=0).max() <= vectors.spread().apart < 1.3e-4, "they agree, but to no more than this"
    assert len(np.unique(alike, axis=0)) == len(alike), "no two are one and the same"
    assert abs(vectors.spread().untouched - counts.max()) < 60, "rounding splits a few off"
    read = set(NAMES.encode(subject.STORIES.read_text("utf8")).ids)
    assert not any(vectors.untouched(id) for id in read), "no story's piece is among them"
    assert vectors.untouched(NAMES.token_to_id("▁parentheses"))
    assert vectors.neighbours(NAMES.token_to_id("▁parentheses"), 1)[0].cosine > 0.9999


@pytest.mark.parametrize("sense", vectors.SENSES, ids=lambda s: s.word)
def test_a_words_way_through_the_blocks_is_that_of_transformers(theirs, sense):
    layers = []
    hooks = [layer.register_forward_hook(lambda _m, _i, out: layers.append(out)) for layer in theirs.model.layers]

    def way(text):
        ids = NAMES.encode(text).ids
        at = max(i for i, id in enumerate(ids) if id == NAMES.token_to_id("▁" + sense.word))
        layers.clear()
        with torch.no_grad():
            theirs(torch.tensor([ids]))
        blocks = [(out[0] if isinstance(out, tuple) else out).reshape(len(ids), -1)[at] for out in layers]
        return torch.stack([TABLE[ids[at]], *blocks])

    (a, b), (c, d) = ([way(text) for text in pair] for pair in (sense.one, sense.other))
    for hook in hooks:
        hook.remove()
    found = vectors.drift(sense)
    cosine = lambda x, y: F.cosine_similarity(x, y, dim=-1).numpy()  # noqa: E731
    np.testing.assert_allclose(found.one, cosine(a, b), atol=1e-4)
    np.testing.assert_allclose(found.other, cosine(c, d), atol=1e-4)
    between = np.mean([cosine(x, y) for x in (a, b) for y in (c, d)], axis=0)
    np.testing.assert_allclose(found.between, between, atol=1e-4)
    np.testing.assert_allclose([found.one[0], found.other[0], found.between[0]], 1, atol=1e-5)


@pytest.mark.parametrize("text", [sentence.SENTENCE, sentence.SENTENCE + " ", "Once upon a time"])
def test_what_comes_next_after_a_text_as_it_stands(theirs, text):
    with torch.no_grad():
        probs = theirs(torch.tensor([NAMES.encode(text).ids])).logits[0, -1].softmax(-1)
    best = probs.topk(3)
    found = vectors.outlook(text).words
    assert [word.id for word in found[:3]] == best.indices.tolist()
    np.testing.assert_allclose([word.p for word in found[:3]], best.values, atol=1e-4)


def test_one_blank_at_the_end_destroys_the_answer():
    (kept, *_), (lost, *_) = (vectors.outlook(text).words for text in (sentence.SENTENCE, sentence.SENTENCE + " "))
    assert (kept.token, round(kept.p, 3)) == ("Amy", 0.986)
    assert lost.token != "Amy"


def test_writing_on_is_the_greedy_writing_of_transformers(theirs):
    made = vectors.write_on(TEXT)
    ids = torch.tensor([READING.ids])
    wanted = theirs.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=vectors.MOST_WRITTEN,
        do_sample=False,
        eos_token_id=NAMES.token_to_id("<s>"),
        pad_token_id=0,
    )[0, ids.shape[1] :].tolist()
    assert list(made.ids) == wanted
    assert made.ended == (wanted[-1] == NAMES.token_to_id("<s>"))
    assert made.ended
    assert len(made.chances) == len(wanted)
    assert made.chances[0] == pytest.approx(0.986, abs=1e-3)
    assert "".join(p.data.decode() for p in vectors.as_pieces(made.ids[:-1])) == NAMES.decode(
        [*READING.ids, *wanted]
    ).removeprefix(sentence.SENTENCE)


def test_writing_stops_at_the_end_of_the_context():
    def of(n):
        ids, tokens = ((part * 20)[:n] for part in (READING.ids, READING.tokens))
        return sentence.Text(sentence.FIRST, ids, tokens)

    room = sentence.context()
    assert vectors.write_on(of(room)).ids == ()
    assert len(vectors.write_on(of(room - 2)).ids) <= 2
    assert len(vectors.write_on(TEXT, most=3).ids) == 3


def test_a_text_ends_with_the_model_s_own_marks(tmp_path):
    assert sentence.ends() == (1, 2), "<s> and </s> of Llama's vocabulary"
    for about, ends in (
        ({"bos_token_id": 50256, "eos_token_id": 50256}, (50256,)),
        ({"bos_token_id": None, "eos_token_id": [151645, 151643]}, (151645, 151643)),
        ({}, ()),
    ):
        (tmp_path / "config.json").write_text(json.dumps(about), "utf8")
        assert sentence.ends(str(tmp_path)) == ends


def test_a_word_of_several_pieces_has_no_row():
    with pytest.raises(sentence.Cannot, match="no one row stands for it"):
        vectors.drift(
            vectors.Sense("hippopotamus", ("A hippopotamus", "a hippopotamus"), ("hippopotamus", "hippopotamus"))
        )


@pytest.mark.parametrize("sense", vectors.SENSES, ids=lambda s: s.word)
def test_a_sentence_begins_like_one_and_holds_the_word_once(sense):
    for text in (*sense.one, *sense.other):
        assert text[0].isupper()
        assert text[1:].replace("Lily", "lily").replace("Mom", "mom").islower()
        assert text.split().count(sense.word) == 1
