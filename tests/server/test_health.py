"""Whether the daemon does its work."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from grpc_health.v1 import health_pb2

from twolaned.model.errors import StoreCorrupt
from twolaned.model.query import SearchQuery
from twolaned.server import health
from twolaned.server.health import HealthMonitor, canary
from twolaned.server.recent_errors import RecentErrors

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def snapshot(*titles: str) -> Any:
    """An index whose rows, by number, have *titles*; "" is a row that is gone."""

    @contextmanager
    def view() -> Any:
        heads = {number: SimpleNamespace(title=title) for number, title in enumerate(titles)}
        yield SimpleNamespace(head=heads.get)

    live = np.array([bool(title) for title in titles], np.bool_)
    return SimpleNamespace(rows=SimpleNamespace(live=live), view=view)


class House:
    """A monitor of searches that can be made to fail."""

    def __init__(self) -> None:
        self.asked: list[SearchQuery] = []
        self.error: Exception | None = None
        self.searched = asyncio.Event()
        self.writer_runs = True
        self.errors = RecentErrors()
        self.monitor = HealthMonitor(
            self,  # type: ignore[arg-type]
            SimpleNamespace(snapshot=snapshot("The ferry")),  # type: ignore[arg-type]
            self.errors,
            lambda: self.writer_runs,
        )

    async def probe(self, query: SearchQuery, _: float) -> None:
        self.asked.append(query)
        self.searched.set()
        if self.error is not None:
            raise self.error

    async def states(self) -> list[int]:
        """Of the whole, of what reads and of what writes."""
        services = ("", "twolane.v1.SearchService", "twolane.v1.ArchiveService")
        return [await self.state(service) for service in services]

    async def state(self, service: str) -> int:
        request = health_pb2.HealthCheckRequest(service=service)
        answer: Any = await self.monitor.servicer.Check(request, None)
        return int(answer.status)


@pytest.fixture
def house() -> House:
    return House()


async def test_a_search_that_works_is_health(house: House) -> None:
    """It looks for something that is stored."""
    await house.monitor.check()

    assert [SERVING] * 3 == await house.states()
    assert [SearchQuery(query="The ferry", top_k=1)] == house.asked
    assert "" == house.monitor.fault


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(StoreCorrupt("It is damaged."), "It is damaged.", id="ours"),
        pytest.param(ValueError("secret"), "A search failed.", id="a bug"),
        pytest.param(TimeoutError(), "longer than", id="slow"),
    ],
)
async def test_a_search_that_fails_is_not(house: House, error: Exception, said: str) -> None:
    """The process lives, and says that it is of no use; when it is again, it says that."""
    house.error = error
    await house.monitor.check()
    await house.monitor.check()

    assert [NOT_SERVING] * 3 == await house.states()
    assert said in house.monitor.fault
    assert "secret" not in house.monitor.fault
    assert [said in e.message for e in house.errors.newest_first()] == [True]
    house.error = None
    await house.monitor.check()
    assert [SERVING] * 3 == await house.states()


async def test_without_a_writer_there_is_reading_only(house: House) -> None:
    """Searches go on; whoever wants to save can see that it would not work."""
    house.writer_runs = False
    await house.monitor.check()

    assert [SERVING, SERVING, NOT_SERVING] == await house.states()


async def test_it_looks_again_and_again_and_when_something_changed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only when its time has come."""
    task = asyncio.create_task(house.monitor.run())
    house.monitor.look_again()
    await asyncio.wait_for(house.searched.wait(), 20)
    house.searched.clear()
    monkeypatch.setattr(health, "INTERVAL", 0.01)
    house.monitor.look_again()
    for _ in range(3):
        await asyncio.wait_for(house.searched.wait(), 20)
        house.searched.clear()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert task.cancelled()


async def test_at_the_end_nothing_serves(house: House) -> None:
    """A check that comes late changes nothing about that."""
    await house.monitor.check()
    await house.monitor.close()
    await house.monitor.check()

    assert [NOT_SERVING] * 3 == await house.states()


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        pytest.param((), "canary", id="empty"),
        pytest.param(("First", "Über die Fähre"), "Über die Fähre", id="newest"),
        pytest.param(("First", ""), "First", id="newest that is there"),
        pytest.param(('-no "quotes" path:x*',), "no quotes path", id="no syntax"),
        pytest.param(("…",), "canary", id="no words"),
    ],
)
def test_the_canary_asks_for_words_of_a_title(titles: tuple[str, ...], words: str) -> None:
    """Words that must be there, and nothing that has a meaning in a query."""
    assert words == canary(snapshot(*titles))
