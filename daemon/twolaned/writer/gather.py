"""Taking rows in bulk: staged as they come, published every few seconds."""

from __future__ import annotations

import time
from collections.abc import Generator

from twolaned.ingest.archived import ArchivedRow
from twolaned.ingest.drafts import draft_conversation
from twolaned.ingest.merge import conversation_of, merge_conversations, restore_conversation
from twolaned.model.conversation import Conversation
from twolaned.model.report import ImportReport, Skip
from twolaned.model.row import RowDraft, RowKind, Tier
from twolaned.writer.batch import Batch, Outcome
from twolaned.writer.context import JobContext, Step

PUBLISH_PASSAGES = 32_768
"""Passages gathered at the most before they are published."""
PUBLISH_SECONDS = 3.0
"""How long gathered rows may wait before a person can find them."""

DELETED = "deleted"
"""The reason of what stays out because the person deleted it."""


class Gatherer:
    """Feeds one batch and counts into *report* what has become part of the index."""

    def __init__(self, context: JobContext, report: ImportReport) -> None:
        self._context = context
        self._report = report
        self.batch: Batch = context.batch()
        self._published_at = time.monotonic()

    def take_conversation(self, conversation: Conversation) -> Generator[Step, None, None]:
        """Take *conversation*, united with what the index holds of it."""
        left = self._context.tombstones.without_deleted(conversation)
        if left is None:
            self._report.add_skip(Skip(DELETED, conversation.title or conversation.id))
            return
        conversation = left
        draft = draft_conversation(conversation)
        if self.batch.holds(draft.id):
            yield from self.publish()
        with self._context.committer.store.view() as view:
            number = view.number(draft.id)
            row = None if number is None else view.row(number)
            if row is not None and row.content_hash != draft.content_hash:
                stored = restore_conversation(
                    row, view.body_bytes(row.number), view.messages(row.number)
                )
                draft = draft_conversation(merge_conversations(stored, conversation))
        yield from self.take(draft)

    def take_archived(self, archived: ArchivedRow) -> Generator[Step, None, None]:
        """Take a row of our own export; what the index holds of it already stays."""
        draft = archived.draft
        with self._context.committer.store.view() as view:
            there = self.batch.holds(draft.id) or view.number(draft.id) is not None
        if not there:
            yield from self.take(draft, indexed_at=archived.indexed_at, tier=archived.tier)
        elif draft.kind is RowKind.CONVERSATION and draft.messages:
            yield from self.take_conversation(conversation_of(draft))
        else:
            self._report.rows_unchanged += 1

    def take(
        self, draft: RowDraft, *, indexed_at: int | None = None, tier: Tier | None = None
    ) -> Generator[Step, None, None]:
        """Take one row and publish where enough has gathered."""
        if self._context.tombstones.keep_out(draft.id):
            self._report.add_skip(Skip(DELETED, draft.path or draft.title))
            return
        if self.batch.holds(draft.id):
            yield from self.publish()
        if self.batch.add(draft, indexed_at=indexed_at, tier=tier) is Outcome.UNCHANGED:
            self._report.rows_unchanged += 1
        waited = time.monotonic() - self._published_at
        if self.batch.passages >= PUBLISH_PASSAGES or waited >= PUBLISH_SECONDS:
            yield from self.publish()
        else:
            yield None

    def publish(self) -> Generator[Step, None, None]:
        """Publish what has gathered."""
        self._published_at = time.monotonic()
        if self.batch.is_empty():
            return
        totals = self.batch.totals
        if self.batch.fits_log():
            self.batch.publish_now()
        else:
            sealing = self.batch.start_seal()
            yield sealing
            self.batch.publish_sealed(sealing.result())
        report = self._report
        report.rows_new += totals.created
        report.rows_replaced += totals.replaced
        report.rows_removed += totals.removed
        report.passages += totals.passages
        report.bytes_indexed += totals.size
        self._published_at = time.monotonic()
