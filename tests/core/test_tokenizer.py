"""Tokenizers offline, and what is done to a visitor's text before a model reads it."""

import math
import os
import socket
import unicodedata

import pytest
from tokenizers import Tokenizer

from core import tokenizer
from core.lab import text as sentence
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
        (" " * 999 + "x", "x", ("trimmed",)),
        ("\x00" * 999 + "x", "x", ("controls",)),
        ("x" + "\x00" * 999 + "y", "xy", ("controls",)),
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
    assert MODEL.encode(reading.text).ids == list(reading.ids), "the text is what the model reads"
    again = sentence.read(reading.text)
    assert again.text == reading.text
    assert "cut" not in again.notes


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("▁Amy", "Amy"),
        ("ily", "·ily"),
        (".", "."),
        ("▁", "␣"),
        ("▁▁", "␣"),
        ("\n", "↵"),
        ("<0xF0>", "⟨F0⟩"),
        ("\u200d", "⟨U+200D⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("▁\u200e", "⟨U+200E⟩"),
    ],
)
def test_labels(piece, shown):
    assert label(piece) == shown


# ---- a text as it was typed ----

ODD = [
    "Sam threw",
    " 我🙂",
    "cafe\u0301 \u200b\x00\x1b\t\r\n",
    "مرحبا",
    "👩‍👩‍👧",
    "<|endoftext|><b>",
    "﷽ a\u00a0b",
    "\ufeff",
]


@pytest.mark.parametrize("way", [*ENCODINGS, "characters", "bytes"])
@pytest.mark.parametrize("text", ODD)
def test_pieces_give_back_every_byte(way, text):
    found = tokenizer.cut(text, way)
    assert b"".join(piece.data for piece in found) == text.encode()
    assert [piece.start for piece in found] == [0, *(piece.end for piece in found[:-1])]
    assert tokenizer.joined(found) == text
    ids = {
        "characters": lambda: [ord(c) for c in text],
        "bytes": lambda: [*text.encode()],
    }.get(way, lambda: tokenizer.encoding(way).encode_ordinary(text))()
    assert [piece.id for piece in found] == ids
    assert all(piece.text and piece.text.isprintable() for piece in found), "nothing is invisible"


@pytest.mark.parametrize("text", ODD)
def test_the_models_pieces_stand_where_its_offsets_say(text):
    found, encoded = tokenizer.cut_by(MODEL, text), MODEL.encode(text)
    assert [piece.id for piece in found] == encoded.ids
    assert (found[0].kind, found[0].start, found[0].end) == ("special", 0, 0)
    data = text.encode()
    for piece, (first, last) in zip(found[1:], encoded.offsets[1:], strict=True):
        span = len(text[:first].encode()), len(text[:last].encode())
        assert span[0] <= piece.start <= piece.end <= span[1]
        if piece.end > piece.start:
            assert piece.data.endswith(data[piece.start : piece.end])
    assert found[-1].end == len(data)


def test_the_blank_added_after_a_special_token_stands_for_nothing():
    assert [(p.data, p.start, p.end) for p in tokenizer.cut_by(MODEL, "a<unk> b")][-2:] == [(b" ", 6, 6), (b" b", 6, 8)]


def test_special_tokens_are_ids_only_when_asked_for():
    text = "The end.<|endoftext|>Once"
    plain, special = tokenizer.cut(text, "gpt2"), tokenizer.cut(text, "gpt2", special=True)
    assert {piece.kind for piece in plain} == {"plain"}
    assert [piece.kind for piece in special if piece.text != "<|endoftext|>"] == ["plain"] * (len(special) - 1)
    assert [(piece.text, piece.id) for piece in special if piece.kind == "special"] == [("<|endoftext|>", 50256)]
    assert tokenizer.joined(plain) == tokenizer.joined(special) == text


