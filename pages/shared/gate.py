"""What stands between the network and Streamlit: headers, refusals, and scripts that are compressed once.

Plain ASGI, so that nothing is buffered, and websockets pass untouched. `app.py` hands it to `st.App`.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import re
import webbrowser
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.pages_manager import PagesManager

from pages.shared import glossary, uploads
from pages.shared.pictures.live import alone
from pages.shared.text import LANGUAGES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FRONTEND = Path(st.__file__).parent / "static"  # what Streamlit sends every browser
STYLE = (Path(__file__).parents[2] / "assets" / "style.css").read_text("utf8")
ROOM = range(80, 660, 20)  # px kept free for a picture until it is drawn: `live.Picture.room`


def _start() -> str:
    """What runs before Streamlit's own scripts. Our style goes along: were it to come with the first run of a page, what
    is already there would move."""
    names = ("ahead", "calm", "history", "marks", "results", "glossary", "classroom")
    scripts = [(Path(__file__).parent / "start" / f"{name}.js").read_text("utf8") for name in names]
    rooms = "".join(f'.stVerticalBlock[class*="st-key-room{n}_"] {{ min-height: {n - 10}px; }} ' for n in ROOM)
    style = f"{STYLE}\n@media (min-width: 769px) {{ {rooms} }}"
    return "\n".join([f"const STYLE = {json.dumps(style)}; window.SENT = {_sent()};", ADOPT, *scripts])


def _sent() -> list[int]:
    """Where a picture's numbers stand in a message of Streamlit's: the numbers of the fields, from the outermost."""
    found, message = [], ForwardMsg.DESCRIPTOR
    for name in ("delta", "new_element", "bidi_component", "bytes"):
        field = message.fields_by_name[name]
        found.append(field.number)
        message = field.message_type
    return found


ADOPT = """{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
START = _start()
SHUT = ("/_stcore/metrics", "/_stcore/agent")  # nobody who visits needs these
UPLOADS = "/_stcore/upload_file/"
ALONE = "/picture.html"  # a painter's page, for a picture that becomes a file
PICTURES = "/_stcore/bidi-components/"  # our painters' scripts, out of a folder that holds their Python too
TYPES = {".js": b"text/javascript; charset=utf-8", ".css": b"text/css; charset=utf-8"}
SMALL = 1024  # bytes; below that compressing saves no packet
LEVEL = 6  # the highest costs a quarter more time and saves a third of a percent
YEAR = b"public, immutable, max-age=31536000"  # a name carries its content's hash

Headers = list[tuple[bytes, bytes]]


def policy(index: str) -> str:
    """The Content-Security-Policy under which all pages work. index: the HTML that Streamlit starts from.

    Nothing comes from another host. Any site may show the app in a frame, so frame-ancestors is left out.
    """
    inline = [hashlib.sha256(script.encode()).digest() for script in re.findall(r"<script>(.*?)</script>", index, re.S)]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in inline)
    rules = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {allowed}",
        "style-src": "'self' 'unsafe-inline'",  # Streamlit styles its elements one by one
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def started(index: str) -> str:
    """The HTML that Streamlit starts from, with what stands in `start/` before its scripts."""
    return index.replace("<head>", f"<head><script>{START}</script>", 1)


class Gate:
    """The outermost layer of the server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._scripts = Scripts(FRONTEND)
        self._books = {f"/glossary-{language}.json": glossary.book(language) for language in LANGUAGES}
        base = (st.get_option("server.baseUrlPath") or "").strip("/")
        self._base = f"/{base}" if base else ""
        self._most = st.get_option("server.maxUploadSize") * 2**20
        self._headers: Headers = [
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),  # the address carries what the visitor typed
            (b"content-security-policy", policy(started((FRONTEND / "index.html").read_text("utf8"))).encode()),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix(self._base)
        if (refused := self._refusal(scope, path)) is not None:
            return await _say(guarded, *refused)
        if path in self._books:
            return await _answer(
                guarded, 200, [(b"content-type", b"application/json; charset=utf-8")], self._books[path]
            )
        if path == ALONE and scope["method"] in ("GET", "HEAD"):
            return await _picture(guarded, scope)
        if path in self._scripts.files and scope["method"] in ("GET", "HEAD"):
            return await self._scripts(path, self.app, scope, receive, guarded)
        if "text/html" in _header(scope, b"accept"):
            if "/" in (name := path.strip("/")) and not path.startswith(
                ("/_stcore/", "/static/", "/media/", "/component")
            ):
                return await _answer(
                    guarded, 307, [(b"location", f"{self._base}/{quote(name.replace('/', '-'))}".encode())]
                )
            # The tag is of Streamlit's file, not of what is sent: a page is sent whole.
            passed = (
                pair for pair in scope["headers"] if not pair[0].startswith((b"if-", b"accept-encoding", b"range"))
            )
            headers, packed = list(passed), takes_gzip(_header(scope, b"accept-encoding"))
            return await self.app({**scope, "headers": headers}, receive, _starting(guarded, packed))
        return await self.app(scope, receive, guarded)

    def _refusal(self, scope: Scope, path: str) -> tuple[int, str] | None:
        if path.startswith(SHUT) or (path.startswith(PICTURES) and Path(path).suffix not in TYPES):
            return 404, "Not found."
        length = _header(scope, b"content-length")
        if length.isdigit() and int(length) > self._most:  # without a length, Streamlit counts while it reads
            return 413, f"A file may have at most {self._most // 2**20} MB."
        if scope["method"] != "PUT":
            return None
        if not path.startswith(UPLOADS):
            return 405, "Nothing is put here."
        return uploads.refusal(path.removeprefix(UPLOADS).split("/")[0])


class Scripts:
    """Streamlit's own scripts and styles, gzipped at first use. Only files that exist are remembered, about 7 MB in all.

    Streamlit sends them as they are: compressed anew for every visitor they would cost more than they save.
    """

    def __init__(self, folder: Path) -> None:
        found = ((p, "/" + p.relative_to(folder).as_posix()) for p in (folder / "static").rglob("*"))
        self.files = {name: p for p, name in found if p.suffix in TYPES and p.stat().st_size >= SMALL}
        self._packed: dict[str, asyncio.Task[tuple[bytes, bytes]]] = {}

    async def __call__(self, path: str, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET or HEAD for one of `files`; who wants a part, or cannot read gzip, gets Streamlit's answer."""
        if _header(scope, b"range") or not takes_gzip(_header(scope, b"accept-encoding")):
            return await app(scope, receive, _varying(send))
        body, tag = await self._pack(path)
        headers: Headers = [(b"etag", tag), (b"cache-control", YEAR), (b"vary", b"Accept-Encoding")]
        if _matches(_header(scope, b"if-none-match"), tag):
            return await _answer(send, 304, headers)
        headers += [(b"content-type", TYPES[Path(path).suffix]), (b"content-encoding", b"gzip")]
        headers += [(b"content-length", str(len(body)).encode())]
        return await _answer(send, 200, headers, b"" if scope["method"] == "HEAD" else body)

    async def _pack(self, path: str) -> tuple[bytes, bytes]:
        """The file compressed and its tag; asked for by many at once it is still made once."""
        if path not in self._packed:
            self._packed[path] = asyncio.create_task(asyncio.to_thread(_pack, self.files[path]))
        return await asyncio.shield(self._packed[path])


