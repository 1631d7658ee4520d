"""What an import or a scan did, so that nothing is skipped in silence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from twolane.cli import phrases, terminal, text

if TYPE_CHECKING:
    from twolane.v1.common_pb2 import ImportTotals, SkipCount

REASONS = {
    "account_data": "logins and payments: never opened",
    "ambiguous_export": "two exports in one: import each",
    "archive_too_large": "more than may be unpacked",
    "bad_conversation": "a conversation that cannot be read",
    "bad_line": "a line that cannot be read",
    "bad_record": "a record that cannot be read",
    "bad_utf8": "bytes that are no text, replaced",
    "bad_zip": "a damaged archive: download it again",
    "binary": "not text",
    "compression_ratio": "an archive that would blow up",
    "conversation_too_large": "larger than the limit",
    "cycle": "messages in a circle, cut there",
    "deleted": "you deleted it",
    "duplicate": "the same again",
    "empty_conversation": "no words in it",
    "empty_document": "nothing in it",
    "empty_file": "nothing in it",
    "encrypted_entry": "protected by a password",
    "entry_too_large": "more than may be unpacked",
    "excluded": "left out by a pattern",
    "ignored": "left out by an ignore file",
    "line_too_long": "a line above the limit",
    "link": "a link: what it leads to is not read",
    "machine_file": "written by tools for tools",
    "no_conversations": "no conversations in it",
    "not_conversations": "no conversations in it",
    "not_json": "no JSON, or damaged",
    "pending_line": "a last line still being written",
    "same_name": "a name that is there already",
    "secret_file": "holds keys or passwords",
    "special_file": "no plain file",
    "too_large": "larger than the limit",
    "too_many_entries": "too many files in the archive",
    "tool_folder": "a folder that tools fill",
    "truncated": "file is cut off",
    "unknown_block": "unknown kind of content",
    "unknown_line": "unknown kind of record",
    "unknown_schema": "unknown format",
    "unreadable": "not readable: check its rights",
    "unreadable_name": "a name that is not UTF-8",
    "uploaded_file": "what you uploaded, not a chat",
    "unsafe_entry_name": "unsafe name in the archive",
    "zip_too_deep": "archives too deep inside archives",
}
"""Reasons for skipping, as people say them; a reason that is not here is shown as it is."""


WHY_CELLS = 36
"""Cells for the reason in the table of what was not taken."""


def rows_taken(totals: ImportTotals) -> int:
    """Return how many rows are in the index because of, or confirmed by, this import."""
    return totals.rows_new + totals.rows_replaced + totals.rows_unchanged


def summary(totals: ImportTotals, name: str) -> Iterator[str]:
    """Yield the lines that say what came of importing *name*."""
    what = phrases.joined(
        (
            text.line(totals.provider),
            phrases.count(totals.conversations, "conversation") if totals.conversations else "",
            phrases.count(totals.documents, "document") if totals.documents else "",
            phrases.count(totals.messages, "message") if totals.messages else "",
            phrases.size(totals.bytes_seen),
        )
    )
    cells = terminal.columns()
    yield terminal.bold(text.fit_middle(text.line(name), cells))
    yield "  " + text.fit(what, cells - 2)
    yield "  " + changes(totals)
    yield from skipped(totals.skips)


def changes(totals: ImportTotals) -> str:
    """Return what changed in the index, in one line."""
    parts = [
        f"{totals.rows_new:,} new",
        f"{totals.rows_replaced:,} replaced",
        f"{totals.rows_unchanged:,} unchanged",
    ]
    if totals.rows_removed:
        parts.append(f"{totals.rows_removed:,} removed")
    if totals.files_unchanged:
        parts.append(phrases.count(totals.files_unchanged, "file") + " not touched since")
    return ", ".join(parts)


def skipped(skips: Sequence[SkipCount]) -> Iterator[str]:
    """Yield a table of what was seen and not taken; nothing if all was taken."""
    if not skips:
        return
    rows = []
    for skip in sorted(skips, key=lambda skip: -skip.count):
        reason = REASONS.get(skip.reason, text.line(skip.reason).replace("_", " "))
        if skip.detail:
            reason += f" ({text.line(skip.detail)})"
        reason = text.fit(reason, WHY_CELLS)
        example = text.line(skip.examples[0]) if skip.examples else ""
        rows.append(
            (f"{skip.count:,}", phrases.size(skip.size) if skip.size else "", reason, example)
        )
    yield ""
    yield "  Not taken:"
    yield from terminal.table(
        rows,
        head=("count", "size", "why", "for example"),
        right=(0, 1),
        flexible=3,
        indent="  ",
    )
