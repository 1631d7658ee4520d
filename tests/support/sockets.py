"""Sockets in tests: their paths must be short, and pytest's temporary folders are not."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from grpc import aio

OPTIONS = (
    ("grpc.default_authority", "localhost"),
    # Channels to one path would share a connection, also after the server is another.
    ("grpc.use_local_subchannel_pool", 1),
)


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A private folder with a short path."""
    with tempfile.TemporaryDirectory(prefix="tl-", dir="/tmp") as path:
        yield Path(path)


def open_channel(socket: Path) -> aio.Channel:
    """A channel of its own to the server on *socket*."""
    return aio.insecure_channel(f"unix:{quote(str(socket))}", options=OPTIONS)


@contextlib.asynccontextmanager
async def serving(
    *services: Callable[[aio.Server], None], interceptors: Sequence[aio.ServerInterceptor] = ()
) -> AsyncIterator[Path]:
    """A server in this process that *services* register themselves with; yields its socket."""
    with short_folder() as folder:
        server = aio.server(interceptors=interceptors)
        for register in services:
            register(server)
        server.add_insecure_port(f"unix:{folder}/s")
        await server.start()
        try:
            yield folder / "s"
        finally:
            await server.stop(0)


@contextlib.asynccontextmanager
async def served(
    *services: Callable[[aio.Server], None], interceptors: Sequence[aio.ServerInterceptor] = ()
) -> AsyncIterator[aio.Channel]:
    """The same; yields a channel to it."""
    async with serving(*services, interceptors=interceptors) as socket, open_channel(socket) as it:
        yield it
