"""Six exercises, one at a time: a map to paint, FLOPs to count, a mask to write, waves to match, a head to set, a law."""

from __future__ import annotations

import streamlit as st

from core.topics.exam import block_work as bw
from core.topics.exam import mask_code as mc
from pages.parts.exam import by_hand, law, painting, plots
from pages.shared import controls, readers
from pages.shared.asks import check
from pages.shared.pictures import figures
from pages.shared.text import N_, _, prose, say

TASKS = {
    "map": N_("Paint a map"),
    "flops": N_("Count a block"),
    "mask": N_("Write the mask"),
    "waves": N_("Match the waves"),
    "copy": N_("Set a head"),
    "law": N_("Derive a law"),
}
ASKED = controls.Setting("exam_work", 0, readers.of(range(len(bw.ASKED))))


def room() -> None:
    """The one that is chosen."""
    task = controls.choice("Exercise", TASKS, "map", key="exam_task", hide_label=True)
    {"map": painting.room, "flops": work, "mask": mask, "waves": plots.waves, "copy": by_hand.room, "law": law.room}[
        task
    ]()


# ---- FLOPs of a block ----


def work() -> None:
    """One number to type; a hint, then the way to it. Other sizes at a press."""
    at = ASKED.now()
    n, d, heads = bw.ASKED[at]
    found = bw.flops(n, d, heads)
    prose("exam", "work", n=f"{n:,}", d=f"{d:,}", h=heads, dk=d // heads)
    steps = dict(
        projections=f"{found.projections / 1e9:.3f}",
        pairs=f"{found.pairs / 1e9:.3f}",
        ffn=f"{found.ffn / 1e9:.3f}",
        n=f"{n:,}",
        d=f"{d:,}",
        total=f"{found.total / 1e9:.3f}",
    )
    check.number(
        N_("«n» tokens pass through one block of width «d». How many GFLOPs?"),
        found.total / 1e9,
        key=f"exam_flops_{at}",
        hint=N_(
            "Q, K, V and O are four maps of d × d; scores and mixture need n² × d each; the FFN is two maps of d × 4d. "
            "Count 2 for each product."
        ),
        how=N_(
            "8nd² = «projections», 4n²d = «pairs», 16nd² = «ffn»: together «total» GFLOPs. The number of heads cancels."
        ),
        tolerance=0.01,
        **steps,
    )
    st.button(_("Other sizes"), key="exam_other_sizes", on_click=ASKED.keep, args=((at + 1) % len(bw.ASKED),))


# ---- the mask ----

SAYS = {
    "shape": N_("it is n by n"),
    "kind": N_("it says True and False"),
    "itself": N_("position i sees itself"),
    "past": N_("position i sees all before it"),
    "future": N_("position i sees nothing ahead"),
    "short": N_("one token alone sees itself"),
}


def mask() -> None:
    """Three blanks, six tests that run at once; nothing is typed and nothing typed is run."""
    prose("exam", "mask")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        code = mc.Code(
            controls.choice("Begin with", {k: v[0] for k, v in mc.STARTS.items()}, "ones", key="exam_start"),
            controls.choice("cut it", {k: v[0] for k, v in mc.CUTS.items()}, "tril1", key="exam_cut"),
            controls.choice(
                "and end", {"none": N_("nothing more"), "bool": ".bool()", "zero": "== 0"}, "bool", key="exam_end"
            ),
        )
        st.code(code.line, language=None)
        made = code.run(mc.SIZES[-1]).tolist()
        st.code("\n".join(" ".join(_cell(x) for x in row) for row in made), language=None)
    found = mc.passes(code)
    with right:
        st.markdown("  \n".join(f"{'✓' if ok else '✗'} {_(SAYS[name])}" for name, ok in found.items()))
    if all(found.values()):
        say(
            "**All «n» tests pass.** «right» of the «all» ways to fill the blanks do; the other begins with the same matrix.",
            n=len(found),
            right=len(mc.right()),
            all=len(mc.EVERY),
        )
    else:
        say(
            "«n» of «all» tests fail. Read which, then change one blank.",
            n=sum(not ok for ok in found.values()),
            all=len(found),
        )


def _cell(x: bool | float) -> str:
    return ("T" if x else "·") if isinstance(x, bool) else figures.number(x, 0)
