"""How much of what somebody hands in is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    """Budgets of one import or scan. Sizes are bytes."""

    max_document_bytes: int = 2 << 20
    """Of a file in a folder of documents."""
    max_line_bytes: int = 64 << 20
    """Of a line of a session file; a longer one is skipped without being held."""
    max_element_bytes: int = 256 << 20
    """Of one conversation in an export."""
    max_entry_bytes: int = 8 << 30
    """Of an archive's entry, inflated."""
    max_inflated_bytes: int = 32 << 30
    """Of all that an archive inflates to, those inside it included."""
    max_ratio: int = 200
    """Inflated to stored bytes, judged once an entry has given `RATIO_FROM` bytes."""
    max_entries: int = 200_000
    max_zip_depth: int = 2
    """Archives inside archives."""


RATIO_FROM = 16 << 20
