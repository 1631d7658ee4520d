"""Many texts to term numbers at once.

A whole batch is translated and split in C and each piece is one dict lookup. All else is done once
for each distinct piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.analyzer import SEPARATE, terms_of

KEPT_PIECES = 400_000
"""Distinct pieces that are remembered at the most; with more, all are forgotten."""
KEPT_BYTES = 24 << 20
"""Bytes of pieces that are remembered at the most. Chinese has few spaces and so long pieces."""

_T = TypeVar("_T", bound=np.generic)

_END = b"\xff"
"""Ends a text. No UTF-8 holds this byte, and `SEPARATE` keeps it."""


class Vocabulary(Protocol):
    """Gives terms their numbers."""

    def ids(self, terms: Sequence[str], /) -> list[int]:
        """The number of each term. A new term gets a new number."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """The terms of some texts, one text behind the other.

    *term_ids* are uint32 [sum of lengths], *lengths* int64 [texts].
    """

    term_ids: NDArray[np.uint32]
    lengths: NDArray[np.int64]


class BatchTokenizer:
    """Turns texts into the numbers of the terms that `analyzer.analyze` gives.

    For one thread at a time. Remembers what it has seen, within bounds.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        kept_pieces: int = KEPT_PIECES,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self._vocabulary = vocabulary
        self._kept_pieces = kept_pieces
        self._kept_bytes = kept_bytes
        self._seen = _Pieces()
        self._table = _TermTable()

    def tokenize(self, texts: Sequence[str]) -> TokenBatch:
        """The terms of each of *texts*, in the order that `analyze` gives them."""
        if len(self._seen) > self._kept_pieces or self._seen.size > self._kept_bytes:
            self._seen = _Pieces()
            self._table = _TermTable()
        ended = [text.encode("utf-8", "replace") for text in texts]
        pieces = (b" " + _END + b" ").join([*ended, b""]).translate(SEPARATE).split()
        numbers = np.fromiter(map(self._seen.__getitem__, pieces), np.int64, len(pieces))
        if self._seen.unknown:
            self._learn()
        return self._table.expand(numbers)

    def _learn(self) -> None:
        """Look the terms of all new pieces up, in one call of the vocabulary."""
        unknown, self._seen.unknown = self._seen.unknown, []
        terms = list(map(terms_of, unknown))
        distinct = dict.fromkeys(term for of_piece in terms for term in of_piece)
        ids = dict(zip(distinct, self._vocabulary.ids(list(distinct)), strict=True))
        self._table.extend(
            [ids[term] for of_piece in terms for term in of_piece], list(map(len, terms))
        )


class _Pieces(dict[bytes, int]):
    """Numbers pieces from 1 as they come; `_END` is 0. New ones wait in *unknown*."""

    def __init__(self) -> None:
        super().__init__({_END: 0})
        self.unknown: list[bytes] = []
        self.size = 0

    def __missing__(self, piece: bytes) -> int:
        number = self[piece] = len(self)
        self.unknown.append(piece)
        self.size += len(piece)
        return number


class _TermTable:
    """The term numbers of each piece, by the piece's number."""

    def __init__(self) -> None:
        self._ids = np.empty(1024, np.uint32)
        self._starts = np.zeros(1024, np.int64)
        self._pieces = 1

    def extend(self, ids: list[int], counts: list[int]) -> None:
        """Add pieces with *counts* terms each, whose numbers are *ids*."""
        used = int(self._starts[self._pieces])
        self._ids = _with_room(self._ids, used + len(ids))
        self._ids[used : used + len(ids)] = ids
        end = self._pieces + len(counts)
        self._starts = _with_room(self._starts, end + 1)
        np.cumsum(counts, out=self._starts[self._pieces + 1 : end + 1])
        self._starts[self._pieces + 1 : end + 1] += used
        self._pieces = end

    def expand(self, pieces: NDArray[np.int64]) -> TokenBatch:
        """The terms of *pieces*, cut into texts where they are 0."""
        starts = self._starts[pieces]
        counts = self._starts[pieces + 1] - starts
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        places = np.repeat(starts - (ends - counts), counts)
        places += np.arange(total)
        texts = ends[np.flatnonzero(pieces == 0)]
        return TokenBatch(self._ids[places], np.diff(texts, prepend=0))


def _with_room(array: NDArray[_T], size: int) -> NDArray[_T]:
    if size <= len(array):
        return array
    grown = np.zeros(max(size, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown
