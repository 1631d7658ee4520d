"""Keeping one conversation or note, at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import msgspec

from twolaned.ingest.drafts import hashed
from twolaned.ingest.saved import SavedNote, draft_saved
from twolaned.model.row import RowDraft
from twolaned.store.change import Change
from twolaned.store.records import RowRecord
from twolaned.writer.batch import Outcome
from twolaned.writer.committer import now_ms
from twolaned.writer.context import Job, JobContext
from twolaned.writer.protocol import Save, Saved


def save_job(context: JobContext, save: Save) -> Job:
    """Save *save* and answer with its row's id, outcome, rating and warnings."""
    key, replaced = save.idempotency_key, save.replace_idempotency_key
    earlier = None if key is None or key == replaced else _saved(context, save.source, key)
    if earlier is not None:
        # The same key names the same conversation: the first answer stands, whatever came since.
        return Saved(id=earlier.id, outcome=Outcome.UNCHANGED, quality=earlier.quality)
    before = None if replaced is None else _saved(context, save.source, replaced)
    draft, warnings = draft_saved(
        SavedNote(**msgspec.structs.asdict(save)), None if before is None else before.id
    )
    draft = _timed(draft, _live(context, draft.id))
    batch = context.batch()
    outcome = batch.add(draft)
    if context.tombstones.keep_out(draft.id):
        # Saving is the person's own wish, later than the deletion.
        batch.amend(partial(_bring_back, row_id=draft.id))
    for name in {key, replaced} - {None}:
        batch.amend(partial(_remember, source=save.source, key=str(name), row_id=draft.id))
    try:
        if batch.fits_log():
            batch.publish_now()
        else:
            sealing = batch.start_seal()
            yield sealing
            batch.publish_sealed(sealing.result())
    except BaseException:
        batch.discard()
        raise
    return Saved(id=draft.id, outcome=outcome, quality=draft.quality, warnings=warnings)


def _remember(change: Change, *, source: str, key: str, row_id: str) -> None:
    change.put_saved(source, key, row_id)


def _bring_back(change: Change, *, row_id: str) -> None:
    change.lift_tombstone(row_id)


def _saved(context: JobContext, source: str, key: str) -> RowRecord | None:
    """The live row that *source* saved under *key*."""
    with context.committer.store.view() as view:
        row_id = view.saved_row(source, key)
    return None if row_id is None else _live(context, row_id)


def _live(context: JobContext, row_id: str) -> RowRecord | None:
    with context.committer.store.view() as view:
        number = view.number(row_id)
        return None if number is None else view.record(number)


def _timed(draft: RowDraft, known: RowRecord | None) -> RowDraft:
    """*draft* with a time: its own, else that of the version before it, else now."""
    if draft.occurred_at is not None:
        return draft
    at = now_ms() if known is None else known.occurred_at
    return hashed(replace(draft, occurred_at=at, created_at=at))
