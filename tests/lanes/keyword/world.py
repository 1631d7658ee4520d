"""A keyword index beside plain lists of what it holds, and BM25 of those in float64."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.postings import invert, merge, select
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.segment import Segment, build_segment
from twolaned.lanes.keyword.tokenizer import TokenBatch
from twolaned.model.result import LaneHits

Passages = Sequence[Sequence[int]]


def inverted(passages: Passages) -> PostingBatch:
    return invert(
        TokenBatch(
            np.array([term for passage in passages for term in passage], np.uint32),
            np.array([len(passage) for passage in passages], np.int64),
        )
    )


@dataclass
class World:
    """Rows of passages of term numbers. Every change is made to the index and to the lists."""

    bm25: Bm25 = field(default_factory=lambda: Bm25(average_length=20.0))
    rows: dict[int, Passages] = field(default_factory=dict)
    """Live ones, by number."""
    dead: dict[int, Passages] = field(default_factory=dict)
    """Those that still lie in a segment or run."""

    def __post_init__(self) -> None:
        self.index = KeywordIndex.empty(self.bm25)
        self.segments: dict[str, list[int]] = {}
        self.runs: dict[int, list[int]] = {}
        self._sequence = 0
        self._number = 0

    def numbers(self, count: int) -> list[int]:
        """New numbers, now and then with a gap."""
        numbers = [self._number + place + place // 3 for place in range(count)]
        self._number = numbers[-1] + 1 if numbers else self._number
        return numbers

    def add_run(self, rows: Sequence[Passages]) -> None:
        """Commit *rows*; they lie in memory."""
        self._sequence += 1
        numbers = self._take(rows)
        self.runs[self._sequence] = numbers
        self.index = self.index.with_run(
            self._sequence, self._by_passage(numbers), self._postings(numbers)
        )

    def add_segment(self, rows: Sequence[Passages]) -> None:
        """Commit *rows* in bulk; they lie in a segment of their own."""
        self._seal(self._take(rows))

    def seal(self) -> None:
        """Put all runs into a new segment."""
        numbers = sorted(number for run in self.runs.values() for number in run)
        self.index = self.index.without(up_to_seq=self._sequence)
        self.runs = {}
        self._seal(numbers)

    def merge(self, keys: Sequence[str]) -> None:
        """Make one segment of some, without what is dead, and forget the dead."""
        numbers = sorted(number for key in keys for number in self.segments.pop(key))
        self.index = self.index.without(segment_ids=keys)
        gone = [number for number in numbers if number in self.dead]
        self._seal([number for number in numbers if number not in self.dead])
        postings = merge([self._postings([number]) for number in gone])
        self.index = self.index.reclaimed(
            np.array(gone, np.uint32), postings.terms, postings.frequencies
        )
        for number in gone:
            del self.dead[number]

    def remove(self, numbers: Sequence[int]) -> None:
        """Let rows answer no more."""
        postings = self._postings(numbers)
        self.index = self.index.with_dead(
            np.array(numbers, np.uint32), postings.terms, postings.frequencies
        )
        for number in numbers:
            self.dead[number] = self.rows.pop(number)

    def best(
        self, query: KeywordQuery, allowed: NDArray[np.bool_] | None = None
    ) -> dict[int, tuple[float, int]]:
        """For each row with a term its best passage's score in float64 and that passage's index.

        The first of passages with (nearly) the same score.
        """
        live = [passage for passages in self.rows.values() for passage in passages]
        frequencies = Counter(term for passage in live for term in set(passage))
        found: dict[int, tuple[float, int]] = {}
        for number, passages in self.rows.items():
            if allowed is not None and not (number < len(allowed) and allowed[number]):
                continue
            for place, passage in enumerate(passages):
                score = self._score(passage, query, frequencies, len(live))
                if score > 0 and score > found.get(number, (0.0, 0))[0] * (1 + 1e-9):
                    found[number] = (score, place)
        return found

    def check(
        self, query: KeywordQuery, n: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """Search, and compare with `best`."""
        best = self.best(query, allowed)
        hits = self.index.search(query, n, allowed)
        rows, scores = hits.rows.tolist(), hits.scores.tolist()
        assert hits.rows.dtype == hits.passages.dtype == np.uint32
        assert hits.scores.dtype == np.float32
        assert len(set(rows)) == len(rows)
        for row, score, passage in zip(rows, scores, hits.passages.tolist(), strict=True):
            expected = best[row][0]
            assert abs(score - expected) <= 1e-5 * expected
            assert passage == best[row][1]
        assert rows == [row for _, row in sorted(zip((-s for s in scores), rows, strict=True))]
        ordered = sorted((score for score, _ in best.values()), reverse=True)
        if n <= 0:
            assert not rows
        elif len(ordered) <= n:
            assert len(rows) == len(ordered)
            assert hits.exhausted or len(ordered) == n
        else:
            worst = ordered[n - 1]
            better = {row for row, (score, _) in best.items() if score > worst * (1 + 1e-6)}
            near = {row for row, (score, _) in best.items() if score >= worst * (1 - 1e-6)}
            assert len(rows) >= n
            assert better <= set(rows) <= near
            alike = {self._makeup(row, best[row][1], query) for row in rows}
            missed = near - set(rows)
            assert not any(self._makeup(row, best[row][1], query) in alike for row in missed)
            assert not hits.exhausted or len(rows) == len(ordered)
        return hits

    def _makeup(self, row: int, place: int, query: KeywordQuery) -> tuple[int, ...]:
        """All that a passage's score depends on."""
        passage = self.rows[row][place]
        return (len(passage), *(min(passage.count(term), 255) for term in query.term_ids))

    def _take(self, rows: Sequence[Passages]) -> list[int]:
        numbers = self.numbers(len(rows))
        self.rows.update(zip(numbers, rows, strict=True))
        return numbers

    def _seal(self, numbers: list[int]) -> None:
        self._sequence += 1
        key = f"s{self._sequence}"
        postings = self._postings(numbers)
        # Through `select`, as a merge does it.
        order = np.arange(len(postings.lengths))
        arrays = build_segment(select(postings, order), self._by_passage(numbers), bm25=self.bm25)
        self.segments[key] = numbers
        self.index = self.index.with_segment(key, Segment(arrays))

    def _postings(self, numbers: Sequence[int]) -> PostingBatch:
        every = self.rows | self.dead
        return inverted([passage for number in numbers for passage in every[number]])

    def _by_passage(self, numbers: Sequence[int]) -> NDArray[np.uint32]:
        every = self.rows | self.dead
        counts = [len(every[number]) for number in numbers]
        return np.repeat(np.array(numbers, np.uint32), counts)

    def _score(
        self, passage: Sequence[int], query: KeywordQuery, frequencies: Counter[int], live: int
    ) -> float:
        counts = Counter(passage)
        bm25 = self.bm25
        norm = bm25.k1 * (1 - bm25.b + bm25.b * len(passage) / bm25.average_length)
        score = 0.0
        for term, weight in query.weighted_terms():
            df = frequencies[term]
            tf = min(counts[term], 255)
            score += weight * math.log(1 + (live - df + 0.5) / (df + 0.5)) * tf / (tf + norm)
        return score


def zipf(
    generator: np.random.Generator, count: int, vocabulary: int, length: int
) -> list[list[int]]:
    """*count* passages of about *length* terms, of which low numbers are frequent."""
    lengths = generator.integers(1, 2 * length, count)
    shares = 1 / (np.arange(vocabulary) + 2.0)
    terms = generator.choice(vocabulary, int(lengths.sum()), p=shares / shares.sum())
    return [part.tolist() for part in np.split(terms, np.cumsum(lengths)[:-1])]


def in_rows(generator: np.random.Generator, passages: Passages, most: int) -> list[Passages]:
    """*passages* as rows of one to *most*."""
    rows: list[Passages] = []
    at = 0
    while at < len(passages):
        size = int(generator.integers(1, most + 1))
        rows.append(passages[at : at + size])
        at += size
    return rows
