"""What an import or a scan did, so that nothing is skipped in silence."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that was seen and not taken.

    *reason* is a stable code (``binary``, ``too_large``, ``bad_line``, ``unknown_block``,
    ``unsafe_entry_name``, ``empty_conversation``, …); *where* names a file, an archive entry or a
    record, for the person to find it; *detail* narrows the reason, such as the block's type.
    """

    reason: str
    where: str
    count: int = 1
    size: int = 0
    detail: str = ""


@dataclass(slots=True)
class SkipTotal:
    """All skips of one reason and detail together, with the first places as examples."""

    reason: str
    detail: str = ""
    count: int = 0
    size: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ImportReport:
    """The running totals of one import or scan. Sizes are bytes."""

    provider: str = ""
    """The format that was recognised; ``mixed`` for several, empty while none was."""
    files_seen: int = 0
    files_unchanged: int = 0
    bytes_seen: int = 0
    bytes_total: int = 0
    bytes_indexed: int = 0
    rows_new: int = 0
    rows_replaced: int = 0
    rows_unchanged: int = 0
    rows_removed: int = 0
    conversations: int = 0
    documents: int = 0
    messages: int = 0
    passages: int = 0
    current: str = ""
    """The file or archive entry in hand."""
    skips: dict[tuple[str, str], SkipTotal] = field(default_factory=dict)

    MAX_EXAMPLES = 3

    def add_skip(self, skip: Skip) -> None:
        """Count *skip* under its reason and detail."""
        total = self.skips.setdefault(
            (skip.reason, skip.detail), SkipTotal(skip.reason, skip.detail)
        )
        total.count += skip.count
        total.size += skip.size
        if len(total.examples) < self.MAX_EXAMPLES:
            total.examples.append(skip.where)

    @property
    def rows(self) -> int:
        """Rows that are now in the index because of, or confirmed by, this import."""
        return self.rows_new + self.rows_replaced + self.rows_unchanged
