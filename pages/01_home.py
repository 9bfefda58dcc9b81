"""Home: one question, the model's answer, the map it comes from, and the hunt for the links that decide it."""

from core.lab import text
from core.topics.home import flow as fl
from pages.parts.home import hunt, opening, path, writing_on
from pages.parts.home import map as drawn
from pages.shared import frame, glossary
from pages.shared.asks import predict
from pages.shared.text import prose

frame.begin()

# The question: which word comes next?
first, reading = fl.recorded(), opening.reading()
asked, of = reading.text == text.SENTENCE, text.of(reading)
guess = predict.answer("guess") if asked else predict.UNSURE

if not guess:
    # Before the guess: the sentence flows in, the answer is veiled.
    opening.name()
    opening.line(reading.text, asked, guess, "")
    predict.ask(opening.question(first))
    hunt.show_map(first, [drawn.Ending(first.words, first.lens)], veiled=True)
else:
    # After it: the answer, and the map with the links that can be cut; or the model writes on.
    opening.preload()
    cut = hunt.cut_setting(of, len(first.lens) - 1, len(first.trace["block0.weights"].value))
    untouched = frame.cached(fl.flow, of)
    writes = bool(writing_on.WRITE.now())
    way = frame.cached(fl.flow, of, hunt.change(cut)) if cut.now() and not writes else untouched
    opening.line(reading.text, asked, guess, untouched.words[0].token, now=way.words[0].token)
    if writes:
        writing_on.show(of)
    else:
        judged = asked and not cut.now() and not hunt.begun(of, asked)
        opening.answer(hunt.said(way, untouched), untouched, judged=guess if judged else None, cut=bool(cut.now()))
        hunt.follow(of, way, untouched, cut, asked=asked, also=writing_on.button)

# Your own sentence.
opening.own(asked, guess)

# The path, the language, and where the model comes from.
path.rooms()
path.experiments()
path.other_language()
prose("home", "model", **path.facts())
glossary.show()
