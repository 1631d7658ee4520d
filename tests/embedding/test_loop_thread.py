from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

from twolaned.embedding.loop_thread import LoopThread


def test_coroutines_run_in_one_thread() -> None:
    """The one that asked goes on meanwhile."""
    thread = LoopThread("vectors")

    async def name() -> str:
        return threading.current_thread().name

    names = [thread.submit(name()).result(5) for _ in range(3)]
    thread.close()

    assert ["vectors"] * 3 == names


def test_a_cancelled_future_cancels_its_coroutine() -> None:
    """A job that is cancelled leaves no call behind."""
    thread = LoopThread()
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    future = thread.submit(wait())
    assert begun.wait(5)
    future.cancel()

    assert ended.wait(5)
    thread.close()


def test_closing_ends_what_runs() -> None:
    """Its caller learns of it, and the thread is gone."""
    thread = LoopThread("to-be-closed")
    begun = threading.Event()

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    future = thread.submit(wait())
    assert begun.wait(5)
    thread.close()

    with pytest.raises(concurrent.futures.CancelledError):
        future.result(0)
    assert "to-be-closed" not in {running.name for running in threading.enumerate()}


def test_nothing_starts_after_it_was_closed() -> None:
    """Closing twice, or before anything ran, is no error."""
    thread = LoopThread()
    thread.close()
    thread.close()

    async def nothing() -> None:
        return

    with pytest.raises(RuntimeError, match="is closed"):
        thread.submit(nothing())
