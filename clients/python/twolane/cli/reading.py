"""An opened row as a person reads it: its head, and its messages with who wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from twolane.cli import phrases, terminal, text
from twolane.words import word

if TYPE_CHECKING:
    from twolane.v1.search_service_pb2 import EvidenceMessage, OpenEvidenceResponse

NAME_CELLS = 11
"""Cells for the names that stand beside what was saved with a row."""

_NAMES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def head(row: OpenEvidenceResponse, *, brief: bool = False) -> Iterator[str]:
    """Yield the lines that stand above a row's text; *brief* leaves out what was saved with it."""
    from twolane.v1 import common_pb2

    cells = terminal.columns()
    moment = phrases.moment_of(row, "occurred_at", "created_at", "indexed_at")
    tier = word(common_pb2.Tier.DESCRIPTOR, row.tier)
    facts = phrases.joined(
        (
            text.line(row.source),
            phrases.minute(moment) if moment else "",
            text.line(row.project),
            text.line(row.git_branch),
            phrases.count(row.message_count, "message") if row.message_count else "",
            phrases.size(row.content_bytes),
            "archive" if tier == "cold" else "",
        )
    )
    yield terminal.bold(text.fit(text.line(row.title) or "Untitled", cells))
    yield terminal.dim(text.fit(facts, cells))
    for name, value in (("id", row.id), ("file", row.path), ("folder", row.cwd)):
        if value:
            yield terminal.dim(f"{name} {text.line(value)}")
    if not brief:
        yield from _notes("Summary", [row.summary] if row.summary else [], cells)
        yield from _notes("Decisions", row.decisions, cells)
        yield from _notes("Outputs", row.key_outputs, cells)
        yield from _notes("Topics", [", ".join(row.topics)] if row.topics else [], cells)
    yield terminal.dim("─" * cells)


def body(page: OpenEvidenceResponse) -> Iterator[str]:
    """Yield the text of *page* in pieces, a heading above each message that begins in it."""
    stored = page.content.encode()
    at = 0
    for message in page.messages:
        start = message.offset - page.offset
        if not at <= start <= len(stored):
            continue
        words = text.block(stored[at:start].decode(errors="replace")).rstrip("\n")
        if words:
            yield words + "\n"
        if message.offset > 0:
            yield "\n"
        yield heading(message) + "\n"
        at = start
    rest = text.block(stored[at:].decode(errors="replace"))
    yield rest
    if page.next_offset == 0 and not rest.endswith("\n"):
        yield "\n"


def heading(message: EvidenceMessage) -> str:
    """Return the line above a message: who, when, and what is particular about it."""
    who = text.line(message.speaker) or _NAMES.get(message.role, text.line(message.role))
    at = phrases.moment_of(message, "at")
    usual = message.kind in ("human", "assistant", "")
    facts = phrases.joined(
        (
            "" if usual else text.line(message.kind).replace("_", " "),
            phrases.minute(at) if at else "",
            "" if message.on_main_line else "abandoned",
        )
    )
    return terminal.bold(f"▌ {who}") + (terminal.dim(f"  {facts}") if facts else "")


def place(part: OpenEvidenceResponse) -> str:
    """Return a part from inside a row as `body` does, without the broken lines at its ends."""
    trimmed = type(part)()
    trimmed.CopyFrom(part)
    if part.offset > 0:
        broken, newline, kept = trimmed.content.partition("\n")
        if newline and len(broken) < len(kept):
            trimmed.content = kept
            trimmed.offset += len((broken + newline).encode())
    if part.next_offset:
        kept, newline, broken = trimmed.content.rpartition("\n")
        if newline and len(broken) < len(kept):
            trimmed.content = kept
    return "".join(body(trimmed)).strip("\n")


def _notes(name: str, items: Sequence[str], cells: int) -> Iterator[str]:
    """Yield *items* beside *name*, with a dot each if there are several."""
    first = text.pad(name, NAME_CELLS)
    indent = " " * NAME_CELLS
    for item in items:
        dot = "· " if len(items) > 1 else ""
        shown = text.line(item)
        for number, (start, end) in enumerate(text.wrap(shown, cells - NAME_CELLS - len(dot))):
            before = dot if number == 0 else " " * len(dot)
            yield terminal.dim(first) + before + shown[start:end]
            first = indent
