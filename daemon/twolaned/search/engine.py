"""Answering a search from a snapshot of the index."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from twolaned.config.settings import RankingSettings
from twolaned.model.query import Filters, SearchQuery
from twolaned.model.result import LaneHits, Receipt, SearchAnswer, SearchMode
from twolaned.search.candidates import Candidates, Find, LaneWork, nothing
from twolaned.search.fusion import joined, lane_size
from twolaned.search.limits import check_limits
from twolaned.search.marking import Marker
from twolaned.search.patterns import Pattern
from twolaned.search.phrases import Judge, Verdicts
from twolaned.search.ports import StoreView
from twolaned.search.query import ParsedQuery, parse_query
from twolaned.search.ranked import Ranked, rank, rank_as_listed
from twolaned.search.reach import Reached, first_reach, search_in_reach
from twolaned.search.receipt import lags, lane_receipts, tiers_searched
from twolaned.search.results import show, standing
from twolaned.search.row_filter import Conditions
from twolaned.search.snapshot import IndexSnapshot
from twolaned.search.terms import PrefixCache, QueryTerms, query_terms, rows_that_may_hold

NO_FILTERS = Filters()


def now_ms() -> int:
    """Now, in UTC milliseconds."""
    return time.time_ns() // 1_000_000


class SearchEngine:
    """Answers searches of one store; safe to use from many threads at once.

    *clock* tells the time in UTC milliseconds. Search by meaning is off, so that the mode is
    lexical.
    """

    def __init__(self, ranking: RankingSettings, clock: Callable[[], int] = now_ms) -> None:
        self._ranking = ranking
        self._clock = clock
        self._verdicts = Verdicts()
        self._prefixes = PrefixCache()

    def search(
        self, snapshot: IndexSnapshot, query: SearchQuery, *, arrived: float | None = None
    ) -> SearchAnswer:
        """Answer *query* from *snapshot*.

        *arrived* is when the call came in, in seconds of the monotonic clock; None means now.
        Raises InvalidInput for what `check_limits` refuses.
        """
        begun = time.monotonic() if arrived is None else arrived
        check_limits(query)
        now = self._clock()
        parsed = parse_query(query.query, datetime.fromtimestamp(now / 1000))  # noqa: DTZ006
        with snapshot.view() as view:
            terms = query_terms(parsed, snapshot.generation, view, snapshot.keyword, self._prefixes)
            conditions = Conditions(query, parsed, snapshot.sources)
            asked = _Asked(query, parsed, terms, conditions, LaneWork(), now)
            reached = self._find(snapshot, view, asked)
            marker = Marker(terms.words, terms.prefixes, parsed.required)
            standings = standing(reached.ranked, snapshot.rows, explain=query.explain)
            results = show(view, standings, marker, query.top_k)
        final = conditions.of(reached.tiers)
        receipt = Receipt(
            index_generation=snapshot.generation,
            mode=SearchMode.LEXICAL,
            similarity=query.similarity or self._ranking.similarity,
            ranking_date=self._ranking.date,
            lanes=lane_receipts(asked.work if terms.has_words else None),
            tiers_searched=tiers_searched(reached.tiers, final),
            rows_in_reach=snapshot.rows.count(final),
            second_pass=reached.second_pass,
            lags=lags(final, snapshot.sources),
            took_us=round((time.monotonic() - begun) * 1e6),
        )
        return SearchAnswer(results=results, receipt=receipt, ignored=parsed.read_as_text)

    def _find(self, snapshot: IndexSnapshot, view: StoreView, asked: _Asked) -> Reached[Ranked]:
        """Find and rank, in the archive too where the rules say so."""
        parsed, table = asked.parsed, snapshot.rows
        size = len(table.live)

        def may_hold(*patterns: Pattern) -> NDArray[np.bool_] | None:
            return rows_that_may_hold(patterns, view, snapshot.keyword, size)

        judge = Judge(
            parsed.required,
            parsed.excluded,
            view=view,
            verdicts=self._verdicts,
            size=size,
            may_hold=may_hold,
        )
        candidates = Candidates(
            snapshot=snapshot,
            conditions=asked.conditions,
            judge=judge,
            may_match=may_hold(*parsed.required),
            n=lane_size(asked.query.top_k),
        )
        find: Find = nothing
        order = rank_as_listed
        if asked.terms.has_words:
            find, order = candidates.by_words(asked.terms.ids, asked.work), rank
        elif parsed.required or parsed.has_filters or asked.query.filters != NO_FILTERS:
            find = candidates.by_date()

        def ranked(hits: LaneHits) -> Ranked:
            return order(hits, table, self._ranking.date, asked.now)

        tiers = first_reach(
            meaning_is_on=False, detail=asked.query.detail, scope=asked.query.filters.scope
        )
        return search_in_reach(tiers, find, joined, ranked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked, and the work that it makes. *now* is UTC milliseconds."""

    query: SearchQuery
    parsed: ParsedQuery
    terms: QueryTerms
    conditions: Conditions
    work: LaneWork
    now: int
