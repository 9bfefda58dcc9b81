"""Caches with cells of two texts, against transformers with the same cells put into its own cache by hand."""

import numpy as np
import pytest
import torch
from transformers import DynamicCache

from core.lab import text as sentence
from core.topics.inference import stale

FIRST = sentence.of(sentence.read(sentence.SENTENCE))
SAM, AMY = FIRST.ids[1], FIRST.ids[3]
DEMO = stale.Demo(FIRST, 9, AMY)


@pytest.fixture(scope="module")
def found():
    return stale.run(DEMO)


@torch.no_grad()
def reference(model, old, new, cells, part="kv", head=slice(None)):
    """The next token after `old`'s last, where these (layer, token) cells hold what `new` makes of them."""
    caches = [model(torch.tensor([ids[:-1]]), use_cache=True).past_key_values for ids in (old, new)]
    mixed = DynamicCache()
    for layer, (mine, theirs) in enumerate(zip(*(cache.layers for cache in caches), strict=True)):
        k, v = mine.keys.clone(), mine.values.clone()
        for where, token in cells:
            if where == layer and "k" in part:
                k[:, head, token] = theirs.keys[:, head, token]
            if where == layer and "v" in part:
                v[:, head, token] = theirs.values[:, head, token]
        mixed.update(k, v, layer)
    return model(torch.tensor([old[-1:]]), past_key_values=mixed).logits[0, -1].softmax(-1)


def swapped_ids(demo):
    ids = list(demo.text.ids)
    ids[demo.place] = demo.other
    return ids


@pytest.mark.long
def test_the_facts_of_the_first_sentence(theirs):
    """Amy as before, Sam anew; one cell of 78 turns it, and without it the other 77 do not."""
    old, new = list(FIRST.ids), swapped_ids(DEMO)
    every = [(layer, token) for layer in range(6) for token in range(13)]
    assert float(reference(theirs, old, new, [])[AMY]) == pytest.approx(0.986, abs=5e-4)
    assert float(reference(theirs, old, new, every)[SAM]) == pytest.approx(0.968, abs=5e-4)
    assert float(reference(theirs, old, new, [(4, 9)])[SAM]) == pytest.approx(0.893, abs=5e-4)
    assert float(reference(theirs, old, new, [c for c in every if c != (4, 9)])[SAM]) < 5e-4
    alone = [c for c in every if int(reference(theirs, old, new, [c]).argmax()) == SAM]
    assert alone == [(4, 9)]
    assert float(reference(theirs, old, new, alone, "v", 4)[SAM]) == pytest.approx(0.925, abs=5e-4)
    assert float(reference(theirs, old, new, alone, "k")[AMY]) == pytest.approx(0.986, abs=5e-4)
    left = [(layer, token) for token in range(13) for layer in range(6)]
    chances = [float(reference(theirs, old, new, left[:n])[SAM]) for n in (58, 59, 60)]
    assert chances == pytest.approx([0.0, 0.805, 0.973], abs=1e-3)


def test_every_stop_and_every_cell_is_transformers_own(found, theirs):
    old, new, ids = list(FIRST.ids), swapped_ids(DEMO), [word.id for word in found.words]
    assert found.stops == tuple(range(79))
    for stop in (0, 1, 40, 58, 59, 78):
        expected = reference(theirs, old, new, found.cells[:stop])[ids]
        np.testing.assert_allclose(found.p[stop], expected, rtol=1e-3, atol=1e-6)
    for layer, token in ((0, 9), (4, 9), (5, 12), (2, 1)):
        expected = reference(theirs, old, new, [(layer, token)])
        np.testing.assert_allclose(found.alone[layer, token], expected[ids], rtol=1e-3, atol=1e-6)
        assert found.alone_best[layer, token] == int(expected.argmax())


