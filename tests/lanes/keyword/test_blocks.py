"""Segments of several blocks of passages, against BM25 in float64 over all postings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25, idf
from twolaned.lanes.keyword.builder import BLOCKED, BLOCKS
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.posting_list import BLOCK_BITS, BlockIds
from twolaned.lanes.keyword.postings import invert
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.segment import Segment, build_segment
from twolaned.lanes.keyword.tokenizer import TokenBatch

COUNT = (BLOCKS << BLOCK_BITS) - 2_000
BM25 = Bm25(average_length=5.0)


@pytest.fixture(scope="module")
def batch() -> PostingBatch:
    generator = np.random.default_rng(4)
    lengths = generator.integers(1, 10, COUNT)
    terms = (generator.pareto(0.7, int(lengths.sum())) * 3).astype(np.int64) % 5_000
    # One term in one block only, and one in the first and last passages alone.
    starts = np.cumsum(lengths) - lengths
    terms[starts[70_000:70_600]] = 6_000
    terms[starts[[*range(200), *range(COUNT - 200, COUNT)]]] = 6_001
    return invert(TokenBatch(terms.astype(np.uint32), lengths))


@pytest.fixture(scope="module")
def segment(batch: PostingBatch) -> Segment:
    rows = np.arange(COUNT, dtype=np.uint32)
    return Segment(build_segment(batch, rows, bm25=BM25))


def of_term(batch: PostingBatch, term: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    place = int(batch.terms.searchsorted(term))
    assert batch.terms[place] == term
    part = slice(int(batch.offsets[place]), int(batch.offsets[place + 1]))
    return batch.passages[part], batch.tf[part]


@pytest.mark.parametrize(("first", "last"), [(0, 1 << 32), (0, 3), (37, 900), (5_999, 6_002)])
def test_postings_come_back_by_ranges_of_terms(
    batch: PostingBatch, segment: Segment, first: int, last: int
) -> None:
    given, expected = segment.of_terms(first, last), batch.of_terms(first, last)
    for name in ("terms", "offsets", "passages", "tf", "lengths"):
        one, other = getattr(given, name), getattr(expected, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), name


def test_tf_are_counted(batch: PostingBatch, segment: Segment) -> None:
    assert segment.tf_counts().tolist() == batch.tf_counts().tolist()


@pytest.mark.parametrize("term", [6_000, 6_001])
def test_passages_of_some_postings(batch: PostingBatch, segment: Segment, term: int) -> None:
    passages, _ = of_term(batch, term)
    assert len(passages) >= BLOCKED
    place = int(batch.terms.searchsorted(term))
    some = np.array([0, 3, len(passages) - 1, 199, 200])
    for _ in range(2):  # before all are decoded, and after
        ids, _ = segment.list_at(place)
        assert isinstance(ids, BlockIds)
        assert ids.at(some).tolist() == passages[some].tolist()
        assert ids.all().tolist() == passages.tolist()
        assert ids.at(some).tolist() == passages[some].tolist()


def exact(batch: PostingBatch, terms: tuple[int, ...], live: NDArray[np.bool_]) -> NDArray:
    norms = BM25.k1 * (1 - BM25.b + BM25.b * batch.lengths / BM25.average_length)
    scores = np.zeros(COUNT)
    for term in terms:
        passages, tf = of_term(batch, term)
        weight = idf(COUNT, len(passages))
        scores[passages] += weight * tf / (tf + norms[passages])
    return np.where(live, scores, 0)


@pytest.mark.parametrize("share", [None, 0.5, 0.02])
@pytest.mark.parametrize("each", [1, 5])
def test_search_is_exact(batch: PostingBatch, share: float | None, each: int) -> None:
    rows = (np.arange(COUNT) // each).astype(np.uint32)
    arrays = build_segment(batch, rows, bm25=BM25)
    index = KeywordIndex.empty(BM25).with_segment("s", Segment(arrays))
    generator = np.random.default_rng(9)
    allowed = None if share is None else generator.random(int(rows[-1]) + 1) < share
    live = np.ones(COUNT, np.bool_) if allowed is None else allowed[rows]
    for number in range(40):
        frequent = generator.integers(0, 12, number % 6).tolist()
        rarer = generator.choice(batch.terms[12:], number % 4).tolist()
        terms = tuple(dict.fromkeys([*frequent, *rarer])) or (6_000 + number % 2,)
        found = index.search(KeywordQuery(terms), 30, allowed)
        scores = exact(batch, terms, live)
        by_row = np.maximum.reduceat(scores, np.arange(0, COUNT, each))
        best = np.sort(by_row)[::-1]
        best = best[best > 0][:30]
        assert np.allclose(found.scores[:30], best, rtol=1e-5, atol=0)
        assert np.allclose(by_row[found.rows], found.scores, rtol=1e-5, atol=0)
        assert len(found.rows) >= len(best)
        better = np.flatnonzero(by_row > (best[-1] if len(best) else 0) * (1 + 1e-6))
        assert set(better.tolist()) <= set(found.rows.tolist())
