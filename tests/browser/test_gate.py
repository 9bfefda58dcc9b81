"""What a really started server sends, takes and refuses. Without `app` in app.py everything runs too, so this asks."""

import gzip
import http.client
import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from pages.shared import frame

STATIC = Path(streamlit.__file__).parent / "static"
INDEX = (STATIC / "index.html").read_text("utf8")
SCRIPT = re.search(r'src="\.(/static/js/index\.[\w-]+\.js)"', INDEX)[1]
FONT = re.search(r'href="\.(/static/media/[\w.-]+\.woff2)"', INDEX)[1]
MB = 2**20


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


def ask(server, path, method="GET", body=None, **headers):
    """One request as it is: nothing is unpacked, nothing followed."""
    line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    line.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = line.getresponse()
    found = Answer(answer.status, answer.headers, answer.read())
    line.close()
    return found


class Session:
    """A visit without a browser: Streamlit's websocket, and files sent beside it."""

    def __init__(self, server, socket, page, query=""):
        self.server, self.socket, self.sent, self.heard = server, socket, 0, 0
        cookie = ask(server, "/_stcore/health").headers["set-cookie"].split(";")[0]
        self.headers = {"Cookie": cookie, "X_Xsrftoken": cookie.split("=", 1)[1]}
        self.open(page, query)

    def open(self, page, query=""):
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        self.socket.send(message.SerializeToString())
        while True:
            told = self.socket.recv(60)
            self.heard += len(told)
            message = ForwardMsg.FromString(told)
            if message.WhichOneof("type") == "new_session":
                self.id = message.new_session.initialize.session_id
            elif message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and message.HasField("script_finished"):
                return

    def put(self, size=100):
        """Send a file of so many bytes; the status that comes back."""
        self.sent += 1
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="config.json"\r\n\r\n'
        body = head + bytes(size) + b"\r\n--x--\r\n"
        path = f"/_stcore/upload_file/{self.id}/{self.sent}"
        kind = {"Content_Type": "multipart/form-data; boundary=x"}
        return ask(self.server, path, "PUT", body, **self.headers, **kind).status


@pytest.fixture
def session(server):
    """session(page, query): as many visits as a test needs."""
    address = server.url.replace("http", "ws") + "/_stcore/stream"
    options = {"subprotocols": ["streamlit"], "max_size": None, "origin": server.url}
    with ExitStack() as open_ones:
        yield lambda *page: Session(server, open_ones.enter_context(connect(address, **options)), *page)


# ---- scripts ----


def test_a_script_comes_compressed_and_is_the_file(server):
    answer = ask(server, SCRIPT, Accept_Encoding="gzip, deflate, br")
    assert answer.status == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == (STATIC / SCRIPT[1:]).read_bytes()
    assert len(answer.body) < 0.5 * (STATIC / SCRIPT[1:]).stat().st_size
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


def test_who_has_it_gets_no_second_copy(server):
    tag = ask(server, SCRIPT, Accept_Encoding="gzip").headers["etag"]
    again = ask(server, SCRIPT, Accept_Encoding="gzip", If_None_Match=f'"old", {tag}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert ask(server, SCRIPT, Accept_Encoding="gzip", If_None_Match='"old"').status == 200
    plain = ask(server, SCRIPT)
    assert plain.headers["etag"] != tag, "another coding is another representation"


def test_head_says_what_get_would_send(server):
    get, head = (ask(server, SCRIPT, method, Accept_Encoding="gzip") for method in ("GET", "HEAD"))
    assert (head.status, head.body) == (200, b"")
    for name in ("content-length", "content-encoding", "content-type", "etag", "vary"):
        assert head.headers[name] == get.headers[name]


@pytest.mark.parametrize("accepted", [None, "identity", "gzip;q=0", "br, *;q=0"])
def test_who_cannot_read_gzip_gets_the_file(server, accepted):
    answer = ask(server, SCRIPT, **({"Accept_Encoding": accepted} if accepted else {}))
    assert answer.headers["content-encoding"] is None
    assert answer.body == (STATIC / SCRIPT[1:]).read_bytes()
    assert answer.headers["vary"] == "Accept-Encoding"


def test_a_part_is_a_part_of_the_file(server):
    answer = ask(server, SCRIPT, Accept_Encoding="gzip", Range="bytes=10-29")
    assert answer.status == 206
    assert answer.body == (STATIC / SCRIPT[1:]).read_bytes()[10:30]
    assert answer.headers["content-encoding"] is None


def test_what_is_compressed_already_is_left_alone(server):
    answer = ask(server, FONT, Accept_Encoding="gzip")
    assert answer.headers["content-encoding"] is None
    assert answer.body == (STATIC / FONT[1:]).read_bytes()


@pytest.mark.parametrize("path", ["/static/js/../../../config.py", "/static/js/%2e%2e/%2e%2e/index.html", "//static"])
def test_no_other_file_is_reached(server, path):
    assert b"def " not in ask(server, path, Accept_Encoding="gzip").body


# ---- pages ----


def test_the_html_comes_compressed_to_who_can_read_it(server):
    packed, plain = (
        ask(server, "/rope", Accept="text/html", Accept_Encoding=said) for said in ("gzip, br", "identity")
    )
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["content-encoding"] is None
    assert packed.headers.get_all("vary") == plain.headers.get_all("vary") == ["Accept-Encoding"]
    assert gzip.decompress(packed.body) == plain.body
    assert int(packed.headers["content-length"]) == len(packed.body) < 0.5 * len(plain.body)
    assert b"const STYLE" in plain.body


NAMES = ["" if entry.file == "01_home" else frame.topic_of(entry.file) for entry in frame.entries()]
MOST = {"idea": 400_000, "all": 450_000}  # bytes on the socket: numbers and words, for scripts go over HTTP, once
LARGE = {"position": 650_000, ("norms", "all"): 850_000}  # a table for every base; three seeds of every depth


@pytest.mark.parametrize("depth", MOST)
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name or "home")
def test_a_page_sends_no_more_than_it_must(session, name, depth):
    heard = session(name, f"lang=en&depth={depth}").heard
    assert 20_000 < heard <= LARGE.get((name, depth), LARGE.get(name, MOST[depth]))


