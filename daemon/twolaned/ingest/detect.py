"""What a stream is, judged by its first bytes and never by its name."""

from __future__ import annotations

import codecs
from enum import Enum
from typing import Any

from twolaned.ingest.formats import aider
from twolaned.ingest.json_stream import decode

HEAD = 64 << 10
"""Bytes that are looked at."""
_LINES = 50
_SPACE = b" \t\r\n\0"


class Shape(Enum):
    """What the bytes of a stream are."""

    ZIP = "zip"
    ZSTD = "zstd"
    ARRAY = "array"
    """A JSON array."""
    OBJECT = "object"
    """One JSON object."""
    LINES = "lines"
    """JSON objects, one a line."""
    AIDER = "aider"
    """A history of runs in Markdown."""
    EMPTY = "empty"
    OTHER = "other"


def shape_of(head: bytes, *, whole: bool) -> Shape:
    """The shape of a stream that begins with *head*; *whole* says that nothing follows."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Shape.ZIP
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return Shape.ZSTD
    text = _as_utf8(head).lstrip(_SPACE)
    if not text:
        return Shape.EMPTY if whole else Shape.OTHER
    if aider.recognises(text):
        return Shape.AIDER
    if text.startswith(b"["):
        return Shape.ARRAY
    lines = [line for line in text.split(b"\n")[:_LINES] if line.strip(_SPACE)]
    found = [_object(line) for line in lines]
    objects = [decoded is not None for decoded in found]
    if not text.startswith(b"{"):
        return Shape.LINES if any(objects) else Shape.OTHER
    if sum(objects) > 1 or any(decoded and "type" in decoded for decoded in found[1:]):
        return Shape.LINES
    if len(lines) == 1 and not whole and not objects[0]:
        # One long line: a session's lines name their type near the start.
        return Shape.LINES if _looks_like_record(text) else Shape.OBJECT
    if objects[0] and len(lines) > 1:
        return Shape.LINES
    if objects[0] and _looks_like_record(text):
        return Shape.LINES
    return Shape.OBJECT


def _as_utf8(head: bytes) -> bytes:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore").encode("utf-8", "replace")
    return head.removeprefix(codecs.BOM_UTF8)


def _object(line: bytes) -> dict[str, Any] | None:
    if not line.lstrip(_SPACE).startswith(b"{"):
        return None
    try:
        value = decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_RECORD_KEYS = (
    b'"session_meta"',
    b'"sessionId"',
    b'"parentUuid"',
    b'"isSidechain"',
    b'"format":"twolane-row"',
)


def _looks_like_record(text: bytes) -> bool:
    return any(key in text for key in _RECORD_KEYS)
