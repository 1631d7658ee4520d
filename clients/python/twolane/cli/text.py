"""Stored text made fit for a terminal: harmless, and cut and wrapped by what it takes up there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

ELLIPSIS = "…"

_BIDI = dict.fromkeys((0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069))
"""Marks that turn the reading direction of what follows: they can disguise it, and are dropped."""

_CONTROLS: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    **dict.fromkeys(range(128, 160), "�"),
    0x7F: "\N{SYMBOL FOR DELETE}",
    **_BIDI,
}
"""Control characters and the pictures that stand for them, so that none reaches the terminal."""

_LINE = str.maketrans(_CONTROLS)
_BLOCK = str.maketrans({**_CONTROLS, 0x09: "    ", 0x0A: "\n", 0x2028: "\n", 0x2029: "\n"})
_SPACES = re.compile(r"\s+")
_BREAKS = re.compile(r"\r\n?")


def line(text: str) -> str:
    """Return *text* as one harmless line, white space collapsed."""
    return _SPACES.sub(" ", text).strip().translate(_LINE)


def block(text: str) -> str:
    """Return *text* with its lines kept and its control characters shown as pictures."""
    return _BREAKS.sub("\n", text).translate(_BLOCK)


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def width(text: str) -> int:
    """Return how many terminal cells *text* takes up."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, cells: int) -> str:
    """Return *text* cut to at most *cells*, with an ellipsis where something was cut."""
    if width(text) <= cells:
        return text
    return _head(text, max(cells - 1, 0)).rstrip() + ELLIPSIS if cells > 0 else ""


def fit_middle(text: str, cells: int) -> str:
    """Return *text* cut to at most *cells* by leaving out its middle, as suits a path."""
    if width(text) <= cells:
        return text
    room = max(cells - 1, 0)
    tail = _head(text[::-1], room * 2 // 3)[::-1]
    return _head(text, room - width(tail)) + ELLIPSIS + tail


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Return *text* filled up to *cells* with spaces, on its left if *right*-aligned."""
    fill = " " * max(cells - width(text), 0)
    return fill + text if right else text + fill


def _head(text: str, cells: int) -> str:
    used = 0
    for at, character in enumerate(text):
        used += _cells(character)
        if used > cells:
            return text[:at]
    return text


def wrap(text: str, cells: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of the lines that *text*, one line itself, wraps to.

    Lines end between words or beside a wide character, as scripts without spaces do; a word that
    is longer than a line is cut where the line is full.
    """
    cells = max(cells, 2)
    start, size = 0, len(text)
    while start < size:
        used, end = 0, start
        while end < size and used + _cells(text[end]) <= cells:
            used += _cells(text[end])
            end += 1
        if end < size:
            end = next((at for at in range(end, start, -1) if _may_break(text, at)), end)
        yield start, end
        start = end
        while start < size and text[start] == " ":
            start += 1


def _may_break(text: str, at: int) -> bool:
    """Whether a line may end before the character *at*."""
    if text[at] == " ":
        return True
    wide = _cells(text[at]) == 2
    # Closing marks stay with what they close.
    closes = unicodedata.category(text[at]) in ("Pe", "Pf", "Po")
    return not closes and (wide or (_cells(text[at]) == 1 and _cells(text[at - 1]) == 2))
