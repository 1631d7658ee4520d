"""The keyword lane over the texts of a judged set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.analyzer import analyze_query
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.postings import invert
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.segment import Segment, build_segment
from twolaned.lanes.keyword.tokenizer import BatchTokenizer


class Vocabulary:
    """Terms and their numbers, in memory."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def ids(self, terms: Sequence[str], /) -> list[int]:
        return [self.numbers.setdefault(term, len(self.numbers)) for term in terms]


class Lane:
    """An index of rows of one or more passages. *rows* is the row's number by passage."""

    def __init__(self, passages: Sequence[str], rows: Sequence[int] | None = None) -> None:
        self.vocabulary = Vocabulary()
        tokens = BatchTokenizer(self.vocabulary).tokenize(passages)
        bm25 = Bm25(average_length=max(float(tokens.lengths.mean()), 1.0))
        numbers = np.array(range(len(passages)) if rows is None else rows, np.uint32)
        arrays = build_segment(invert(tokens), numbers, bm25=bm25)
        self.index = KeywordIndex.empty(bm25).with_segment("all", Segment(arrays))

    def ask(
        self, question: str, n: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The best rows for *question* with their scores."""
        terms = (self.vocabulary.numbers.get(term) for term in analyze_query(question))
        query = KeywordQuery(tuple(term for term in terms if term is not None))
        hits = self.index.search(query, n, allowed)
        return list(zip(hits.rows.tolist(), hits.scores.tolist(), strict=True))
