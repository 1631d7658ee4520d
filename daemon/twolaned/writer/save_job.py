"""Keeping one conversation or note, at once."""

from __future__ import annotations

import msgspec

from twolaned.ingest.saved import SavedNote, draft_saved
from twolaned.writer.batch import Outcome
from twolaned.writer.context import Job, JobContext
from twolaned.writer.protocol import Save, Saved


def save_job(context: JobContext, save: Save) -> Job:
    """Save *save* and answer with its row's id, outcome, rating and warnings."""
    note = SavedNote(**msgspec.structs.asdict(save))
    draft, warnings = draft_saved(note)
    with context.committer.store.view() as view:
        number = view.number(draft.id)
        known = None if number is None else view.record(number)
    if known is not None and save.idempotency_key and not save.replace_idempotency_key:
        # The same key names the same conversation: the first answer stands, whatever came since.
        return Saved(
            id=draft.id, outcome=Outcome.UNCHANGED, quality=known.quality, warnings=warnings
        )
    batch = context.batch()
    outcome = batch.add(draft)
    if outcome is not Outcome.UNCHANGED:
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
