"""Searching with an engine made up for the test, over a real socket."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.support.details import collected, failure, violated
from tests.support.fake_ports import FakeWriter
from tests.support.sockets import served
from twolane.v1 import search_service_pb2 as search
from twolane.v1.search_service_pb2_grpc import (
    SearchServiceStub,
    add_SearchServiceServicer_to_server,
)
from twolaned.model.errors import StoreCorrupt
from twolaned.model.query import RankingDate, SearchQuery, Similarity
from twolaned.model.result import Receipt, SearchAnswer, SearchMode
from twolaned.search.suggest import Suggestion, SuggestionKind
from twolaned.server.interceptors import CallInterceptor, Gate
from twolaned.server.recent_errors import RecentErrors
from twolaned.services import searches
from twolaned.services.search_service import SearchService
from twolaned.services.searches import Searches

ANSWER = SearchAnswer(
    results=(),
    receipt=Receipt(
        index_generation=7,
        mode=SearchMode.LEXICAL,
        similarity=Similarity.MAX,
        ranking_date=RankingDate.INDEXED,
        lanes=(),
        tiers_searched=(),
        rows_in_reach=3,
    ),
    ignored=("a:b",),
)


class FakeEngine:
    """Answers everything alike; "wait" only when it may."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, SearchQuery, float]] = []
        self.waits = threading.Event()
        self.go = threading.Event()
        self.error: Exception | None = None

    def search(self, snapshot: Any, query: SearchQuery, *, arrived: float) -> SearchAnswer:
        self.asked.append((snapshot, query, arrived))
        if query.query == "wait":
            self.waits.set()
            assert self.go.wait(20)
        if self.error is not None:
            raise self.error
        return ANSWER


class House:
    """A search service with one thread."""

    stub: Any

    def __init__(self) -> None:
        self.engine = FakeEngine()
        self.live: Any = SimpleNamespace(snapshot="first")
        self.threads = ThreadPoolExecutor(1)
        self.searches = Searches(self.engine, self.live, self.threads)  # type: ignore[arg-type]
        self.writer: Any = FakeWriter()

    def register(self, server: aio.Server) -> None:
        add_SearchServiceServicer_to_server(SearchService(self.searches, self.writer), server)

    def ask(self, query: str, **fields: Any) -> Any:
        return self.stub.Search(search.SearchRequest(query=query, **fields))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    interceptor = CallInterceptor(Gate(calls=8, queued=8, bulk=1), RecentErrors())
    async with served(house.register, interceptors=[interceptor]) as channel:
        house.stub = SearchServiceStub(channel)
        yield house
        house.engine.go.set()
    house.threads.shutdown()


async def test_an_answer_is_handed_on(house: House) -> None:
    """One message, the final one, made from the snapshot that is current."""
    before = time.monotonic()
    (answer,) = await collected(house.ask("ferry", top_k=3, partial=True))
    house.live.snapshot = "second"
    await collected(house.ask("again"))

    assert (True, 7, ["a:b"]) == (
        answer.final,
        answer.receipt.index_generation,
        list(answer.read_as_text),
    )
    assert [
        ("first", SearchQuery(query="ferry", top_k=3)),
        ("second", SearchQuery(query="again")),
    ] == [(snapshot, query) for snapshot, query, _ in house.engine.asked]
    assert before <= house.engine.asked[0][2] <= time.monotonic()
    assert 2 == house.searches.answered


async def test_the_arrival_counts_from_before_the_queue(house: House) -> None:
    """Whoever had to wait was not asked later."""
    first = asyncio.ensure_future(collected(house.ask("wait")))
    await asyncio.to_thread(house.engine.waits.wait, 20)
    second = asyncio.ensure_future(collected(house.ask("behind")))
    await failure(collected(house.ask("x" * 8_193)))  # refused without a thread, and later
    waited = time.monotonic()
    house.engine.go.set()
    await asyncio.gather(first, second)

    assert house.engine.asked[1][2] <= waited


