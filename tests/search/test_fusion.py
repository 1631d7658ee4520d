from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.model.result import FoundBy, LaneHits
from twolaned.search.fusion import (
    NO_HITS,
    best_rows,
    joined,
    lane_size,
    merge,
    only,
    ranking,
)


def hits(*found: tuple[int, float, int], exhausted: bool = True) -> LaneHits:
    rows, scores, passages = zip(*found, strict=True) if found else ((), (), ())
    return LaneHits(
        np.array(rows, np.uint32),
        np.array(scores, np.float32),
        np.array(passages, np.uint32),
        exhausted,
    )


def reversed_key(number: int) -> bytes:
    """Ids that stand in the opposite order of the numbers."""
    return f"{1000 - number:04}".encode()


def test_a_lane_returns_three_times_the_results_and_30_at_least() -> None:
    """Retrieval rules, section 2."""
    assert [30, 30, 33, 600] == [lane_size(k) for k in (1, 10, 11, 200)]


def test_ties_at_the_border_are_broken_by_row_id() -> None:
    """Of rows that tie with the last one, those with the smallest ids stay."""
    found = hits((1, 3.0, 0), (2, 2.0, 1), (3, 2.0, 2), (4, 2.0, 3))
    best = best_rows(found, 2, reversed_key)

    assert [1, 4] == best.rows.tolist()
    assert [0, 3] == best.passages.tolist()
    assert not best.exhausted


def test_all_hits_are_kept_where_there_is_room() -> None:
    """Then the list says that there are no more."""
    best = best_rows(hits((7, 1.0, 0), (2, 1.0, 0)), 30, reversed_key)

    assert [7, 2] == best.rows.tolist()
    assert best.exhausted


def test_merge_marks_who_found_a_row() -> None:
    """Each row once; the keyword lane's passage of a row that both found."""
    pool = merge(hits((5, 2.0, 1), (3, 1.0, 2)), hits((9, 0.8, 4), (5, 0.5, 7)))

    assert [3, 5, 9] == pool.rows.tolist()
    assert [2, 1, 4] == pool.passages.tolist()
    assert [FoundBy.KEYWORD, FoundBy.HYBRID, FoundBy.VECTOR] == [pool.found_by(i) for i in range(3)]
    assert [False, True, False] == pool.both_ways.tolist()
    assert [1.0, 2.0] == pool.bm25[:2].tolist()
    assert [0.5, 0.8] == np.round(pool.cosine[1:], 6).tolist()


def test_no_hits_make_an_empty_pool() -> None:
    """Nothing found is no error."""
    assert 0 == len(merge(NO_HITS))
    assert [] == ranking(merge(NO_HITS), np.empty(0), reversed_key)


def test_equal_scores_are_ordered_by_row_id() -> None:
    """The highest first."""
    pool = merge(hits((1, 1.0, 0), (2, 1.0, 0), (3, 1.0, 0)))
    order = ranking(pool, np.array([0.5, 0.9, 0.5]), reversed_key)

    assert [2, 3, 1] == pool.rows[order].tolist()


def test_two_passes_are_one_list() -> None:
    """Exhausted only if both are."""
    both = joined(hits((1, 2.0, 0)), hits((2, 3.0, 0), exhausted=False))

    assert [1, 2] == both.rows.tolist()
    assert not both.exhausted
    assert [2] == only(both, np.array([False, True])).rows.tolist()


scored = st.tuples(st.integers(0, 60), st.integers(1, 4))


@given(st.lists(scored, unique_by=lambda t: t[0]), st.integers(1, 12))
@settings(max_examples=200, deadline=None)
def test_best_rows_equals_sorting_everything(found: list[tuple[int, int]], n: int) -> None:
    """Whatever the lane's own order among equal scores."""
    listed = sorted(found, key=lambda f: -f[1])
    best = best_rows(hits(*((row, float(score), 0) for row, score in listed)), n, reversed_key)
    expected = sorted(found, key=lambda f: (-f[1], reversed_key(f[0])))[:n]

    assert [row for row, _ in expected] == best.rows.tolist()
