"""Trying again, for work that can wait."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from twolaned.embedding.error import EmbeddingError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long a bulk call is tried again. Times are in seconds.

    The wait before the n-th repetition is *first* · 2ⁿ⁻¹, at most *longest*, less up to half of
    it, so that clients that failed together do not come back together.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 30.0
    patience: float = 90.0
    """A provider that asks for a longer pause than this gets the work another time."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    draw: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311
    """A number from 0 to 1."""

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """What *call* returns in the end. Raises its last EmbeddingError."""
        for attempt in range(1, self.attempts + 1):
            try:
                return await call()
            except EmbeddingError as e:
                asked = e.failure.retry_after or 0.0
                if not e.transient or attempt == self.attempts or asked > self.patience:
                    raise
                wait = min(self.first * 2.0 ** (attempt - 1), self.longest)
                wait -= 0.5 * wait * self.draw()
            await self.sleep(asked + wait if asked else wait)
        raise AssertionError("the last attempt returns or raises")
