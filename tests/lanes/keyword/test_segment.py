"""Segments: what is stored besides postings, and that it bounds what it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lanes.keyword.test_postings import content
from tests.lanes.keyword.world import inverted, zipf
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.builder import MARKED, build_segment
from twolaned.lanes.keyword.columns import FEWEST_PASSAGES, SHARE, SLIM, WIDE
from twolaned.lanes.keyword.impacts import STEPS, impacts, looseness
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.segment import ARRAYS, Segment
from twolaned.model.errors import StoreCorrupt

BM25 = Bm25(average_length=20.0)


@pytest.fixture(scope="module")
def batch() -> PostingBatch:
    return inverted(zipf(np.random.default_rng(3), FEWEST_PASSAGES + 77, 900, 20))


@pytest.fixture(scope="module")
def segment(batch: PostingBatch) -> Segment:
    rows = np.arange(len(batch.lengths), dtype=np.uint32)
    return Segment(build_segment(batch, rows, bm25=BM25))


def test_all_postings_come_back(batch: PostingBatch, segment: Segment) -> None:
    assert segment.columns.row_of
    assert content(segment.postings()) == content(batch)
    assert segment.postings().lengths.tolist() == batch.lengths.tolist()


def test_just_the_frequent_terms_have_columns(batch: PostingBatch, segment: Segment) -> None:
    frequent = batch.terms[batch.frequencies > len(batch.lengths) // SHARE]
    assert sorted(segment.columns.row_of) == frequent.tolist()


def test_a_small_segment_has_no_columns() -> None:
    small = inverted([[1, 2]] * 50)
    rows = np.arange(50, dtype=np.uint32)
    read = Segment(build_segment(small, rows, bm25=BM25))
    assert not read.columns.row_of
    assert content(read.postings()) == content(small)


def test_bounds_lie_above_and_close_to_what_they_bound(segment: Segment) -> None:
    norms = BM25.norms(segment.lengths)
    loose = []
    for place, frequency in enumerate(segment.frequencies.tolist()):
        if int(segment.terms[place]) in segment.columns.row_of:
            continue
        ids, codes = segment.list_at(place)
        impact = impacts(segment.book.tf[codes], norms[ids.all()])
        bound = segment.book.bounds[codes]
        assert len(codes) == frequency
        assert (bound >= impact).all()
        assert impact.max() == segment.largest[place]
        loose.append(bound - impact)
    assert np.concatenate(loose).mean() < 1 / STEPS


def test_windows_hold_the_largest_bounds_of_their_passages(segment: Segment) -> None:
    columns = segment.columns
    norms = np.full(columns.width, np.inf, np.float32)
    norms[: len(segment.lengths)] = BM25.norms(segment.lengths)
    largest = impacts(columns.table, norms) * STEPS
    for windows, size in ((columns.slim, SLIM), (columns.wide, WIDE)):
        of_window = largest.reshape(len(largest), -1, size).max(2)
        assert (windows >= of_window).all()
        assert (windows <= of_window + 1.01).all()


def test_champions_are_the_passages_with_the_largest_impacts(segment: Segment) -> None:
    norms = BM25.norms(segment.lengths)
    for term, row in segment.columns.row_of.items():
        passages, tf = segment.columns.postings(row)
        impact = dict(zip(passages.tolist(), impacts(tf, norms[passages]).tolist(), strict=True))
        champions = [impact[passage] for passage in segment.columns.champions[row].tolist()]
        assert champions == sorted(impact.values(), reverse=True)[: len(champions)], term


def test_enough_bounds_reach_a_terms_mark(batch: PostingBatch, segment: Segment) -> None:
    marked = np.flatnonzero(segment.marks)
    for place in marked.tolist():
        if int(segment.terms[place]) not in segment.columns.row_of:
            _, codes = segment.list_at(place)
            assert np.count_nonzero(codes >= segment.marks[place]) >= MARKED


@pytest.mark.parametrize("terms", [[0], [3, 10_000], [10_000, 5, 2**32 - 1], []])
def test_places_of_terms(segment: Segment, terms: list[int]) -> None:
    places = segment.places(np.array(terms, np.uint32))
    known = segment.terms.tolist()
    assert places == [known.index(term) if term in known else -1 for term in terms]


def test_places_where_numbers_lie_far_apart() -> None:
    far = inverted([[7, 4_000_000_000], [9]])
    segment = Segment(build_segment(far, np.arange(2, dtype=np.uint32), bm25=BM25))
    wanted = np.array([9, 8, 4_000_000_000, 4_000_000_001], np.uint32)
    assert segment.places(wanted) == [1, -1, 2, -1]


@pytest.mark.parametrize("average", [3.0, 19.0, 20.0, 24.0, 400.0])
def test_scaled_bounds_hold_for_other_constants(batch: PostingBatch, average: float) -> None:
    now = Bm25(average_length=average)
    scale = looseness(BM25, now)
    built = impacts(batch.tf, BM25.norms(batch.lengths)[batch.passages])
    assert (built * scale >= impacts(batch.tf, now.norms(batch.lengths)[batch.passages])).all()


def test_a_segment_built_with_other_constants_answers_like_a_new_one(
    batch: PostingBatch, segment: Segment
) -> None:
    now = Bm25(average_length=90.0)
    rows = np.arange(len(batch.lengths), dtype=np.uint32)
    fresh = Segment(build_segment(batch, rows, bm25=now))
    old = KeywordIndex.empty(now).with_segment("s", segment)
    new = KeywordIndex.empty(now).with_segment("s", fresh)
    for terms in ((0,), (1, 300), (2, 5, 9, 40, 500), (700, 800)):
        query = KeywordQuery(terms)
        before, after = old.search(query, 20), new.search(query, 20)
        assert before.rows.tolist() == after.rows.tolist()
        assert before.scores.tolist() == after.scores.tolist()


def test_a_segment_consists_of_just_its_arrays(batch: PostingBatch) -> None:
    rows = np.arange(len(batch.lengths), dtype=np.uint32)
    assert build_segment(batch, rows, bm25=BM25).keys() == ARRAYS


@pytest.mark.parametrize("name", ["codes", "terms", "champions"])
def test_a_segment_without_an_array_is_refused(batch: PostingBatch, name: str) -> None:
    arrays = build_segment(batch, np.arange(len(batch.lengths), dtype=np.uint32), bm25=BM25)
    del arrays[name]
    with pytest.raises(StoreCorrupt):
        Segment(arrays)
