"""The page on the cache: what it shows is core's, what the link says is what it shows, and no text breaks it."""

import numpy as np
import pytest

from core.generation import Sampler
from core.lab import subject
from core.lab import text as sentence
from core.topics.inference import bank, cuts, drafts, roofline, sink, squeezed, stale, writing
from tests.pages.opening import open_page, picture, words

PAGE = "15_inference"
FIRST = sentence.of(sentence.read(sentence.SENTENCE))
FOUND = stale.run(stale.Demo(FIRST, 9, FIRST.ids[3]))


def said(app):
    return words(app).replace("\\", "")


def test_the_signature_holds_every_stop_and_every_cell():
    meta, arrays = picture(open_page(PAGE), "stale")
    assert meta["signature"]
    assert meta["slider"]["stops"] == list(range(79))
    np.testing.assert_allclose(arrays["values"], FOUND.p)
    np.testing.assert_allclose(arrays["alone"], FOUND.alone)
    assert meta["tokens"] == list(FOUND.swapped.tokens)
    assert (meta["place"], meta["was"]) == (9, "Sam")
    assert meta["names"][meta["best"][0]] == "Amy"
    assert meta["names"][meta["best"][78]] == meta["names"][meta["fresh"]] == "Sam"
    lead = arrays["lead"]
    assert [tuple(cell) for cell in np.argwhere(lead == meta["fresh"])] == [(4, 9)]


def test_the_answer_waits_for_a_guess_or_a_find():
    told = "The cache is the only memory"
    app = open_page(PAGE)
    assert told not in said(app)
    assert picture(app, "stale")[0]["covered"]
    for query in (dict(stale_next="new"), dict(stale="59"), dict(stale_cell="4,9")):
        assert told in said(open_page(PAGE, **query))
    assert not picture(open_page(PAGE, stale_next="?"), "stale")[0]["covered"]


@pytest.mark.parametrize(
    ("guess", "opening", "why"),
    [
        ("old", "Right.", "all it hears of the others comes out of the cache"),
        ("new", "Not quite.", "Only the newest token is looked up"),
        ("half", "Not quite.", "Not even half"),
        ("mess", "Not quite.", "of another text"),
        ("?", "", "all it hears of the others"),
    ],
)
def test_every_guess_has_its_verdict(guess, opening, why):
    text = said(open_page(PAGE, stale_next=guess))
    assert why in text
    assert ("**Right.**" in text, "**Not quite.**" in text) == (opening == "Right.", opening == "Not quite.")
    assert "98.6%" in text


def test_one_cell_alone_is_shown_after_its_guess():
    app = open_page(PAGE, stale_count="column")
    assert "block 4 at “Sam” alone gives “Sam” 89.3%" in said(app) or "89.3%" in said(app)
    np.testing.assert_allclose(picture(app, "alone")[1]["values"][0], FOUND.alone[::-1, :, 1], atol=1e-6)
    with pytest.raises(AssertionError):
        picture(open_page(PAGE), "alone")


def test_a_link_restores_the_swap_and_the_cell():
    link = dict(swap="6", swap_order="newest", stale="30", stale_cell="2,5")
    app = open_page(PAGE, **link)
    meta, arrays = picture(app, "stale")
    found = stale.run(stale.Demo(FIRST, 6, stale.alike(FIRST, 6)[0], "newest"))
    np.testing.assert_allclose(arrays["values"], found.p)
    assert meta["state"] == {"cell": [2, 5]}
    assert meta["slider"]["at"] == 30
    assert {k: app.query_params[k] for k in link} == link


