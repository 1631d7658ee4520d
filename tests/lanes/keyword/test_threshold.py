"""The score that a row must reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.threshold import BELOW, Threshold

SCORES = st.lists(st.tuples(st.floats(0, 50), st.integers(0, 12)), min_size=1, max_size=200)


def nth(scores: list[float], n: int) -> float:
    return sorted(scores, reverse=True)[n - 1] if len(scores) >= n else 0.0


@settings(deadline=None)
@given(SCORES, st.integers(1, 12))
def test_distinct_rows_count(found: list[tuple[float, int]], n: int) -> None:
    threshold = Threshold(n)
    rows = np.array([row for _, row in found], np.uint32)
    scores = np.array([score for score, _ in found])
    threshold.look_at(scores, np.arange(len(found), dtype=np.uint32), rows)
    best: dict[int, float] = {}
    for score, row in found:
        best[row] = max(score, best.get(row, 0.0))
    assert threshold.value == pytest.approx(nth(list(best.values()), n) * BELOW)


@settings(deadline=None)
@given(SCORES, st.integers(1, 12))
def test_passages_count_where_each_is_a_row(found: list[tuple[float, int]], n: int) -> None:
    threshold = Threshold(n)
    scores = [score for score, _ in found]
    passages = np.arange(len(found), dtype=np.uint32)
    threshold.look_at(np.array(scores), passages, None)
    assert threshold.value == pytest.approx(nth(scores, n) * BELOW)


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0, 50, width=32), max_size=20), max_size=5))
def test_parts_are_learnt_one_by_one(parts: list[list[float]]) -> None:
    threshold = Threshold(5)
    for part in parts:
        threshold.learn(np.array(part, np.float32))
    every = [score for part in parts for score in part]
    assert threshold.value == pytest.approx(nth(every, 5) * BELOW)


def test_it_never_falls() -> None:
    threshold = Threshold(1)
    threshold.raise_to(5.0)
    threshold.look_at(np.array([1.0]), np.array([0], np.uint32), None)
    threshold.learn(np.array([2.0], np.float32))
    assert threshold.value == 5.0 * BELOW
