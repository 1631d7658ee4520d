"""Deleting rows, so that neither a scan nor an import brings them back."""

from __future__ import annotations

from functools import partial

from twolaned.store.change import Change
from twolaned.store.tombstone import Tombstone
from twolaned.store.view import View
from twolaned.writer.committer import now_ms
from twolaned.writer.context import Job, JobContext
from twolaned.writer.digests import forget_in_digests
from twolaned.writer.protocol import Delete, Deleted
from twolaned.writer.purge import purge
from twolaned.writer.tombstones import tombstone_of

AT_ONCE = 64
"""Rows that leave with one commit, which keeps a save's wait short."""


def delete_job(context: JobContext, command: Delete) -> Job:
    """Delete the rows that *command* names, those that are there."""
    deleted = 0
    ids = list(dict.fromkeys(command.ids))
    for start in range(0, len(ids), AT_ONCE):
        now = now_ms()
        with context.committer.store.view() as view:
            there = [i for i in ids[start : start + AT_ONCE] if view.number(i) is not None]
            tombstones = [tombstone_of(view, row_id, now) for row_id in there]
            keys = frozenset(key for i in there if (key := _evidence_key(view, i)))
        batch = context.batch()
        for tombstone in tombstones:
            batch.remove(tombstone.row_id)
            batch.amend(partial(_bury, tombstone=tombstone))
        batch.amend(partial(_forget, evidence_keys=keys))
        forget_in_digests(context, batch, there)
        batch.publish_now()
        deleted += len(there)
        yield None
    if command.purge:
        yield from purge(context)
    return Deleted(deleted)


def _evidence_key(view: View, row_id: str) -> str:
    number = view.number(row_id)
    head = None if number is None else view.head(number)
    return "" if head is None else head.evidence_key


def _bury(change: Change, *, tombstone: Tombstone) -> None:
    change.put_tombstone(tombstone)


def _forget(change: Change, *, evidence_keys: frozenset[str]) -> None:
    change.forget_feedback((), evidence_keys)
