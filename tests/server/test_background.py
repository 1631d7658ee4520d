"""Tasks that live as long as the daemon."""

from __future__ import annotations

import asyncio

import pytest

from twolaned.server.background import Background
from twolaned.server.stop import DEFAULT_GRACE, Stop


async def test_on_leaving_nothing_is_left_behind() -> None:
    """Every task has ended, in its own order."""
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("work")

    stop = Stop()
    async with Background(stop) as background:
        task = background.start(work(), "work")
        await asyncio.sleep(0)

    assert (["work"], True) == (ended, task.done())
    assert stop.error is None


async def test_a_task_that_fails_stops_the_daemon(caplog: pytest.LogCaptureFixture) -> None:
    """The error is logged and kept."""

    async def work() -> None:
        raise ValueError("broken")

    stop = Stop()
    async with Background(stop) as background:
        background.start(work(), "the work")
        await asyncio.wait_for(stop.wait(), 20)

    assert isinstance(stop.error, ValueError)
    assert "the work failed" in caplog.text


async def test_a_task_that_ends_is_no_failure() -> None:
    """Some things are done once."""

    async def work() -> None:
        pass

    stop = Stop()
    async with Background(stop) as background:
        await background.start(work(), "work")

    assert stop.error is None


async def test_a_later_wish_can_only_shorten_the_grace() -> None:
    """Whoever is in a hurry wins."""
    stop = Stop()
    assert DEFAULT_GRACE == stop.grace
    stop.ask("first", 30)
    stop.ask("second", 60)
    assert 30 == stop.grace
    stop.ask("third", 1)
    assert 1 == stop.grace
    await stop.wait()
