"""What a job of the writer works with."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from twolaned.ingest.reader import IngestLimits
from twolaned.model.backup import CopyProgress
from twolaned.model.compaction import CompactionProgress
from twolaned.model.report import ImportReport
from twolaned.writer.batch import Batch
from twolaned.writer.committer import Committer
from twolaned.writer.embed_job import EmbedJob
from twolaned.writer.maintenance import Maintenance, seal_segment
from twolaned.writer.protocol import (
    BackedUp,
    Compacted,
    Deleted,
    FeedbackChanged,
    Imported,
    RolledBack,
    Saved,
    SourceAdded,
    SourceRemoved,
)
from twolaned.writer.tombstones import Tombstones

Result = (
    Saved
    | Imported
    | SourceAdded
    | SourceRemoved
    | Deleted
    | Compacted
    | RolledBack
    | FeedbackChanged
    | BackedUp
)
Step = Future[Any] | None
"""What a job yields: a future to wait for, or None to let others have a turn."""
Job = Generator[Step, None, Result]

Tell = Callable[[ImportReport, str], None]
"""Reports progress: the totals so far and the source in hand."""

TellCompaction = Callable[[CompactionProgress], None]
"""Reports how far a compaction is."""


TellBackup = Callable[[CopyProgress], None]
"""Reports how far a backup is; from any thread."""


@dataclass(frozen=True, slots=True)
class JobContext:
    """The parts of the writer that jobs share."""

    committer: Committer
    executor: Executor
    limits: IngestLimits
    maintenance: Maintenance
    tombstones: Tombstones
    embedding: EmbedJob | None = None
    copies: list[Future[Any]] = field(default_factory=list)
    """The backup that is being made, or the last one."""

    def batch(self) -> Batch:
        """A new, empty batch."""
        seal = partial(seal_segment, self.committer.store)
        return Batch(self.committer, seal, self.executor)
