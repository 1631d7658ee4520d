"""Running searches off the event loop, each on the snapshot that is current when it begins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import ParamSpec, TypeVar

from twolaned.model.query import SearchQuery
from twolaned.model.result import SearchAnswer
from twolaned.search.engine import SearchEngine
from twolaned.search.evidence import EvidenceForm, OpenedEvidence, open_evidence
from twolaned.search.live import LiveIndex

P = ParamSpec("P")
R = TypeVar("R")


class Searches:
    """Runs *engine* on the snapshots of *live* in the threads of *executor*.

    A search that is cancelled before a thread took it up does no work at all.
    """

    def __init__(self, engine: SearchEngine, live: LiveIndex, executor: Executor) -> None:
        self._engine = engine
        self._live = live
        self._executor = executor
        self.answered = 0
        """Searches answered so far."""

    async def search(self, query: SearchQuery, arrived: float) -> SearchAnswer:
        """Answer *query*, asked at *arrived* in seconds of the monotonic clock."""
        answer = await self.probe(query, arrived)
        self.answered += 1
        return answer

    async def probe(self, query: SearchQuery, arrived: float) -> SearchAnswer:
        """The same for the daemon's own ends: it is not counted."""
        return await self.run(self._engine.search, self._live.snapshot, query, arrived=arrived)

    async def open(
        self, row_id: str, form: EvidenceForm, offset: int, max_bytes: int
    ) -> OpenedEvidence:
        """Open a row by its id or evidence key. Raises NotFound."""
        return await self.run(open_evidence, self._live.snapshot, row_id, form, offset, max_bytes)

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do *work* that reads the index or the store in one of the threads."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(work, *args, **kwargs))
