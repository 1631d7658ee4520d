"""A pool of candidates with its scores, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from twolaned.lanes.meaning import MeaningIndex
from twolaned.model.query import RankingDate
from twolaned.model.result import ScoreParts
from twolaned.search import score
from twolaned.search.fusion import Found, Pool, merge, ranking
from twolaned.search.question import Vector
from twolaned.search.row_table import RowTable

UNRELATED = {"builtin/all-minilm-l6-v2-int8/384": 0.049}
"""The mean cosine of texts that have nothing to do with one another, by vector space, where it is
known of the model (24 sentences on as many subjects). Elsewhere the archive's own passages stand
for it, which are closer to one another than to a question on something else, and so blend a little
less well (`bench/quality`)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """*order* holds places in *pool*, best first."""

    pool: Pool
    scores: score.Scores
    order: list[int]

    @property
    def best_score(self) -> float | None:
        """The highest score; None of an empty pool."""
        return float(self.scores.total.max()) if len(self.pool) else None

    def rows(self) -> list[int]:
        """Row numbers, best first."""
        return [int(number) for number in self.pool.rows[self.order]]

    def parts(self, place: int) -> ScoreParts:
        """The terms of the score at *place* of the pool."""
        pool, scores = self.pool, self.scores
        return ScoreParts(
            similarity=float(scores.similarity[place]),
            recency=float(scores.recency[place]),
            quality=float(scores.quality[place]),
            tier=float(scores.tier[place]),
            outcome=score.OUTCOME_VALUE,
            found_both_ways=float(scores.found_both_ways[place]),
            freshness=float(scores.freshness[place]),
            bm25=_known(pool.bm25[place]),
            cosine=_known(pool.cosine[place]),
        )


@dataclass(frozen=True, slots=True)
class Blend:
    """What blending needs beyond the pool: cosines of rows whichever lane found them."""

    index: MeaningIndex
    vectors: Mapping[str, Vector]
    weight: float
    """The share of meaning."""

    def similarity(self, pool: Pool) -> score.Floats:
        """The blended similarity of the rows of *pool*."""
        cosine, space = self.index.cosines(self.vectors, pool.rows)
        spaces = [
            score.SpaceFusion(UNRELATED.get(s.space, s.mean_cosine), self.weight)
            for s in self.index.spaces
        ]
        return score.similarity_blend(pool.bm25, cosine.astype(np.float64), space, spaces)


def rank(
    found: Found, table: RowTable, date: RankingDate, now: int, blend: Blend | None = None
) -> Ranked:
    """Score what the lanes found and order it, equal scores by row id.

    *blend* None takes the larger similarity. Without a meaning match both ways of fusing give the
    same: the share of the best keyword match.
    """
    pool = merge(found.keyword, found.meaning)
    similarity = (
        score.similarity_max(pool.bm25, pool.cosine) if blend is None else (blend.similarity(pool))
    )
    scores = _scored(pool, similarity, table, date, now)
    return Ranked(pool, scores, ranking(pool, scores.total, table.id_key))


def rank_as_listed(found: Found, table: RowTable, date: RankingDate, now: int) -> Ranked:
    """Score rows that no words were asked of, and leave them in their order."""
    hits = found.keyword
    n = len(hits.rows)
    pool = Pool(hits.rows, hits.passages, np.full(n, np.nan), np.full(n, np.nan))
    similarity = np.zeros(n)
    return Ranked(pool, _scored(pool, similarity, table, date, now), list(range(n)))


def _scored(
    pool: Pool, similarity: score.Floats, table: RowTable, date: RankingDate, now: int
) -> score.Scores:
    profiles = table.profiles(pool.rows)
    return score.score(
        similarity=similarity,
        days=score.days_since(table.dates(pool.rows, date), now),
        quality=np.array([score.quality_term(p.kind, p.quality) for p in profiles], np.float64),
        tier=np.array([score.tier_term(p.tier) for p in profiles], np.float64),
        both_ways=pool.both_ways,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
