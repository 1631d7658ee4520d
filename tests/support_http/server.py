"""An HTTP/1.1 server that shows its connections and can fail in every way a real one does."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What the server answers."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    @classmethod
    def of(cls, value: object, status: int = 200, **headers: str) -> Reply:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(status, json.dumps(value).encode(), named)

    def encoded(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self.status} Status",
            f"content-type: {self.content_type}",
            f"content-length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass(frozen=True)
class Hang:
    """No answer, until the client leaves or ``release`` is called."""


@dataclass(frozen=True)
class Late:
    """The right answer after *seconds*."""

    seconds: float


@dataclass(frozen=True)
class Drip:
    """The right answer, a byte every *seconds*."""

    seconds: float


@dataclass(frozen=True)
class ResetMidBody:
    """Half of the right answer, then a TCP reset."""


@dataclass(frozen=True)
class CloseSilently:
    """The request is read and the connection closed."""


Fault = Hang | Late | Drip | ResetMidBody | CloseSilently | Reply


class HttpServer:
    """Answers with *handler*, or once with each fault of ``faults``, oldest first."""

    def __init__(
        self,
        handler: Callable[[Request], Reply],
        *,
        host: str = "127.0.0.1",
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.open = 0
        self.closed_at: list[float] = []
        """When clients closed connections while they waited for an answer, monotonic."""
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None
        """A fault for every request that ``faults`` has none for."""
        self.most_at_once = 0
        self._at_once = 0
        self._handler = handler
        self._host = host
        self._context = context
        self._changed = asyncio.Condition()
        self._released = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        scheme = "https" if self._context else "http"
        name = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{name}:{self.port}"

    @property
    def texts(self) -> str:
        """Everything that clients sent, to look for what must not be there."""
        return "\n".join(
            f"{r.path} {r.headers} {r.body.decode('utf-8', 'replace')}" for r in self.requests
        )

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, self._host, self.port, ssl=self._context, limit=1 << 24
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def release(self) -> None:
        """Answer what hangs, and hang no more."""
        self._released.set()

    async def until(self, condition: Callable[[], bool], seconds: float = 5.0) -> None:
        """Wait for *condition*, looked at whenever something happened here."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        number = self.connections
        try:
            while (request := await _read(reader, number)) is not None:
                self.requests.append(request)
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                await self._tell()
                try:
                    if not await self._serve(request, reader, writer):
                        break
                finally:
                    self._at_once -= 1
        except (ConnectionError, ssl.SSLError):
            self.closed_at.append(time.monotonic())
        except asyncio.CancelledError:
            pass  # the server is closing; a cancelled callback would be logged
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()
            with suppress(Exception):
                await self._tell()

    async def _serve(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        fault = self.faults.popleft() if self.faults else self.always
        match fault:
            case Reply():
                writer.write(fault.encoded())
                await writer.drain()
                return True
            case CloseSilently():
                return False
            case Hang() | Late():
                seconds = fault.seconds if isinstance(fault, Late) else None
                waiting = self._released.wait() if seconds is None else asyncio.sleep(seconds)
                if not await self._stays(reader, waiting):
                    return False
        answer = self._handler(request).encoded()
        match fault:
            case ResetMidBody():
                writer.write(answer[: len(answer) // 2])
                await writer.drain()
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            case Drip():
                for byte in answer:
                    writer.write(bytes([byte]))
                    if not await self._stays(reader, asyncio.sleep(fault.seconds)):
                        return False
            case _:
                writer.write(answer)
                await writer.drain()
        return True

    async def _stays(self, reader: asyncio.StreamReader, waiting: Awaitable[object]) -> bool:
        """Whether the client is still there when *waiting* ends."""
        left = asyncio.ensure_future(reader.read(1))
        wait = asyncio.ensure_future(waiting)
        try:
            await asyncio.wait({left, wait}, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                self.closed_at.append(time.monotonic())
                with suppress(ConnectionError, ssl.SSLError):
                    left.result()
                return False
            return True
        finally:
            for task in (left, wait):
                task.cancel()
            await asyncio.gather(left, wait, return_exceptions=True)


async def _read(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    try:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except asyncio.IncompleteReadError:
        return None
    return Request(method, path, headers, body, connection)


def closed_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
