"""Asking the lanes, or the calendar, for the rows to rank."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.model.result import LaneHits
from twolaned.model.row import Tier
from twolaned.search.fusion import NO_HITS, best_rows
from twolaned.search.phrases import Judge
from twolaned.search.question import Vector
from twolaned.search.row_filter import ALL_ROWS, Conditions
from twolaned.search.row_table import RowTable
from twolaned.search.snapshot import IndexSnapshot

Find = Callable[[frozenset[Tier]], LaneHits]


@dataclass(slots=True)
class LaneWork:
    """What asking a lane took. *seconds* add up over passes."""

    seconds: float = 0.0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Candidates:
    """Finds the best *n* rows of some tiers that meet *conditions* and that *judge* passes.

    *may_match* limits the rows to those that can hold the required parts; None does not limit.
    """

    snapshot: IndexSnapshot
    conditions: Conditions
    judge: Judge
    may_match: NDArray[np.bool_] | None
    n: int

    def by_words(self, term_ids: tuple[int, ...], work: LaneWork) -> Find:
        """Find by the keyword lane, best first; equal scores in order of row id."""
        lane, table = self.snapshot.keyword, self.snapshot.rows

        def find(tiers: frozenset[Tier]) -> LaneHits:
            allowed = self._allowed(tiers)

            def ask(n: int) -> LaneHits:
                started = time.perf_counter()
                hits = lane.search(KeywordQuery(term_ids), n, allowed)
                work.seconds += time.perf_counter() - started
                return best_rows(hits, n, table.id_key)

            hits = self.judge.proven(ask, self.n) if term_ids else NO_HITS
            work.rows += len(hits.rows)
            return hits

        return find

    def by_meaning(self, vectors: Mapping[str, Vector], work: LaneWork) -> Find:
        """Find by the meaning lane, best first; equal scores in order of row id.

        *vectors* has the question's vector by the name of the space.
        """
        lane, table = self.snapshot.meaning, self.snapshot.rows

        def find(tiers: frozenset[Tier]) -> LaneHits:
            allowed = self._allowed(tiers)

            def ask(n: int) -> LaneHits:
                started = time.perf_counter()
                hits = lane.search(vectors, n, allowed)
                work.seconds += time.perf_counter() - started
                return best_rows(hits, n, table.id_key)

            hits = self.judge.proven(ask, self.n) if vectors else NO_HITS
            work.rows += len(hits.rows)
            return hits

        return find

    def by_date(self) -> Find:
        """Find the newest rows, newest first."""
        table = self.snapshot.rows

        def find(tiers: frozenset[Tier]) -> LaneHits:
            allowed = self._allowed(tiers)
            mask = table.live if allowed is None else allowed
            return self.judge.proven(lambda n: _newest(table, mask, n), self.n)

        return find

    def _allowed(self, tiers: frozenset[Tier]) -> NDArray[np.bool_] | None:
        conditions = self.conditions.of(tiers)
        if conditions == ALL_ROWS:
            return self.may_match
        allowed = self.snapshot.rows.allowed(conditions)
        return allowed if self.may_match is None else allowed & self.may_match


def nothing(tiers: frozenset[Tier]) -> LaneHits:  # noqa: ARG001
    """Find no row, of whichever *tiers*."""
    return NO_HITS


def _newest(table: RowTable, mask: NDArray[np.bool_], n: int) -> LaneHits:
    rows = table.newest(mask, n)
    return LaneHits(
        rows, np.zeros(len(rows), np.float32), np.zeros(len(rows), np.uint32), len(rows) < n
    )