@pytest.mark.parametrize("order", stale.ORDERS)
def test_an_order_holds_every_cell_once(order):
    cells = stale.cells(6, 13, order)
    assert sorted(cells) == [(layer, token) for layer in range(6) for token in range(13)]
    start = {"left": [(0, 0), (1, 0)], "newest": [(0, 12), (1, 12)], "layers": [(0, 0), (0, 1)]}
    assert list(cells[:2]) == start[order]


def test_what_the_page_tells_of_it(found):
    assert (found.old.token, found.new.token, found.turning) == ("Amy", "Sam", ((4, 9),))
    assert found.stops[found.settled] == 59
    assert found.chance(found.new.id, 59) == pytest.approx(0.805, abs=1e-3)
    assert stale.run(stale.Demo(FIRST, 9, AMY, "newest")).settled != found.settled
    assert stale.column(DEMO)


def test_inside_the_cell(theirs):
    parts = stale.inside(DEMO, 4, 9, SAM)
    assert (parts.numbers, parts.whole) == (48, 44_928)
    old, new = list(FIRST.ids), swapped_ids(DEMO)
    for head in (1, 4):
        for i, part in enumerate(("k", "v", "kv")):
            expected = float(reference(theirs, old, new, [(4, 9)], part, head)[SAM])
            assert parts.p[head, i] == pytest.approx(expected, abs=1e-4)
    assert parts.all_heads[2] == pytest.approx(0.893, abs=5e-4)


TEMPLATES = (
    "{a} and {b} played in the park. {g} threw the ball to",
    "{a} met {b} at the lake. {g} showed the fish to",
)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize(("a", "b"), [("Tom", "Sue"), ("Amy", "Ben"), ("Jack", "Tim")])
def test_two_names_are_turned_by_one_cell(template, a, b):
    """In block 4, at the giver: so it was in 201 of 201 pairs of names."""
    text = sentence.of(sentence.read(template.format(a=a, b=b, g=a)))
    place, other = stale.first_swap(text)
    assert text.tokens[place] == a
    found = stale.run(stale.Demo(text, place, text.ids[text.tokens.index(b)]))
    assert stale.names(text) is not None
    assert other == text.ids[text.tokens.index(b)]
    if (found.old.token, found.new.token) == (b, a):  # where the model hands over to the other one, both ways
        assert found.turning == ((4, place),)
    else:  # "him" or "her": then there is nothing to hold
        assert template is TEMPLATES[1]


def test_what_a_swap_spoils_is_what_changes():
    for place, n in ((9, 13), (1, 13), (12, 13)):
        demo = stale.Demo(FIRST, place, 500)
        same = stale.changed(demo) < 1e-5
        assert same.sum() == stale.valid(n, place, 6) == (n - 1) + 5 * place
        assert not same[0, place]
        assert same[0].sum() == n - 1
        assert same[1:, :place].all()
        assert not same[1:, place:].any()


@pytest.mark.parametrize(
    "words",
    ["Tom was very thirsty. He wanted to", "<b>", "你好吗？", "a b c d e f g", "🙂🙂", "Tom and", "The dog. " * 60],
)
def test_any_text_has_a_swap_or_says_why_not(words):
    text = stale.readable(sentence.of(sentence.read(words)))
    assert len(text) <= stale.MOST
    place, other = stale.first_swap(text)
    found = stale.run(stale.Demo(text, place, other))
    assert other != text.ids[place]
    assert 1 <= place < len(text) - 1
    assert found.p[-1].max() <= found.new.p + 1e-4, "all renewed, it is the new text"
    assert found.chance(found.new.id, len(found.stops) - 1) == pytest.approx(found.new.p, abs=1e-4)
    assert len(found.stops) >= 2


def test_a_text_without_anything_between_cannot():
    with pytest.raises(sentence.Cannot, match="Three tokens are the least"):
        stale.first_swap(sentence.of(sentence.read("Hi")))
    with pytest.raises(sentence.Cannot, match="between the first and the newest"):
        stale.swapped(stale.Demo(FIRST, 13, 5))


