"""A store of old conversations, and jobs of the writer run in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from tests.writer.harness import sentence
from twolaned.ingest.drafts import draft_conversation
from twolaned.ingest.limits import IngestLimits
from twolaned.model.compaction import CompactionProgress, Enrichment
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.row import RowDraft
from twolaned.store import Store
from twolaned.store.manifest import Manifest
from twolaned.writer.committer import Committer
from twolaned.writer.compact_job import compact_job
from twolaned.writer.context import Job, JobContext
from twolaned.writer.maintenance import Maintenance
from twolaned.writer.moves import sweep_moves
from twolaned.writer.protocol import Compact, Compacted, RolledBack
from twolaned.writer.rollback_job import rollback_job
from twolaned.writer.tombstones import Tombstones

DAY = 86_400_000
MARCH = 1_774_224_000_000
"""2026-03-23T00:00Z, the Monday of week 13."""


def old_chat(number: int, *, title: str = "", text: str = "", local: bool = False) -> RowDraft:
    """A conversation of two messages, in one of three weeks."""
    random = Random(number)
    at = MARCH + (number % 3) * 7 * DAY + number
    return draft_conversation(
        Conversation(
            id=f"claude:{number}",
            provider="claude",
            title=title or f"Chat {number}",
            title_from=TitleFrom.PROVIDER,
            messages=(
                Message(
                    role=Role.USER, kind=MessageKind.HUMAN, text=text or sentence(random), at=at
                ),
                Message(
                    role=Role.ASSISTANT, kind=MessageKind.ASSISTANT, text=sentence(random), at=at
                ),
            ),
            extra={"extraction": "local"} if local else {},
        )
    )


class Archive:
    """The store in *data*, with what a writer has around it."""

    def __init__(self, data: Path, executor: ThreadPoolExecutor) -> None:
        self.store = Store.open(data, write=True)
        self._executor = executor
        self.restart()

    def restart(self) -> None:
        """Begin anew, as a writer does that finds the store after a crash."""
        committer = Committer(self.store, lambda _: None)
        self.context = JobContext(
            committer,
            self._executor,
            IngestLimits(),
            Maintenance(committer, self._executor),
            Tombstones(self.store),
        )
        for _ in sweep_moves(self.store):
            pass

    def add(self, *drafts: RowDraft, indexed_at: int | None = None) -> None:
        """Publish *drafts*."""
        batch = self.context.batch()
        for draft in drafts:
            batch.add(draft, indexed_at=indexed_at)
        batch.publish_now()

    def compacting(
        self, *, key: str | None = None, dry_run: bool = False, enrich: bool = True
    ) -> Job:
        """A job that moves everything."""
        enrichment = Enrichment.EXTRACTIVE if enrich else Enrichment.OFF
        command = Compact(
            older_than_ms=-1, idempotency_key=key, dry_run=dry_run, enrichment=enrichment
        )
        return compact_job(self.context, command, ignore)

    def compact(
        self, *, key: str | None = None, dry_run: bool = False, enrich: bool = True
    ) -> Compacted:
        """Run `compacting` to its end."""
        result = run(self.compacting(key=key, dry_run=dry_run, enrich=enrich))
        assert isinstance(result, Compacted)
        return result

    def roll_back(self) -> RolledBack:
        """Run a rollback to its end."""
        result = run(rollback_job(self.context, ignore))
        assert isinstance(result, RolledBack)
        return result

    @property
    def tiers(self) -> dict[str, int]:
        """How many live rows are in each tier."""
        with self.store.view() as view:
            return dict(Counter(str(head.tier) for head in view.heads()))

    @property
    def manifest(self) -> Manifest:
        with self.store.view() as view:
            return view.manifest

    def tier(self, row_id: str) -> str:
        """The tier of one row."""
        return str(self._head(row_id).tier)

    def indexed_at(self, row_id: str) -> int:
        """When one row was indexed."""
        at: int = self._head(row_id).indexed_at
        return at

    def body(self, row_id: str) -> str:
        """A row's text."""
        with self.store.view() as view:
            number = view.number(row_id)
            assert number is not None, row_id
            return view.body(number)

    def has(self, row_id: str) -> bool:
        """Whether there is such a row."""
        with self.store.view() as view:
            return view.number(row_id) is not None

    def count(self, table: str) -> int:
        """Entries of a table."""
        with self.store.view() as view:
            return view.count(table)

    def _head(self, row_id: str) -> Any:
        with self.store.view() as view:
            number = view.number(row_id)
            assert number is not None, row_id
            return view.head(number)


def run(job: Job) -> object:
    """Run *job* to its end, waiting for what it waits for."""
    while True:
        try:
            step = next(job)
        except StopIteration as end:
            return end.value
        if step is not None:
            step.exception()


def ignore(_: CompactionProgress) -> None:
    """Tell nobody."""


@contextmanager
def opened(data: Path) -> Iterator[Archive]:
    """The archive in *data*."""
    with ThreadPoolExecutor(2) as executor:
        archive = Archive(data, executor)
        try:
            yield archive
        finally:
            archive.store.close()
