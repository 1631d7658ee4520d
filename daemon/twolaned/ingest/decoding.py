"""Telling text from other bytes, and in which encoding it is."""

from __future__ import annotations

import codecs

HEAD_BYTES = 8 << 10
"""Of a file, enough to tell bytes from text."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (b"%PDF-", b"\x1f\x8b", b"\x7fELF", b"PK\x03\x04", b"\x89PNG", b"SQLite format 3")
_FEW_BROKEN = 5
"""Other characters beyond ASCII for each broken one that UTF-8 must have to be taken for it."""
_CONTROLS = frozenset(range(32)) - set(b"\t\n\r\f\x1b")


def is_binary(head: bytes) -> bool:
    """Whether a file that begins with *head* is certainly no text."""
    if head.startswith(tuple(mark for mark, _ in _MARKS)):
        return False
    return b"\0" in head[:HEAD_BYTES] or head.startswith(_MAGIC)


def text_of(data: bytes) -> str | None:
    """*data* as text, or None where it is none.

    A byte order mark decides; else it is UTF-8, also where a few characters are broken, and where
    that fails Windows-1252, as long as it holds hardly any control characters.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _if_readable(data.decode(encoding, "replace"))
    if is_binary(data):
        return None
    head = data[:HEAD_BYTES]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        if sum(c > "\x7f" for c in text) >= _FEW_BROKEN * broken:
            return _if_readable(text)
        odd = sum(byte in _CONTROLS or byte in b"\x81\x8d\x8f\x90\x9d" for byte in head)
        return None if odd * 100 > len(head) else data.decode("cp1252", "replace")
    odd = sum(byte in _CONTROLS for byte in head)
    return None if odd * 10 > len(head) else text


def _if_readable(text: str) -> str | None:
    head = text[:HEAD_BYTES]
    odd = sum(c == "\ufffd" or c == "\0" or (c < " " and ord(c) in _CONTROLS) for c in head)
    return None if odd * 10 > len(head) else text
