"""Whether the daemon does its work: a real search now and then, not just a process that lives."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable, Sequence

from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio as health_aio

from twolaned.model.errors import TwolaneError
from twolaned.model.query import SearchQuery
from twolaned.search.live import LiveIndex
from twolaned.search.snapshot import IndexSnapshot
from twolaned.server.names import READING, WHOLE, WRITING
from twolaned.server.recent_errors import RecentErrors
from twolaned.services.searches import Searches

log = logging.getLogger(__name__)

INTERVAL = 30.0
"""Seconds between two canary searches."""
TIMEOUT = 10.0
"""Seconds that one may take, on a machine that is busy."""

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_WORDS = re.compile(r"[^\W_]{2,}")


class HealthMonitor:
    """Says of each service whether it serves.

    Those that write also need the writer, of which *writer_runs* tells. Everything is NOT_SERVING
    until the first `check`.
    """

    def __init__(
        self,
        searches: Searches,
        live: LiveIndex,
        errors: RecentErrors,
        writer_runs: Callable[[], bool],
    ) -> None:
        self.servicer = health_aio.HealthServicer()
        self._searches = searches
        self._live = live
        self._errors = errors
        self._writer_runs = writer_runs
        self._wake = asyncio.Event()
        self.fault = "The daemon is starting."
        """Why the last canary search failed, as a sentence; empty if it did not."""

    def look_again(self) -> None:
        """Something changed: do not wait for the next round."""
        self._wake.set()

    async def run(self) -> None:
        """Check every `INTERVAL`, and whenever asked to, until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL):
                    await self._wake.wait()
            self._wake.clear()
            await self.check()

    async def check(self) -> None:
        """Search for something that is stored, and say how the services are."""
        fault = await self._fault()
        if fault and fault != self.fault:
            self._errors.add("search", fault)
        self.fault = fault
        await self._say((WHOLE, *READING), serving=not fault)
        await self._say(WRITING, serving=not fault and self._writer_runs())

    async def close(self) -> None:
        """Everything is NOT_SERVING from now on."""
        await self.servicer.enter_graceful_shutdown()

    async def _say(self, services: Sequence[str], *, serving: bool) -> None:
        status = _SERVING if serving else _NOT_SERVING
        for service in services:
            await self.servicer.set(service, status)

    async def _fault(self) -> str:
        try:
            async with asyncio.timeout(TIMEOUT):
                query = SearchQuery(query=canary(self._live.snapshot), top_k=1)
                await self._searches.probe(query, time.monotonic())
        except TimeoutError:
            return f"A search took longer than {TIMEOUT:.0f} s."
        except TwolaneError as e:
            log.exception("the canary search failed")
            return e.message
        except Exception:
            log.exception("the canary search failed")
            return "A search failed. The log says why; `twolane doctor` helps further."
        return ""


def canary(snapshot: IndexSnapshot) -> str:
    """Words that a search must be able to look for: those of a stored row's title."""
    numbers = snapshot.rows.live.nonzero()[0]
    if not len(numbers):
        return "canary"
    with snapshot.view() as view:
        row = view.head(int(numbers[-1]))
    words = _WORDS.findall(row.title) if row is not None else []
    return " ".join(words[:8]) or "canary"