# ---- headers and what stays shut ----


@pytest.mark.parametrize(
    "path", ["/", "/attention", SCRIPT, FONT, "/_stcore/health", "/_stcore/metrics", "/media/none"]
)
def test_every_answer_says_how_it_may_be_used(server, path):
    headers = ask(server, path, Accept_Encoding="gzip").headers
    assert headers.get_all("x-content-type-options") == ["nosniff"]
    assert headers.get_all("referrer-policy") == ["same-origin"]
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in re.search(r"script-src [^;]*", policy)[0]
    assert "frame-ancestors" not in policy
    assert headers["x-frame-options"] is None, "a picture may stand in somebody's slides"


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp"])
def test_the_side_doors_are_shut(server, path):
    assert ask(server, path).status == 404
    assert ask(server, path, "POST", b"{}").status in (404, 405)


def test_the_agent_gets_no_session(server):
    assert ask(server, "/_stcore/agent/interact", "POST", b"{}", Content_Type="application/json").status == 404


def test_a_script_that_is_not_ours_does_not_run(visit):
    visit.open("/attention")
    visit.check()
    ran = """() => { const s = document.createElement("script"); s.textContent = "window.__ran = true";
      document.body.append(s); return window.__ran === true; }"""
    assert visit.page.evaluate(ran) is False
    assert any("Content Security Policy" in error for error in visit.errors), "so the console shows every violation"


def test_the_app_may_stand_in_a_frame_of_a_slide(visit, tmp_path):
    slide = tmp_path / "slide.html"
    slide.write_text(f"<iframe src='{visit.server.url}/attention?embed=true' width=900 height=900></iframe>")
    visit.page.goto(slide.as_uri())
    visit.page.frame_locator("iframe").locator("[data-signature] canvas").first.wait_for(timeout=60_000)
    assert visit.errors == []


# ---- files ----


def test_a_file_is_taken_where_there_is_a_box(visit):
    visit.open("/ledger?preset=config")
    config = '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, '
    config += '"intermediate_size": 128, "vocab_size": 1000}'
    file = {"name": "config.json", "mimeType": "application/json", "buffer": config.encode()}
    with visit.page.expect_response(lambda answer: "upload_file" in answer.url) as sent:
        visit.page.locator("[data-testid=stFileUploader] input").set_input_files(file)
    assert sent.value.status == 204
    visit.page.get_by_text("config.json (llama)").first.wait_for()
    visit.check()


def test_no_file_is_taken_where_there_is_none(session):
    assert session("attention").put() == 403
    assert session("ledger").put() == 403, "the box is shown for a config.json only"


def test_the_eleventh_file_has_to_wait(session):
    one = session("ledger", "preset=config")
    assert [one.put() for _ in range(11)] == [204] * 10 + [429]
    one.open("attention")
    assert one.put() == 403, "the box is gone with its page"
    one.open("ledger", "preset=config")
    assert one.put() == 429, "leaving and coming back does not help"
    assert session("ledger", "preset=config").put() == 204, "another visit is not concerned"


def test_a_large_file_is_refused_unread(session):
    assert session("ledger", "preset=config").put(6 * MB) == 413


@pytest.mark.parametrize("path", ["/", "/_stcore/upload_file", "//_stcore/upload_file/a/b", "/_stcore/upload_file/a/b"])
def test_nobody_puts_a_file_elsewhere(server, path):
    assert ask(server, path, "PUT", b"x").status in (400, 403, 405)


def test_a_hundred_files_do_not_fill_the_server(server, session):
    process = psutil.Process(server.process.pid)
    boxed, boxless = session("ledger", "preset=config"), session("attention")
    before = process.memory_info().rss
    taken = sum(one.put(4 * MB) == 204 for one in (boxed, boxless) for _ in range(50))
    assert taken == 10
    assert process.memory_info().rss - before < 100 * MB
