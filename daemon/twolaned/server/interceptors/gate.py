"""How many calls are worked on at once, so that no client can choke the daemon.

All local clients look the same, so there is one limit for all of them together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from twolaned.config import LimitSettings
from twolaned.server.interceptors.statuses import Overloaded

_API = "/twolane.v1."
_ALWAYS = "/twolane.v1.AdminService/"
"""Whoever wants to see or stop a daemon that is too busy must get through."""
WATCHING = frozenset(
    {
        "/grpc.health.v1.Health/Watch",
        "/twolane.v1.AdminService/WatchStatus",
    }
)
"""Calls that would never end by themselves."""
MAX_WATCHES = 128
"""Of them at a time."""
_BULK = frozenset(
    {
        "/twolane.v1.ArchiveService/Export",
        "/twolane.v1.ArchiveService/Import",
        "/twolane.v1.CompactionService/Compact",
        "/twolane.v1.CompactionService/Rollback",
        "/twolane.v1.SourceService/ScanSources",
    }
)
"""Calls that last; they have a limit of their own and keep nobody else waiting."""
_RETRY_SECONDS = 0.5
_RETRY_BULK_SECONDS = 30.0


class Gate:
    """Lets *calls* in at a time and *queued* wait.

    Beside them *bulk* calls that last, and *watches* that have no end.
    """

    def __init__(self, *, calls: int, queued: int, bulk: int, watches: int = MAX_WATCHES) -> None:
        self._slots = asyncio.Semaphore(calls)
        self._queued = queued
        self._waiting = 0
        self._bulk = _Lasting(
            bulk,
            "{} imports, exports, scans or compactions are under way already. Wait for one to end.",
            _RETRY_BULK_SECONDS,
        )
        self._watches = _Lasting(
            watches,
            "{} clients watch the daemon already. Ask for its state now and then instead.",
            _RETRY_BULK_SECONDS,
        )

    @asynccontextmanager
    async def place(self, method: str) -> AsyncIterator[None]:
        """A place for a call of *method*, when there is one. Raises Overloaded."""
        if method in WATCHING:
            with self._watches.place():
                yield
        elif method.startswith(_ALWAYS) or not method.startswith(_API):
            yield
        elif method in _BULK:
            with self._bulk.place():
                yield
        else:
            await self._enter()
            try:
                yield
            finally:
                self._slots.release()

    async def _enter(self) -> None:
        if self._slots.locked() and self._waiting >= self._queued:
            raise Overloaded(
                "The daemon has too many calls to answer. Try again in a moment.",
                retry_after=_RETRY_SECONDS,
            )
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1


class _Lasting:
    """At most *limit* calls at a time; nobody waits, one more is told *full*."""

    def __init__(self, limit: int, full: str, retry_after: float) -> None:
        self._limit = limit
        self._full = full
        self._retry_after = retry_after
        self._count = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place. Raises Overloaded."""
        if self._count >= self._limit:
            raise Overloaded(self._full.format(self._count), retry_after=self._retry_after)
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1


def gate_of(limits: LimitSettings) -> Gate:
    """The gate with the limits that the person set."""
    return Gate(calls=limits.concurrent_calls, queued=limits.queued_calls, bulk=limits.bulk_calls)
