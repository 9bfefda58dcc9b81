"""A class of visitors without browsers: each speaks Streamlit's websocket, and lets a slider go once a second."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field

import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.shared.pictures import live


@dataclass
class Visitor:
    """page: its word in the address; "" moves st.slider of the yardstick, anything else the page's signature."""

    url: str
    page: str
    latencies: list[float] = field(default_factory=list)
    cached: set = field(default_factory=set)
    slider: str = ""
    fragment: str = ""
    name: str = ""
    stops: list[float] = field(default_factory=list)
    failed: int = 0
    query: str = ""
    script: str = ""

    async def open(self) -> None:
        address = self.url.replace("http", "ws") + "/_stcore/stream"
        self.socket = await websockets.connect(
            address, subprotocols=["streamlit"], max_size=None, compression=None, origin=self.url, open_timeout=60
        )
        await self.ask()

    async def ask(self) -> None:
        """The whole page, with its address as it stands now."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.query_string = self.query
        await self.socket.send(message.SerializeToString())
        await self.finished()

    async def finished(self) -> None:
        while True:
            message = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), 120))
            kind = message.WhichOneof("type")
            if kind == "delta":
                self.see(message)
            elif kind == "navigation":
                self.script = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return

    def see(self, message: ForwardMsg) -> None:
        if message.metadata.cacheable and message.hash:
            self.cached.add(message.hash)
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        self.failed += kind == "exception"
        if kind == "slider" and not self.page:
            self.slider = element.slider.id
        elif kind == "bidi_component":
            meta, _arrays = live.unpack(element.bidi_component.bytes)
            if meta["signature"]:
                self.slider, self.fragment = element.bidi_component.id, message.delta.fragment_id
                self.name, self.stops = meta["slider"]["name"], meta["slider"]["stops"]

    def says(self) -> BackMsg:
        """What a browser says whenever it says something: where it is."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.script
        message.rerun_script.query_string = self.query
        return message

    async def move(self) -> None:
        message = self.says()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id = self.slider
        if self.page:
            widget.json_value = json.dumps({self.name: random.choice(self.stops)})
            message.rerun_script.fragment_id = self.fragment
        else:
            widget.double_array_value.data.append(round(random.uniform(0.1, 10), 1))
        message.rerun_script.cached_message_hashes.extend(self.cached)
        start = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        await self.finished()
        self.latencies.append(1000 * (time.perf_counter() - start))

    async def run(self, end: float, period: float) -> None:
        due = time.perf_counter() + random.random() * period
        while due < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await self.move()
            due = max(due + period, time.perf_counter() - period)


@dataclass
class Class:
    """What a class of visitors cost. latencies: ms from sending to the end of the run on the server."""

    latencies: list[float]
    cpu_ms: float  # of the server, for one move
    megabytes: float  # of the server, at the end
    failed: int


async def _together(url: str, page: str, users: int, seconds: float, pid: int) -> Class:
    visitors = [Visitor(url, page) for _ in range(users)]
    for i in range(0, users, 5):
        await asyncio.gather(*(v.open() for v in visitors[i : i + 5]))
    for visitor in visitors[:3]:
        await visitor.move()
        visitor.latencies.clear()
    server = psutil.Process(pid)
    before = sum(server.cpu_times()[:2])
    await asyncio.gather(*(v.run(time.perf_counter() + seconds, 1.0) for v in visitors))
    spent = sum(server.cpu_times()[:2]) - before
    latencies = [ms for v in visitors for ms in v.latencies]
    memory = server.memory_info().rss / 1e6
    for visitor in visitors:
        await visitor.socket.close()
    return Class(latencies, 1000 * spent / len(latencies), memory, sum(v.failed for v in visitors))


def together(url: str, page: str, users: int, pid: int, seconds: float = 12.0) -> Class:
    return asyncio.run(_together(url, page, users, seconds, pid))


@dataclass
class Beside:
    """What visitors of one page waited, ms, while others let the model write; texts: how many were written whole."""

    latencies: list[float]
    texts: int
    failed: int


async def _beside_writers(url: str, page: str, users: int, writers: int, seconds: float) -> Beside:
    """Visitors of one page, while others let the model write 256 tokens, one text after the other."""
    visitors = [Visitor(url, page) for _ in range(users)]
    pens = [Visitor(url, "inference") for _ in range(writers)]
    everybody = [*visitors, *pens]
    for i in range(0, len(everybody), 5):
        await asyncio.gather(*(v.open() for v in everybody[i : i + 5]))
    end = time.perf_counter() + seconds

    async def write(i: int) -> int:
        texts = 0
        while time.perf_counter() < end:
            pens[i].query = f"gen_n=256&gen_heat=1.5&gen_seed={(30 * i + texts) % 1000}"
            asking = asyncio.create_task(pens[i].ask())
            await asyncio.wait({asking}, timeout=max(0.1, end - time.perf_counter()))
            texts += asking.done()
            asking.cancel()
        await pens[i].socket.close()
        return texts

    begun = [asyncio.create_task(write(i)) for i in range(writers)]
    await asyncio.gather(*(v.run(end, 1.0) for v in visitors))
    texts = sum(await asyncio.gather(*begun))
    for visitor in visitors:
        await visitor.socket.close()
    return Beside([ms for v in visitors for ms in v.latencies], texts, sum(v.failed for v in visitors))


def beside_writers(url: str, page: str, users: int, writers: int, seconds: float = 20.0) -> Beside:
    return asyncio.run(_beside_writers(url, page, users, writers, seconds))


async def _visit_all(url: str, pages: list[str], users: int) -> None:
    for page in pages:
        visitors = [Visitor(url, page) for _ in range(users)]
        for i in range(0, users, 10):
            await asyncio.gather(*(v.open() for v in visitors[i : i + 10]))
        for visitor in visitors:
            await visitor.socket.close()


def visit_all(url: str, pages: list[str], users: int) -> None:
    """That many sessions on every page, one page after the other."""
    asyncio.run(_visit_all(url, pages, users))