@pytest.mark.parametrize(
    "word", ["He", "She", "They", "It", "The", "Then", "One", "Once", "But", "And", "So", "In", "Now"]
)
def test_a_word_that_opens_a_sentence_is_no_name(word):
    """It stands twice and with a capital letter, as the giver's name does."""
    assert stale.names(sentence.of(sentence.read(f"Tom met Sue. {word} ran. {word} sat down."))) is None


GRAMMAR = dict(
    articles="A An The",
    pronouns="I You He She It We They My Your Her His Our This That",
    joints="And But So If As",
    places="In On At To From For There",
    times="Once Now Then When Today Soon Suddenly One Two",
    questions="Who What Where Why How",
    words="Yes No Oh Go Let Look",
)


@pytest.mark.parametrize("kind", GRAMMAR)
def test_grammar_s_small_words_are_no_names_and_names_are(kind):
    for word in GRAMMAR[kind].split():
        assert not stale._name(word), word
        assert not stale._name(word.lower()), word
    assert all(stale._name(word) for word in ("Tom", "Amy", "Lily", "Ben"))


# ---- by hand ----


@pytest.mark.parametrize(
    ("token", "mine", "fits"),
    [
        ("cat", "dog", True),
        ("Cat", "dog", False),  # a name for a thing
        ("dogs", "dog", False),  # the same in another dress
        ("dogged", "dogs", False),
        ("do", "dog", False),
        ("·og", "dog", False),  # half a word
        ("cap", "cat", True),
        ("runnin", "running", False),
        ("runner", "running", True),
        ("RUNNING", "Running", False),
        (".", "!", True),
    ],
)
def test_what_is_like_a_word_and_not_the_same(token, mine, fits):
    assert stale._like(token, mine) is fits


def test_words_offered_are_the_nearest_rows_and_then_the_text_s_own():
    for place in (9, 11, 5):
        found = stale.alike(FIRST, place)
        table = stale.subject.model().embed.weight.detach().double().numpy()
        rows = table / np.linalg.norm(table, axis=1, keepdims=True)
        order = np.argsort(-(rows @ rows[FIRST.ids[place]]))[:360]
        fit = [
            int(i) for i in order if i != FIRST.ids[place] and stale._like(sentence.called(int(i)), FIRST.tokens[place])
        ]
        assert list(found[: len(fit[:6])]) == fit[:6]
        here = [
            FIRST.ids[i]
            for i in stale.places(FIRST)
            if FIRST.tokens[i][0].isupper() == FIRST.tokens[place][0].isupper()
        ]
        rest = [i for i in dict.fromkeys(here) if i != FIRST.ids[place] and i not in fit[:6]]
        assert list(found[len(fit[:6]) :]) == rest
        assert FIRST.ids[place] not in found
        assert len(set(found)) == len(found)


def test_without_two_names_the_word_that_matters_most_is_swapped():
    """The next word's chances for each swap of its own, by whole passes."""
    text = sentence.of(sentence.read("The dog ran to the park. He was very"))
    assert stale.names(text) is None
    calm = stale.subject.untouched(text)["next_probs"].value
    moved = {}
    for place in stale.places(text)[-16:]:
        other = stale.alike(text, place)[0]
        new = stale.swapped(stale.Demo(text, place, other))
        moved[place, other] = np.abs(stale.subject.untouched(new)["next_probs"].value - calm).sum()
    assert stale.first_swap(text) == max(moved, key=moved.get)


def test_two_names_of_which_one_comes_twice():
    def found(words):
        text = sentence.exactly(words)
        got = stale.names(text)
        return got and (text.tokens[got[0]], got[0], sentence.called(got[1]))

    assert found("Tom met Sam. Tom ran to") == ("Tom", 5, "Sam")
    assert found("Tom met Sam. Sam ran to") == ("Sam", 5, "Tom")
    assert found("Tom ran. Tom sat down") is None, "one name alone"
    assert found("Tom met Sam and ran") is None, "nobody twice"
    assert found("Tom met Sam. Tom ran. Sam sat down") == ("Sam", 8, "Tom")


