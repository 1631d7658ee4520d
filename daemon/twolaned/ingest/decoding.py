"""Telling text from other bytes, and in which encoding it is."""

from __future__ import annotations

import codecs

_LOOKED_AT = 8 << 10
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (b"%PDF-", b"\x1f\x8b", b"\x7fELF", b"PK\x03\x04", b"\x89PNG", b"SQLite format 3")
_CONTROLS = frozenset(range(32)) - set(b"\t\n\r\f\x1b")


def text_of(data: bytes) -> str | None:
    """*data* as text, or None where it is none.

    A byte order mark decides; else it is UTF-8, and where that fails Windows-1252, as long as it
    holds hardly any control characters.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    head = data[:_LOOKED_AT]
    if b"\0" in head or head.startswith(_MAGIC):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
        odd = sum(byte in _CONTROLS or byte in b"\x81\x8d\x8f\x90\x9d" for byte in head)
        return None if odd * 100 > len(head) else text
    odd = sum(byte in _CONTROLS for byte in head)
    return None if odd * 10 > len(head) else text