@pytest.mark.parametrize(
    "query",
    [
        dict(words="Tom was very thirsty. He wanted to", stale_count="1"),
        dict(words="The dog. " * 90),
        dict(words="你好 <b>🙂</b> مرحبا", stale_next="old"),
        dict(words="Hi"),
        dict(words="$x$ *a* `b` [c](d) e"),
        dict(swap="99", swap_for="-1", stale="1e9", stale_cell="9,99", swap_order="up"),
        dict(words="x " * 3000, stale_cell="0,0"),
    ],
    ids=str,
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_text_and_no_link_breaks_it(query, lang):
    app = open_page(PAGE, lang=lang, **query)
    assert not app.exception
    if query.get("words") != "Hi":
        assert picture(app, "stale")[1]["values"].shape[0] >= 2
    else:
        assert len(app.warning) == 1


@pytest.mark.parametrize("at", ["inside-the-cell", "what-a-swap-spoils"])
def test_the_folds_hold_what_they_say(at):
    app = open_page(PAGE, at=at)
    assert not app.exception
    key = {"inside-the-cell": "inside", "what-a-swap-spoils": "spoiled"}[at]
    values = picture(app, key)[1]["values"][0]
    if key == "inside":
        np.testing.assert_allclose(values[1, 4], 0.925, atol=5e-4)
        assert "44,928" in said(app)
    else:
        assert (values < 1e-5).sum() == 57
        columns = picture(app, key)[0]["columns"]
        assert [i for i, name in enumerate(columns) if name.startswith("Amy")] == [3, 9]  # as on the screen
        assert "**57 stay valid**" in said(app)


def test_what_is_written_is_the_generators_own():
    meta, arrays = picture(open_page(PAGE, gen="5", gen_heat="1", gen_p="0.9", gen_seed="3"), "growing")
    told = writing.write(writing.Demo(FIRST, Sampler(1.0, top_p=0.9), 3, 24))
    assert meta["candidates"] == [[word.token for word in step.words] for step in told.steps]
    np.testing.assert_allclose(arrays["shares"], [step.drawn for step in told.steps], atol=1e-6)
    assert meta["slider"]["at"] == 5
    lengths = tuple(range(14, 14 + len(told.steps)))
    np.testing.assert_allclose(arrays["whole"], writing.work(subject.config(), lengths).whole)
    assert meta["each"] == 13_824


def test_a_fork_in_the_link_takes_another_word():
    plain = writing.write(writing.Demo(FIRST, n=24))
    meta, _arrays = picture(open_page(PAGE, gen_fork="2,1"), "growing")
    assert meta["candidates"][2][meta["taken"][2]] == plain.steps[2].words[1].token
    for junk in ("99,0", "2,99", "x"):
        assert picture(open_page(PAGE, gen_fork=junk), "growing")[0]["taken"][2] == 0


def test_the_clock_is_read_after_the_guess_alone():
    app = open_page(PAGE, gen_speed="?")
    _meta, arrays = picture(app, "clocks")
    assert (arrays["values"] > 0).all()
    assert "Measured here just now" in said(app)
    assert "Measured here just now" not in said(open_page(PAGE))


@pytest.mark.parametrize("kind", cuts.KINDS)
def test_every_cut_is_cores_own(kind):
    meta, arrays = picture(open_page(PAGE, cut_kind=kind, cut_place="9"), f"cut_{kind}")
    found = cuts.run(cuts.Demo(FIRST, 9, kind))
    np.testing.assert_allclose(arrays["values"], found.after, atol=1e-6)
    np.testing.assert_allclose(arrays["ghost"], found.before, atol=1e-6)
    assert len(meta["slider"]["stops"]) >= 43
    assert meta["hatched"]


def test_no_cut_is_told_before_the_guess():
    assert picture(open_page(PAGE), "cut_top_p")[0]["slider"]["at"] == 48
    meta, _arrays = picture(open_page(PAGE, nucleus="10"), "cut_top_p")
    assert meta["slider"]["stops"][meta["slider"]["at"]] == pytest.approx(0.9)  # what the question asks of


def test_few_bits_and_drafts():
    app = open_page(PAGE, at="the-cache-in-few-bits", squeezed="keys", bits="2")
    _meta, arrays = picture(app, "bits_keys")
    np.testing.assert_allclose(arrays["values"], squeezed.said(FIRST).p[1], atol=1e-6)
    np.testing.assert_allclose(
        picture(app, "bit_losses")[1]["values"].reshape(3, -1), squeezed.losses()[:, 1:], atol=1e-6
    )
    app = open_page(PAGE, at="drafts-checked-in-one-pass", draft_exit="4")
    runs = drafts.run(drafts.Demo(FIRST, 4))
    shown = picture(app, "drafts")[1]["values"]
    assert shown[:, 0, 0].tolist() == [one.passes for one in runs]


def test_a_state_of_fixed_size_and_the_mistakes():
    text = said(open_page(PAGE, at="a-state-of-fixed-size"))
    assert "3,456" in text
    assert f"{3456 * 4096:,}" in text
    text = said(open_page(PAGE, at="common-mistakes"))
    for number in ("147,456", "144 KiB", "4.5 GiB", "576 KiB", "13,824"):
        assert number in text


def test_a_cache_of_fixed_size_shows_what_was_recorded():
    app = open_page(PAGE, at="a-cache-of-fixed-size")
    np.testing.assert_allclose(picture(app, "sink_losses")[1]["values"].reshape(3, -1), sink.losses(), atol=1e-6)
    for i, way in enumerate(sink.WAYS):
        assert f"{sink.losses()[i, sink.HELD.index(64)]:.2f}" in said(app), way


def test_a_table_may_draft():
    app = open_page(PAGE, at="drafts-checked-in-one-pass", draft_exit="0")
    runs = drafts.run(drafts.Demo(FIRST, drafts.TABLE))
    assert picture(app, "drafts")[1]["values"][:, 0, 1].tolist() == [0] * len(runs)
    assert picture(app, "drafts")[1]["values"][:, 1, 1].tolist() == [one.taken for one in runs]
    assert "what followed each token most often" in said(app)


def test_the_bank_is_shelved_after_the_guess():
    assert "different openings" not in said(open_page(PAGE))
    app = open_page(PAGE, bank_strange="none", bank="t15", bank_text="199")
    meta, arrays = picture(app, "bank_t15")
    found = bank.bank("t15")
    np.testing.assert_allclose(arrays["values"].reshape(2, -1)[0], found.nats, atol=1e-6)
    assert meta["slider"]["at"] == 199
    assert len(meta["captions"]) == 200
    assert meta["captions"][0].startswith(bank.PROMPT)
    text = said(app)
    for way in bank.WAYS:
        assert f"{bank.bank(way).strange:.1%}" in text
    assert "**Not quite.**" in text or "**Right.**" in text
    assert picture(open_page(PAGE, bank_strange="none", bank="greedy"), "bank_greedy")[0].get("slider") is None


def test_both_ways_are_measured_after_the_guess_alone(monkeypatch):
    found = roofline.Measured(
        roofline.Roof(50e9, 5e9),
        (
            roofline.Point("read", 256, 3.5e9, 6.4e7, 0.05),
            roofline.Point("write", 1, 3e7, 6e7, 0.007),
            roofline.Point("write", 64, 2e9, 1.7e8, 0.042),
        ),
    )
    monkeypatch.setattr(roofline, "measure", lambda _name, _run: found)
    assert "billion bytes" not in said(open_page(PAGE))
    text = said(open_page(PAGE, roof="ten"))
    assert "**Right.**" in text
    assert "6.0 times as long" in text
    assert "Below 10 FLOPs a byte" in text
    assert "| 256 | 50.0 | 0.2 | – | – |" in text
