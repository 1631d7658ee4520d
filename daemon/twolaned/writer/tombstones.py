"""Keeping out what the person has deleted."""

from __future__ import annotations

from dataclasses import replace

from twolaned.ingest.merge import restore_conversation
from twolaned.ingest.message_hash import TELLING, message_hash, weight
from twolaned.model.conversation import Conversation
from twolaned.model.row import RowKind
from twolaned.store import Store
from twolaned.store.tombstone import Tombstone
from twolaned.store.view import View

SHARED = 2
"""Telling messages that a conversation must share with deleted ones to count as a copy."""


class Tombstones:
    """What was deleted, by row id and by the hashes of its messages."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep_out(self, row_id: str) -> bool:
        """Whether *row_id* was deleted and has not been saved or added anew since."""
        with self._store.view() as view:
            return view.tombstone(row_id) is not None

    def without_deleted(self, conversation: Conversation) -> Conversation | None:
        """*conversation* without what was deleted; None where nothing of it may come back.

        A conversation of another id is a copy where it shares two telling messages with deleted
        ones; it loses all messages that were deleted. Otherwise it stays as it is: many
        conversations hold the same short request.
        """
        with self._store.view() as view:
            if view.tombstone(conversation.id) is not None:
                return None
            if not view.count("buried"):
                return conversation
            buried = [
                (found := message_hash(message)) is not None and view.is_buried(found)
                for message in conversation.messages
            ]
        telling = sum(
            gone and weight(message) >= TELLING
            for gone, message in zip(buried, conversation.messages, strict=True)
        )
        if telling < SHARED:
            return conversation
        left = tuple(
            message for gone, message in zip(buried, conversation.messages, strict=True) if not gone
        )
        return replace(conversation, messages=left) if any(m.text.strip() for m in left) else None


def tombstone_of(view: View, row_id: str, deleted_at: int) -> Tombstone:
    """What is to remain of the live row *row_id*."""
    number = view.number(row_id)
    row = None if number is None else view.row(number)
    if row is None or row.kind is not RowKind.CONVERSATION:
        return Tombstone(row_id, deleted_at)
    spans = view.messages(row.number)
    conversation = restore_conversation(row, view.body_bytes(row.number), spans)
    found = (message_hash(message) for message in conversation.messages)
    return Tombstone(row_id, deleted_at, tuple(sorted({h for h in found if h is not None})))
