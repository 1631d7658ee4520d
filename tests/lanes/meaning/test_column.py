"""Columns: they grow at the end, and no snapshot sees another's items."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.meaning.column import Column


@settings(max_examples=50, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 1_500)), min_size=1, max_size=12)
)
def test_every_snapshot_keeps_its_own_items(steps: list[tuple[int, int]]) -> None:
    """Columns made from any earlier column, branches included, hold what was put into them."""
    made = [(Column.empty(np.int64, 2), np.empty((0, 2), np.int64))]
    for number, (parent, size) in enumerate(steps):
        column, items = made[parent % len(made)]
        new = np.full((size, 2), number)
        made.append((column.extended(new), np.concatenate([items, new])))

    for column, items in made:
        assert len(items) == len(column)
        np.testing.assert_array_equal(items, column.values)


def test_extending_in_turn_copies_rarely() -> None:
    """A column that grows step by step shares its buffer with the one before, mostly."""
    column, moves = Column.empty(np.uint32), 0
    for _ in range(1_000):
        longer = column.extended(np.zeros(10, np.uint32))
        moves += not np.shares_memory(longer.values[:1], column.values[:1])
        column = longer

    assert moves < 12
