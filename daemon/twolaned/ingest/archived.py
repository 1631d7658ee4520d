"""Our own export: one row a line of JSON, from which the same row comes back."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import msgspec

from twolaned.ingest.drafts import hashed
from twolaned.model.errors import InvalidInput
from twolaned.model.row import MessageSpan, Passage, Row, RowDraft, Tier

FORMAT = "twolane-row"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """A row that was exported, with what only the store knows of it."""

    draft: RowDraft
    indexed_at: int
    tier: Tier


class _Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    format: str
    version: int
    indexed_at: int
    tier: Tier
    row: dict[str, Any]


_NOT_EXPORTED = frozenset({"content_hash"})
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Line)


def export_line(row: Row, body: str, messages: tuple[MessageSpan, ...]) -> bytes:
    """*row* with its text and messages as one line, line feed included."""
    known = {f.name for f in fields(RowDraft)} - _NOT_EXPORTED - {"body", "messages"}
    values = {name: getattr(row, name) for name in sorted(known)}
    values |= {"body": body, "messages": messages, "text_hash": row.text_hash.hex()}
    line = _Line(
        format=FORMAT, version=VERSION, indexed_at=row.indexed_at, tier=row.tier, row=values
    )
    return _encoder.encode(line) + b"\n"


def is_export_line(head: dict[str, Any]) -> bool:
    """Whether the JSON object *head* is a line of our own export."""
    return head.get("format") == FORMAT


def archived_row(line: bytes) -> ArchivedRow:
    """The row that `export_line` wrote.

    Raises InvalidInput where *line* is something else, or of a later version.
    """
    try:
        found = _decoder.decode(line)
        if found.format != FORMAT or found.version > VERSION:
            raise InvalidInput(
                "path",
                f"This export has version {found.version}; this twolane reads up to {VERSION}."
                " Upgrade twolane to import it.",
            )
        values = dict(found.row)
        values["text_hash"] = bytes.fromhex(values["text_hash"])
        values["content_hash"] = b""
        draft = msgspec.convert(values, RowDraft)
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError, ValueError, TypeError) as e:
        raise InvalidInput("path", "This line is no row of a twolane export.") from e
    _check_places(draft)
    return ArchivedRow(hashed(draft), found.indexed_at, found.tier)


def _check_places(draft: RowDraft) -> None:
    size = len(draft.body.encode())
    places: list[Passage | MessageSpan] = [*draft.passages, *draft.messages]
    if any(p.offset < 0 or p.length < 0 or p.offset + p.length > size for p in places):
        raise InvalidInput("path", "This line's passages lie outside its text.")
