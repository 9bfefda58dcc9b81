"""The gate around an app that only says it was asked: what passes, what is remembered, and for how long."""

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
import streamlit as st

from pages.shared import gate, uploads


def run(coroutine):
    """In a thread of its own: where a browser is driven, this one has a loop already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


async def behind(scope, receive, send):
    """The app behind the gate."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-behind", scope["path"].encode())]})
    await send({"type": "http.response.body", "body": b"behind"})


def ask(one, path, method="GET", kind="http", **headers):
    """(status, headers, body) of one request to an ASGI app."""
    pairs = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    scope, sent = {"type": kind, "path": path, "method": method, "headers": pairs}, []

    async def send(message):
        sent.append(message)

    async def receive():
        raise AssertionError("the gate reads no body")

    run(one(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1].get("body", b"")


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(uploads.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def allowance():
    mine = uploads.Allowance(page="ledger")
    uploads.ALLOWANCES["me"] = mine
    yield mine
    uploads.ALLOWANCES.pop("me", None)


def test_only_files_that_exist_are_remembered(tmp_path):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "a.js").write_bytes(b"//" + bytes(5000))
    (tmp_path / "static" / "small.js").write_bytes(b"//")
    scripts = gate.Scripts(tmp_path)
    assert list(scripts.files) == ["/static/a.js"]

    async def often():
        await asyncio.gather(*(scripts._pack("/static/a.js") for _ in range(20)))
        return len(scripts._packed)

    assert run(often()) == 1
    one = gate.Gate(behind)
    for i in range(300):
        status, headers, _body = ask(one, f"/static/js/index.{i}.js", Accept_Encoding="gzip")
        assert (status, headers[b"x-behind"]) == (200, f"/static/js/index.{i}.js".encode())
    assert not one._scripts._packed


def test_a_script_is_packed_once_for_many(tmp_path, monkeypatch):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "a.js").write_bytes(bytes(5000))
    scripts, asked = gate.Scripts(tmp_path), []
    monkeypatch.setattr(gate, "_pack", lambda file: asked.append(file) or (b"", b""))

    async def together():
        await asyncio.gather(*(scripts._pack("/static/a.js") for _ in range(20)))

    run(together())
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("deflate, gzip;q=0.5, br", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("*", True),
        ("gzip;q=0, *", False),
        ("*;q=0", False),
        ("br, deflate", False),
        ("xgzip", False),
    ],
)
def test_accept_encoding_is_read_as_it_is_meant(accepted, takes):
    assert gate.takes_gzip(accepted) is takes


def test_ten_files_in_ten_minutes(clock, allowance):
    for _ in range(10):
        assert uploads.refusal("me") is None
        clock[0] += 30
    assert uploads.refusal("me")[0] == 429
    clock[0] = 1000 + 599
    assert uploads.refusal("me")[0] == 429
    clock[0] = 1000 + 600
    assert uploads.refusal("me") is None, "the first one is ten minutes old"
    assert uploads.refusal("me")[0] == 429, "the second one is not"


def test_a_refused_file_does_not_count(clock, allowance):
    for _ in range(40):
        uploads.refusal("me")
    assert len(allowance.sent) == 10
    allowance.page = None
    assert uploads.refusal("me")[0] == 403


def test_a_session_that_is_gone_is_forgotten():
    for i in range(50):
        uploads.ALLOWANCES[f"visitor {i}"] = uploads.Allowance(page="ledger")
    gc.collect()
    assert not any(name.startswith("visitor") for name in uploads.ALLOWANCES)


def test_websockets_pass_untouched():
    seen = []

    async def app(scope, receive, send):
        seen.append((scope, receive, send))

    scope, receive, send = {"type": "websocket", "path": "/_stcore/agent"}, object(), object()
    run(gate.Gate(app)(scope, receive, send))
    assert seen == [(scope, receive, send)]


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/mcp"])
def test_under_a_path_of_its_own_the_gate_is_as_shut(monkeypatch, path):
    options = {"server.baseUrlPath": "/class/one/", "server.maxUploadSize": 5}
    monkeypatch.setattr(st, "get_option", options.__getitem__)
    one = gate.Gate(behind)
    assert ask(one, "/class/one" + path)[0] == 404
    assert ask(one, "/class/one/attention")[2] == b"behind"
    assert ask(one, "/class/one/_stcore/upload_file/me/1", "PUT")[0] == 403
    script = next(iter(one._scripts.files))
    assert ask(one, "/class/one" + script, Accept_Encoding="gzip")[1][b"content-encoding"] == b"gzip"


def test_a_wait_says_how_long(clock, allowance):
    one = gate.Gate(behind)
    found = [ask(one, "/_stcore/upload_file/me/1", "PUT") for _ in range(11)]
    assert [status for status, _headers, _body in found] == [200] * 10 + [429]
    assert found[-1][1][b"retry-after"] == b"600"


def test_every_box_for_files_is_the_one_the_gate_knows():
    from tests import spoken

    for path in spoken.files():
        assert "st.file_uploader(" not in path.read_text("utf8") or path.name == "uploads.py", path


def test_the_policy_knows_the_scripts_that_stand_in_the_html():
    from base64 import b64encode
    from hashlib import sha256

    found = gate.policy("<html><script>let a = 1\n</script><script src='b.js'></script>")
    assert f"'sha256-{b64encode(sha256(b'let a = 1' + bytes([10])).digest()).decode()}'" in found
    assert found.count("sha256") == 1


def test_the_browser_opens_where_the_app_is(monkeypatch):
    called = []
    monkeypatch.setattr(gate.webbrowser, "open", called.append)
    options = {"server.headless": False, "server.sslCertFile": "", "server.baseUrlPath": "x", "server.port": 8600}

    async def start():
        async with gate.opened(None):
            await asyncio.get_running_loop().shutdown_default_executor()

    monkeypatch.setattr(st, "get_option", options.__getitem__)
    run(start())
    assert called == ["http://localhost:8600/x"]
    options["server.headless"] = True
    run(start())
    assert len(called) == 1


def test_head_gets_no_body():
    one = gate.Gate(behind)
    script = next(iter(one._scripts.files))
    (status, headers, body), (_, _, whole) = (ask(one, script, way, Accept_Encoding="gzip") for way in ("HEAD", "GET"))
    assert (status, body) == (200, b"")
    assert int(headers[b"content-length"]) == len(whole) > 0


@pytest.mark.parametrize("path", ["/_stcore/upload_file/me/1", "/attention"])
def test_what_is_too_large_is_refused_by_its_length_alone(clock, allowance, path):
    one, limit = gate.Gate(behind), st.get_option("server.maxUploadSize") * 2**20
    assert ask(one, path, "PUT", Content_Length=str(limit + 1))[0] == 413
    assert not allowance.sent, "it does not count as a file"
    assert ask(one, "/_stcore/upload_file/me/1", "PUT", Content_Length=str(limit))[0] == 200
