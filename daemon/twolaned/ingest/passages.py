"""Cutting a text into passages of even size (retrieval, section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twolaned.ingest.boundaries import Boundaries

SHORTEST = 700
"""Characters of a passage, unless the text or a change of kind leaves less."""
LONGEST = 1_400
"""Characters of a passage at the most."""
EVEN_TALK = 750
EVEN_TEXT = 1_050
"""Characters that passages of a long text come out at. Sessions are found better by short ones,
documents by middling ones (`bench/quality`)."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a text, in characters; it neither begins nor ends with white space."""

    start: int
    end: int


def cut_passages(
    text: str, start: int, end: int, boundaries: Boundaries, even: int = EVEN_TEXT
) -> Iterator[Cut]:
    """Cut *text* from *start* to *end* where *boundaries* are strongest.

    Parts come out near *even* characters, between `SHORTEST` and `LONGEST`, save where all of it is
    shorter. What is only white space gives none.
    """
    at = start
    while at < end:
        left = end - at
        if left <= LONGEST:
            cut = end
        else:
            ideal = at + left // max(2, round(left / even))
            low, high = at + SHORTEST, min(at + LONGEST, end - SHORTEST)
            cut = boundaries.best(min(low, high), high, min(ideal, high))
        first, last = _trimmed(text, at, cut)
        if first < last:
            yield Cut(first, last)
        at = cut


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


class ByteOffsets:
    """Turns ascending places of *text* in characters into bytes of its UTF-8."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._character = 0
        self._byte = 0

    def of(self, character: int) -> int:
        """The byte where *character* begins; never asked for less than before."""
        if self._ascii:
            return character
        self._byte += len(self._text[self._character : character].encode())
        self._character = character
        return self._byte
