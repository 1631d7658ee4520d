"""Moving old conversations to the archive, and writing the digests of their weeks."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from functools import partial

import msgspec

from twolaned.compaction.plan import Plan, Planner
from twolaned.model.compaction import CompactionProgress, CompactionReport, Enrichment
from twolaned.model.row import Tier
from twolaned.store.change import Change
from twolaned.store.compactions import CompactionRecord
from twolaned.store.view import View
from twolaned.writer.committer import Retier, now_ms
from twolaned.writer.context import Job, JobContext, Step, TellCompaction
from twolaned.writer.digests import NewDigest, write_digest
from twolaned.writer.moves import packed, stage_moves, still_live, sweep_moves
from twolaned.writer.protocol import Compact, Compacted

ROWS_AT_ONCE = 512
"""Rows looked at in one step."""


def compact_job(context: JobContext, command: Compact, tell: TellCompaction) -> Job:
    """Carry *command* out. Until its one publication at the end, nothing of it is visible."""
    store, started = context.committer.store, now_ms()
    with store.view() as view:
        earlier = _answered(view, command.idempotency_key)
    if earlier is not None:
        return Compacted(earlier.report, repeated=True)
    cutoff = started - command.older_than_ms
    enriched = command.enrichment is not Enrichment.OFF
    planned_at = context.committer.generation
    plan = yield from _planned(context, cutoff, tell, digests=enriched)
    digests = yield from _digests(context, plan, command, tell)
    report = CompactionReport(
        idempotency_key=command.idempotency_key or "",
        dry_run=command.dry_run,
        started_at=started,
        cutoff=cutoff,
        conversations=len(plan.due),
        content_bytes=plan.content_bytes,
        digests=tuple(digest.report for digest in digests),
        index_generation=context.committer.generation,
    )
    if command.dry_run or not (report.changed or command.idempotency_key):
        return Compacted(dataclasses.replace(report, finished_at=now_ms()))
    report = yield from _carried_out(context, report, plan, digests, planned_at, tell)
    return Compacted(report)


def _answered(view: View, key: str | None) -> CompactionRecord | None:
    if key is None:
        return None
    return next((r for r in view.compactions() if r.report.idempotency_key == key), None)


def _planned(
    context: JobContext, cutoff: int, tell: TellCompaction, *, digests: bool
) -> Generator[Step, None, Plan]:
    store = context.committer.store
    planner = Planner(cutoff)
    with store.view() as view:
        numbers = view.numbers()
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        with store.view() as view:
            for row in view.many(numbers[start : start + ROWS_AT_ONCE]):
                planner.look_at(row)
        tell(CompactionProgress("looking", min(start + ROWS_AT_ONCE, len(numbers)), len(numbers)))
        yield None
    return planner.plan(digests=digests)


def _digests(
    context: JobContext, plan: Plan, command: Compact, tell: TellCompaction
) -> Generator[Step, None, list[NewDigest]]:
    found = []
    for done, period in enumerate(plan.periods):
        tell(CompactionProgress("digests", done, len(plan.periods)))
        if context.tombstones.keep_out(period.id):
            continue
        writing = context.executor.submit(
            write_digest,
            context.committer.store,
            period,
            command.enrichment,
            command.model,
            dry_run=command.dry_run,
        )
        yield writing
        digest = writing.result()
        if digest is not None:
            found.append(digest)
    return found


def _carried_out(
    context: JobContext,
    report: CompactionReport,
    plan: Plan,
    digests: list[NewDigest],
    planned_at: int,
    tell: TellCompaction,
) -> Generator[Step, None, CompactionReport]:
    committer = context.committer
    store = committer.store
    yield from sweep_moves(store)
    with store.view() as view:
        number = 1 + max((r.number for r in view.compactions()), default=0)
    batch = context.batch()
    try:
        for digest in digests:
            batch.add(digest.draft)
            yield None
        for done in stage_moves(store, plan.due, number):
            tell(CompactionProgress("moving", done, len(plan.due)))
            yield None
        sealing = None
        if not batch.fits_log():
            sealing = batch.start_seal()
            yield sealing
        # A save may have brought a newer version of a row in the meantime: that one stays hot.
        live = still_live(store, plan.due, planned_at)
        report = dataclasses.replace(
            report,
            number=number,
            conversations=len(live),
            finished_at=now_ms(),
            index_generation=committer.generation + 1,
        )
        replaced = tuple(d.replaced for d in digests if d.replaced is not None)
        record = CompactionRecord(number, report, replaced)
        if report.changed:
            active = (*committer.manifest.compactions, number)
            batch.retier(Retier(packed(live), Tier.COLD, active))
        batch.amend(partial(_remember, record=record))
        if sealing is None:
            batch.publish_now()
        else:
            batch.publish_sealed(sealing.result())
    finally:
        batch.discard()
    return report


def _remember(change: Change, *, record: CompactionRecord) -> None:
    if record.report.changed:
        # An earlier compaction can no longer be rolled back.
        for earlier in list(change.compactions()):
            if earlier.replaced:
                change.put_compaction(msgspec.structs.replace(earlier, replaced=()))
    change.put_compaction(record)
    change.set_moving(None)
