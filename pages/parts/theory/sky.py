"""The sky is green: copies of a sentence under the finger, another subject, and the heads that carry it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import tokenizer
from core.lab.text import FIRST, Cannot, context
from core.topics.theory import copies as cp
from pages.shared import address, controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import bars, figures, lines, live, matrix
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, filled, prose, say, unmarked

CLAIM = controls.Setting("sky_claim")
EXAMPLES = (
    "The sky is green.",
    "The sun is cold.",
    "The snow is black.",
    "The dog can fly.",
    "Tom eats turquoise cake.",
)
LEAST = 0.0005  # a smaller chance would be written as none
FOUR = 4  # copies before the other subject is asked for
FEW = 8  # copies that count as few
SHORT = N_("A sentence of three words is the least, such as “The sky is green.” This one is read instead.")
CANNOT = (  # as core says it
    N_("This model joins the last word to the one before it: there is no place to ask."),
    N_("This sentence is longer than the model's context: not one copy fits."),
)


# ---- the sentence ----


def sentence() -> tuple[cp.Demo, cp.Copies]:
    """Two boxes: what is written again and again, and another subject. What cannot be read gives way to the example."""
    left, right, third = st.columns([4, 3, 1.3], vertical_alignment="bottom")
    with left:
        typed = controls.typed(
            "A sentence that the model does not believe", cp.CLAIM, key="sky_claim", longest=cp.LONGEST
        )
    with right:
        other = controls.typed("Another subject", cp.OTHER, key="sky_other", longest=40)
    with third, st.popover(_("Examples"), width="stretch"):
        for i, example in enumerate(EXAMPLES):
            st.button(example, key=f"sky_{i}", on_click=CLAIM.keep, args=(example,), width="stretch")
    demo, found = _asked(typed, other)
    if address.changed("sky", demo):
        predict.forget("copies", "other")
    return demo, found


def _asked(typed: str, other: str) -> tuple[cp.Demo, cp.Copies]:
    """The claim as it can be read; a sentence says what could not."""
    clean, subject = (tokenizer.clean(text, cp.LONGEST)[0] for text in (typed, other))
    claim, default = cp.read(clean), cp.read(cp.CLAIM)
    assert default is not None
    if claim is None:
        say(SHORT)
    for demo in (cp.Demo(claim or default, subject or cp.OTHER), cp.Demo(default)):
        try:
            with st.spinner(_("Reading the copies …"), show_time=False):
                return demo, frame.cached(cp.run, demo)
        except Cannot as no:
            said = next((_(one) for one in CANNOT if one == str(no)), str(no))
            say("«no» The first example is read instead.", no=said)
    raise AssertionError("the default can be read")


def _numbers(demo: cp.Demo, found: cp.Copies) -> dict[str, object]:
    """What texts about the sentence may need."""
    said, own, _other = found.words
    four = min(FOUR, found.copies)
    return dict(
        sentence=demo.claim.sentence,
        lead=demo.claim.lead,
        other=demo.other_lead,
        said=said.token,
        own=own.token,
        last=demo.claim.between.split()[-1],
        p0=_share(found.p[0, 0]),
        p1=_share(found.p[1, 0]),
        four=four,
        sky_four=_share(found.p[four, 0]),
        dog_four=_share(found.p[four, 2]),
        dog_says=found.other_best[four],
    )


def _share(p: float) -> str:
    """A chance as it is written on this page."""
    return f"{p:.1%}" if p >= LEAST else "<0.1%"


# ---- how many copies? ----


def prediction(demo: cp.Demo, found: cp.Copies) -> None:
    """One, a few, many, never: counted at all stops."""
    needed = found.needed
    answer = "never" if needed is None else "one" if needed <= 1 else "few" if needed <= FEW else "many"
    options = {
        "one": N_("1"),
        "few": N_("2 to 8"),
        "many": N_("9 or more"),
        "never": N_("never"),
    }
    because = {
        "one": N_("One copy does something, that is right: from «p0» to «p1». «truth»"),
        "few": N_("«truth» Nothing was trained for it."),
        "many": N_("Training needs many small steps, that is right. But nothing is trained here. «truth»"),
        "never": N_("The parameters stay as they are, that is right. But the text is read, every word of it. «truth»"),
        predict.UNSURE: N_("«truth»"),
    }
    question = N_("Guess first: how many copies until it says “«said»”?")
    asked = predict.Prediction("copies", question, options, answer, because, opens=("sky_heads",))
    predict.ask(asked, **_numbers(demo, found), truth=_truth(found))


def _truth(found: cp.Copies) -> str:
    needed, said = found.needed, found.words[0].token
    if needed is None:
        return _("After {n} copies it still says “{word}”.").format(n=found.copies, word=found.best[-1])
    if needed == 0:
        return _("It says “{word}” by itself, without a copy.").format(word=said)
    told = _("After {n} it is the likeliest word, {p}; without any it had {p0}.")
    p, p0 = (_share(found.p[k, 0]) for k in (needed, 0))
    return told.format(n=needed, p=p, p0=p0)


def signature(demo: cp.Demo, found: cp.Copies) -> None:
    """The chances over the copies so far, and the words that could come next."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _curves(demo, found)
    with right:
        st.markdown(filled(_("**Next word** after “«lead» …”"), lead=demo.claim.lead))
        bars.next_tokens(
            bars.next_picture("sky_next", slider=_dial(found).slider(together=True, hidden=True)),
            [one.token for one in found.shown],
            found.probs,
            marked=0,
        )
        bars.explain_dot([one.token for one in found.shown])
        _counted(found)


