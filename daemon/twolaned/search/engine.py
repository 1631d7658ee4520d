"""Answering a search from a snapshot of the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from twolaned.config.settings import RankingSettings
from twolaned.model.query import Filters, SearchQuery, Similarity
from twolaned.model.result import Receipt, SearchAnswer, SearchMode
from twolaned.model.row import Tier
from twolaned.search.candidates import Candidates, Find, LaneWork, nothing
from twolaned.search.fusion import NO_HITS, Found, found_together, lane_size
from twolaned.search.limits import check_limits
from twolaned.search.marking import Marker
from twolaned.search.patterns import Pattern
from twolaned.search.phrases import Judge, Verdicts
from twolaned.search.ports import StoreView
from twolaned.search.query import ParsedQuery, parse_query
from twolaned.search.question import MeaningQuestion, Vector
from twolaned.search.ranked import Blend, Ranked, rank, rank_as_listed
from twolaned.search.reach import Reached, first_reach, search_in_reach
from twolaned.search.receipt import keyword_receipt, lags, meaning_receipt, tiers_searched
from twolaned.search.results import Standing, show, standing
from twolaned.search.row_filter import Conditions
from twolaned.search.snapshot import IndexSnapshot
from twolaned.search.terms import PrefixCache, QueryTerms, query_terms, rows_that_may_hold

NO_FILTERS = Filters()


def now_ms() -> int:
    """Now, in UTC milliseconds."""
    return time.time_ns() // 1_000_000


class SearchEngine:
    """Answers searches of one store; safe to use from many threads at once.

    *clock* tells the time in UTC milliseconds. *blend_weight* is the share of meaning where the
    similarity is blended.
    """

    def __init__(
        self,
        ranking: RankingSettings,
        clock: Callable[[], int] = now_ms,
        *,
        blend_weight: float = 0.4,
    ) -> None:
        self._ranking = ranking
        self._blend_weight = blend_weight
        self._clock = clock
        self._verdicts = Verdicts()
        self._prefixes = PrefixCache()

    def text_to_embed(self, query: SearchQuery) -> str:
        """What of *query* the meaning lane is asked; empty where there is nothing.

        Raises InvalidInput for what `check_limits` refuses.
        """
        check_limits(query)
        return parse_query(query.query, datetime.now()).text  # noqa: DTZ005

    def search(
        self,
        snapshot: IndexSnapshot,
        query: SearchQuery,
        *,
        arrived: float | None = None,
        meaning: MeaningQuestion | None = None,
        now: int | None = None,
    ) -> SearchAnswer:
        """Answer *query* from *snapshot*.

        *arrived* is when the call came in, in seconds of the monotonic clock; None means now. *now*
        is what ages count to, in UTC milliseconds; None asks the clock.
        *meaning* is the question as the meaning lane takes it; None means that search by meaning is
        off. Raises InvalidInput for what `check_limits` refuses.
        """
        begun = time.monotonic() if arrived is None else arrived
        with snapshot.view() as view:
            found = self._answer(snapshot, view, query, meaning, now)
            terms, parsed = found.asked.terms, found.asked.parsed
            marker = Marker(terms.words, terms.prefixes, parsed.required)
            results = show(view, found.standings, marker, query.top_k)
        return SearchAnswer(
            results=results,
            receipt=self._receipt(snapshot, found, begun),
            final=meaning is None or not meaning.pending,
            ignored=parsed.read_as_text,
        )

    def standings(
        self,
        snapshot: IndexSnapshot,
        view: StoreView,
        query: SearchQuery,
        *,
        meaning: MeaningQuestion | None = None,
        now: int | None = None,
    ) -> tuple[tuple[Standing, ...], Receipt]:
        """How the rows stand that `search` would return, with nothing of their texts read.

        *view* is one of *snapshot*. A row that is gone from it by now is among them.
        """
        begun = time.monotonic()
        found = self._answer(snapshot, view, query, meaning, now)
        best = tuple(islice(found.standings, query.top_k))
        return best, self._receipt(snapshot, found, begun)

    def _answer(
        self,
        snapshot: IndexSnapshot,
        view: StoreView,
        query: SearchQuery,
        meaning: MeaningQuestion | None,
        now: int | None,
    ) -> _Found:
        check_limits(query)
        now = self._clock() if now is None else now
        parsed = parse_query(query.query, datetime.fromtimestamp(now / 1000))  # noqa: DTZ006
        terms = query_terms(parsed, snapshot.generation, view, snapshot.keyword, self._prefixes)
        conditions = Conditions(query, parsed, snapshot.sources)
        asked = _Asked(query, parsed, terms, conditions, now, meaning)
        reached = self._find(snapshot, view, asked)
        return _Found(
            asked, reached, standing(reached.ranked, snapshot.rows, explain=query.explain)
        )

    def _receipt(self, snapshot: IndexSnapshot, found: _Found, begun: float) -> Receipt:
        asked, reached, meaning = found.asked, found.reached, found.asked.meaning
        text, final = asked.parsed.text, asked.conditions.of(found.reached.tiers)
        failure = meaning.failure if meaning is not None and text else None
        return Receipt(
            index_generation=snapshot.generation,
            mode=SearchMode.LEXICAL if meaning is None else SearchMode.HYBRID,
            similarity=asked.query.similarity or self._ranking.similarity,
            ranking_date=self._ranking.date,
            lanes=(
                keyword_receipt(asked.keyword_work if asked.terms.has_words else None),
                meaning_receipt(meaning, asked.meaning_work if text else None),
            ),
            degraded=failure is not None,
            degraded_reason="" if failure is None else str(failure.reason),
            degraded_message="" if failure is None else failure.message,
            tiers_searched=tiers_searched(reached.tiers, final),
            rows_in_reach=snapshot.rows.count(final),
            second_pass=reached.second_pass,
            lags=lags(final, snapshot.sources),
            took_us=round((time.monotonic() - begun) * 1e6),
        )

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
        by_words: Find = nothing
        by_meaning: Find = nothing
        vectors = asked.vectors
        if asked.terms.has_words:
            by_words = candidates.by_words(asked.terms.ids, asked.keyword_work)
            if vectors:
                by_meaning = candidates.by_meaning(vectors, asked.meaning_work)
        elif parsed.required or parsed.has_filters or asked.query.filters != NO_FILTERS:
            by_words = candidates.by_date()

        similarity = asked.query.similarity or self._ranking.similarity
        blend = None
        if vectors and similarity is Similarity.BLEND:
            blend = Blend(snapshot.meaning, vectors, self._blend_weight)

        def find(tiers: frozenset[Tier]) -> Found:
            return Found(by_words(tiers), by_meaning(tiers) if vectors else NO_HITS)

        def ranked(found: Found) -> Ranked:
            if asked.terms.has_words:
                return rank(found, table, self._ranking.date, asked.now, blend)
            return rank_as_listed(found, table, self._ranking.date, asked.now)

        tiers = first_reach(
            meaning_is_on=asked.meaning is not None,
            detail=asked.query.detail,
            scope=asked.query.filters.scope,
        )
        return search_in_reach(tiers, find, found_together, ranked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked, and the work that it makes. *now* is UTC milliseconds."""

    query: SearchQuery
    parsed: ParsedQuery
    terms: QueryTerms
    conditions: Conditions
    now: int
    meaning: MeaningQuestion | None
    keyword_work: LaneWork = field(default_factory=LaneWork)
    meaning_work: LaneWork = field(default_factory=LaneWork)

    @property
    def vectors(self) -> Mapping[str, Vector]:
        """The question's vectors; none where meaning is off or was not there in time."""
        return {} if self.meaning is None or not self.parsed.text else self.meaning.vectors


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found: *standings* are made as they are asked for."""

    asked: _Asked
    reached: Reached[Ranked]
    standings: Iterator[Standing]
