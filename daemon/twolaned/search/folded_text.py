"""A text folded for comparison, that knows what it was made of."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from twolaned.lanes.keyword.analyzer import fold
from twolaned.search.words import MARKS

_PIECE = re.compile(f".[{MARKS}\u0e31-\u0e4e\u3099\u309a\uff9e\uff9f]*", re.DOTALL)
"""A character and the marks on it, which fold together."""
_BEYOND_ASCII = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")
"""What does not fold letter by letter, with the letter before it: marks may stand on that one."""


class FoldedText:
    """*text* folded piece by piece, so that what is found can be marked in *text*.

    White space is kept as it is.
    """

    __slots__ = ("_folded", "_in_step", "_straight", "_text", "folded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._straight = True
        if text.isascii():
            self.folded = text.lower()
            return
        # Where stretches begin, folded and as written, and whether one goes on in step.
        self._folded, self._text, self._in_step = [0], [0], list[bool]()
        parts: list[str] = []
        at = 0
        for match in _BEYOND_ASCII.finditer(text):
            start, end = match.span()
            if start > at:
                parts.append(text[at:start].lower())
                self._end(start - at, start - at, in_step=True)
            run = _folded_run(match[0])
            parts.append(run.folded)
            if run.straight:
                self._end(end - start, end - start, in_step=True)
            else:
                self._straight = False
                for length, width in zip(run.lengths, run.widths, strict=True):
                    self._end(length, width, in_step=False)
            at = end
        parts.append(text[at:].lower())
        self.folded = "".join(parts)
        self._in_step.append(True)

    def _end(self, folded: int, text: int, *, in_step: bool) -> None:
        """End a stretch of so many characters, folded and as written."""
        self._folded.append(self._folded[-1] + folded)
        self._text.append(self._text[-1] + text)
        self._in_step.append(in_step)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the text that make up *start* to *end* of the folded text."""
        if self._straight:
            return start, end
        return self._at(start, behind=False), self._at(end - 1, behind=True)

    def _at(self, place: int, *, behind: bool) -> int:
        """Where the character of the text begins, or with *behind* ends, that *place* is of."""
        stretch = bisect_right(self._folded, place) - 1
        if self._in_step[stretch]:
            return self._text[stretch] + place - self._folded[stretch] + behind
        return self._text[stretch + behind]


class _Run(NamedTuple):
    """A run beyond ASCII: *lengths* and *widths* are its pieces' characters, folded and as written.

    *straight* says that it folds character by character.
    """

    folded: str
    lengths: list[int]
    widths: list[int]
    straight: bool


@lru_cache(maxsize=4096)
def _folded_run(run: str) -> _Run:
    pieces = _PIECE.findall(run)
    folded = [piece if piece.isspace() else fold(piece) for piece in pieces]
    lengths, widths = list(map(len, folded)), list(map(len, pieces))
    return _Run("".join(folded), lengths, widths, set(lengths) == set(widths) == {1})
