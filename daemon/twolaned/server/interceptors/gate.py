"""How many calls are worked on at once, so that no client can choke the daemon.

All local clients look the same, so there is one limit for all of them together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from twolaned.config import LimitSettings
from twolaned.server.interceptors.statuses import Overloaded

_API = "/twolane.v1."
_ALWAYS = "/twolane.v1.AdminService/"
"""Whoever wants to see or stop a daemon that is too busy must get through."""
_BULK = frozenset(
    {
        "/twolane.v1.ArchiveService/Import",
        "/twolane.v1.CompactionService/Compact",
        "/twolane.v1.SourceService/ScanSources",
    }
)
"""Calls that last; they have a limit of their own and keep nobody else waiting."""
_RETRY_SECONDS = 0.5
_RETRY_BULK_SECONDS = 30.0


class Gate:
    """Lets *calls* in at a time and *queued* wait; beside them *bulk* imports and scans."""

    def __init__(self, *, calls: int, queued: int, bulk: int) -> None:
        self._slots = asyncio.Semaphore(calls)
        self._queued = queued
        self._waiting = 0
        self._bulk_limit = bulk
        self._bulk = 0

    @asynccontextmanager
    async def place(self, method: str) -> AsyncIterator[None]:
        """A place for a call of *method*, when there is one. Raises Overloaded."""
        if method.startswith(_ALWAYS) or not method.startswith(_API):
            yield
        elif method in _BULK:
            self._enter_bulk()
            try:
                yield
            finally:
                self._bulk -= 1
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

    def _enter_bulk(self) -> None:
        if self._bulk >= self._bulk_limit:
            raise Overloaded(
                f"{self._bulk} imports and scans are under way already. Wait for one to end.",
                retry_after=_RETRY_BULK_SECONDS,
            )
        self._bulk += 1


def gate_of(limits: LimitSettings) -> Gate:
    """The gate with the limits that the person set."""
    return Gate(calls=limits.concurrent_calls, queued=limits.queued_calls, bulk=limits.bulk_calls)
