"""Recent passages, in memory: few enough to add all shares up for every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.clause import Clauses, places_in
from twolaned.lanes.keyword.found import Found, Rows, allowed_of, best_of_rows
from twolaned.lanes.keyword.impacts import impacts
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.postings import merge
from twolaned.lanes.keyword.threshold import Threshold

GROWTH = 8
"""Runs are merged until each has at least so many times the passages of the next."""


@dataclass(frozen=True, slots=True)
class Run:
    """The passages of one commit: *rows* (uint32 by passage, ascending) and their postings."""

    sequence: int
    rows: Rows
    batch: PostingBatch


@dataclass(frozen=True, slots=True)
class RecentPart:
    """The passages of some commits in a row, merged.

    *indexes* (uint32) are each passage's place within its row, *impact* (float32) each posting's
    impact, and *alive* says by passage whether it answers.
    """

    runs: tuple[Run, ...]
    rows: Rows
    indexes: NDArray[np.uint32]
    batch: PostingBatch
    impact: NDArray[np.float32]
    alive: NDArray[np.bool_]
    live: int

    @classmethod
    def of(cls, runs: Sequence[Run], bm25: Bm25, dead: Rows) -> RecentPart:
        """The passages of *runs*, at least one, without the rows *dead*."""
        batch = merge([run.batch for run in runs])
        indexes = [np.arange(len(r.rows)) - r.rows.searchsorted(r.rows) for r in runs]
        rows = np.concatenate([run.rows for run in runs])
        part = cls(
            tuple(runs),
            rows,
            np.concatenate(indexes).astype(np.uint32),
            batch,
            impacts(batch.tf, bm25.norms(batch.lengths)[batch.passages]),
            np.ones(len(rows), np.bool_),
            len(rows),
        )
        return part.without(dead)

    @classmethod
    def joined(cls, parts: Sequence[RecentPart], bm25: Bm25) -> RecentPart:
        """All passages of *parts*, at least one."""
        if len(parts) == 1:
            return parts[0]
        batch = merge([part.batch for part in parts])
        return cls(
            tuple(run for part in parts for run in part.runs),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.indexes for part in parts]),
            batch,
            impacts(batch.tf, bm25.norms(batch.lengths)[batch.passages]),
            np.concatenate([part.alive for part in parts]),
            sum(part.live for part in parts),
        )

    def without(self, dead: Rows) -> RecentPart:
        """This part without the rows *dead*; unknown ones do not matter."""
        hit = np.isin(self.rows, dead) & self.alive
        if not hit.any():
            return self
        return replace(self, alive=self.alive & ~hit, live=self.live - int(np.count_nonzero(hit)))

    def places(self, terms: NDArray[np.uint32]) -> list[int]:
        """The place of each of *terms*, -1 where it does not occur."""
        places: list[int] = places_in(self.batch.terms, terms).tolist()
        return places

    def frequency(self, place: int) -> int:
        """In how many passages the term at *place* occurs, dead ones included."""
        return int(self.batch.offsets[place + 1] - self.batch.offsets[place])

    def rows_with(self, place: int) -> Rows:
        """The live rows that hold the term at *place*, with repetitions."""
        passages = self.batch.passages[self._part(place)]
        return self.rows[passages[self.alive[passages]]]

    def search(
        self,
        clauses: Clauses,
        places: Sequence[int],
        threshold: Threshold,
        allowed: NDArray[np.bool_] | None,
    ) -> Found:
        """All rows that reach the threshold; some that do not may be there too.

        *places* are the places of the terms.
        """
        passages, shares = [], []
        for place, weight in zip(places, clauses.weights, strict=True):
            if place >= 0 and weight:
                part = self._part(place)
                passages.append(self.batch.passages[part])
                shares.append(self.impact[part] * np.float32(weight))
        if not passages:
            return Found.nothing()
        total = np.bincount(np.concatenate(passages), np.concatenate(shares), len(self.rows))
        found = np.flatnonzero(total > threshold.value)
        kept = self.alive[found]
        if allowed is not None:
            kept &= allowed_of(self.rows[found], allowed)
        found = found[kept]
        rows, scores = self.rows[found], total[found].astype(np.float32)
        indexes = self.indexes[found]
        best = best_of_rows(rows, indexes, scores)
        return Found(rows[best], scores[best], indexes[best])

    def _part(self, place: int) -> slice:
        return slice(int(self.batch.offsets[place]), int(self.batch.offsets[place + 1]))


def with_run(
    parts: tuple[RecentPart, ...], run: Run, bm25: Bm25, dead: Rows
) -> tuple[RecentPart, ...]:
    """*parts* and one more run, which small ones before it are merged with."""
    count = len(run.rows)
    kept = len(parts)
    while kept and len(parts[kept - 1].rows) < GROWTH * count:
        kept -= 1
        count += len(parts[kept].rows)
    new = RecentPart.of([run], bm25, dead)
    return (*parts[:kept], RecentPart.joined([*parts[kept:], new], bm25))


def after(
    parts: tuple[RecentPart, ...], sequence: int, bm25: Bm25, dead: Rows
) -> tuple[RecentPart, ...]:
    """*parts* without the runs up to *sequence*."""
    kept = []
    for part in parts:
        runs = [run for run in part.runs if run.sequence > sequence]
        if len(runs) == len(part.runs):
            kept.append(part)
        elif runs:
            kept.append(RecentPart.of(runs, bm25, dead))
    return tuple(kept)
