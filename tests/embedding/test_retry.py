from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.retry import RetryPolicy
from twolaned.model.embedding import FailureReason


def busy(retry_after: float | None = None) -> EmbeddingError:
    return EmbeddingError(FailureReason.RATE_LIMITED, "busy", retry_after=retry_after)


class Scripted:
    """Raises its errors one after the other, then returns; keeps the pauses between."""

    def __init__(self, *errors: EmbeddingError) -> None:
        self.errors = list(errors)
        self.pauses: list[float] = []
        self.calls = 0

    async def call(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "made"

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def policy(self, draw: Callable[[], float] = lambda: 0.0, attempts: int = 6) -> RetryPolicy:
        sleep: Callable[[float], Awaitable[object]] = self.sleep
        return RetryPolicy(sleep=sleep, draw=draw, attempts=attempts)


async def test_pauses_double_up_to_a_limit() -> None:
    """0.5 s, 1 s, 2 s …, 30 s at most."""
    script = Scripted(*(busy() for _ in range(8)))

    assert "made" == await script.policy(attempts=9).run(script.call)

    assert [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] == script.pauses


async def test_jitter_takes_up_to_half_of_a_pause() -> None:
    """Clients that failed together come back one by one."""
    script = Scripted(busy(), busy())

    await script.policy(draw=lambda: 1.0).run(script.call)

    assert [0.25, 0.5] == script.pauses


async def test_different_policies_draw_different_numbers() -> None:
    """The default jitter is not the same everywhere."""
    assert RetryPolicy().draw() != RetryPolicy().draw()


async def test_retry_after_is_the_least_pause() -> None:
    """What the provider asks for is kept, and a little is added."""
    script = Scripted(busy(7.0))

    await script.policy().run(script.call)

    assert [7.5] == script.pauses


async def test_a_long_retry_after_is_for_another_time() -> None:
    """The error says when; nobody sleeps an hour in the middle of a job."""
    script = Scripted(busy(3_600.0))

    with pytest.raises(EmbeddingError) as caught:
        await script.policy().run(script.call)

    assert 3_600.0 == caught.value.failure.retry_after
    assert ([], 1) == (script.pauses, script.calls)


async def test_the_last_failure_is_raised() -> None:
    """After all attempts, without a pause behind the last."""
    script = Scripted(*(busy() for _ in range(9)))

    with pytest.raises(EmbeddingError, match="busy"):
        await script.policy(attempts=3).run(script.call)

    assert (3, 2) == (script.calls, len(script.pauses))


async def test_what_trying_cannot_help_is_not_tried() -> None:
    """A key that is not accepted is not accepted the second time."""
    script = Scripted(EmbeddingError(FailureReason.AUTH, "no", transient=False))

    with pytest.raises(EmbeddingError, match="no"):
        await script.policy().run(script.call)

    assert 1 == script.calls


async def test_a_pause_can_be_cancelled() -> None:
    """A job that is cancelled does not wait for its next attempt."""
    failed = asyncio.Event()

    async def call() -> None:
        failed.set()
        raise busy(60.0)

    task = asyncio.create_task(RetryPolicy().run(call))
    await failed.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
