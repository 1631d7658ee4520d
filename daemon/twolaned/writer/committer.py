"""The store's next generation: what is live, what a commit publishes, what its log record says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from twolaned.ingest.searchable import searchable_text
from twolaned.lanes.keyword.tokenizer import BatchTokenizer, TokenBatch
from twolaned.model.row import Row, RowDraft, Tier
from twolaned.store import Store
from twolaned.store.change import Change
from twolaned.store.manifest import (
    DeadRow,
    LogRecord,
    Manifest,
    SegmentInfo,
    VectorFileInfo,
)
from twolaned.store.records import RowRecord
from twolaned.writer.vocabulary import StoreVocabulary

LOG_LIMIT = 16_384
"""Passages that the log may hold, so that replaying it at start-up stays short."""

Amend = Callable[[Change], None]


@dataclass(frozen=True, slots=True)
class StagedRow:
    """A row version that waits to be published. *written* says that its record is on disk."""

    number: int
    draft: RowDraft
    record: RowRecord
    body: bytes
    written: bool = False


@dataclass(frozen=True, slots=True)
class Retier:
    """A change of tier: the live rows *numbers* (uint32) are in *tier* from now on.

    *compactions* are those that count from now on.
    """

    numbers: bytes
    tier: Tier
    compactions: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class Publication:
    """What one commit makes visible, all at once."""

    rows: list[StagedRow] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Ids of rows that leave the index."""
    passage_rows: bytes = b""
    postings: bytes = b""
    logged: int = 0
    """Passages whose postings travel in the log."""
    segments_added: tuple[SegmentInfo, ...] = ()
    segments_removed: tuple[str, ...] = ()
    reclaimed: tuple[int, ...] = ()
    sealed_seq: int | None = None
    sealed_passages: int = 0
    """Passages that left the log with this commit."""
    trim_log: bool = False
    """Drop all sealed records at once; a reader that is behind loads the index anew."""
    average_length: float | None = None
    sources_changed: bool = False
    retier: Retier | None = None
    vectors: tuple[VectorFileInfo, ...] | None = None
    """The files of vectors from now on; None leaves them as they are."""
    amend: list[Amend] = field(default_factory=list)
    """Further writes of the same transaction."""

    def is_empty(self) -> bool:
        """Whether publishing this would change nothing."""
        return not (
            self.rows
            or self.removed
            or self.segments_added
            or self.segments_removed
            or self.amend
            or self.retier
            or self.vectors is not None
            or self.sources_changed
            or self.average_length is not None
        )


