"""What a visitor can check for himself, what is often mistaken, and the code behind the plane."""

from __future__ import annotations

from core.lab import subject
from core.nets import line as nets
from core.topics.theory import copies as cp
from core.topics.theory import line as ln
from core.topics.theory import scaling as sc
from core.topics.theory import tape as tp
from pages.parts.theory import line, scaling
from pages.shared import frame, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import code, figures
from pages.shared.text import N_

MISTAKES = ["green", "training", "descent", "xie", "ridge", "universal", "turing", "twenty", "kaplan"]
ASKED = 4  # copies, as in the guess


def check(found: cp.Copies) -> None:
    """What one more copy adds to the cache; what one layer says of one point; what a budget reads."""
    config = subject.config()
    a_token = 2 * config.n_layers * config.n_kv_heads * config.head_dim
    checks.number(
        N_(
            "A copy has «tokens» tokens. No parameter changes: how many numbers more lie in the cache after one more copy?"
        ),
        found.tokens * a_token,
        key="sky_cache",
        hint=N_("Every token leaves a key and a value in each of «layers» blocks, «width» numbers each."),
        how=N_("«tokens» × 2 × «layers» × «width» = «answer»."),
        tokens=found.tokens,
        layers=config.n_layers,
        width=config.n_kv_heads * config.head_dim,
    )
    if not spine.deep():
        return
    x, y = (line.points() or ln.FIRST)[0]
    checks.number(
        N_(
            "The plane, one point alone: («x», «y»). One layer by hand, a step of «rate». How high is its line at x = 2?"
        ),
        ln.RATE * y * (2 * x + 1),
        key="given_one_point",
        hint=N_("From w = 0 the step is «rate» · y · (x, 1): a slope and a height."),
        how=N_("Slope «rate» × «y» × «x», height «rate» × «y»; at 2: «answer»."),
        rate=f"{ln.RATE:g}",
        x=figures.number(x, 1),
        y=figures.number(y, 1),
    )
    n, d = sc.CHINCHILLA
    checks.number(
        N_(
            "The budget of Gopher, «c» operations, is spent on «n» parameters. How many tokens can they read, in units of 10¹²?"
        ),
        sc.GOPHER / (6 * n) / 1e12,
        key="scale_tokens",
        hint=N_("Six operations for every parameter and token: C = 6ND."),
        how=N_("D = C / 6N = «answer» · 10¹². Chinchilla itself read «d»."),
        tolerance=0.03,
        c=figures.power(sc.GOPHER, 2),
        n=figures.power(n),
        d=figures.power(d),
    )


def common_mistakes() -> None:
    claim = cp.read(cp.CLAIM)
    assert claim is not None
    ours, theirs = scaling.numbers(), scaling.published_numbers()
    found, recorded = frame.cached(cp.run, cp.Demo(claim)), frame.cached(cp.recorded)
    mistakes.show(
        "theory",
        MISTAKES,
        four=ASKED,
        dog=f"{found.p[ASKED, 2]:.1%}",
        sky=f"{found.p[ASKED, 0]:.1%}",
        changed=found.changed,
        all=f"{found.parameters:,}",
        pairs=recorded.pairs,
        more=recorded.more,
        whole=tp.STEPS,
        steps=frame.cached(tp.horizons)["float16", 0],
        **{name: ours[name] for name in ("known", "upper", "upper_nets")},
        **{name: theirs[name] for name in ("c", "ratio", "refit_ratio")},
    )


def shown_code() -> None:
    code.show(nets.LINEAR_ATTN)
