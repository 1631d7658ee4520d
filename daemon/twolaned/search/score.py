"""The score of a row, term by term (retrieval rules, section 3). All arithmetic is float64.

Arrays run over the rows of one pool. A lane that did not find a row has NaN there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.model.row import Quality, RowKind, Tier

Floats = NDArray[np.float64]

SIMILARITY = 0.55
RECENCY = 0.10
QUALITY = 0.10
TIER = 0.10
OUTCOME = 0.10
FOUND_BOTH_WAYS = 0.05
FRESHNESS = 0.05

OUTCOME_VALUE = 1.0
"""Reserved."""
BOTH_WAYS_VALUE = 1.3
RECENCY_A_DAY = 0.01
FRESHNESS_DAYS = 14.0
MS_A_DAY = 86_400_000

# By value: an enum's own hash is slow, and a pool asks for each of its rows.
_QUALITY = {"high": 1.0, "medium": 0.7, "unrated": 0.7, "low": 0.4}
_TIER = {"hot": 1.0, "document": 1.0, "digest": 1.1, "cold": 0.7}
_CONVERSATION = RowKind.CONVERSATION


def days_since(at: NDArray[np.int64], now: int) -> Floats:
    """Days from each UTC millisecond of *at* to *now*, as fractions; a later one counts as 0."""
    days: Floats = np.maximum(now - at, 0) / MS_A_DAY
    return days


def recency(days: Floats) -> Floats:
    """1.0 today, 0.77 after 30 days, 0.5 after 100."""
    return 1.0 / (1.0 + RECENCY_A_DAY * days)


def freshness(days: Floats) -> Floats:
    """1.0 today, 0.61 after a week, 0.12 after a month."""
    return np.exp(days / -FRESHNESS_DAYS)


def quality_term(kind: RowKind, quality: Quality) -> float:
    """By rating for conversations, an unrated one counting as medium; 1.0 for everything else."""
    return _QUALITY[quality.value] if kind is _CONVERSATION else 1.0


def tier_term(tier: Tier) -> float:
    """1.0 for what is current, 1.1 for digests, 0.7 for the archive."""
    return _TIER[tier.value]


def keyword_share(bm25: Floats) -> Floats:
    """Each BM25 as a share of the best one in the pool; 0 where the keyword lane found nothing."""
    found = np.where(np.isnan(bm25), 0.0, bm25)
    best = found.max(initial=0.0)
    return found / best if best > 0.0 else np.zeros_like(found)


def best_meaning(cosine: Floats) -> float:
    """The best cosine of the pool, not below 0; 1.0 where there is no meaning match at all."""
    found = cosine[~np.isnan(cosine)]
    return max(0.0, float(found.max())) if len(found) else 1.0


def similarity_max(bm25: Floats, cosine: Floats) -> Floats:
    """The larger of the cosine and the keyword share on the scale of the best cosine."""
    keyword = keyword_share(bm25) * best_meaning(cosine)
    return np.maximum(keyword, np.where(np.isnan(cosine), 0.0, cosine))


@dataclass(frozen=True, slots=True)
class SpaceFusion:
    """How the cosines of one vector space are fused.

    *mean* is the model's mean cosine of unrelated texts, *weight* the share of meaning.
    """

    mean: float
    weight: float


def similarity_blend(
    bm25: Floats, cosine: Floats, space: NDArray[np.int64], spaces: Sequence[SpaceFusion]
) -> Floats:
    """A weighted sum of both lanes' evidence, times the best cosine of the pool.

    *cosine* is needed of every row that has a vector, whichever lane found it; *space* says by
    index into *spaces* which one it is measured in. A row without a vector has no meaning term and
    the keyword weight of the space that trusts meaning most. Without any cosine in the pool, the
    keyword share alone. (Defined with its measurements in docs/search.md.)
    """
    share = keyword_share(bm25)
    known = ~np.isnan(cosine)
    if not known.any():
        return share
    meaning = np.zeros_like(share)
    keyword = np.full_like(share, 1.0 - max(s.weight for s in spaces))
    for index, fusion in enumerate(spaces):
        own = known & (space == index)
        if not own.any():
            continue
        keyword[own] = 1.0 - fusion.weight
        best = float(cosine[own].max())
        if best > fusion.mean:
            raised = (cosine[own] - fusion.mean) / (best - fusion.mean)
            meaning[own] = fusion.weight * np.maximum(raised, 0.0)
    blended: Floats = (meaning + keyword * share) * best_meaning(cosine)
    return blended


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The terms before their weights, and the *total*."""

    similarity: Floats
    recency: Floats
    quality: Floats
    tier: Floats
    found_both_ways: Floats
    freshness: Floats
    total: Floats


def score(
    *,
    similarity: Floats,
    days: Floats,
    quality: Floats,
    tier: Floats,
    both_ways: NDArray[np.bool_],
) -> Scores:
    """Put the terms together. *quality* and *tier* are those terms' values."""
    recent, fresh = recency(days), freshness(days)
    both = np.where(both_ways, BOTH_WAYS_VALUE, 1.0)
    total = (
        SIMILARITY * similarity
        + RECENCY * recent
        + QUALITY * quality
        + TIER * tier
        + OUTCOME * OUTCOME_VALUE
        + FOUND_BOTH_WAYS * both
        + FRESHNESS * fresh
    )
    return Scores(
        similarity=similarity,
        recency=recent,
        quality=quality,
        tier=tier,
        found_both_ways=both,
        freshness=fresh,
        total=total,
    )
