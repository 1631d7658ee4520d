"""Moving rows between tiers: prepared in small steps, visible all at once or never."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from twolaned.model.row import Tier
from twolaned.store import Store
from twolaned.store.compactions import Move

MOVES_AT_ONCE = 1_024
"""Moves written in one transaction, which keeps it short."""
READ_AT_ONCE = 4_096


def stage_moves(
    store: Store, numbers: Sequence[int], compaction: int
) -> Generator[int, None, None]:
    """Prepare that the row versions *numbers* are cold; yields how many are, from time to time."""
    move = Move(Tier.COLD, compaction)
    for start in range(0, len(numbers), MOVES_AT_ONCE):
        some = numbers[start : start + MOVES_AT_ONCE]
        with store.change() as change:
            change.stage_moves(some, move)
        yield start + len(some)


def sweep_moves(store: Store) -> Generator[None, None, None]:
    """Remove the moves of a compaction that was not finished, or was rolled back."""
    with store.view() as view:
        unfinished = view.moving
        counts = unfinished in view.manifest.compactions
    if unfinished is None:
        return
    first = 0
    while not counts:
        with store.view() as view:
            found = view.moves(first, READ_AT_ONCE)
        if not found:
            break
        first = found[-1][0] + 1
        gone = [number for number, move in found if move.compaction == unfinished]
        for start in range(0, len(gone), MOVES_AT_ONCE):
            with store.change() as change:
                change.drop_moves(gone[start : start + MOVES_AT_ONCE])
            yield None
        yield None
    with store.change() as change:
        change.set_moving(None)


def moved_by(store: Store, compaction: int) -> Generator[None, None, list[int]]:
    """The row versions that *compaction* moved, dead ones too, in steps."""
    numbers: list[int] = []
    first = 0
    while True:
        with store.view() as view:
            found = view.moves(first, READ_AT_ONCE)
        if not found:
            return numbers
        first = found[-1][0] + 1
        numbers += [number for number, move in found if move.compaction == compaction]
        yield None


def still_live(store: Store, numbers: Sequence[int], since: int) -> list[int]:
    """Those of *numbers* that are live, ascending; all were at generation *since*.

    Costs as much as was committed since, and only where the log no longer reaches back that far
    as much as there are rows.
    """
    with store.view() as view:
        if view.manifest.log_start <= since + 1:
            died = {dead.number for _, record in view.log(since) for dead in record.dead}
            return sorted(n for n in numbers if n not in died)
        live = np.array(view.numbers(), np.int64)
    found: list[int] = np.intersect1d(np.array(numbers, np.int64), live).tolist()
    return found


def packed(numbers: Sequence[int]) -> bytes:
    """*numbers* as the log keeps them."""
    return np.array(numbers, "<u4").tobytes()
