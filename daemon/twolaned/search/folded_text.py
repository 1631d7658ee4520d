"""A text folded for comparison, that knows what it was made of."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, chain

from twolaned.lanes.keyword.analyzer import fold
from twolaned.search.words import MARKS

_PIECE = re.compile(f".[{MARKS}\u0e31-\u0e4e\u3099\u309a\uff9e\uff9f]*", re.DOTALL)
"""A character and the marks on it, which fold together."""


class FoldedText:
    """*text* folded piece by piece, so that what is found can be marked in *text*.

    White space is kept as it is.
    """

    __slots__ = ("_ends", "_starts", "folded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None
        if text.isascii():
            self.folded = text.lower()
            return
        pieces = _PIECE.findall(text)
        folded = list(map(_folded_piece, pieces))
        self.folded = "".join(folded)
        if not all(len(piece) == 1 for piece in chain(pieces, folded)):
            self._starts = list(accumulate(map(len, folded), initial=0))
            self._ends = list(accumulate(map(len, pieces), initial=0))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the text that make up *start* to *end* of the folded text."""
        if self._starts is None:
            return start, end
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1)
        return self._ends[first], self._ends[last]


@lru_cache(maxsize=4096)
def _folded_piece(piece: str) -> str:
    return piece if piece.isspace() else fold(piece)