def _pack(file: Path) -> tuple[bytes, bytes]:
    body = gzip.compress(file.read_bytes(), LEVEL, mtime=0)
    return body, b'"%s"' % hashlib.sha256(body).hexdigest()[:24].encode()


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding allows gzip: by name, else by `*`, unless its weight is zero."""
    weights = {}
    for part in accepted.lower().split(","):
        coding, *parameters = (piece.strip() for piece in part.split(";"))
        weights[coding] = not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return weights.get("gzip", weights.get("*", False))


def _matches(asked: str, tag: bytes) -> bool:
    return tag.decode() in (part.strip().removeprefix("W/") for part in asked.split(",")) or asked.strip() == "*"


def _header(scope: Scope, name: bytes) -> str:
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def _varying(send: Send) -> Send:
    async def varied(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"vary", b"Accept-Encoding")]
        await send(message)

    return varied


@lru_cache(maxsize=8)
def _page(index: bytes, packed: bool) -> bytes:
    """What is sent for Streamlit's HTML, which is the same for every visitor."""
    page = started(index.decode()).encode()
    return gzip.compress(page, LEVEL, mtime=0) if packed else page


def _starting(send: Send, packed: bool) -> Send:
    """Puts the start script into a page of HTML as it passes; anything else passes as it is."""
    held: list[Message] = []
    body = bytearray()

    async def changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message.get("headers", ())).get(b"content-type", b"")
            if message["status"] != 200 or not kind.startswith(b"text/html"):
                return await send(message)
            return held.append(message)
        if not held:
            return await send(message)
        body.extend(message.get("body", b""))
        if message.get("more_body"):
            return None
        start, page = held.pop(), _page(bytes(body), packed) if body else b""
        other = (b"content-length", b"etag", b"last-modified", b"vary")
        kept = [(name, value) for name, value in start["headers"] if name not in other]
        kept += [(b"vary", b"Accept-Encoding"), *([(b"content-encoding", b"gzip")] if packed else [])]
        kept += [(b"content-length", str(len(page)).encode())] if body else []
        await send({**start, "headers": kept})
        await send({"type": "http.response.body", "body": page})

    return changed


async def _picture(send: Send, scope: Scope) -> None:
    """The page that a painter's pictures are saved in. Made at the first wish; there are no more than painters."""
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("painter", [""])[0]
    if asked not in alone.painters():
        return await _say(send, 404, "No such painter.")
    body = (await asyncio.to_thread(alone.template, asked)).encode()
    headers: Headers = [(b"content-type", b"text/html; charset=utf-8"), (b"vary", b"Accept-Encoding")]
    if takes_gzip(_header(scope, b"accept-encoding")):
        body = await asyncio.to_thread(gzip.compress, body, LEVEL)
        headers.append((b"content-encoding", b"gzip"))
    headers.append((b"content-length", str(len(body)).encode()))
    await _answer(send, 200, headers, b"" if scope["method"] == "HEAD" else body)


async def _say(send: Send, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    headers: Headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status == 429:
        headers.append((b"retry-after", str(int(uploads.PERIOD)).encode()))
    await _answer(send, status, [*headers, (b"cache-control", b"no-store")], body)


async def _answer(send: Send, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes = b"") -> None:
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def opened(_app: object) -> AsyncIterator[None]:
    """Before the first visitor: pages are those that app.py names, not whatever lies in a folder called pages/ (the
    first link would run its file bare, and an unknown address would get a dialog in English).

    Then open the visitor's own browser: `streamlit run` does so for plain scripts only.
    """
    PagesManager.uses_pages_directory = False
    if not st.get_option("server.headless"):
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        base = (st.get_option("server.baseUrlPath") or "").strip("/")
        address = f"{scheme}://localhost:{st.get_option('server.port')}/{base}"
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address)
    yield