class Committer:
    """The one place that changes the main environment.

    *announce* is called with the new generation after each commit.
    """

    def __init__(self, store: Store, announce: Callable[[int], None]) -> None:
        self.store = store
        self.vocabulary = StoreVocabulary(store)
        self.tokenizer = BatchTokenizer(self.vocabulary)
        self._announce = announce
        with store.view() as view:
            self.manifest = view.manifest
            leftover = view.staged()
            self.dead = {dead.number: dead for dead in view.dead_rows()}
        self._fresh: int | None = 0
        self._died: list[int] = []
        self._next_row = max([self.manifest.next_row, *(n + 1 for n in leftover)])
        for start in range(0, len(leftover), 256):
            with store.change() as change:
                for number in leftover[start : start + 256]:
                    change.unstage_row(number)

    @property
    def generation(self) -> int:
        """The last commit's sequence number."""
        return self.manifest.generation

    def next_number(self) -> int:
        """A row number that was never used."""
        number = self._next_row
        self._next_row += 1
        return number

    def take_fresh(self) -> int | None:
        """The lowest row number that may lack a vector since this was last asked; None for none.

        Numbers are not published in order, so that looking from the last one on would miss some.
        """
        fresh, self._fresh = self._fresh, None
        return fresh

    def take_dead(self) -> list[int]:
        """The row versions that died since this was last asked."""
        died, self._died = self._died, []
        return died

    def _note_fresh(self, publication: Publication) -> None:
        numbers = [row.number for row in publication.rows]
        if publication.sources_changed:
            numbers.append(0)  # who may embed the texts of a source may have changed
        if self._fresh is not None:
            numbers.append(self._fresh)
        self._fresh = min(numbers, default=None)

    def log_has_room(self, passages: int) -> bool:
        """Whether the log may take *passages* more."""
        return self.manifest.logged_passages + passages <= LOG_LIMIT

    def fix_average(self, average: float) -> None:
        """Make *average* terms a passage the store's constant, before a segment is built."""
        self.publish(Publication(average_length=average))

    def stage(self, rows: Iterable[StagedRow]) -> None:
        """Write rows that a later publication will make visible, in a transaction of their own."""
        terms = dict(self.vocabulary.pending)
        with self.store.change() as change:
            change.put_terms(terms)
            for row in rows:
                change.stage_row(row.number, row.record, row.draft, row.body)
        self.vocabulary.written(terms)

    def unstage(self, numbers: Iterable[int]) -> None:
        """Drop staged rows that will not be published."""
        with self.store.change() as change:
            for number in numbers:
                change.unstage_row(number)

    def publish(self, publication: Publication) -> int:
        """Make *publication* durable and visible. Returns the generation it is part of.

        Raises DiskFull; nothing has changed then.
        """
        if publication.is_empty():
            return self.generation
        terms = dict(self.vocabulary.pending)
        retier = publication.retier
        sequence = self.generation + 1
        with self.store.change() as change:
            if publication.postings:
                change.put_fresh_terms(sequence, terms)
            else:
                change.put_terms(terms)
            for row in publication.rows:
                if not row.written:
                    change.stage_row(row.number, row.record, row.draft, row.body)
            dead = self._bury(change, publication)
            for row in publication.rows:
                change.publish_row(row.number, row.draft.id)
            change.reclaim_dead(publication.reclaimed)
            for number in publication.reclaimed:
                change.drop_row(number)
            for amend in publication.amend:
                amend(change)
            record = LogRecord(
                rows=np.array([r.number for r in publication.rows], "<u4").tobytes(),
                passage_rows=publication.passage_rows,
                postings=publication.postings,
                dead=tuple(dead),
                segments_added=publication.segments_added,
                segments_removed=publication.segments_removed,
                reclaimed=publication.reclaimed,
                sealed_seq=publication.sealed_seq or self.manifest.sealed_seq,
                sources_changed=publication.sources_changed,
                moved=b"" if retier is None else retier.numbers,
                moved_to=None if retier is None else retier.tier,
            )
            manifest = self._next_manifest(sequence, publication)
            change.append_log(sequence, record)
            change.trim_log(manifest.log_start)
            change.put_manifest(manifest)
        self.vocabulary.written(terms)
        self.manifest = manifest
        self.dead.update((d.number, d) for d in dead)
        self._died += [d.number for d in dead]
        for number in publication.reclaimed:
            self.dead.pop(number, None)
        self._note_fresh(publication)
        self._announce(sequence)
        return sequence

    def _next_manifest(self, sequence: int, publication: Publication) -> Manifest:
        old = self.manifest
        gone = set(publication.segments_removed)
        kept = tuple(s for s in old.segments if s.id not in gone)
        sealing = publication.sealed_seq is not None
        average = publication.average_length
        retier = publication.retier
        return msgspec.structs.replace(
            old,
            generation=sequence,
            segments=kept + publication.segments_added,
            sealed_seq=publication.sealed_seq if sealing else old.sealed_seq,
            log_start=self._log_start(publication),
            logged_passages=old.logged_passages + publication.logged - publication.sealed_passages,
            next_row=self._next_row,
            next_term=self.vocabulary.next_term,
            average_length=old.average_length if average is None else average,
            average_fixed=old.average_fixed or average is not None,
            compactions=old.compactions if retier is None else retier.compactions,
            vectors=old.vectors if publication.vectors is None else publication.vectors,
        )

    def _log_start(self, publication: Publication) -> int:
        if publication.trim_log and publication.sealed_seq is not None:
            return publication.sealed_seq + 1
        # One seal's worth of sealed records stays, so that a reader that is a little behind can
        # still follow record by record.
        if publication.sealed_seq is not None:
            return self.manifest.sealed_seq + 1
        return self.manifest.log_start

    def forget_words(self) -> None:
        """Look all terms up anew from now on: some may have left the store."""
        self.tokenizer = BatchTokenizer(self.vocabulary)

    def _bury(self, change: Change, publication: Publication) -> list[DeadRow]:
        """Take the live versions that *publication* replaces or removes out of the index."""
        dead = []
        for row in publication.rows:
            number = change.number(row.draft.id)
            if number is not None:
                dead.append(self._dead_row(change, number))
        for row_id in publication.removed:
            number = change.number(row_id)
            if number is not None:
                dead.append(self._dead_row(change, number))
                change.unlist_row(row_id)
        for entry in dead:
            change.put_dead(entry)
        return dead

    def _dead_row(self, change: Change, number: int) -> DeadRow:
        row = change.row(number)
        assert row is not None, f"live row {number} has no record"
        batch = self.tokenizer.tokenize(passage_texts(row, change.body_bytes(number)))
        term_ids, counts = document_counts(batch)
        return DeadRow(
            number,
            len(row.passages),
            term_ids.astype("<u4").tobytes(),
            counts.astype("<u4").tobytes(),
        )


def passage_texts(row: Row | RowDraft, body: bytes) -> list[str]:
    """What the keyword lane tokenizes for each passage of *row*, whose body is *body* in UTF-8."""
    return [
        searchable_text(
            row.title,
            row.occurred_at,
            passage,
            body[passage.offset : passage.offset + passage.length].decode("utf-8", "replace"),
        )
        for passage in row.passages
    ]


def document_counts(batch: TokenBatch) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The distinct terms of *batch* and in how many of its passages each occurs."""
    passages = np.repeat(np.arange(len(batch.lengths), dtype=np.uint64), batch.lengths)
    pairs = np.unique((batch.term_ids.astype(np.uint64) << np.uint64(32)) | passages)
    terms, counts = np.unique((pairs >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return terms, counts.astype(np.int64)


def now_ms() -> int:
    """The time that rows are stamped with: UTC milliseconds."""
    return time.time_ns() // 1_000_000
