"""Clients that stop reading, stop sending or only watch, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.support.details import details, failure, reason
from tests.support.sockets import OPTIONS, open_channel, serving
from twolaned.server.interceptors import CallInterceptor, Gate
from twolaned.server.recent_errors import RecentErrors

SERVICE = "twolane.v1.TestService"
WATCH = "/twolane.v1.AdminService/WatchStatus"
EXPORT = "/twolane.v1.ArchiveService/Export"
MUCH = b"x" * 1_000_000


class House:
    """Streams without an end in both directions, with one place for each kind of call."""

    def __init__(self) -> None:
        self.errors = RecentErrors()
        self.left = asyncio.Event()
        self.watched = asyncio.Event()
        self.got: list[bytes] = []
        self.socket: Path
        self.channel: aio.Channel
        self.interceptor = CallInterceptor(
            Gate(calls=1, queued=0, bulk=1, watches=1), self.errors, patience=0.3
        )

    async def pour(self, _: bytes, __: Any) -> AsyncIterator[bytes]:
        try:
            while True:
                yield MUCH
        finally:
            self.left.set()

    async def blurt(self, _: bytes, __: Any) -> AsyncIterator[bytes]:
        try:
            yield MUCH * 10
        finally:
            self.left.set()

    async def take(self, requests: AsyncIterator[bytes], _: Any) -> bytes:
        try:
            async for request in requests:
                self.got.append(request)
        finally:
            self.left.set()
        return b"".join(self.got)

    async def watch(self, _: bytes, __: Any) -> AsyncIterator[bytes]:
        self.watched.set()
        yield b"first"
        await asyncio.Event().wait()

    async def echo(self, request: bytes, _: Any) -> bytes:
        return request

    def register(self, server: aio.Server) -> None:
        methods: dict[str, dict[str, Any]] = {
            SERVICE: {
                "Pour": grpc.unary_stream_rpc_method_handler(self.pour),
                "Blurt": grpc.unary_stream_rpc_method_handler(self.blurt),
                "Take": grpc.stream_unary_rpc_method_handler(self.take),
                "Echo": grpc.unary_unary_rpc_method_handler(self.echo),
            },
            "twolane.v1.AdminService": {
                "WatchStatus": grpc.unary_stream_rpc_method_handler(self.watch)
            },
            "twolane.v1.ArchiveService": {
                "Export": grpc.unary_stream_rpc_method_handler(self.watch)
            },
        }
        server.add_generic_rpc_handlers(
            tuple(grpc.method_handlers_generic_handler(*named) for named in methods.items())
        )

    async def echoed(self) -> bytes:
        return bytes(await self.channel.unary_unary(f"/{SERVICE}/Echo")(b"hello"))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    async with (
        serving(house.register, interceptors=[house.interceptor]) as house.socket,
        open_channel(house.socket) as house.channel,
    ):
        yield house


@pytest.mark.parametrize("method", ["Pour", "Blurt"], ids=["many", "the first"])
async def test_a_client_that_does_not_read_loses_its_place(house: House, method: str) -> None:
    """It is told when it reads again; meanwhile others are served and nothing holds up the end."""
    options = (*OPTIONS, ("grpc.max_receive_message_length", -1))
    slow = aio.insecure_channel(f"unix:{house.socket}", options=options)
    call = slow.unary_stream(f"/{SERVICE}/{method}")(b"")
    await asyncio.wait_for(house.left.wait(), 20)

    assert b"hello" == await house.echoed()
    async with asyncio.timeout(20):
        await house.interceptor.drain(60)
    error = await failure(exhausted(call))
    assert grpc.StatusCode.DEADLINE_EXCEEDED == error.code()
    assert "CLIENT_NOT_READING" == reason(error)
    await slow.close()


async def exhausted(call: Any) -> None:
    async for _ in call:
        pass


async def test_a_client_that_falls_silent_while_it_sends_is_cut_off(house: House) -> None:
    """Its place is free again, and it hears why."""
    call = house.channel.stream_unary(f"/{SERVICE}/Take")()
    await call.write(b"half of")
    await asyncio.wait_for(house.left.wait(), 20)

    error = await failure(call)

    assert (grpc.StatusCode.DEADLINE_EXCEEDED, "CLIENT_SILENT") == (error.code(), reason(error))
    assert "0.3" == details(error)["ErrorInfo"].metadata["seconds"]
    assert [b"half of"] == house.got
    assert b"hello" == await house.echoed()


async def test_an_empty_message_is_not_the_end(house: House) -> None:
    call = house.channel.stream_unary(f"/{SERVICE}/Take")()
    for part in (b"a", b"", b"b"):
        await call.write(part)
    await call.done_writing()

    assert b"ab" == await call


@pytest.mark.parametrize(
    ("method", "said"), [(WATCH, "watch"), (EXPORT, "exports")], ids=["watches", "exports"]
)
async def test_calls_that_last_have_a_limit_of_their_own(
    house: House, method: str, said: str
) -> None:
    """The one beyond it is told when to come back; short calls are not kept waiting."""
    first = house.channel.unary_stream(method)(b"")
    assert b"first" == await first.read()

    error = await failure(house.channel.unary_stream(method)(b"").read())

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.code()
    assert said in (error.details() or "")
    assert details(error)["RetryInfo"].retry_delay.ToNanoseconds() > 0
    assert b"hello" == await house.echoed()
    first.cancel()
    while (again := await first_answer(house, method)) == "TOO_MANY_CALLS":
        pass  # until the place is free again
    assert "first" == again


async def first_answer(house: House, method: str) -> str:
    """What a call of *method* begins with, or the reason of its refusal."""
    call = house.channel.unary_stream(method)(b"")
    try:
        return bytes(await call.read()).decode()
    except aio.AioRpcError as e:
        return reason(e)
    finally:
        call.cancel()


@pytest.mark.parametrize("turns", range(12))
async def test_whoever_watches_the_state_does_not_hold_up_the_end(house: House, turns: int) -> None:
    """Wherever the end finds the call: before, in the middle of and behind its first message."""
    watching = house.channel.unary_stream(WATCH)(b"")
    await asyncio.wait_for(house.watched.wait(), 20)
    for _ in range(turns):
        await asyncio.sleep(0)

    async with asyncio.timeout(20):
        await house.interceptor.drain(60)
        error = await failure(exhausted(watching))

    assert (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN") == (error.code(), reason(error))
