"""What gRPC itself refuses and ends."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from grpc import aio

from tests.support.details import failure
from tests.support.sockets import OPTIONS, short_folder
from twolaned.model.errors import ConfigError
from twolaned.server import build
from twolaned.server.build import bind, server_options


async def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that only knocks holds no connection for long."""
    monkeypatch.setattr(build, "GREETING", 200)
    with short_folder() as folder:
        server = aio.server(options=server_options())
        bind(server, f"unix:{folder}/s")
        await server.start()
        try:
            reader, writer = await asyncio.open_unix_connection(str(folder / "s"))
            async with asyncio.timeout(20):
                await reader.read()  # until the other side closes it
            writer.close()
        finally:
            await server.stop(0)


async def test_an_address_that_is_taken_is_said() -> None:
    """Two servers never share a port unnoticed."""
    first, second = (aio.server(options=server_options()) for _ in range(2))
    port = first.add_insecure_port("127.0.0.1:0")
    await first.start()
    try:
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
            bind(second, f"127.0.0.1:{port}")
    finally:
        await first.stop(0)
        await second.stop(0)


async def test_a_message_over_the_limit_is_refused() -> None:
    """By gRPC, before anything of ours sees it."""

    async def echo(request: bytes, _: object) -> bytes:
        return request

    with short_folder() as folder:
        server = aio.server(options=server_options())
        handler = grpc.unary_unary_rpc_method_handler(echo)
        named = grpc.method_handlers_generic_handler("a.B", {"C": handler})
        server.add_generic_rpc_handlers((named,))
        bind(server, f"unix:{folder}/s")
        await server.start()
        options = (*OPTIONS, ("grpc.max_receive_message_length", -1))
        async with aio.insecure_channel(f"unix:{folder}/s", options=options) as channel:
            call = channel.unary_unary("/a.B/C")
            assert len(await call(b"x" * build.MAX_RECEIVE)) == build.MAX_RECEIVE
            error = await failure(call(b"x" * (build.MAX_RECEIVE + 1)))
        await server.stop(0)

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.code()
