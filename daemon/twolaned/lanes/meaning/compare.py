"""Ways to find the best rows: by comparing with everything, with some, or with what looks near."""

from __future__ import annotations

from typing import Final

import numpy as np

from twolaned.lanes.meaning.best_rows import BestRows
from twolaned.lanes.meaning.candidates import Candidates
from twolaned.lanes.meaning.outlook import Line
from twolaned.lanes.meaning.selection import Selection
from twolaned.lanes.meaning.vectors import Positions, Question, VectorTable
from twolaned.model.result import LaneHits

FIRST_BATCH: Final = 768
SMALLEST_BATCH: Final = 256
LARGEST_BATCH: Final = 2_048
NEGLIGIBLE: Final = 0.03
"""A search ends when it expects fewer good vectors than this in all the rest."""
TOLERABLE: Final = 0.15
ENOUGH_IN_VAIN: Final = 2_000
"""The same where so many vectors in a row made the answer no better."""
HOPELESS: Final = 4
"""Where one vector in so many would have to be compared, comparing all in order is faster."""

_BLOCK = 65_536


def with_all(table: VectorTable, selection: Selection, question: Question, n: int) -> LaneHits:
    """The exact answer, by the product with every vector that *selection* keeps."""
    best = BestRows(n, table)
    for start in range(0, len(table), _BLOCK):
        stop = min(start + _BLOCK, len(table))
        found = table.cosines_between(question, start, stop)
        kept = selection.mask(slice(start, stop))
        if kept is None:
            best.add(np.arange(start, stop), found)
        else:
            at = np.flatnonzero(kept)
            best.add(start + at, found[at])
    return best.hits(question, seen_all=True)


def with_some(table: VectorTable, at: Positions, question: Question, n: int) -> LaneHits:
    """The exact answer among the vectors at *at*."""
    best = BestRows(n, table)
    best.add(at, table.cosines(question, at))
    return best.hits(question, seen_all=True)


def with_near(
    table: VectorTable, candidates: Candidates, question: Question, n: int
) -> LaneHits | None:
    """The answer by comparing with *candidates* until the rest is not worth it.

    What the rest is worth follows from how the cosines seen so far go down with the distance of
    codes. None where codes tell so little that comparing with everything is faster.
    """
    best, line = BestRows(n, table), Line()
    seen = in_vain = 0
    size = max(FIRST_BATCH, 4 * n)
    while True:
        at, distances = candidates.batch(size)
        if not len(at):
            break
        found = table.cosines(question, at)
        line.add(distances, found)
        better = best.add(at, found)
        seen += len(at)
        in_vain = 0 if better else in_vain + len(at)
        size = seen
        if best.full:
            outlook = candidates.outlook(line, best.threshold)
            little = TOLERABLE if in_vain >= ENOUGH_IN_VAIN else NEGLIGIBLE
            if outlook.inside + outlook.beyond < little:
                break
            if seen + outlook.worth > candidates.total // HOPELESS:
                return None
            if outlook.beyond > outlook.inside:
                candidates.widen(outlook.limit)
            size = min(max(outlook.worth, SMALLEST_BATCH), size, LARGEST_BATCH)
    return best.hits(question, seen_all=not len(at))
