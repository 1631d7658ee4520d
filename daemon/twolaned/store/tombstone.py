"""What remains of a deleted row: enough to know it again, none of its words."""

from __future__ import annotations

import msgspec

from twolaned.store.records import Unsealer


class Tombstone(msgspec.Struct, frozen=True, array_like=True):
    """*deleted_at* is UTC milliseconds, *hashes* are those of the row's messages."""

    row_id: str
    deleted_at: int
    hashes: tuple[int, ...] = ()


unseal_tombstone = Unsealer(Tombstone)