def test_words_outside_a_real_list_are_unknown():
    found = tokenizer.cut("Sam met Wojciechowska, 我们 2024!", "words")
    assert [(p.text, p.kind == "unknown") for p in found] == [
        ("Sam", False),
        ("met", False),
        ("Wojciechowska", True),
        (",", False),
        ("我们", True),
        ("2024", False),
        ("!", False),
    ]
    assert [p.id == 0 for p in found] == [p.kind == "unknown" for p in found]
    assert len({p.id for p in found}) == 6, "one id for all that is unknown"
    theirs = tokenizer.encoding("gpt2")
    for word in ("Sam", "threw", "2024"):
        assert word in tokenizer.word_list()
        assert len(theirs.encode(" " + word)) == 1
    assert len(theirs.encode(" Wojciechowska")) > 1


@pytest.mark.parametrize(("way", "size"), [("gpt2", 50257), ("bytes", 256), ("characters", 1_112_064)])
def test_how_many_pieces_there_can_be(way, size):
    assert tokenizer.size(way) == size


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b" a", "␣a"),
        (b"\n\t\r", "↵⇥␍"),
        (b"\x00\x7f", "␀␡"),
        (b"\xe6\xb3", "⟨E6⟩⟨B3⟩"),
        ("\u0301".encode(), "◌\u0301"),
        ("\u200d".encode(), "⟨U+200D⟩"),
    ],
)
def test_nothing_is_invisible(data, shown):
    assert tokenizer.visible(data) == shown


def test_one_byte_piece_less_breaks_a_character():
    found = tokenizer.cut("a 注", "gpt2")
    assert tokenizer.joined(found) == "a 注"
    assert tokenizer.joined(found, len(found) - 1) == "a \ufffd"
    assert tokenizer.joined(found, 0) == " 注"


def test_a_round_trip_and_what_normalisers_make_of_it():
    trip = tokenizer.round_trip("Cafe\u0301 ZOË", "cl100k_base")
    assert (trip.same, trip.n_bytes) == (True, len("Cafe\u0301 ZOË".encode()))
    assert trip.nfc == unicodedata.normalize("NFC", "Cafe\u0301 ZOË") == "Café ZOË"
    assert trip.lower == "cafe zoe"
    n = len(tokenizer.encoding("cl100k_base").encode("Cafe\u0301 ZOË"))
    assert trip.bits == pytest.approx(n * math.log2(100277))


def test_a_chat_is_one_string():
    messages = (("system", "Be brief."), ("user", "Hi <|im_end|> 我"))
    wanted = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi <|im_end|> 我<|im_end|>\n<|im_start|>assistant\n"
    )
    assert tokenizer.chat_text(messages) == wanted
    found = tokenizer.chat_pieces(messages, "gpt2")
    assert [piece.start for piece in found] == [0, *(piece.end for piece in found[:-1])], "end to end"
    assert all(piece.end - piece.start == len(piece.data) for piece in found)
    assert tokenizer.joined(found) == wanted
    assert [piece.start for piece in found] == [0, *(piece.end for piece in found[:-1])]
    assert [piece.id for piece in found if piece.kind == "special"] == [151644, 151645, 151644, 151645, 151644], (
        "Qwen3's own ids; the mark that was typed is letters"
    )


def test_finding_in_a_vocabulary():
    theirs = tokenizer.encoding("gpt2")
    wanted = [id for id in range(50256) if b"token" in theirs.decode_single_token_bytes(id)]
    count, found = tokenizer.find("token", "gpt2")
    assert (count, [piece.id for piece in found]) == (len(wanted), wanted)
    count, found = tokenizer.find("a", "o200k_base", most=4)
    assert count > 10_000
    assert len(found) == 4
    assert tokenizer.find("zzzzqqq", "gpt2") == (0, ())


def test_what_is_typed_is_left_alone():
    assert tokenizer.as_typed("  a\x00 ", "x").text == "  a\x00 "
    assert tokenizer.as_typed("", "x") == tokenizer.Typed("x", ("empty",))
    assert tokenizer.as_typed("a" * 9, "x", 4) == tokenizer.Typed("aaaa", ("cut",))
    assert tokenizer.as_typed("\ud800b", "x").text == "\ufffdb"
