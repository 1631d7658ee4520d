"""Recall of the meaning lane on the questions that were really asked of this daemon."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from twolaned.lanes.meaning import MeaningIndex, RecallReport, VectorIndex, measure_recall
from twolaned.search.question import Vector

log = logging.getLogger(__name__)

REMEMBERED: Final = 64
"""Questions of each space that are kept in memory to check with: their vectors, not their words."""
EVERY: Final = 900.0
"""Seconds from one check to the next."""
QUIET: Final = 5.0
"""Seconds without a search before an exact answer is worked out."""
REST: Final = 20.0
"""How many times as long as it worked a check rests after each question: a twentieth of a core."""


@dataclass(frozen=True, slots=True)
class RecallCheck:
    """How many of the best rows the searches of *space* find.

    *checked_at* is in UTC milliseconds.
    """

    space: str
    report: RecallReport
    checked_at: int


class AskedQuestions:
    """The vectors of the last distinct questions of each space."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._vectors: defaultdict[str, OrderedDict[bytes, Vector]] = defaultdict(OrderedDict)
        self.count = 0
        """Questions so far, those that were asked before included."""

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Remember a question by its vector in each space."""
        self.count += bool(vectors)
        for space, vector in vectors.items():
            kept = self._vectors[space]
            key = vector.tobytes()
            kept[key] = vector
            kept.move_to_end(key)
            if len(kept) > self._remembered:
                kept.popitem(last=False)

    def of(self, space: VectorIndex) -> list[Vector]:
        """The questions that *space* can be asked, the last one first."""
        return list(reversed(self._vectors[space.space].values()))


class RecallChecker:
    """Compares, while nobody searches, the lane's answers to past questions with exact ones.

    Only spaces that are searched by codes are checked; answers of the others are exact. An answer
    is worked out in *executor*, one at a time.
    """

    def __init__(
        self,
        asked: AskedQuestions,
        index: Callable[[], MeaningIndex],
        executor: Executor,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._asked = asked
        self._index = index
        self._executor = executor
        self._clock = clock
        self._pause = pause
        self._checks: dict[str, RecallCheck] = {}
        self._seen = 0

    @property
    def checks(self) -> Sequence[RecallCheck]:
        """The last check of each space that is still searched by codes."""
        coded = {space.space for space in self._index().spaces if space.is_coded}
        return [check for space, check in sorted(self._checks.items()) if space in coded]

    async def run(self) -> None:
        """Check now and again until cancelled."""
        while True:
            await self._pause(EVERY)
            if self._asked.count != self._seen:
                self._seen = self._asked.count
                await self.check()

    async def check(self) -> None:
        """Check all spaces once, resting while there are searches."""
        for name in [space.space for space in self._index().spaces if space.is_coded]:
            space = self._index().space(name)
            if space is None:
                continue
            found = [report for q in self._asked.of(space) if (report := await self._one(name, q))]
            if not found:
                continue
            mean = sum(report.mean for report in found) / len(found)
            worst = min(report.worst for report in found)
            total = RecallReport(len(found), found[0].n, mean, worst)
            self._checks[name] = RecallCheck(name, total, time.time_ns() // 1_000_000)
            if not total.is_good:
                log.warning(
                    "searching %s finds %.4f of the best rows, %.2f of the worst question's",
                    name,
                    mean,
                    worst,
                )

    async def _one(self, name: str, question: Vector) -> RecallReport | None:
        while True:
            before = self._asked.count
            await self._pause(QUIET)
            if before == self._asked.count:
                break
        space = self._index().space(name)
        if space is None or not space.is_coded:
            return None
        began = self._clock()
        loop = asyncio.get_running_loop()
        report = await loop.run_in_executor(self._executor, measure_recall, space, [question])
        await self._pause(REST * (self._clock() - began))
        return report
