"""Making texts of any origin fit to be kept, hashed and searched."""

from __future__ import annotations

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")
_DATA_URL = re.compile(
    r"data:[\w.+/-]*(?:;[\w.=+-]+)*;base64,[A-Za-z0-9+/_-]*"
    # Wrapped base64 has lines of 60 to 76; a shorter one only belongs to it if it is padded.
    r"(?:\n[A-Za-z0-9+/_-]{60,})*(?:\n[A-Za-z0-9+/_-]{1,76}=+|=*)"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9+/=_-]{512,}")
_SUSPICIOUS = 512
"""Characters; shorter texts hold no long run."""

IMAGE = "[image]"
DATA = "[data]"
"""What stands where bytes in the guise of text were cut out."""


def clean(text: str) -> str:
    """*text* without what no reader wants: half characters, NUL, carriage returns, base64.

    The result is NFC and can be encoded as UTF-8.
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
        text = unicodedata.normalize("NFC", text)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if ";base64," in text:
        text = _DATA_URL.sub(IMAGE, text)
    # Words are cheap to measure, and nearly no text has one so long.
    if len(text) >= _SUSPICIOUS and max(map(len, text.split()), default=0) >= _SUSPICIOUS:
        text = _LONG_RUN.sub(DATA, text)
    return text


def joined(parts: list[str]) -> str:
    """The non-empty *parts*, a blank line between them, cleaned and without outer white space."""
    return clean("\n\n".join(part for part in parts if part.strip())).strip()


def first_line(text: str, limit: int = 80) -> str:
    """The first line of *text* with words, at most *limit* characters."""
    for line in text.split("\n"):
        if line.strip():
            return line.strip()[:limit].rstrip()
    return ""
