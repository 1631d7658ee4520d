"""What a compaction did, or would do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Enrichment(StrEnum):
    """Who writes weekly digests."""

    OFF = "none"
    EXTRACTIVE = "extractive"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestReport:
    """A digest that was written. *id* is its week, such as ``2026-W13`` or ``2026-W13-local``."""

    id: str
    conversations: int
    """Archived conversations of the week."""
    statements: int
    replaced: bool
    """Whether it took the place of an earlier digest of the week."""
    provider: Enrichment
    fell_back: str = ""
    """Why the model's digest was not taken; empty where it was, or none was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """One compaction. Times are UTC milliseconds.

    *number* is 0 where nothing was kept of it: for a dry run, and for a run that found nothing to
    do and had no key.
    """

    number: int = 0
    idempotency_key: str = ""
    dry_run: bool = False
    started_at: int = 0
    finished_at: int = 0
    cutoff: int = 0
    """Conversations indexed before this moment were due."""
    conversations: int = 0
    """Conversations that moved to the archive."""
    content_bytes: int = 0
    """Bytes of their texts."""
    digests: tuple[DigestReport, ...] = field(default=())
    rolled_back_at: int | None = None
    restored: int = 0
    """Conversations that a rollback brought back."""
    index_generation: int = 0

    @property
    def changed(self) -> bool:
        """Whether it did anything to the index."""
        return bool(self.conversations or self.digests)


@dataclass(frozen=True, slots=True)
class CompactionProgress:
    """How far a compaction or a rollback is: *done* of *total* rows in this *phase*."""

    phase: str
    done: int
    total: int
