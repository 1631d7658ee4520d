"""How far a reading has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """Bytes done of those there are, files opened so far, and the one in hand."""

    bytes_done: int
    bytes_total: int
    files_seen: int
    current: str
