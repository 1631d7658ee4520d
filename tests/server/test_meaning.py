"""Search by meaning through a real daemon, with a server that speaks Ollama's API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
import pytest_asyncio

from tests.server.test_rpcs import find
from tests.support.daemon import Daemon, running
from tests.support.details import collected
from tests.support_http.ollama_api import OllamaServer
from tests.support_http.server import Hang, Late, Reply
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search

SIZE = 24
PATIENCE = 20.0
BUDGET = 1.5
CEILING = 1.8
"""Seconds; what a machine under load may add is in here."""


@dataclass
class House:
    daemon: Daemon
    ollama: OllamaServer

    async def save(self, text: str) -> None:
        await self.daemon.archive.Save(archive.SaveRequest(source="notes", summary=text))

    async def until_embedded(self) -> None:
        """Return when every passage has a vector that a search sees."""
        async with asyncio.timeout(PATIENCE):
            while True:
                status = await self.daemon.admin.Status(admin.StatusRequest())
                (meaning,) = [lane for lane in status.lanes if lane.lane == "meaning"]
                if meaning.message == "It answers.":
                    return

    async def timed(self, query: str, **options: Any) -> tuple[search.SearchResponse, float]:
        began = time.monotonic()
        request = search.SearchRequest(query=query)
        answers = await collected(self.daemon.searching.Search(request, **options))
        return answers[-1], time.monotonic() - began


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with OllamaServer({"all-minilm": SIZE}) as ollama:
        config = f"""
        [embedding]
        provider = "ollama"
        model = "all-minilm"
        output_dimension = {SIZE}
        base_url = "{ollama.url}"
        """
        async with running(config=config) as daemon:
            yield House(daemon, ollama)


async def test_what_is_saved_is_found_by_meaning(house: House) -> None:
    """Without one of its words, marked as found so, with a receipt that says it."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    answer = await find(house.daemon, "zqxjk")

    assert [search.FOUND_BY_VECTOR] == [result.found_by for result in answer.results]
    meaning = answer.receipt.lanes[1]
    assert (True, 1) == (meaning.ran, meaning.candidates)
    assert search.SEARCH_MODE_HYBRID == answer.receipt.mode
    assert not answer.receipt.degraded
    status = await house.daemon.admin.Status(admin.StatusRequest())
    assert search.SEARCH_MODE_HYBRID == status.mode


async def test_a_provider_that_hangs_costs_its_budget_and_no_more(house: House) -> None:
    """The keyword answer comes, with the reason; the caller's own deadline counts if sooner."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    house.ollama.always = Hang()
    slow, seconds = await house.timed("ferry one")
    soon, sooner = await house.timed("ferry two", timeout=0.6)

    assert BUDGET <= seconds < CEILING
    assert sooner < 0.6
    for answer in (slow, soon):
        assert 1 == len(answer.results)
        assert (True, "timeout") == (answer.receipt.degraded, answer.receipt.degraded_reason)


async def test_the_keyword_answer_comes_first(house: House) -> None:
    """Then the merged one, which is final."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    house.ollama.always = Late(0.2)
    request = search.SearchRequest(query="ferry late", partial=True)
    first, last = await collected(house.daemon.searching.Search(request))
    again = await collected(house.daemon.searching.Search(request))

    assert (False, True) == (first.final, last.final)
    assert ("pending", False) == (first.receipt.lanes[1].skipped_because, first.receipt.degraded)
    assert search.FOUND_BY_HYBRID == last.results[0].found_by
    assert [True] == [answer.final for answer in again]  # its vector is remembered


async def test_a_late_vector_is_there_for_the_next_time(house: House) -> None:
    """The call that was given up goes on and fills the cache."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    before = len(house.ollama.embeds)
    house.ollama.always = Late(0.6)
    slow, _ = await house.timed("ferry later", timeout=0.3)
    house.ollama.always = None
    async with asyncio.timeout(PATIENCE):
        while (await house.timed("ferry later"))[0].receipt.degraded:
            continue

    assert slow.receipt.degraded
    assert before + 1 == len(house.ollama.embeds)


async def test_a_client_that_hangs_up_cancels_the_call(house: House) -> None:
    """The connection to the provider is closed at once."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    house.ollama.always = Hang()
    seen, closed = len(house.ollama.requests), len(house.ollama.closed_at)
    call = house.daemon.searching.Search(search.SearchRequest(query="ferry gone"))
    reading = asyncio.ensure_future(collected(call))
    await house.ollama.until(lambda: len(house.ollama.requests) > seen)
    call.cancel()
    await house.ollama.until(lambda: len(house.ollama.closed_at) > closed)
    with pytest.raises((grpc.RpcError, asyncio.CancelledError)):
        await reading


@pytest.mark.parametrize(
    ("status", "reason"), [(401, "auth"), (429, "rate_limited"), (500, "provider_error")]
)
async def test_a_failing_provider_gives_its_reason(house: House, status: int, reason: str) -> None:
    """And the keyword answer."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    house.ollama.always = Reply.of({"error": "no"}, status)
    answer, seconds = await house.timed("ferry")

    assert seconds < BUDGET
    assert (1, reason) == (len(answer.results), answer.receipt.degraded_reason)


async def test_a_restart_keeps_what_was_embedded(house: House) -> None:
    """Nothing is sent a second time."""
    await house.save("The ferry queue is long.")
    await house.until_embedded()
    sent = len(house.ollama.embeds)
    await house.daemon.stop()
    await house.daemon.start()
    await house.until_embedded()

    assert sent == len(house.ollama.embeds)
