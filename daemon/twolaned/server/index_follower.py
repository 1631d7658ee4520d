"""Keeping the live index at the store's last commit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from twolaned.model.errors import TwolaneError
from twolaned.server.recent_errors import RecentErrors

log = logging.getLogger(__name__)

FIRST_DELAY = 1.0
"""Seconds until a refresh that failed is tried again; doubled each time."""
LONGEST_DELAY = 60.0


class Refreshable(Protocol):
    """What is kept up to date."""

    @property
    def generation(self) -> int:
        """What it shows."""

    @property
    def behind(self) -> bool:
        """Whether a refresh has more to do although nothing new was committed."""

    def refresh(self) -> int:
        """Bring it up to date and return what it shows now. Blocks."""


class IndexFollower:
    """Refreshes the index whenever a commit is announced, in one thread of its own.

    Announcements that come while a refresh runs, or before there is an index, are answered by one
    refresh together. One that failed is tried again.
    """

    def __init__(self, errors: RecentErrors) -> None:
        self._live: Refreshable | None = None
        self._errors = errors
        self._thread = ThreadPoolExecutor(1, "index")
        self._announced = asyncio.Event()
        self._retry_after: float | None = None
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self.failing = False
        """Whether the last refresh failed, so that searches miss what was committed since."""

    def announce(self, generation: int) -> None:
        """The store is at *generation*."""
        if not self._shows(generation):
            self._announced.set()

    async def reach(self, generation: int) -> None:
        """Return when searches see *generation*. Raises what the refresh failed with."""
        if self._shows(generation):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((generation, future))
        self._announced.set()
        await future

    async def run(self, live: Refreshable) -> None:
        """Keep *live* up to date until cancelled."""
        self._live = live
        loop = asyncio.get_running_loop()
        while True:
            if live.behind and self._retry_after is None:
                self._announced.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._retry_after):
                    await self._announced.wait()
            self._announced.clear()
            try:
                await loop.run_in_executor(self._thread, live.refresh)
            except Exception as e:
                log.exception("the index could not follow the store")
                self._fail(e)
            else:
                self.failing, self._retry_after = False, None
                self._wake(live.generation)

    def close(self) -> None:
        """End the thread when its refresh is done."""
        self._thread.shutdown()

    def _shows(self, generation: int) -> bool:
        return self._live is not None and self._live.generation >= generation

    def _wake(self, reached: int) -> None:
        still = []
        for generation, future in self._waiting:
            if generation > reached:
                still.append((generation, future))
            elif not future.done():
                future.set_result(None)
        self._waiting = still

    def _fail(self, error: Exception) -> None:
        said = error.message if isinstance(error, TwolaneError) else "The log has the details."
        if not self.failing:
            self._errors.add("index", f"New material is stored but not found yet. {said}")
        self.failing = True
        self._retry_after = min((self._retry_after or FIRST_DELAY / 2) * 2, LONGEST_DELAY)
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(error)
        self._waiting = []
