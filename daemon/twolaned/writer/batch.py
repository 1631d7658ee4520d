"""Rows on their way into the index, gathered until they are published together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import Executor, Future
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.postings import PostingBatch, invert, merge
from twolaned.lanes.keyword.tokenizer import TokenBatch
from twolaned.model.row import RowDraft, RowKind, Tier
from twolaned.store.manifest import SegmentInfo
from twolaned.store.records import RowRecord
from twolaned.writer.committer import (
    Amend,
    Committer,
    Publication,
    Retier,
    StagedRow,
    now_ms,
    passage_texts,
)
from twolaned.writer.maintenance import average_length

RUN_LIMIT = 2_048
"""Passages. A publication up to this size travels in the log; a larger one seals a segment."""
STAGE_BYTES = 512 << 10
"""Bytes of text that are written in one transaction, which keeps it under about 20 ms."""
INVERT_PASSAGES = 4_096
"""Passages inverted in one step."""

Seal = Callable[[PostingBatch, NDArray[np.uint32], float], SegmentInfo]


class Outcome(StrEnum):
    """What became of a row."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclasses.dataclass(slots=True)
class Totals:
    """What a publication added to the index."""

    created: int = 0
    replaced: int = 0
    removed: int = 0
    passages: int = 0
    size: int = 0


class Batch:
    """Gathers rows and publishes them as one generation.

    Until `publish`, nothing of it is visible and a crash forgets it.
    """

    def __init__(self, committer: Committer, seal: Seal, executor: Executor) -> None:
        self._committer = committer
        self._seal = seal
        self._executor = executor
        self._reset()

    def _reset(self) -> None:
        self._rows: list[StagedRow] = []
        self._written = 0
        self._unwritten_bytes = 0
        self._ids: set[str] = set()
        self._removed: list[str] = []
        self._tokens: list[TokenBatch] = []
        self._token_passages = 0
        self._postings: list[PostingBatch] = []
        self._passage_rows: list[NDArray[np.uint32]] = []
        self._amend: list[Amend] = []
        self._retier: Retier | None = None
        self._sources_changed = False
        self.totals = Totals()

    @property
    def passages(self) -> int:
        """Passages gathered so far."""
        return self.totals.passages

    def is_empty(self) -> bool:
        """Whether publishing would change nothing."""
        return not (self._rows or self._removed or self._amend or self._retier)

    def holds(self, row_id: str) -> bool:
        """Whether a version of *row_id* waits here; publish before staging another."""
        return row_id in self._ids

    def add(
        self, draft: RowDraft, *, indexed_at: int | None = None, tier: Tier | None = None
    ) -> Outcome:
        """Gather *draft*, unless the index holds it already word for word.

        *indexed_at* and *tier* are those of a row that comes back from an export.
        """
        now = now_ms() if indexed_at is None else indexed_at
        tier = tier or _tier_of(draft.kind)
        with self._committer.store.view() as view:
            number = view.number(draft.id)
            old = None if number is None else view.record(number)
        if old is not None:
            if old.content_hash == draft.content_hash:
                return Outcome.UNCHANGED
            if old.text_hash == draft.text_hash:
                now, tier = old.indexed_at, old.tier
        body = draft.body.encode("utf-8", "replace")
        record = RowRecord.of(draft, body, tier=tier, indexed_at=now)
        staged = StagedRow(self._committer.next_number(), draft, record, body)
        tokens = self._committer.tokenizer.tokenize(passage_texts(draft, body))
        self._tokens.append(tokens)
        self._token_passages += len(draft.passages)
        self._passage_rows.append(np.full(len(draft.passages), staged.number, np.uint32))
        self._rows.append(staged)
        self._ids.add(draft.id)
        self._unwritten_bytes += len(body)
        self.totals.passages += len(draft.passages)
        self.totals.size += len(body)
        if old is None:
            self.totals.created += 1
        else:
            self.totals.replaced += 1
        if self._token_passages >= INVERT_PASSAGES:
            self._invert()
        if self._unwritten_bytes >= STAGE_BYTES:
            self._write()
        return Outcome.CREATED if old is None else Outcome.REPLACED

    def remove(self, row_id: str) -> None:
        """Take *row_id* out of the index with this publication."""
        self._removed.append(row_id)
        self.totals.removed += 1

    def amend(self, write: Amend, *, sources_changed: bool = False) -> None:
        """Do *write* in the same transaction as the publication."""
        self._amend.append(write)
        self._sources_changed |= sources_changed

    def retier(self, retier: Retier) -> None:
        """Change the tier of rows with this publication, without writing them anew."""
        self._retier = retier

    def publish_now(self) -> int:
        """Publish through the log, without waiting for anything. Returns the generation.

        Only for what fits the log: a saved note, a handful of files.
        """
        postings = self._all_postings()
        publication = self._publication()
        publication.postings = postings.to_bytes() if len(postings.lengths) else b""
        publication.passage_rows = self._all_rows().astype("<u4").tobytes()
        publication.logged = len(postings.lengths)
        return self._commit(publication)

    def fits_log(self) -> bool:
        """Whether `publish_now` is the way to go."""
        return self.passages <= RUN_LIMIT and self._committer.log_has_room(self.passages)

    def start_seal(self) -> Future[SegmentInfo]:
        """Begin to seal what was gathered into a segment, in the background."""
        postings, rows = self._all_postings(), self._all_rows()
        if not self._committer.manifest.average_fixed:
            self._committer.fix_average(average_length([postings]))
        average = self._committer.manifest.average_length
        return self._executor.submit(self._seal, postings, rows, average)

    def publish_sealed(self, segment: SegmentInfo) -> int:
        """Publish the rows together with the *segment* that holds their postings."""
        publication = self._publication()
        publication.segments_added = (segment,)
        return self._commit(publication)

    def discard(self) -> None:
        """Forget what was gathered."""
        written = [row.number for row in self._rows[: self._written]]
        self._reset()
        if written:
            self._committer.unstage(written)

    def _publication(self) -> Publication:
        rows = [
            dataclasses.replace(row, written=index < self._written)
            for index, row in enumerate(self._rows)
        ]
        return Publication(
            rows=rows,
            removed=self._removed,
            amend=self._amend,
            retier=self._retier,
            sources_changed=self._sources_changed,
        )

    def _commit(self, publication: Publication) -> int:
        generation = self._committer.publish(publication)
        self._reset()
        return generation

    def _write(self) -> None:
        self._committer.stage(self._rows[self._written :])
        # What is on disk need not stay in memory.
        self._rows[self._written :] = [
            dataclasses.replace(row, body=b"", draft=dataclasses.replace(row.draft, body=""))
            for row in self._rows[self._written :]
        ]
        self._written = len(self._rows)
        self._unwritten_bytes = 0

    def _invert(self) -> None:
        tokens = TokenBatch(
            np.concatenate([t.term_ids for t in self._tokens]),
            np.concatenate([t.lengths for t in self._tokens]),
        )
        self._postings.append(invert(tokens))
        self._tokens = []
        self._token_passages = 0

    def _all_postings(self) -> PostingBatch:
        if self._tokens:
            self._invert()
        if len(self._postings) == 1:
            return self._postings[0]
        return merge(self._postings)

    def _all_rows(self) -> NDArray[np.uint32]:
        return np.concatenate([np.empty(0, np.uint32), *self._passage_rows])


def _tier_of(kind: RowKind) -> Tier:
    return {
        RowKind.CONVERSATION: Tier.HOT,
        RowKind.DOCUMENT: Tier.DOCUMENT,
        RowKind.DIGEST: Tier.DIGEST,
    }[kind]
