"""The ledger: which model, and how many tokens of conversation weigh as much as its weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from core import costs
from pages.parts.ledger import models
from pages.parts.ledger.models import Model
from pages.shared import controls, frame, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import code, figures, live, stack
from pages.shared.text import N_, _, filled, prose, say, unmarked

DEVICES = {id: one.name.split()[0] if one.name.endswith("GB") else one.name for id, one in costs.DEVICES.items()}
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
KEPT = {
    "keys": N_("the keys"),
    "values": N_("the values"),
    "latent": N_("the latent vector"),
    "rotated key": N_("the rotated key"),
}
SHARED = {
    "mha": N_("MHA: every head its own keys and values"),
    "gqa": N_("GQA: groups of heads share keys and values"),
    "mqa": N_("MQA: all heads share one key and one value"),
    "mla": N_("MLA: one short vector a token"),
}


@dataclass(frozen=True)
class How:
    """A model at work: how many texts it reads at once, in which numbers, on what."""

    model: Model
    talk: costs.Talk
    device: costs.Device


def as_bytes(n: float) -> str:
    """Bytes as people read them, in powers of 1,024."""
    n, k = float(n), 0
    while n >= 1023.5 and k < len(UNITS) - 1:
        n, k = n / 1024, k + 1
    return f"{int(n + 0.5):,} {UNITS[k]}" if k == 0 or n >= 100 else f"{n:.3g} {UNITS[k]}"


def as_power(n: float) -> str:
    """4.91 × 10²²."""
    digits, power = f"{n:.2e}".split("e")
    return f"{digits} × 10{figures.raised(int(power))}"


def as_gap(ratio: float) -> str:
    """How far a ratio is from one: +4.3%; nothing is ever minus zero."""
    text = f"{100 * (ratio - 1):+.1f}%"
    return "0.0%" if text[1:] == "0.0%" else text.replace("-", "−")


def as_share(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}%"


# ---- what is seldom changed, in one line ----

READERS = controls.Setting("readers", 1, readers.of(costs.BATCHES))
LINE = N_("«model» · batch «readers» · weights «weights» · cache «cache» · «device»")


def settings() -> Any:
    """The line that says which model, how many texts, in which numbers, on what; and the box that it opens."""
    now = {word: controls.Setting(word).now() for word in ("weights_in", "cache_in", "device")}
    said = dict(weights=now["weights_in"], cache=now["cache_in"], device=DEVICES[now["device"]])
    return spine.settings(filled(_(LINE), model=models.called(), readers=READERS.now(), **said))


def how(model: Model, line: Any) -> How:
    with line:
        several = controls.pick("Texts at once (batch)", costs.BATCHES, 1, key="readers")
        weights = controls.pick("Weights in", list(costs.PRECISIONS), "bf16", key="weights_in")
        cache = controls.pick("Cache in", list(costs.PRECISIONS), "bf16", key="cache_in")
        device = controls.choice("Runs on", DEVICES, "h100", key="device")
    return How(model, costs.Talk(model.config, several, weights, cache), costs.DEVICES[device])


# ---- guess first ----


def prediction(model: Model) -> bool:
    """How long must one text get? The answer is core's, for whichever model is chosen. True once it is answered."""
    talk = costs.Talk(model.config)
    length = -(-talk.weights // talk.token)
    answer = str(min(6, max(3, round(float(np.log10(float(length)))))))
    near = {str(int(answer) - 1), str(int(answer) + 1)}
    options = {
        "3": N_("1,000"),
        "4": N_("10,000"),
        "5": N_("100,000"),
        "6": N_("a million or more"),
    }
    right = N_("The weights take «weights», and «length» tokens leave as much. Drag there.")
    late = N_("It is sooner: a token leaves more than it seems. «length» tokens leave «weights», as much as the model.")
    early = N_("It is later: a token leaves little beside «weights» of weights. It takes «length».")
    close = N_("The right order, one power of ten off: «length» tokens leave «weights», as much as the weights.")
    because = {
        token: right if token == answer else close if token in near else early if token < answer else late
        for token in options
    } | {"?": right}
    if talk.even() is None:
        never = N_(
            "«length» tokens would leave «weights», as much as the weights. "
            "One text never holds so many: this model looks back «window» tokens and lets go of the rest."
        )
        because = dict.fromkeys(because, never)
    question = N_("Guess first: how many tokens make both bars equal?")
    values = dict(weights=as_bytes(talk.weights), length=f"{int(length):,}", window=f"{model.config.window or 0:,}")
    return bool(predict.ask(predict.Prediction("balance", question, options, answer, because), **values))


# ---- the signature: the cache against the weights ----


def conversation(how: How, answered: bool) -> None:
    """Weights and cache as two bars, at every length; below, what other ways of sharing would keep."""
    model, talk = how.model, how.talk
    found = frame.cached(costs.conversation, talk)
    dial = _length(found)
    slider = dial.slider(together=True)
    left, right = st.columns([5, 3], gap="medium", vertical_alignment="center")
    with left:
        names = list(costs.kept(model.config))
        stack.show(
            live.Picture(
                key="balance_bars",
                quantity="cache",
                says=_("The weights of the model and the KV cache of all texts, in bytes."),
                slider=slider,
                captions=_captions(talk, found),
                signature=True,
                room=224,
                released=dial.receive,
            ),
            _against(found.cache.numpy(), float(talk.weights)),
            [_("The weights"), _("The KV cache")],
            [_("weights"), *(_(KEPT[name]) for name in names)],
            form="bytes",
            roles=("warn", "k", "v"),
        )
    with right:
        dial.rest(lambda: _beside(how, dial, answered))
    prose("ledger", "idea")
    if not spine.deep():
        return
    prose("ledger", "decides")
    _sharing(model, talk, found, slider)
    demo = costs.Demo(talk, costs.Work(model.config), costs.Training(model.config))
    st.download_button(_("The numbers (.npz)"), lambda: _as_npz(demo), "ledger.npz", key="ledger_npz")
    code.show(costs.CACHE)


def _as_npz(demo: costs.Demo) -> bytes:
    """Every frame of the ledger's sliders for this model."""
    return costs.run(demo).as_npz()


def _against(cache: np.ndarray, weights: float) -> np.ndarray:
    """(frame, row, part): the weights above, the cache below."""
    bars = np.zeros((len(cache), 2, 1 + cache.shape[1]))
    bars[:, 0, 0] = weights
    bars[:, 1, 1:] = cache
    return bars


def _captions(talk: costs.Talk, found: costs.Conversation) -> list[str]:
    """One line for every length."""
    plain = _("{held} tokens in the cache: {cache}, {ratio} × the weights.")
    equal = _("{held} tokens in the cache: {cache}. As much as the weights!")
    even, weights = talk.even(), float(talk.weights)
    return [
        (equal if n == even else plain).format(
            held=f"{talk.held(n):,}", cache=as_bytes(cache), ratio=f"{cache / weights:.3g}"
        )
        for n, cache in zip(found.stops, found.cache.sum(1).tolist(), strict=True)
    ]


def _length(found: costs.Conversation) -> controls.Dial:
    usual = min(found.stops, key=lambda n: abs(n - 4096))
    shown = tuple(f"{n:,}" for n in found.stops)
    return controls.Dial("text_length", N_("Tokens in each text"), found.stops, usual, shown=shown, quiet=True)


def _beside(how: How, dial: controls.Dial, answered: bool) -> None:
    """Where the bars meet, once it was guessed or found, and what the two of them need."""
    model, talk = how.model, how.talk
    length, even = int(dial.now()), talk.even()
    told = answered or length == even
    found = "?" if not told else _("never") if even is None else unmarked(_("«n» tokens"), n=f"{even:,}")
    st.metric(_("Both bars are equal at"), found)
    if model.config.pooler:
        say("BERT reads everything at once and keeps no cache. This is what it would keep if it wrote word by word.")
    if even is None:
        template = N_(
            "This model looks back «window» tokens. Its cache stops growing there: at this batch the bars never meet."
        )
        say(template, window=f"{model.config.window:,}")
    elif told:
        if talk.readers > 1:
            say("That is a text; all of them hold «all».", all=f"{even * talk.readers:,}")
        if even in dial.stops:
            st.button(_("Go there"), on_click=dial.keep, args=(even,), key="to_balance")
    both = float(talk.weights + talk.cache(length))
    count = max(1, math.ceil(both / how.device.memory))
    numbers = dict(length=f"{length:,}", both=as_bytes(both), memory=as_bytes(how.device.memory))
    template = N_("At «length» tokens: «both» together. That takes **«count» × «device»** with «memory» each.")
    say(template, count=f"{count:,}", device=how.device.name, **numbers)
    if length > model.config.context:
        say("The model was made for «context» tokens; this is beyond.", context=f"{model.config.context:,}")
    if spine.deep():
        _speed(how, length, count)


def _speed(how: How, length: int, count: int) -> None:
    """How fast so many devices can write at best."""
    model, talk = how.model, how.talk
    template = N_(
        "Every step reads the weights it uses, «read» of them, and the whole cache, so the speed is at best "
        "**«speed» tokens a second**."
    )
    speed = count * costs.tokens_per_second(talk, length, how.device)
    read = as_bytes(costs.read_by_step(talk.config, talk.readers) * costs.PRECISIONS[talk.weights_in])
    say(template, read=read, speed=f"{speed:,.0f}")
    if model.config.moe and talk.readers > 1:
        moe, met = model.config.moe, costs.experts_met(model.config, talk.readers)
        template = N_(
            "Each of the «readers» tokens of a step goes to «chosen» experts of a layer. If they spread evenly, "
            "«met» of the «experts» experts are read."
        )
        spread = dict(readers=talk.readers, chosen=moe.n_active, met=f"{met:.0f}", experts=moe.n_experts)
        say(template, **spread)


def written(model: Model, talk: costs.Talk) -> None:
    """What one token leaves, with the model's own numbers. It answers the check, so it stands below it, in a fold."""
    c, each = model.config, f"{costs.PRECISIONS[talk.cache_in]:g}"
    if c.mla:
        st.latex(
            rf"L\,(r_{{kv}} + d_r)\cdot\text{{{_('bytes')}}} = {c.n_layers}\cdot({c.mla.kv_rank}+{c.mla.d_rope})\cdot {each}"
        )
    else:
        st.latex(
            rf"2\,L\,h_{{kv}}\,d_h\cdot\text{{{_('bytes')}}} = 2\cdot{c.n_layers}\cdot{c.n_kv_heads}\cdot{c.head_dim}\cdot {each}"
        )
    template = N_("= **«exact» bytes**, «token», for each token. Times the length, times the number of texts.")
    say(template, exact=f"{float(talk.token):,.0f}", token=as_bytes(talk.token))


def _sharing(model: Model, talk: costs.Talk, found: costs.Conversation, slider: live.Slider) -> None:
    """The same tokens, were the keys shared otherwise; moves with the slider above."""
    if not controls.switch("What if the heads shared keys and values otherwise?", False, key="sharing"):
        return
    mine, numbers = costs.kind(model.config), costs.variants(model.config)
    others = found.variants.numpy()
    bars = np.zeros((len(others), 1 + len(numbers), 2))
    bars[:, 0, 0] = float(talk.weights)
    bars[:, 1:, 1] = others
    names = [_(SHARED[name]) + (f" · {model.name}" if name == mine else "") for name in numbers]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stack.show(
            live.Picture(
                key="sharing_bars",
                quantity="cache",
                says=_("The KV cache of the same tokens under four ways to share keys and values."),
                slider=replace(slider, hidden=True),
            ),
            bars,
            [_("The weights"), *names],
            [_("weights"), _("KV cache")],
            form="bytes",
            roles=("warn", "k"),
        )
    with right:
        each = {name: as_bytes(n * costs.PRECISIONS[talk.cache_in]) for name, n in numbers.items()}
        prose("ledger", "sharing", name=model.name, mha=each["mha"], mqa=each["mqa"], mla=each["mla"])
        rows = [f"| {_(SHARED[name])} | {size} |" for name, size in each.items()]
        st.markdown("\n".join([f"| | {_('bytes a token')} |", "|---|---:|", *rows]))


def title(text: str, **values: object) -> None:
    st.subheader(filled(_(text), **values), anchor=False)
