"""What a search needs of the keyword lane and of the store, whoever provides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.model.result import LaneHits
from twolaned.model.row import MessageSpan, Passage, Row
from twolaned.store.records import RowRecord


class KeywordLane(Protocol):
    """An immutable keyword index; `twolaned.lanes.keyword.index.KeywordIndex` is one."""

    @property
    def passages(self) -> int:
        """Live passages."""

    def search(self, query: KeywordQuery, n: int, allowed: NDArray[np.bool_] | None, /) -> LaneHits:
        """The best *n* distinct rows by their best passage, and all that tie with the last.

        *allowed* says by row number which rows may be found; None allows all that are live.
        """

    def rows_with_all(self, term_ids: Sequence[int], /) -> NDArray[np.uint32]:
        """The rows that hold every term, in whichever of their passages, ascending."""

    def document_frequency(self, term_ids: Sequence[int], /) -> NDArray[np.int64]:
        """In how many live passages each term occurs."""


class StoreView(Protocol):
    """The store at one generation; `twolaned.store.View` is one."""

    def record(self, number: int, /) -> RowRecord | None:
        """What is stored of a row version, or None where it is gone."""

    def row(self, number: int, /) -> Row | None:
        """A row version with its passages, or None where it is gone."""

    def head(self, number: int, /) -> Row | None:
        """A row version without its passages, or None where it is gone."""

    def passage(self, number: int, index: int, /) -> Passage | None:
        """One passage of a row version, or None where there is no such passage."""

    def number(self, row_id: str, /) -> int | None:
        """The number of the live version of a row."""

    def numbers(self) -> list[int]:
        """The numbers of all live row versions."""

    def body_bytes(self, number: int, /) -> bytes:
        """A row's whole text as UTF-8."""

    def body_slice(self, number: int, offset: int, length: int, /) -> str:
        """Bytes of a row's text; both ends must be character borders."""

    def messages(self, number: int, /) -> tuple[MessageSpan, ...]:
        """Where a conversation's messages stand in its body."""

    def term_ids(self, terms: Iterable[str], /) -> list[int | None]:
        """The id of each term, None where no row has ever held it."""

    def terms_with_prefix(self, prefix: str, /) -> Iterator[tuple[str, int]]:
        """All terms that begin with *prefix*, and their ids."""
