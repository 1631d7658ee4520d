"""Undoing the most recent compaction."""

from __future__ import annotations

import dataclasses
from functools import partial

import msgspec

from twolaned.model.compaction import CompactionProgress
from twolaned.model.errors import NotFound
from twolaned.model.row import Tier
from twolaned.store.change import Change
from twolaned.store.compactions import CompactionRecord
from twolaned.writer.committer import Retier, now_ms
from twolaned.writer.context import Job, JobContext, TellCompaction
from twolaned.writer.moves import moved_by, packed, still_live, sweep_moves
from twolaned.writer.protocol import RolledBack


def rollback_job(context: JobContext, tell: TellCompaction) -> Job:
    """Bring rows that have not changed since back to where they were, and earlier digests.

    Raises NotFound where there is no compaction that changed something.
    """
    committer = context.committer
    store = committer.store
    with store.view() as view:
        latest = next((r for r in view.compactions() if r.report.changed), None)
    if latest is None:
        raise NotFound(
            "Nothing was compacted yet, so there is nothing to roll back.",
            reason="NOTHING_TO_ROLL_BACK",
        )
    if latest.report.rolled_back_at is not None:
        return RolledBack(latest.report, repeated=True)
    yield from sweep_moves(store)
    total = latest.report.conversations
    tell(CompactionProgress("looking", 0, total))
    began_at, dead = committer.generation, set(committer.dead)
    moved = yield from moved_by(store, latest.number)
    earlier = {kept.draft.id: kept for kept in latest.replaced}
    batch = context.batch()
    try:
        for digest in latest.report.digests:
            kept = earlier.get(digest.id)
            if context.tombstones.keep_out(digest.id):
                continue
            if kept is None:
                batch.remove(digest.id)
            else:
                batch.add(kept.draft, indexed_at=kept.indexed_at)
        sealing = None
        if not batch.fits_log():
            sealing = batch.start_seal()
            yield sealing
        live = still_live(store, [n for n in moved if n not in dead], began_at)
        report = dataclasses.replace(
            latest.report,
            rolled_back_at=now_ms(),
            restored=len(live),
            index_generation=committer.generation + 1,
        )
        left = tuple(n for n in committer.manifest.compactions if n != latest.number)
        batch.retier(Retier(packed(live), Tier.HOT, left))
        record = msgspec.structs.replace(latest, report=report, replaced=())
        batch.amend(partial(_remember, record=record))
        if sealing is None:
            batch.publish_now()
        else:
            batch.publish_sealed(sealing.result())
    finally:
        batch.discard()
    yield from sweep_moves(store)
    return RolledBack(report)


def _remember(change: Change, *, record: CompactionRecord) -> None:
    change.put_compaction(record)
    # Its moves no longer count and are removed in small steps.
    change.set_moving(record.number)
