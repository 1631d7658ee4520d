"""The running daemon as its services see it: how it is, and how to stop it."""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import Executor
from dataclasses import dataclass

from twolaned.config import Settings
from twolaned.model.result import SearchMode
from twolaned.search.live import LiveIndex
from twolaned.search.question import Questions
from twolaned.search.recall_check import RecallChecker
from twolaned.search.snapshot import IndexSnapshot
from twolaned.server import process
from twolaned.server.arguments import Options
from twolaned.server.health import HealthMonitor
from twolaned.server.index_counts import IndexCounts, StoreCounts
from twolaned.server.index_follower import IndexFollower
from twolaned.server.next_action import next_action
from twolaned.server.questions import meaning_status
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.stop import Stop
from twolaned.server.writer_process import WriterProcess
from twolaned.services.daemon_status import DaemonStatus, LaneStatus
from twolaned.services.searches import Searches
from twolaned.store import Store


@dataclass(kw_only=True)
class RunningDaemon:
    """The parts that `status` asks. *endpoint* is where clients find the daemon."""

    options: Options
    settings: Settings
    endpoint: str
    store: Store
    live: LiveIndex
    searches: Searches
    reading: Executor
    follower: IndexFollower
    writer: WriterProcess
    monitor: HealthMonitor
    errors: RecentErrors
    stop: Stop
    questions: Questions | None = None
    recall: RecallChecker | None = None
    start_up: float = 0.0
    """Seconds from the process's start to its first answer."""

    def __post_init__(self) -> None:
        self._started = time.time() - process.age()
        self._counts = IndexCounts()

    def shut_down(self, grace: float) -> int:
        """Begin to stop, letting calls finish for *grace* seconds; return the process id."""
        self.stop.ask("a client asked for it", grace)
        return os.getpid()

    async def status(self) -> DaemonStatus:
        """How the daemon is. Costs no scan of the store: what must be counted is kept."""
        snapshot = self.live.snapshot
        stored = await self.searches.run(StoreCounts.read, self.store)
        tiers, sources = self._counts.of(snapshot)
        free = shutil.disk_usage(self.options.data).free
        return DaemonStatus(
            version=process.version(),
            pid=os.getpid(),
            started_at=int(self._started * 1_000),
            uptime_us=int(process.age() * 1e6),
            start_up_us=int(self.start_up * 1e6),
            data_path=str(self.options.data),
            endpoint=self.endpoint,
            config_path=str(self.options.config),
            format_version=stored.format_version,
            index_generation=snapshot.generation,
            tiers=tiers,
            sources=sources,
            passages=snapshot.keyword.passages,
            segments=stored.segments,
            memtable_passages=stored.logged_passages,
            terms=stored.terms,
            disk_bytes=stored.disk_bytes,
            disk_free_bytes=free,
            memory_bytes=process.anonymous_memory(),
            lanes=(self._keyword(), meaning_status(self.questions, snapshot)),
            mode=self._mode(snapshot),
            similarity=self.settings.ranking.similarity,
            ranking_date=self.settings.ranking.date,
            writer_state=self.writer.state,
            writer_activity=self.writer.activity,
            recent_errors=self.errors.newest_first(),
            next_action=next_action(
                search_fault=self.monitor.fault,
                writer_state=self.writer.state,
                writer_activity=self.writer.activity,
                disk_free=free,
                data=self.options.data,
                sources=snapshot.sources,
                rows=sum(tier.rows for tier in tiers),
            ),
            searches=self.searches.answered,
            recall=() if self.recall is None else tuple(self.recall.checks),
        )

    def _keyword(self) -> LaneStatus:
        if self.monitor.fault:
            return LaneStatus("keyword", "failing", self.monitor.fault)
        if self.follower.failing:
            return LaneStatus("keyword", "failing", "It does not see what was stored last.")
        return LaneStatus("keyword", "ready", "It answers.")

    def _mode(self, snapshot: IndexSnapshot) -> SearchMode:
        is_on = self.questions is not None and self.questions.is_on(snapshot.meaning)
        return SearchMode.HYBRID if is_on else SearchMode.LEXICAL
