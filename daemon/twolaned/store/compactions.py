"""What the store keeps of compactions: the moves of rows, and how to undo them."""

from __future__ import annotations

import msgspec

from twolaned.model.compaction import CompactionReport
from twolaned.model.row import RowDraft, Tier
from twolaned.store.records import Unsealer


class Move(msgspec.Struct, frozen=True, array_like=True):
    """A row version is in *tier* as long as the manifest names *compaction*."""

    tier: Tier
    compaction: int


class KeptDigest(msgspec.Struct, frozen=True):
    """A digest whose place another one took, kept so that a rollback can bring it back."""

    draft: RowDraft
    indexed_at: int


class CompactionRecord(msgspec.Struct, frozen=True):
    """One compaction. Only the latest keeps the digests that it replaced."""

    number: int
    report: CompactionReport
    replaced: tuple[KeptDigest, ...] = ()


unseal_move = Unsealer(Move)
unseal_compaction = Unsealer(CompactionRecord)
