"""One untouched pass per text: what a page shows of the model as it is, is read from one record."""

import pytest

from core.lab import text
from core.model import Decoder
from core.trace import SILENT, Silent, Trace
from pages.shared import frame
from tests.pages.opening import open_page, topic_of

FILES = [entry.file for entry in frame.entries()]
NO_TEXT = {"14_ledger"}


@pytest.mark.parametrize("file", FILES)
def test_a_new_text_is_read_once(file, monkeypatch):
    read, stream = [], Decoder.stream

    def watched(self, ids, *, until=None, trace=SILENT):
        if ids.ndim == 1 and until is None and type(trace) in (Trace, Silent):
            read.append(tuple(ids.tolist()))
        return stream(self, ids, until=until, trace=trace)

    monkeypatch.setattr(Decoder, "stream", watched)
    words = f"One day {topic_of(file)} saw a red fish. The fish swam to"
    app = open_page(file, words=words)
    assert not app.exception
    assert read.count(text.read(words).ids) == (file not in NO_TEXT)
