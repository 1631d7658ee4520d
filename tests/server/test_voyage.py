"""Search by meaning through a real daemon and Voyage's own client, with a server like Voyage's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from tests.support.daemon import Daemon, running
from tests.support.details import collected
from tests.support_http.server import Hang, Reply
from tests.support_http.voyage_api import KEY, VoyageServer
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search

PATIENCE = 30.0
BUDGET = 1.5
CEILING = 1.8
"""Seconds; what a machine under load may add is in here."""


@dataclass
class House:
    daemon: Daemon
    voyage: VoyageServer

    async def status(self) -> admin.StatusResponse:
        answer: admin.StatusResponse = await self.daemon.admin.Status(admin.StatusRequest())
        return answer

    async def save_and_embed(self, text: str) -> None:
        """Save *text* and return when its vector is searched."""
        await self.daemon.archive.Save(archive.SaveRequest(source="notes", summary=text))
        async with asyncio.timeout(PATIENCE):
            while {"meaning": "It answers."}.items() - {
                lane.lane: lane.message for lane in (await self.status()).lanes
            }.items():
                continue

    async def timed(self, query: str, **options: Any) -> tuple[search.SearchResponse, float]:
        """The last answer to *query*, and the seconds it took."""
        began = time.monotonic()
        request = search.SearchRequest(query=query)
        answers = await collected(self.daemon.searching.Search(request, **options))
        return answers[-1], time.monotonic() - began


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    """A daemon whose key lies in its file, as a person puts it there."""
    async with VoyageServer() as voyage:
        config = f'[embedding]\nprovider = "auto"\nbase_url = "{voyage.base_url}"\n'
        async with running(config=config) as daemon:
            await daemon.stop()
            file = daemon.data / "voyage.key"
            file.write_text(f"{KEY}\n", encoding="utf-8")
            file.chmod(0o600)
            await daemon.start(env={"VOYAGE_API_KEY": ""})
            yield House(daemon, voyage)
            await daemon.stop()
            for place in (daemon.log, *daemon.data.rglob("*")):
                if place.is_file() and place != file:
                    assert KEY.encode() not in place.read_bytes(), place


async def test_what_is_saved_is_found_by_meaning(house: House) -> None:
    """With the model and dimensions of a key that came with a host, by documents and queries."""
    await house.save_and_embed("The ferry queue is long.")
    answer, _ = await house.timed("zqxjk")

    assert [search.FOUND_BY_VECTOR] == [result.found_by for result in answer.results]
    assert (search.SEARCH_MODE_HYBRID, False) == (answer.receipt.mode, answer.receipt.degraded)
    sent = [request.json for request in house.voyage.requests]
    assert {("voyage-4-lite", 512)} == {(s["model"], s["output_dimension"]) for s in sent}
    assert ["document", "query"] == [s["input_type"] for s in sent]


async def test_a_hang_costs_the_budget_and_no_more(house: House) -> None:
    """And the answer by keyword is there."""
    await house.save_and_embed("The ferry queue is long.")
    house.voyage.always = Hang()
    answer, seconds = await house.timed("ferry")

    assert BUDGET <= seconds < CEILING
    assert (1, "timeout") == (len(answer.results), answer.receipt.degraded_reason)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply.of({"detail": f"Provided API key is invalid: {KEY}"}, 401), "auth"),
        (Reply.of({"detail": f"Slow down, {KEY}"}, 429, retry_after="7"), "rate_limited"),
        (Reply.of({"detail": f"Oh no, {KEY}"}, 500), "provider_error"),
    ],
    ids=["401", "429", "500"],
)
async def test_a_failure_gives_its_reason_and_never_the_key(
    house: House, reply: Reply, reason: str
) -> None:
    """In the answer and in the status, at once and with the keyword answer."""
    await house.save_and_embed("The ferry queue is long.")
    house.voyage.always = reply
    answer, seconds = await house.timed("ferry")
    status = await house.status()

    assert seconds < BUDGET
    assert (1, reason) == (len(answer.results), answer.receipt.degraded_reason)
    assert answer.receipt.degraded_message
    assert KEY not in f"{answer}{status}"


async def test_voyage_is_left_alone_for_as_long_as_it_asks(house: House) -> None:
    """The next question is not sent before that."""
    await house.save_and_embed("The ferry queue is long.")
    house.voyage.always = Reply.of({"detail": "Slow down."}, 429, retry_after="600")
    await house.timed("ferry one")
    sent = len(house.voyage.requests)
    answer, _ = await house.timed("ferry two")

    assert "circuit_open" == answer.receipt.degraded_reason
    assert sent == len(house.voyage.requests)