def _dial(found: cp.Copies) -> controls.Dial:
    return controls.Dial("sky_k", N_("Copies"), tuple(range(found.copies + 1)), 0, quiet=True)


def _curves(demo: cp.Demo, found: cp.Copies) -> None:
    """Before the guess a line is drawn as far as it has been written; after it, whole."""
    guessed, asked = predict.answer("copies") is not None, predict.answer("other") is not None
    said, own, _alone = found.words
    series = [Series(f"{demo.claim.lead} … {said.token}", "a"), Series(f"{demo.claim.lead} … {own.token}", "quiet")]
    shown = found.p[:, :2].T
    if asked:
        series.append(Series(f"{demo.other_lead} … {said.token}", "warn", dash=True))
        shown = found.p.T
    stops = np.arange(found.copies + 1)
    frames = shown if guessed else np.where(stops <= stops[:, None, None], shown, np.nan)
    lines.show(
        live.Picture(
            key="sky",
            quantity="next_probs",
            says=_("Chances of the next word after so many copies of a sentence."),
            slider=_dial(found).slider(together=True),
            signature=True,
            room=330,
            captions=_captions(demo, found),
            released=_dial(found).receive,
        ),
        frames,
        stops,
        series,
        x=Axis(_("copies")),
        y=Axis(_("chance of the word"), low=0, high=1),
        moving=stops.astype(float),
        tall=270,
    )


def _captions(demo: cp.Demo, found: cp.Copies) -> list[str]:
    told = _("{k} × “{sentence}” · then “{lead} …”: {word} ({said} {p})")
    said = found.words[0].token
    return [
        told.format(k=k, sentence=demo.claim.sentence, lead=demo.claim.lead, word=best, said=said, p=_share(p))
        for k, (best, p) in enumerate(zip(found.best, found.p[:, 0], strict=True))
    ]


def _counted(found: cp.Copies) -> None:
    """What has changed, compared number by number; what is followed; how many copies fit."""
    say(
        "Parameters compared before and after, one by one: **«changed»** of «all» changed.",
        changed=found.changed,
        all=f"{found.parameters:,}",
    )
    if len(found.pieces) > 1:
        said_in = N_("The last word is «n» tokens, «pieces»: the first, “«said»”, is followed.")
        say(said_in, n=len(found.pieces), pieces=" ".join(found.pieces), said=found.words[0].token)
    if found.copies < cp.MOST:
        fits = N_("A copy has «tokens» tokens and the model reads «most» at once: «n» copies fit.")
        say(fits, tokens=found.tokens, most=context(FIRST), n=found.copies)


