"""Questions whose answer is counted: from the number of tokens, their places and the sizes of the model."""

from __future__ import annotations

import random

from core.topics.exam.question import FLOAT, NEAR, Made, Sheet, asks, comes, signs, value

LISTED = 40  # tokens a sum spells out
NEW = 4  # tokens that are to be written
WINDOW = 3
TILE = 4


@asks("pieces", level=1, room="tokens")
def _pieces(sheet: Sheet, rng: random.Random) -> Made:
    listed = " · ".join(sheet.text.tokens[:LISTED]) + (" …" if sheet.n > LISTED else "")
    return Made(sheet.n, {"listed": listed}, state=(("at", "an-id-picks-a-row"),))


@asks("rows", level=2, room="tokens")
def _rows(sheet: Sheet, rng: random.Random) -> Made | None:
    distinct, d = len(set(sheet.text.ids)), sheet.config.d_model
    if distinct == sheet.n:
        return None  # nothing comes twice: the question has no catch
    return Made(distinct * d, dict(n=sheet.n, distinct=distinct, d=d), state=(("at", "an-id-picks-a-row"),))


@asks("hops", level=1, room="why")
def _hops(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.n < 4:
        return None
    far = rng.randint(2, sheet.n - 2)
    first, last = sheet.n - 1 - far, sheet.n - 1
    values = dict(first=sheet.names[first], last=sheet.names[last], at=first, to=last)
    return Made(far, values, state=(("hop", str(far)), ("at", "hand-it-on-or-look-directly")))


@asks("qkv", level=2, room="projections")
def _qkv(sheet: Sheet, rng: random.Random) -> Made:
    layer, head = sheet.head(rng)
    values = dict(n=sheet.n, d=sheet.config.head_dim, layer=layer, head=head)
    state = (("proj_layer", str(layer)), ("proj_head", str(head)), ("at", "the-real-head"))
    return Made(3 * sheet.n * sheet.config.head_dim, values, state=state)


@asks("products", level=2, room="ledger", shown=False)
def _products(sheet: Sheet, rng: random.Random) -> Made:
    d = sheet.config.head_dim
    return Made(sheet.n**2 * d, dict(n=sheet.n, d=d), state=(("book", "work"),))


@asks("sees", level=1, room="masks")
def _sees(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.n < 4:
        return None
    place = rng.randint(1, sheet.n - 2)
    values = dict(n=sheet.n, place=place, word=sheet.names[place], last=sheet.n - 1)
    return Made(sheet.n - place, values, state=(("mask_shows", "weights"),))


@asks("cells", level=2, room="masks")
def _cells(sheet: Sheet, rng: random.Random) -> Made:
    return Made(sheet.n * (sheet.n + 1) // 2, dict(n=sheet.n), state=(("mask_reach", "0"),))


@asks("window", level=3, room="masks")
def _window(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.n <= WINDOW:
        return None
    values = dict(n=sheet.n, w=WINDOW, short=WINDOW * (WINDOW - 1) // 2, full=sheet.n - WINDOW + 1)
    state = (("mask_kind", "window"), ("mask_window", str(WINDOW)), ("at", "paint-a-mask-find-the-leak"))
    return Made(sum(min(i + 1, WINDOW) for i in range(sheet.n)), values, state=state)


@asks("cache", level=2, room="inference")
def _cache(sheet: Sheet, rng: random.Random) -> Made:
    c = sheet.config
    values = dict(n=sheet.n, layers=c.n_layers, heads=c.n_kv_heads, d=c.head_dim, bytes=FLOAT)
    return Made(2 * c.n_layers * c.n_kv_heads * c.head_dim * FLOAT * sheet.n, values, state=(("at", "write-on"),))


@asks("shared", level=3, room="heads", shown=False)
def _shared(sheet: Sheet, rng: random.Random) -> Made | None:
    c = sheet.config
    if c.n_kv_heads == 1:
        return None
    values = dict(n=sheet.n, layers=c.n_layers, heads=c.n_kv_heads, d=c.head_dim, bytes=FLOAT)
    return Made(
        2 * c.n_layers * c.head_dim * FLOAT * sheet.n,
        values,
        state=(("kv", "1"), ("at", "one-slider-from-a-key-and-a-value-for-ev")),
    )


@asks("rereads", level=3, room="inference", shown=False)
def _rereads(sheet: Sheet, rng: random.Random) -> Made:
    every = [sheet.n + i for i in range(NEW)]
    values = dict(n=sheet.n, new=NEW, listed=" + ".join(map(str, every)))
    return Made(sum(every), values, state=(("at", "write-on"),))


@asks("valid", level=5, room="inference", shown=False)
def _valid(sheet: Sheet, rng: random.Random) -> Made | None:
    layers = sheet.config.n_layers
    if sheet.n < 5 or layers < 2:
        return None
    place = rng.randint(1, sheet.n - 2)
    values = dict(n=sheet.n, layers=layers, later=layers - 1, place=place, word=sheet.names[place], first=sheet.n - 1)
    return Made(sheet.n - 1 + (layers - 1) * place, values, state=(("depth", "all"), ("at", "what-a-swap-spoils")))


@asks("tiles", level=4, room="efficient", shown=False)
def _tiles(sheet: Sheet, rng: random.Random) -> Made | None:
    side = -(-sheet.n // TILE)
    if side < 2:
        return None
    values = dict(n=sheet.n, tile=TILE, side=side)
    return Made(side * (side + 1) // 2, values, state=(("at", "flash-tile-by-tile"),))


# ---- positions ----


@asks("alibi", level=2, room="position", tolerance=NEAR)
def _alibi(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.n < 4:
        return None
    key, query = sorted(rng.sample(range(sheet.n), 2))
    power = rng.randint(1, 4)
    values = dict(query=sheet.names[query], key=sheet.names[key], at=query, to=key, m=f"1/{2**power}", far=query - key)
    state = (("depth", "all"), ("slope_m", f"{2.0**-power:g}"), ("at", "alibi-a-ramp-on-the-scores"))
    return Made(-(query - key) / 2**power, values, state=state)


@asks("rope", level=3, room="rope", tolerance=NEAR)
def _rope(sheet: Sheet, rng: random.Random) -> Made | None:
    c = sheet.config
    if c.position != "rope" or sheet.n < 4:
        return None
    key, query = sorted(rng.sample(range(sheet.n), 2))
    pair = rng.randrange(c.head_dim // 2)
    theta = c.rope_theta ** (-2 * pair / c.head_dim)
    answer, printed = (query - key) * theta, signs(theta)
    values = dict(query=sheet.names[query], key=sheet.names[key], at=query, to=key, pair=pair, theta=printed)
    values |= dict(far=query - key, answer=comes((query - key) * value(printed)))
    return Made(answer, values, state=(("rope_q", str(query)), ("rope_k", str(key)), ("rope_pair", str(pair))))