async def test_a_search_that_is_given_up_in_the_queue_is_never_run(house: House) -> None:
    """A client that has gone away costs nothing."""
    first = asyncio.ensure_future(collected(house.ask("wait")))
    await asyncio.to_thread(house.engine.waits.wait, 20)
    behind = asyncio.ensure_future(house.searches.search(SearchQuery(query="behind"), 0.0))
    await asyncio.sleep(0)
    behind.cancel()
    with pytest.raises(asyncio.CancelledError):
        await behind
    house.engine.go.set()
    await first
    await collected(house.ask("next"))

    assert ["wait", "next"] == [query.query for _, query, _ in house.engine.asked]


async def test_an_error_of_the_engine_has_its_code(house: House) -> None:
    """Errors of a thread come through like any other."""
    house.engine.error = StoreCorrupt("It is damaged. Run `twolane doctor`.")

    error = await failure(collected(house.ask("x")))

    assert grpc.StatusCode.DATA_LOSS == error.code()
    assert 0 == house.searches.answered


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (search.OpenEvidenceRequest(), "id"),
        (search.OpenEvidenceRequest(id="x", offset=-1), "offset"),
        (search.OpenEvidenceRequest(id="x", max_bytes=-1), "max_bytes"),
        (search.OpenEvidenceRequest(id="x", max_bytes=2_097_153), "max_bytes"),
        (search.OpenEvidenceRequest(id="x", form=9), "form"),  # type: ignore[arg-type]
    ],
    ids=["no id", "offset", "negative", "too much", "form"],
)
async def test_a_wrong_opening_names_the_field(
    house: House, request_: search.OpenEvidenceRequest, field: str
) -> None:
    """Before anything is read."""
    assert field == violated(await failure(house.stub.OpenEvidence(request_)))


class Titles:
    """Reads one title a step, when it may, as the suggester of an index with *rows* rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.known = 0
        self.threads: set[str] = set()
        self.go = threading.Event()

    def is_behind(self, _: object) -> bool:
        return self.known < self.rows

    def follow(self, _: object) -> None:
        self.threads.add(threading.current_thread().name)
        assert self.go.wait(20)
        self.known += 1

    def suggest(self, _: object, prefix: str, __: int) -> list[Suggestion]:
        self.threads.add(threading.current_thread().name)
        return [Suggestion(f"{prefix}{self.known}", SuggestionKind.WORD)]


async def completion(house: House) -> str:
    (told,) = (await house.stub.Suggest(search.SuggestRequest(prefix="ab"))).suggestions
    return str(told.text)


async def test_titles_are_read_beside_the_event_loop(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many who type wait for one reading together; none of it holds up the loop."""
    titles = Titles(rows=3)
    titles.go.set()
    monkeypatch.setattr(house.searches, "_suggester", titles)
    monkeypatch.setattr(searches, "TITLES_PATIENCE", 20)

    assert ["ab3"] * 5 == await asyncio.gather(*[completion(house) for _ in range(5)])
    assert threading.current_thread().name not in titles.threads
    assert 3 == titles.known


async def test_a_completion_does_not_wait_for_all_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers from those that were read, and the rest is read on; the end stops that."""
    titles = Titles(rows=10**9)
    threads = ThreadPoolExecutor(2)
    live: Any = SimpleNamespace(snapshot="first")
    asked = searches.Searches(FakeEngine(), live, threads)  # type: ignore[arg-type]
    monkeypatch.setattr(asked, "_suggester", titles)

    (told,) = await asked.suggest("ab", 8)
    titles.go.set()
    await asked.aclose()
    threads.shutdown()

    assert "ab0" == told.text
    assert 0 < titles.known < titles.rows


async def test_reading_titles_that_fails_is_logged_and_begun_anew(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    titles = Titles(rows=1)
    titles.go.set()
    monkeypatch.setattr(house.searches, "_suggester", titles)
    monkeypatch.setattr(searches, "TITLES_PATIENCE", 20)
    with monkeypatch.context() as broken:
        broken.setattr(titles, "follow", lambda _: 1 / 0)
        assert "ab0" == await completion(house)

    assert "ab1" == await completion(house)
    assert "reading titles failed" in caplog.text
