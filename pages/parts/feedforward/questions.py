"""Check yourself, and what looks right but is not."""

from __future__ import annotations

from core import tokenizer
from core.lab import subject
from core.lab import text as sentence
from core.topics.feedforward import alone, bends, recorded
from core.topics.feedforward import neuron as one
from pages.parts.feedforward.found import GALLERY
from pages.parts.feedforward.room import Room, read
from pages.shared import frame, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import figures
from pages.shared.text import N_

MISTAKES = ["facts", "pattern", "against", "sparse", "mixes", "four", "share", "qwen"]


def check(room: Room) -> None:
    """The product of a gate and an up of the visitor's own word; and, at more depth, a width."""
    here = frame.cached(one.inside, room.demo)
    if here.gate is not None:
        gate, up = float(here.gate[-1]), float(here.up[-1])
        checks.number(
            N_("At “«word»” neuron «name» has gate «gate» and up «up». SiLU(«gate») is «bent». What is its value?"),
            float(here.value[-1]),
            key="ffn_check",
            hint=N_("The bent gate multiplies what up measured."),
            how=N_("«bent» × «up» = «answer»."),
            word=room.demo.text.tokens[-1],
            name=room.name,
            gate=figures.number(gate),
            up=figures.number(up),
            bent=figures.number(float(here.value[-1]) / up) if up else "0",
        )
    if spine.deep():
        _two, exact, _rounded = bends.same_size(1536)
        checks.number(
            N_("d = «d». How wide is a SwiGLU FFN with as many numbers as the classic one of «wide»?"),
            exact,
            key="ffn_check_width",
            hint=N_("Three maps have to share what two had."),
            how=N_("2 × «wide» = 3 × «answer», which is 8/3 of «d»."),
            d=f"{1536:,}",
            wide=f"{4 * 1536:,}",
        )


def common_mistakes(text: sentence.Text, layer: int, more: tuple[str, ...], numbers: dict[str, object]) -> None:
    """more, numbers: those about experts, and what fills their holes."""
    table, found, shares = recorded.muted_one_by_one(), recorded.gallery(), bends.shares()
    upon = _demo("5.709")
    idle = frame.cached(one.muted, upon)
    comma = tokenizer.of_model(sentence.FOLDER).token_to_id(",")
    rises = frame.cached(one.twin, _demo("5.528"), (comma,), (1.0, 0.0))[:, 0]
    amy = sentence.of(read(recorded.MUTED_IN, recorded.MUTED_IN))
    before = frame.cached(subject.outlook, amy, subject.UNTOUCHED).asked.p
    through = frame.cached(bends.through, text, layer)
    block = {share.name: f"{share.block:,}" for share in shares}
    _word, on, stands = found["5.709"].words[0]
    mistakes.show(
        "feedforward",
        [*MISTAKES, *more],
        **numbers,
        all=f"{table.size:,}",
        halved=int((table < before / 2).sum()),
        left=f"{table.min():.3f}",
        fires=found["5.709"].fires,
        on=on,
        stands=stands,
        before=f"{idle.answer.p:.3f}",
        after=f"{idle.after:.3f}",
        comma=f"{rises[0]:.3f}",
        comma_muted=f"{rises[1]:.3f}",
        n=len(through.after),
        zeros=through.zeros,
        elsewhere=f"{frame.cached(alone.changed, alone.Demo(text, layer)).elsewhere:.1f}",
        **{f"bleu{i}": point.bleu for i, point in enumerate(bends.PAPER)},
        low=f"{min(share.ratio for share in shares):.2f}",
        high=f"{max(share.ratio for share in shares):.2f}",
        t5=f"{bends.T5_11B[1]:g}",
        least=shares[0].name,
        least_share=f"{shares[0].share:.0%}",
        most=shares[-1].name,
        most_share=f"{shares[-1].share:.0%}",
        llama=block["Llama-3-8B"],
        qwen=block["Qwen3-8B"],
    )


def _demo(name: str) -> one.Demo:
    """A neuron of the gallery in the sentence that goes with it."""
    layer, neuron = (int(part) for part in name.split("."))
    return one.Demo(sentence.of(read(GALLERY[name][1], sentence.SENTENCE)), layer, neuron)
