"""Writing digests, and making them forget what was deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from twolaned.compaction.digest import draft_digest, restore_digest, without
from twolaned.compaction.enrichment import write_lines
from twolaned.compaction.models import model_for
from twolaned.compaction.plan import Period, moment_of
from twolaned.compaction.statements import Statement, statements_of
from twolaned.model.compaction import DigestReport, Enrichment
from twolaned.model.row import RowDraft, RowKind, Tier, evidence_key
from twolaned.store import Store
from twolaned.store.change import Change
from twolaned.store.compactions import KeptDigest
from twolaned.store.view import View
from twolaned.writer.batch import Batch
from twolaned.writer.context import JobContext

ROWS_AT_ONCE = 64
"""Rows read in one transaction."""


@dataclass(frozen=True, slots=True)
class NewDigest:
    """A digest to be published, what to say of it, and the one whose place it takes."""

    draft: RowDraft
    report: DigestReport
    replaced: KeptDigest | None


def write_digest(
    store: Store, period: Period, enrichment: Enrichment, model: str, *, dry_run: bool
) -> NewDigest | None:
    """The digest of *period*; None where there is nothing to say or nothing new.

    Blocks, for minutes where a model writes. A dry run asks no model: it expects its success.
    """
    statements, latest = _material(store, period)
    asked = None if dry_run else model_for(enrichment, model, local=period.local)
    written = write_lines(statements, asked)
    if not written.lines:
        return None
    provider = enrichment if dry_run else written.provider
    draft = draft_digest(period, written.lines, provider=str(provider), occurred_at=latest)
    with store.view() as view:
        replaced = kept_digest(view, period.id)
    if replaced is not None and replaced.draft.content_hash == draft.content_hash:
        return None
    report = DigestReport(
        id=draft.id,
        conversations=len(period.numbers),
        statements=len(written.lines),
        replaced=replaced is not None,
        provider=provider,
        fell_back=written.fell_back,
    )
    return NewDigest(draft, report, replaced)


def _material(store: Store, period: Period) -> tuple[list[Statement], int]:
    """The statements of the period's conversations, and when the latest of these took place."""
    statements: list[Statement] = []
    moments: list[int] = []
    for start in range(0, len(period.numbers), ROWS_AT_ONCE):
        with store.view() as view:
            for row in view.many(period.numbers[start : start + ROWS_AT_ONCE]):
                spans = view.messages(row.number)
                statements += statements_of(row, view.body_bytes(row.number), spans)
                moments.append(moment_of(row))
    return statements, max(moments, default=0)


def kept_digest(view: View, row_id: str) -> KeptDigest | None:
    """The live digest *row_id*, complete enough to be written again."""
    number = view.number(row_id)
    row = None if number is None else view.row(number)
    if row is None or row.kind is not RowKind.DIGEST:
        return None
    draft = restore_digest(row, view.body(row.number), view.messages(row.number))
    return KeptDigest(draft, row.indexed_at)


def forget_in_digests(context: JobContext, batch: Batch, row_ids: Sequence[str]) -> None:
    """Take what stands on the conversations *row_ids* out of all digests, with *batch*.

    That holds for digests that a rollback would bring back, too.
    """
    keys = frozenset(evidence_key(RowKind.CONVERSATION, row_id) for row_id in row_ids)
    with context.committer.store.view() as view:
        digests = [kept for row_id in _digest_ids(view) if (kept := kept_digest(view, row_id))]
        rolls_back = any(record.replaced for record in view.compactions())
    for kept in digests:
        if kept.draft.id in row_ids:
            continue
        left = without(kept.draft, keys)
        if left is None:
            batch.remove(kept.draft.id)
        elif left is not kept.draft:
            batch.add(left, indexed_at=kept.indexed_at, tier=Tier.DIGEST)
    if rolls_back:
        batch.amend(partial(_forget_kept, keys=keys, row_ids=frozenset(row_ids)))


def _digest_ids(view: View) -> list[str]:
    # Ids of digests begin with a year.
    records = map(view.record, view.numbers_between("0", ":"))
    return [record.id for record in records if record and record.kind is RowKind.DIGEST]


def _forget_kept(change: Change, *, keys: frozenset[str], row_ids: frozenset[str]) -> None:
    for record in list(change.compactions()):
        kept = tuple(
            KeptDigest(draft, each.indexed_at)
            for each in record.replaced
            if each.draft.id not in row_ids and (draft := without(each.draft, keys)) is not None
        )
        if kept != record.replaced:
            change.put_compaction(msgspec.structs.replace(record, replaced=kept))
