"""Merges: tiktoken is the reference, at the end, on the way, and for a table trained from nothing."""

from itertools import pairwise

import pytest
import regex
import tiktoken
from tiktoken import _educational

from core import tokenizer
from core.lab.subject import STORIES
from core.topics.tokens import bpe

TEXTS = [
    "unbelievably strange tokenization, unfortunately misunderstood",
    " strawberry",
    "x",
    "\t\n  def f(x):\n    return x ** 2",
    "我们去公园玩，天气很好。",
    "👩‍👩‍👧 🏳️‍🌈",
    "cafe\u0301 12345678 <|endoftext|>",
    "مرحبا <b>x</b>\u200b\x00\x1b",
    "aaaaaaaaaaaaaaaaaaaaaaa",
]
STORY = STORIES.read_text("utf8").strip()


@pytest.mark.parametrize("name", tokenizer.ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_the_merges_end_where_tiktoken_ends(text, name):
    demo = bpe.Demo(text, name)
    states, theirs = bpe.run(demo), tokenizer.encoding(name)
    assert [piece.id for piece in bpe.shown(demo)[-1]] == theirs.encode_ordinary(text)
    assert b"".join(states[0].pieces) == text.encode()
    assert {len(piece) for piece in states[0].pieces} == {1}
    assert len(states) - 1 == len(text.encode()) - len(states[-1].pieces), "each merge takes one piece away"
    assert bpe.agrees(demo, states[-1])
    assert len(states) == 1 or not bpe.agrees(demo, states[0])


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_every_state_on_the_way_is_that_of_a_shorter_table(name):
    """All merges up to some rank: what an encoding makes whose table ends there."""
    states, full = bpe.run(bpe.Demo(" unbelievable tokens", name)), tokenizer.encoding(name)
    highest, compared = 255, 0
    for state, after in pairwise(states):
        highest = max(highest, state.merge.rank if state.merge else 255)
        if after.merge.rank < highest:
            continue  # a merge that a later one made possible
        table = {data: rank for data, rank in full._mergeable_ranks.items() if rank <= highest}
        short = tiktoken.Encoding("short", pat_str=full._pat_str, mergeable_ranks=table, special_tokens={})
        assert [short.decode_single_token_bytes(id) for id in short.encode_ordinary(" unbelievable tokens")] == [
            *state.pieces
        ]
        compared += 1
    assert compared > 5


@pytest.mark.parametrize("name", tokenizer.ENCODINGS)
def test_the_numbers_between_two_pieces_are_ranks_and_borders(name):
    text, known = "don't stop, 北京 misunderstood", tokenizer.encoding(name)
    borders, end = set(), 0
    for chunk in regex.findall(known._pat_str, text):
        end += len(chunk.encode())
        borders.add(end)
    for before, state in pairwise((None, *bpe.run(bpe.Demo(text, name)))):
        at = 0
        for (left, right), joint in zip(pairwise(state.pieces), state.joints, strict=True):
            at += len(left)
            wanted = bpe.BORDER if at in borders else known._mergeable_ranks.get(left + right, bpe.NO_ENTRY)
            assert joint == wanted
        real = [joint for joint in state.joints if joint >= 0]
        assert (state.next is None) == (not real)
        assert not real or state.joints[state.next] == min(real)
        assert state.next is None or state.joints.index(min(real)) == state.next, "of equal pairs the first"
        if before:
            made = state.pieces[state.merge.at]
            assert (made, state.merge.rank) == (
                state.merge.left + state.merge.right,
                before.joints[before.next],
            )
            assert known.encode_single_token(made) == state.merge.rank, "the rank of a merge is the id of its piece"


TRAINED = [STORY, "abab abab cab " * 9, "北京北京北京 🙂🙂🙂🙂", "I'll she'll 1234 1234  \n\n  \n\n  x"]


@pytest.mark.parametrize("text", TRAINED)
@pytest.mark.parametrize("most", [1, 7, 60])
def test_training_is_that_of_tiktoken(text, most):
    ours = bpe.train(text, most)
    theirs = _educational.bpe_train(text, 256 + len(ours.merges), bpe.PATTERN, visualise=None)
    assert ours.ranks == theirs
    assert len(ours.merges) == most or all(one.count >= 2 for one in ours.merges)


def test_training_stops_when_no_pair_stands_twice():
    learned = bpe.train("abc abc")  # "abc" and " abc": a+b twice, then ab+c twice, then nothing
    assert [(m.left, m.right, m.count) for m in learned.merges] == [(b"a", b"b", 2), (b"ab", b"c", 2)]
    assert learned.lengths == (7, 5, 3)
    assert bpe.train("").lengths == (0,)
    assert bpe.train("xyz").merges == ()


@pytest.mark.parametrize("text", TRAINED)
def test_counts_and_lengths_are_those_of_a_naive_count(text):
    learned = bpe.train(text, 40)
    words = [[bytes([b]) for b in word.encode()] for word in regex.findall(bpe.PATTERN, text)]
    for k, one in enumerate(learned.merges):
        assert learned.lengths[k] == sum(map(len, words))
        assert one.count == sum(pair == (one.left, one.right) for word in words for pair in pairwise(word))
        words = [_educational.bpe_encode(_table(learned, k + 1), b"".join(word), visualise=None) for word in words]
        pieces = {rank: piece for piece, rank in learned.ranks.items()}
        words = [[pieces[id] for id in word] for word in words]
    assert learned.lengths[-1] == sum(map(len, words))


def _table(learned, merges):
    return {piece: rank for piece, rank in learned.ranks.items() if rank < 256 + merges}


@pytest.mark.parametrize("most", [0, 5, 50, 256])
def test_a_trained_table_cuts_as_tiktoken_would_with_it(most):
    text = "Sam and Amy played in the park. Tom's tree, 我 🙂"
    learned = bpe.train(STORY, most)
    theirs = tiktoken.Encoding("own", pat_str=bpe.PATTERN, mergeable_ranks=learned.ranks, special_tokens={})
    states = bpe.learned_pieces(text, learned)
    assert len(states) == len(learned.merges) + 1
    assert [piece.id for piece in states[-1]] == theirs.encode_ordinary(text)
    assert tuple(piece.data for piece in states[0]) == tuple(bytes([b]) for b in text.encode())
    assert [tuple(p.data for p in state) for state in states] == list(bpe.grown(text, learned.merges))


def test_joining_goes_from_left_to_right():
    a, b = b"a", b"b"
    assert bpe.merged((a, a, a), (a, a)) == (b"aa", a)
    assert bpe.merged((a, b, a, b, b), (a, b)) == (b"ab", b"ab", b)
    assert bpe.merged((), (a, b)) == ()


def test_pieces_lie_end_to_end():
    (first, second, third) = bpe.spans((b"ab", b"\xe6", b"c"), {b"ab": 300})
    assert [(p.text, p.id, p.start, p.end) for p in (first, second, third)] == [
        ("ab", 300, 0, 2),
        ("⟨E6⟩", 0xE6, 2, 3),
        ("c", 99, 3, 4),
    ]
