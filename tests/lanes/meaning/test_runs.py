"""Where a row's vectors lie."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.meaning.runs import RowRuns, within

BATCHES = st.lists(st.lists(st.integers(0, 12), max_size=12), max_size=12)


def runs_of(batches: list[list[int]]) -> tuple[RowRuns, list[int]]:
    runs, rows = RowRuns(), []
    for batch in batches:
        runs = runs.extended(np.array(batch, np.uint32), len(rows))
        rows += batch
    return runs, rows


@settings(max_examples=100, deadline=None)
@given(batches=BATCHES, wanted=st.sets(st.integers(0, 15)))
def test_positions_are_those_of_the_rows(batches: list[list[int]], wanted: set[int]) -> None:
    """Whatever the order and the batches in which rows came."""
    runs, rows = runs_of(batches)

    found = runs.positions(np.array(sorted(wanted), np.uint32))

    assert [i for i, row in enumerate(rows) if row in wanted] == sorted(found.tolist())


@settings(max_examples=100, deadline=None)
@given(batches=BATCHES, allowed=st.lists(st.booleans(), max_size=15))
def test_allowed_positions_are_listed(batches: list[list[int]], allowed: list[bool]) -> None:
    """Also where the filter is shorter than the row numbers."""
    runs, rows = runs_of(batches)
    expected = [i for i, row in enumerate(rows) if row < len(allowed) and allowed[row]]
    mask = np.array(allowed, np.bool_)

    assert expected == runs.allowed_positions(mask).tolist()


def test_a_few_rows_among_many_are_found_in_order() -> None:
    """By looking them up, across blocks that came in another order than the rows."""
    runs = RowRuns().extended(np.repeat(np.arange(1_000, 2_000, dtype=np.uint32), 2), 0)
    runs = runs.extended(np.arange(500, dtype=np.uint32), 2_000)
    allowed = np.zeros(2_500, np.bool_)
    allowed[[3, 1_001, 2_400]] = True

    assert [2, 3, 2_003] == runs.allowed_positions(allowed).tolist()


def test_many_small_batches_make_few_blocks() -> None:
    """Looking a row up stays a few binary searches after ten thousand commits."""
    runs = RowRuns()
    for row in range(10_000):
        runs = runs.extended(np.array([row], np.uint32), row)

    assert len(runs._blocks) <= 14


def test_an_empty_filter_allows_nothing() -> None:
    """A filter of no rows at all is short for every row."""
    assert not within(np.zeros(0, np.bool_), np.array([0, 5], np.uint32)).any()
