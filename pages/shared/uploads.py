"""Who may send the server a file: a session whose page shows the box for it, ten times in ten minutes.

Streamlit takes a file from any session at any time and keeps it in memory. The gate asks here first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

MOST = 10  # files a session may send ...
PERIOD = 600.0  # ... in so many seconds
_KEPT = "_allowance"


@dataclass
class Allowance:
    """What one session may send. page: the one that shows the box; sent: when its last files came."""

    page: str | None = None
    sent: deque[float] = field(default_factory=lambda: deque(maxlen=MOST))


# The session owns its allowance: a session that is gone is forgotten here too.
ALLOWANCES: WeakValueDictionary[str, Allowance] = WeakValueDictionary()


def box(label: str, taken: Callable[[Any], None], *, key: str) -> None:
    """`st.file_uploader`, and the gate lets this session's files in while it stays on this page.

    taken: gets the file, or None where the visitor took it away.
    """
    run = get_script_run_ctx()
    if run is not None:
        allowance = st.session_state.setdefault(_KEPT, Allowance())
        allowance.page = run.page_script_hash
        ALLOWANCES[run.session_id] = allowance
    st.file_uploader(label, key=key, on_change=lambda: taken(st.session_state[key]))


def arrive() -> None:
    """app.py says that a page is about to be drawn. On another page than the box's the gate is shut again."""
    run, allowance = get_script_run_ctx(), st.session_state.get(_KEPT)
    if run is not None and allowance is not None and allowance.page != run.page_script_hash:
        allowance.page = None


def refusal(session: str) -> tuple[int, str] | None:
    """Why a file that is about to come is not taken, as an HTTP status and a sentence; None counts it as taken."""
    allowance = ALLOWANCES.get(session)
    if allowance is None or allowance.page is None:
        return 403, "This page takes no files."
    now = time.monotonic()
    if len(allowance.sent) == MOST and now - allowance.sent[0] < PERIOD:
        return 429, f"A visit may send {MOST} files in {PERIOD / 60:.0f} minutes. Please wait."
    allowance.sent.append(now)
    return None
