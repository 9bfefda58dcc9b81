"""Copies of a word: measured in NumPy from what was recorded, neighbours found by looking at every word."""

import numpy as np
import pytest

from core.lab import subject, text
from core.topics.theory import context as cx

FIRST, SECOND = (text.exactly(one) for one in ("The bird opened its wings to fly", "In the soup there was a fly"))


def streams(of):
    trace = subject.untouched(of)
    return np.stack([trace["block0.resid_pre"].value, *(trace[f"block{i}.resid_post"].value for i in range(6))])


def test_copies_begin_as_one_and_part():
    found, held = cx.copies(cx.Demo(FIRST, SECOND, "fly")), cx.library()
    assert found.places == (len(FIRST) - 1, len(SECOND) - 1)
    both = [streams(of)[:, at] - held.mean.numpy() for of, at in zip((FIRST, SECOND), found.places, strict=True)]
    for depth in range(7):
        a, b = (one[depth].astype(float) for one in both)
        assert found.cosine[depth] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-4)
    assert found.cosine[0] == pytest.approx(1)
    assert found.cosine[1:].max() < 0.7


def test_neighbours_are_the_nearest_of_all_words():
    found, held = cx.copies(cx.Demo(FIRST, SECOND, "fly")), cx.library()
    for depth in (0, 3):
        wanted = streams(SECOND)[depth, -1] - held.mean[depth].numpy()
        likeness = held.vectors[depth].numpy() @ wanted
        others = np.array([token != "fly" for token in held.tokens])
        best = np.flatnonzero(
            others & (likeness > likeness[others].max() - 1e-4)
        )  # the same word may stand there often
        assert found.nearest[depth][1][0] in {held.names[i] for i in best}
        shown = found.nearest[depth][1]
        assert len(shown) == len(set(shown)) == cx.NEAREST
    assert found.nearest[0][0] == found.nearest[0][1]
    ends = [{name.split(" ")[-1] for name in copy} for copy in found.nearest[3]]
    assert ends[0] & {"flew", "drive", "rode"}
    assert ends[1] & {"bird", "cat", "bugs"}


def test_the_library_holds_words_of_the_stories():
    held = cx.library()
    stories = " ".join((text.MODELS.parent / "data" / name).read_text("utf8") for name in cx.LIBRARY)
    plain = "".join(sign if sign.isalpha() else " " for sign in stories).split()
    for name in held.names[:50]:
        assert set("".join(s if s.isalpha() else " " for s in name.split(" ")[-1]).split()) <= set(plain), name
    n = len(held.tokens)
    assert n > 500
    at = held.vectors[4].numpy()
    every = at @ at.T
    assert held.strangers[4] == pytest.approx((every.sum() - np.trace(every)) / n / (n - 1), abs=1e-4)


def test_what_two_texts_share():
    assert cx.shared(FIRST, SECOND) == ("fly",)
    both = cx.shared(text.exactly("Tom saw the dog"), text.exactly("the dog saw Tom"))
    assert both == ("dog", "the", "saw", "Tom")
    assert cx.shared(FIRST, text.exactly("!")) == ()
    with pytest.raises(text.Cannot):
        cx.copies(cx.Demo(FIRST, SECOND, "bird"))


def test_a_word_is_told_whole_with_two_before_it():
    tokens = ("<s>", "The", "bi", "·rd", "sang", "so", "lou", "·d", "·ly", ".")
    told = {at: cx._told(tokens, at) for at in (1, 2, 3, 4, 6, 9)}
    assert told == {1: "The", 2: "The bird", 3: "The bird", 4: "The bird sang", 6: "sang so loudly", 9: "so loudly ."}


def test_the_last_copy_in_each_text_counts():
    first, second = text.exactly("the dog saw the cat"), text.exactly("the cat and the dog ran to the cat there")
    found = cx.copies(cx.Demo(first, second, "cat"))
    assert found.places == (first.tokens.index("cat"), len(second) - 1 - second.tokens[::-1].index("cat"))
    assert second.tokens.count("cat") == 2
    assert found.cosine.shape == found.strangers.shape == (7,)
    assert len(found.nearest) == 7
    np.testing.assert_array_equal(found.strangers, cx.library().strangers)
    for names in (names for depth in found.nearest for names in depth):
        assert len(names) == 3
        assert not any(name.split(" ")[-1] == "cat" for name in names)


def test_the_library_is_every_word_of_letters_but_what_opens_a_text():
    held, many, words = cx.library(), 0, []
    for file in cx.LIBRARY:
        for story in (cx.ASSETS / "data" / file).read_text("utf8").strip().split("\n\n"):
            whole = text.exactly(story)
            words += [token for token in whole.tokens[:256][1:] if token.isalpha()]
            many += 1
    assert list(held.tokens) == words
    assert held.vectors.shape == (7, len(words), 288)
    np.testing.assert_allclose(np.linalg.norm(held.vectors[3].numpy(), axis=1), 1, atol=1e-4)
    assert held.mean.shape == (7, 288)
    first = text.exactly((cx.ASSETS / "data" / cx.LIBRARY[0]).read_text("utf8").strip().split("\n\n")[0])
    at = next(i for i, token in enumerate(first.tokens) if i and token.isalpha())
    mine = streams(first)[:, at] - held.mean.numpy()
    np.testing.assert_allclose(held.vectors[:, 0], mine / np.linalg.norm(mine, axis=1, keepdims=True), atol=1e-4)


def test_what_opens_a_text_is_not_shared():
    one, other = text.exactly("cat dog"), text.exactly("dog cat")
    assert set(cx.shared(one, other)) == {"cat", "dog"}
    odd = text.Text(one.subject, one.ids, ("same", *one.tokens[1:]))
    assert "same" not in cx.shared(odd, odd)
