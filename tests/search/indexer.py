"""Keeps a keyword index of texts, as the writer does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.search.brute import AVERAGE, K1, B
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.postings import PostingBatch, invert, merge
from twolaned.lanes.keyword.segment import Segment, build_segment
from twolaned.lanes.keyword.tokenizer import BatchTokenizer


class Vocabulary(dict[str, int]):
    """Numbers terms as they come."""

    def ids(self, terms: Sequence[str], /) -> list[int]:
        return [self.setdefault(term, len(self)) for term in terms]


class Indexer:
    """Every row is a run of its own until `seal` makes one segment of all runs."""

    def __init__(self) -> None:
        self.terms = Vocabulary()
        self.index = KeywordIndex.empty(Bm25(k1=K1, b=B, average_length=AVERAGE))
        self._tokenizer = BatchTokenizer(self.terms)
        self._postings: dict[int, PostingBatch] = {}
        self._unsealed: list[int] = []
        self._sequence = 0

    def add(self, number: int, texts: Sequence[str]) -> None:
        """Index the passages of a row."""
        postings = self._postings[number] = invert(self._tokenizer.tokenize(texts))
        self._sequence += 1
        self._unsealed.append(number)
        self.index = self.index.with_run(
            self._sequence, np.full(len(texts), number, np.uint32), postings
        )

    def remove(self, number: int) -> None:
        """Let a row answer no more."""
        postings = self._postings[number]
        self.index = self.index.with_dead(
            np.array([number], np.uint32), postings.terms, postings.frequencies
        )

    def seal(self) -> None:
        """Put all runs into one new segment, those of dead rows too."""
        batches = [self._postings[number] for number in sorted(self._unsealed)]
        rows = [
            np.full(len(batch.lengths), number, np.uint32)
            for number, batch in zip(sorted(self._unsealed), batches, strict=True)
        ]
        arrays = build_segment(
            merge(batches), np.concatenate([np.empty(0, np.uint32), *rows]), bm25=self.index.bm25
        )
        self.index = self.index.without(up_to_seq=self._sequence).with_segment(
            f"s{self._sequence}", Segment(arrays)
        )
        self._unsealed = []
