"""Which model the ledger is about: a preset, sizes of one's own, or anybody's config.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core import presets
from core.config import ModelConfig
from core.counting import total
from pages.shared import address, controls, readers, uploads
from pages.shared.text import N_, _, say

OWN, FILE = "own", "config"
FIRST, SECOND = "qwen3-8b", "llama-3-8b"


@dataclass(frozen=True)
class Model:
    """published: the exact total to be met; for what is not published, core's own."""

    name: str
    config: ModelConfig
    preset: presets.Preset | None = None

    @property
    def published(self) -> int:
        return self.preset.published if self.preset else total(self.config)


def preset(id: str) -> Model:
    found = presets.presets()[id]
    return Model(found.name, found.config, found)


def select(label: str, key: str, default: str, extra: dict[str, str]) -> str:
    """A select box of presets. The account is our own: Streamlit's would put the shown label into the URL."""
    names = {id: one.name for id, one in presets.presets().items()}
    options = [*names, *extra]
    return controls.listed(label, options, default, key=key, shown=lambda id: names.get(id) or _(extra[id]))


OTHERS = {OWN: N_("sizes of my own"), FILE: N_("a config.json …")}


def called() -> str:
    """The name of what is chosen, for the line that says it."""
    id = controls.Setting("preset", FIRST, readers.one_of(*presets.presets(), *OTHERS)).now()
    return _(OTHERS[id]) if id in OTHERS else presets.presets()[id].name


def chosen(picker: Any) -> Model:
    """The page's model. picker: where the select box goes; what it opens stands below."""
    with picker:
        id = select(_("Model"), "preset", FIRST, OTHERS)
    found = _own() if id == OWN else _from_file() if id == FILE else preset(id)
    if address.changed("model", found.config):  # a width of another model's FFN means nothing here
        controls.forget("f_width")
    return found


# ---- sizes of one's own ----

WIDTHS = tuple(range(256, 16385, 256))
LAYERS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 61, 64, 80, 96, 120)
RATIOS = (1.0, 2.0, 2.6875, 3.0, 3.5, 4.0, 8.0, 64.0)
WORDS = (256, 8192, 30522, 32000, 50257, 100352, 128256, 151936, 200064, 262144)


def _own() -> Model:
    with st.container(border=True):
        one, two, three, four = st.columns(4)
        with one:
            d = controls.stops("Width d", WIDTHS, 768, key="own_d")
            bias = controls.switch("biases", True, key="own_bias", help="4d² of attention become 4d² + 4d.")
        with two:
            layers = controls.stops("Layers L", LAYERS, 12, key="own_l")
            gated = controls.switch("SwiGLU", False, key="own_gated", help="Three matrices in the FFN; off: two.")
        with three:
            ratio = controls.stops("FFN width f / d", RATIOS, 4.0, key="own_f")
            tied = controls.switch("head tied", True, key="own_tied", help="The head is the embedding once more.")
        with four:
            words = controls.stops("Vocabulary V", WORDS, 50257, key="own_v")
            heads = d // 64
            shares = [n for n in (1, 2, 4, 8) if heads % n == 0]  # heads are shared in groups of one size
            share = controls.pick("Heads a KV head", shares, 1, key="own_share")
    config = ModelConfig(
        d_model=d,
        n_layers=layers,
        n_heads=heads,
        n_kv_heads=heads // share,
        d_ff=round(d * ratio),
        vocab_size=words,
        context=4096,
        norm="rmsnorm" if gated else "layernorm",
        ffn="swiglu" if gated else "gelu",
        qkv_bias=bias,
        out_bias=bias,
        ffn_bias=bias,
        tied=tied,
        family=OWN,
    )
    return Model(_("your model"), config)


# ---- a config.json ----

REASONS = {
    "long": N_("This file has «detail» characters; a config.json has a few thousand. Is it the right file?"),
    "json": N_("This is not JSON. Copy the whole config.json, from the first brace to the last."),
    "deep": N_("This JSON is nested too deeply for a config.json."),
    "object": N_("A config.json is one object: it begins with a brace and has names and values."),
    "nameless": N_("It has no model_type. These are counted: «known»."),
    "family": N_("The model_type «detail» is not one this ledger can count. It counts: «known»."),
    "value": N_("A value does not work: «detail»."),
}
CONFIG = controls.Setting("config", None, lambda text: text if presets.restore(text) else None)
TROUBLE = controls.Held("trouble")  # what is wrong with the last paste: (a key of REASONS, a detail)
UNLINKED = controls.Held("unlinked")  # a config that is too long for a link


def _from_file() -> Model:
    """The config in the link, or the one just pasted; while there is none, the first preset."""
    with st.container(border=True):
        left, right = st.columns([3, 2])
        with left:
            example = '{"model_type": "llama", "hidden_size": 4096, ...}'
            controls.pasted("Paste a config.json", _take, key="pasted", height=110, placeholder=example)
        with right:
            uploads.box(_("or open the file"), _take_file, key="opened")
        values = _values()
        _say_trouble(values is not None)
        if values is None:
            say("No config yet: here is Qwen3-8B meanwhile. These types are counted: «known».", known=_known())
            return preset(FIRST)
        if UNLINKED.now():
            say("This config is too long for a link: it stays on this page, but the address does not carry it.")
    config = presets.read(values)
    return Model(f"config.json ({config.family})", config)


def _known() -> str:
    return ", ".join(presets.SUPPORTED)


def _values() -> dict[str, Any] | None:
    """What the address says, else what is held: a link that is opened counts, whatever was pasted before."""
    linked = CONFIG.now()
    if linked is None:
        return UNLINKED.now()
    UNLINKED.forget()
    return presets.restore(linked)


def _say_trouble(before: bool) -> None:
    """What is wrong with the last paste; `before`: a config read earlier still stands below."""
    if not (trouble := TROUBLE.now()):
        return
    reason, detail = trouble
    say(REASONS[reason], **({"detail": detail} if "«detail»" in REASONS[reason] else {}), known=_known())
    if before:
        say("The numbers below are still those of the config before.")


def _take_file(file: Any) -> None:
    if file is not None:
        _take(file.getvalue())


def _take(text: str | bytes) -> None:
    """Read what was pasted or opened; what is wrong with it is said in a sentence."""
    TROUBLE.forget()
    if not text.strip():
        UNLINKED.forget()
        CONFIG.forget()
        return
    try:
        values = presets.parse(text)
        presets.read(values)
    except presets.Unreadable as trouble:
        TROUBLE.keep((trouble.reason, trouble.detail))
        return
    small = presets.compact(values)
    if len(small) > readers.LONGEST or presets.restore(small) is None:
        CONFIG.forget()
        UNLINKED.keep(values)
    else:
        UNLINKED.forget()
        CONFIG.keep(small)