def meaning(demo: cp.Demo, found: cp.Copies) -> None:
    """What to do first; once it is guessed, what the first copies do to the model's own word."""
    if predict.answer("copies") is None:
        prose("theory", "sky")
        return
    own, peak = found.p[:, 1], int(found.p[:, 1].argmax())
    numbers = _numbers(demo, found) | dict(cached=f"{found.cached:,}", read=found.read)
    prose("theory", "sky_read", **numbers)
    if 0 < peak < (found.needed or 0):
        before, after = (_share(own[k]) for k in (0, peak))
        prose("theory", "sky_first", own=found.words[1].token, before=before, after=after, peak=peak)


# ---- another subject ----


def other(demo: cp.Demo, found: cp.Copies) -> None:
    """What follows another subject, of which nothing was written? Its answer names the first subject's chance too."""
    if predict.answer("copies") is None and predict.answer("other") is None:
        say("First the guess above: this one tells its answer.")
        return
    numbers, four = _numbers(demo, found), min(FOUR, found.copies)
    sky, dog = found.p[four, 0], found.p[four, 2]
    answer = "own" if found.other_best[four] != found.words[0].token else "more" if dog > sky else "less"
    truth = {
        "more": N_("“«other»” → “«said»” «dog_four», “«lead»” «sky_four»: the other one is even surer. It copies what followed “«last»”."),
        "less": N_("“«other»” → “«said»” «dog_four», “«lead»” «sky_four»: it copies what followed “«last»”."),
        "own": N_("“«other»” goes on with “«dog_says»”; “«said»” has «dog_four», after “«lead»” «sky_four»."),
    }[answer]  # fmt: skip
    options = {
        "less": N_("“«said»”, less surely"),
        "more": N_("“«said»”, more surely"),
        "own": N_("another word"),
    }
    because = {
        "less": N_("If it had learned a fact about one thing, a little would spill over to others. «truth»"),
        "more": N_("«truth»"),
        "own": N_("Nothing was said about this one, that is right. «truth»"),
        predict.UNSURE: N_("«truth»"),
    }
    options = {name: filled(_(label), **numbers) for name, label in options.items()}
    question = N_("Guess first: «four» copies, then “«other» …”?")
    asked = predict.Prediction("other", question, options, answer, because)
    if predict.ask(asked, **numbers, truth=unmarked(_(truth), **numbers)) is not None:
        tried = frame.cached(cp.recorded)
        counted = dict(sentences=tried.sentences, gave_in=tried.gave_in, middle=f"{tried.middle:g}", most=tried.most)
        prose("theory", "other", **numbers, **counted, more=tried.more, pairs=tried.pairs)


# ---- which heads carry it ----


def heads(demo: cp.Demo) -> None:
    """Every head muted in turn, at every number of copies up to a dozen; beside it where each looks."""
    if predict.answer("copies") is None:
        say("First the guess above: this picture tells its answer.")
        return
    prose("theory", "heads", said=demo.claim.says, most=cp.TRIED)
    with st.spinner(_("Muting every head in turn …"), show_time=False):
        found = frame.cached(cp.carriers, demo)
    copies = len(found.untouched) - 1
    at = min(6, copies)
    dial = controls.Dial("sky_muted", N_("Copies"), tuple(range(copies + 1)), at)
    layers, n = found.p.shape[1:]
    told = _("untouched {p}")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="sky_heads",
                quantity="probs",
                says=_("The chance of the claimed word with each head muted, at each number of copies."),
                slider=dial.slider(),
                captions=[told.format(p=_share(p)) for p in found.untouched],
                released=dial.receive,
            ),
            found.p,
            rows=[str(layer) for layer in range(layers)],
            columns=[str(head) for head in range(n)],
            look=matrix.Look(from_zero=True, row_title=N_("block"), column_title=N_("head muted"), digits=2),
        )
    with right:
        _carrying(found, at)


def _carrying(found: cp.Carriers, copies: int) -> None:
    """The four heads without which it loses most, and how much of each one's attention goes to the word itself."""
    head = (_("head"), _("chance when muted"), _("its attention on that word"))
    rows = [
        (f"{layer}.{one}", _share(found.p[copies, layer, one]), f"{found.looks[copies, layer, one]:.0%}")
        for layer, one in found.worst(copies)
    ]
    figures.table(head, rows)
    (layer, one), p = found.worst(copies, 1)[0], _share(found.untouched[copies])
    prose("theory", "carried", copies=copies, p=p, layer=layer, head=one, even=f"{found.even[copies]:.0%}")