def test_places_are_whole_words_between_the_ends():
    text = sentence.exactly("Lily saw a frog")
    whole = [i for i in range(1, len(text) - 1) if text.tokens[i].isalpha() and not text.tokens[i + 1].startswith("·")]
    assert stale.places(text) == tuple(whole)
    dots = sentence.Text(text.subject, text.ids[:4], ("<s>", ".", "!", "?"))
    assert stale.places(dots) == (1, 2), "where no word is whole, any token"
    three = sentence.Text(text.subject, text.ids[:3], text.tokens[:3])
    assert len(stale.places(three)) == 1
    assert stale.readable(sentence.Text("x", tuple(range(48)), tuple("a" * 48))).ids == tuple(range(48))
    long = stale.readable(sentence.Text("x", tuple(range(50)), tuple("ab" * 25)))
    assert (long.ids, len(long.tokens), long.subject) == (tuple(range(2, 50)), 48, "x")


def told(best, alone_best, old=1, new=2):
    words = tuple(sentence.Word(i, str(i), 0.0) for i in (old, new, 5))
    return stale.Stale(
        FIRST, (), (), words, np.arange(12.0).reshape(4, 3), best, np.zeros(0), np.array(alone_best), words[0], words[1]
    )


def test_from_where_the_new_answer_stays():
    assert told((1, 2, 1, 2, 2), [[1]]).settled == 3
    assert told((2, 2), [[1]]).settled == 0
    assert told((1, 1), [[1]]).settled == 2
    found = told((1,), [[1, 2], [2, 5]])
    assert found.turning == ((0, 1), (1, 0))
    assert told((1,), [[1, 1]], new=1).turning == (), "nothing to turn"
    assert (found.chance(2, 1), found.chance(5, 3)) == (4.0, 11.0)


def test_who_is_followed_are_both_answers_and_who_comes_closest():
    said = [sentence.Word(i, "", 0.0) for i in (3, 7)]
    along, single = np.zeros((2, 10)), np.zeros((3, 10))
    along[1, [3, 7, 1]], single[2, [4, 1, 9]] = [0.9, 0.8, 0.3], [0.5, 0.2, 0.4]
    assert stale._followed(along, single, said) == [3, 7, 4, 9]
    assert stale._followed(along, single, said[:1] * 2) == [3, 7, 4, 9], "of one answer three more"
    assert stale._followed(along, single, [said[0], sentence.Word(0, "", 0.0)]) == [3, 0, 7, 4]


def test_of_many_cells_a_hundred_and_twenty_stops_are_shown():
    text = stale.readable(sentence.of(sentence.read("The dog ran to the park. " * 9)))
    found = stale.run(stale.Demo(text, 20, text.ids[22]))
    assert (len(text), len(found.cells), len(found.stops)) == (48, 282, 120)
    assert (found.stops[0], found.stops[-1]) == (0, 282)
    assert set(np.diff(found.stops)) == {2, 3}
    assert found.p.shape == (120, 4)
    assert found.alone.shape == (6, 47, 4)


def test_a_column_is_not_always_enough():
    """Who reads the swapped word in the first block hands it on: from there it is in other cells too."""
    columns = {}
    for place in stale.places(FIRST):
        demo = stale.Demo(FIRST, place, 500)
        renewed = torch.zeros(1, 6, 13, dtype=torch.bool)
        renewed[0, :, place] = True
        new = stale.swapped(demo)
        said = int(stale.patched(FIRST, new, renewed).argmax())
        columns[place] = said == int(stale.subject.untouched(new)["next_probs"].value.argmax())
        assert stale.column(demo) is columns[place]
