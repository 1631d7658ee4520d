"""What a backup is: a copy of the whole store at one generation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """A backup that is complete."""

    path: str
    generation: int
    """The index generation that was copied."""
    created_at: int
    """When it was begun, UTC milliseconds."""
    rows: int
    vectors: int
    files: int
    size: int
    """Bytes of all files."""


@dataclass(frozen=True, slots=True)
class CopyProgress:
    """Bytes copied so far, and about how many there are."""

    done: int
    total: int
