"""Tokenizers offline, and what is done to a visitor's text before a model reads it."""

import os
import socket

import pytest
from tokenizers import Tokenizer

from core import sentence, tokenizer
from core.tokenizer import ENCODINGS, LONGEST_PIECE, clean, label, of_model

MODEL = of_model(sentence.FOLDER)


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("name", "size", "ids"),
    [
        ("gpt2", 50257, [15496, 995]),
        ("cl100k_base", 100277, [9906, 1917]),
        ("o200k_base", 200019, [13225, 2375]),
    ],
)
def test_real_encodings_without_a_network(no_network, monkeypatch, name, size, ids):
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    tokenizer.encoding.cache_clear()
    encoding = tokenizer.encoding(name)
    assert (encoding.name, encoding.n_vocab, encoding.encode("Hello world")) == (name, size, ids)
    assert os.environ["TIKTOKEN_CACHE_DIR"].endswith("tokenizers")


def test_another_encoding_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'p50k_base' is not shipped; shipped: gpt2"):
        tokenizer.encoding("p50k_base")
    assert len(ENCODINGS) == 3


def test_the_models_own_tokenizer():
    assert isinstance(MODEL, Tokenizer)
    assert MODEL.encode("Once upon a time,").ids == [1, 9038, 2501, 263, 931, 29892]
    assert max(map(len, MODEL.get_vocab())) == LONGEST_PIECE


@pytest.mark.parametrize(
    ("text", "kept", "notes"),
    [
        ("The cat.", "The cat.", ()),
        (" The cat. ", "The cat.", ("trimmed",)),
        ("a\x00b\x1b", "ab", ("controls",)),
        ("\ud800x", "x", ("controls",)),
        ("\x00 \x00", "", ("controls",)),
        ("x" * 99, "x" * 50, ("cut",)),
        ("one\ntwo", "one\ntwo", ()),
    ],
)
def test_cleaning(text, kept, notes):
    assert clean(text, 50) == (kept, notes)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00"])
def test_nothing_becomes_the_sentence_we_start_with(text):
    reading = sentence.read(text)
    assert (reading.text, reading.notes) == (sentence.SENTENCE, ("empty",))
    assert len(reading.ids) == 14
    assert reading.tokens[3] == "Amy"


@pytest.mark.parametrize("text", ["word " * 30_000, "我" * 5000, "🙂" * 500, "x" * 100_000, "a" + " " * 9000 + "b"])
def test_a_long_text_is_cut_at_the_context_and_stays_cut(text):
    reading = sentence.read(text)
    assert "cut" in reading.notes
    assert len(reading.ids) == len(reading.tokens) <= 256
    again = sentence.read(reading.text)
    assert again.text == reading.text
    assert "cut" not in again.notes or len(again.ids) == 256


@pytest.mark.parametrize(("piece", "shown"), [("▁Amy", "Amy"), ("ily", "·ily"), (".", "."), ("▁", "␣"), ("▁▁", "␣")])
def test_labels(piece, shown):
    assert label(piece) == shown
