"""Running searches off the event loop, each on the snapshot that is current when it begins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor
from contextlib import aclosing
from functools import partial
from typing import ParamSpec, TypeVar

from twolaned.model.query import SearchQuery
from twolaned.model.result import SearchAnswer
from twolaned.search.engine import SearchEngine
from twolaned.search.evidence import EvidenceForm, OpenedEvidence, open_evidence
from twolaned.search.live import LiveIndex
from twolaned.search.question import Questions
from twolaned.search.suggest import Suggester, Suggestion
from twolaned.services.asking import meanings

log = logging.getLogger(__name__)

TITLES_PATIENCE = 0.05
"""Seconds that a completion waits for titles that are not read yet."""

QUICK_PREFIX = 3
"""Characters of a prefix that so few titles begin with that no thread is needed: a change of
threads would take longer, and searches may be waiting for one."""

P = ParamSpec("P")
R = TypeVar("R")


class Searches:
    """Runs *engine* on the snapshots of *live* in the threads of *executor*.

    A search that is cancelled before a thread took it up does no work at all.
    """

    def __init__(
        self,
        engine: SearchEngine,
        live: LiveIndex,
        executor: Executor,
        questions: Questions | None = None,
    ) -> None:
        """*questions* None means that search by meaning is off."""
        self._engine = engine
        self._questions = questions
        self._live = live
        self._executor = executor
        self._suggester = Suggester()
        self._titles: asyncio.Task[None] | None = None
        self.answered = 0
        """Searches answered so far."""

    async def search(self, query: SearchQuery, arrived: float) -> SearchAnswer:
        """Answer *query*, asked at *arrived* in seconds of the monotonic clock."""
        async with aclosing(self.answers(query, arrived)) as answers:
            async for answer in answers:
                if answer.final:
                    return answer
        raise AssertionError("the last answer is final")

    async def answers(
        self,
        query: SearchQuery,
        arrived: float,
        *,
        partial: bool = False,
        remaining: float | None = None,
    ) -> AsyncGenerator[SearchAnswer, None]:
        """Answer *query*, with *partial* by keyword first where the question takes time to embed.

        *remaining* is for how many seconds the caller still waits. Closing the generator cancels
        the embedding.
        """
        snapshot, questions = self._live.snapshot, self._questions
        if questions is None or not questions.is_on(snapshot.meaning):
            answer = await self.probe(query, arrived)
            self.answered += 1
            yield answer
            return
        text = self._engine.text_to_embed(query)
        asked = meanings(questions, snapshot, text, arrived, partial=partial, remaining=remaining)
        async with aclosing(asked):
            async for meaning in asked:
                answer = await self.run(
                    self._engine.search, snapshot, query, arrived=arrived, meaning=meaning
                )
                self.answered += answer.final
                yield answer

    async def probe(self, query: SearchQuery, arrived: float) -> SearchAnswer:
        """The same by keyword alone, for the daemon's own ends too: it is not counted."""
        return await self.run(self._engine.search, self._live.snapshot, query, arrived=arrived)

    async def suggest(self, prefix: str, limit: int) -> list[Suggestion]:
        """Complete *prefix* from the titles read so far; new ones are waited for a little."""
        if self._suggester.is_behind(self._live.snapshot):
            await asyncio.wait({self._reading_titles()}, timeout=TITLES_PATIENCE)
        if len(prefix) >= QUICK_PREFIX:
            return self._suggester.suggest(self._live.snapshot, prefix, limit)
        return await self.run(self._suggester.suggest, self._live.snapshot, prefix, limit)

    async def aclose(self) -> None:
        """Stop what was begun for later calls."""
        if self._titles is not None:
            self._titles.cancel()
            await asyncio.wait({self._titles})

    def _reading_titles(self) -> asyncio.Task[None]:
        if self._titles is None or self._titles.done():
            self._titles = asyncio.create_task(self._read_titles(), name="reading titles")
            self._titles.add_done_callback(_log_failure)
        return self._titles

    async def _read_titles(self) -> None:
        """Read all that are new, in steps between which searches have their turn."""
        while self._suggester.is_behind(self._live.snapshot):
            await self.run(self._suggester.follow, self._live.snapshot)

    async def open(
        self, row_id: str, form: EvidenceForm, offset: int, max_bytes: int
    ) -> OpenedEvidence:
        """Open a row by its id or evidence key. Raises NotFound."""
        return await self.run(open_evidence, self._live.snapshot, row_id, form, offset, max_bytes)

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do *work* that reads the index or the store in one of the threads."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(work, *args, **kwargs))


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("%s failed", task.get_name(), exc_info=error)
