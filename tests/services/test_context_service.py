"""Packs over a real socket, from an archive in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.context.archive import Archive
from tests.support.details import collected, failure, violated
from tests.support.sockets import served
from twolane.render import to_json
from twolane.v1 import context_service_pb2 as context
from twolane.v1.context_service_pb2_grpc import (
    ContextServiceStub,
    add_ContextServiceServicer_to_server,
)
from twolaned.model.embedding import EmbeddingFailure, FailureReason
from twolaned.search.question import MeaningQuestion
from twolaned.server.interceptors import CallInterceptor, Gate
from twolaned.server.recent_errors import RecentErrors
from twolaned.services.context_service import ContextService
from twolaned.services.packs import Packs
from twolaned.services.searches import Searches


class SlowQuestions:
    """Embeds when it may, and then fails."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked: list[str] = []
        self.arrived, self.cancelled = asyncio.Event(), asyncio.Event()

    def is_on(self, _: Any) -> bool:
        return True

    async def recall(self, _: str, __: Any) -> None:
        return None

    async def ask(self, text: str, _: Any, __: float) -> MeaningQuestion:
        self.asked.append(text)
        self.arrived.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return MeaningQuestion(failure=EmbeddingFailure(FailureReason.TIMEOUT, "Too slow."))


class House:
    """The service with one thread, and an archive."""

    stub: Any

    def __init__(self, questions: Any = None) -> None:
        self.archive = Archive()
        self.archive.document("/p/shop", "TODO.md", "# Decisions\n\n- The queue is in Postgres\n")
        self.archive.document("/p/shop", "src/queue.py", "# the queue in Postgres\n")
        self.threads = ThreadPoolExecutor(1)
        live: Any = SimpleNamespace(snapshot=self.archive.snapshot())
        searches = Searches(None, live, self.threads)  # type: ignore[arg-type]
        self.packs = Packs(self.archive.builder, self.archive.snapshot, searches, questions)

    def register(self, server: aio.Server) -> None:
        add_ContextServiceServicer_to_server(ContextService(self.packs), server)

    async def ask(self, **fields: Any) -> list[context.ContextPackResponse]:
        return await collected(self.stub.ContextPack(context.ContextPackRequest(**fields)))


async def open_house(questions: Any = None) -> AsyncIterator[House]:
    house = House(questions)
    interceptor = CallInterceptor(Gate(calls=8, queued=8, bulk=1), RecentErrors())
    async with served(house.register, interceptors=[interceptor]) as channel:
        house.stub = ContextServiceStub(channel)
        yield house
    house.threads.shutdown()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async for one in open_house():
        yield one


@pytest.fixture
async def questions() -> SlowQuestions:
    return SlowQuestions()


@pytest.fixture
async def slow(questions: SlowQuestions) -> AsyncIterator[House]:
    async for one in open_house(questions):
        yield one


async def test_one_pack_within_its_budget(house: House) -> None:
    """One final message, whose JSON is as small as was asked for."""
    (pack,) = await house.ask(task="Which queue do we use now?", cwd="/p/shop", max_bytes=2_000)

    assert pack.final
    assert context.INTENT_CURRENT_TRUTH == pack.intent
    assert ["keyword"] == list(pack.receipt.lanes)
    assert pack.buckets[0].items[0].path in ("TODO.md", "src/queue.py")
    assert len(to_json(pack).encode()) <= 2_000


async def test_the_same_question_has_the_same_bytes(house: House) -> None:
    """Nothing of the moment of the call is in a pack."""
    one, other = [await house.ask(task="the queue", cwd="/p/shop") for _ in range(2)]

    assert one[0].SerializeToString() == other[0].SerializeToString()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "task"),
        ({"task": "x" * 1_025}, "task"),
        ({"task": "x", "max_bytes": 16_385}, "max_bytes"),
        ({"task": "x", "max_bytes": -1}, "max_bytes"),
        ({"task": "x", "max_bytes": 30}, "max_bytes"),
        ({"task": "x", "max_per_bucket": 11}, "max_per_bucket"),
        ({"task": "x", "cwd": "here"}, "cwd"),
        ({"task": "x", "strict_project": True}, "cwd"),
    ],
)
async def test_bad_input_names_its_field(house: House, fields: dict[str, Any], field: str) -> None:
    """INVALID_ARGUMENT, and what to change."""
    error = await failure(house.ask(**fields))

    assert grpc.StatusCode.INVALID_ARGUMENT is error.code()
    assert field == violated(error)


async def test_the_pack_by_keyword_goes_first(slow: House, questions: SlowQuestions) -> None:
    """With `partial` a pack is sent while the task is embedded; the last one says what failed."""
    request = context.ContextPackRequest(task="the queue", cwd="/p/shop", partial=True)
    stream = slow.stub.ContextPack(request)
    first = await stream.read()
    questions.go.set()
    last = await stream.read()

    assert (False, True) == (first.final, last.final)
    assert (False, True) == (first.receipt.degraded, last.receipt.degraded)
    assert "timeout" == last.receipt.degraded_reason
    assert ["the queue"] == questions.asked
    assert first.pack_id != last.pack_id
    assert first.buckets == last.buckets


async def test_hanging_up_cancels_the_embedding(slow: House, questions: SlowQuestions) -> None:
    """A client that has gone away costs nothing more."""
    stream = slow.stub.ContextPack(context.ContextPackRequest(task="the queue"))
    reading = asyncio.ensure_future(stream.read())
    await asyncio.wait_for(questions.arrived.wait(), 20)
    stream.cancel()
    await asyncio.gather(reading, return_exceptions=True)

    await asyncio.wait_for(questions.cancelled.wait(), 20)
