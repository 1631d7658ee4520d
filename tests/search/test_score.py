from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.model.row import Quality, RowKind, Tier
from twolaned.search import score as s
from twolaned.search.score import Floats, SpaceFusion

NAN = math.nan


def floats(*values: float) -> Floats:
    return np.array(values, np.float64)


def exactly(values: Iterable[float]) -> Any:
    """Equal to these to the ninth decimal."""
    return pytest.approx(list(values), rel=0, abs=1e-9)


def totals(
    similarity: Floats,
    *,
    days: float = 0.0,
    quality: float = 0.7,
    tier: float = 1.0,
    both: tuple[bool, ...] | None = None,
) -> list[float]:
    n = len(similarity)
    scored = s.score(
        similarity=similarity,
        days=np.full(n, days),
        quality=np.full(n, quality),
        tier=np.full(n, tier),
        both_ways=np.array(both if both is not None else [False] * n),
    )
    return list(scored.total)


def test_the_worked_example() -> None:
    """Retrieval rules, section 3: three fresh conversations of medium quality."""
    bm25, cosine = floats(12, 24, NAN), floats(0.80, NAN, 0.50)
    similarity = s.similarity_max(bm25, cosine)

    assert [0.80, 0.80, 0.50] == exactly(similarity)
    assert [0.925, 0.910, 0.745] == exactly(totals(similarity, both=(True, False, False)))


def test_the_time_terms_are_those_of_the_rules() -> None:
    """The values that the rules print, to the digits that they print."""
    days = floats(0, 7, 14, 30, 100)

    assert [1.0, 0.77, 0.5] == pytest.approx(list(s.recency(days[[0, 3, 4]])), abs=0.005)
    assert [1.0, 0.61, 0.37, 0.12] == pytest.approx(list(s.freshness(days[:4])), abs=0.005)


def test_the_weights_are_those_of_the_rules() -> None:
    """A change of one term by 1 changes the score by its weight."""
    low, high = totals(floats(0.0, 1.0))
    assert 0.55 == pytest.approx(high - low)
    assert 0.10 == pytest.approx(
        totals(floats(0.5), quality=1.0)[0] - totals(floats(0.5), quality=0.0)[0]
    )
    assert 0.10 == pytest.approx(
        totals(floats(0.5), tier=1.0)[0] - totals(floats(0.5), tier=0.0)[0]
    )
    both, one = totals(floats(0.5, 0.5), both=(True, False))
    assert 0.015 == pytest.approx(both - one)


def test_quality_is_a_rating_of_conversations_only() -> None:
    """An unrated conversation counts as medium; documents and digests count full."""
    rated = [s.quality_term(RowKind.CONVERSATION, q) for q in Quality]
    others = {s.quality_term(k, q) for k in (RowKind.DOCUMENT, RowKind.DIGEST) for q in Quality}

    assert dict(zip(Quality, rated, strict=True)) == {
        Quality.UNRATED: 0.7, Quality.LOW: 0.4, Quality.MEDIUM: 0.7, Quality.HIGH: 1.0
    }  # fmt: skip
    assert {1.0} == others


def test_tiers() -> None:
    """The archive counts less and a digest more."""
    tiers = (Tier.HOT, Tier.COLD, Tier.DOCUMENT, Tier.DIGEST)

    assert [1.0, 0.7, 1.0, 1.1] == [s.tier_term(tier) for tier in tiers]


def test_without_meaning_the_best_keyword_match_is_1() -> None:
    """With no meaning match in the pool the last factor is 1, in both modes."""
    bm25, none = floats(12, 24), floats(NAN, NAN)

    assert [0.5, 1.0] == list(s.similarity_max(bm25, none))
    assert [0.5, 1.0] == list(
        s.similarity_blend(bm25, none, np.array([-1, -1]), [SpaceFusion(0.1, 0.4)])
    )


def test_a_cosine_below_0_counts_as_0() -> None:
    """Also as the best one of the pool."""
    assert [0.0, 0.0] == list(s.similarity_max(floats(NAN, 5), floats(-0.2, NAN)))


def test_an_empty_pool_has_no_scores() -> None:
    """Nothing found is no error."""
    empty = floats()

    assert [] == totals(s.similarity_max(empty, empty))
    assert [] == list(s.similarity_blend(empty, empty, np.array([], np.int64), []))


def test_blend_by_hand() -> None:
    """One space with mean 0.2 and weight 0.4; the best cosine is 0.8."""
    bm25, cosine = floats(12, 24, NAN, NAN), floats(0.8, 0.5, 0.2, -0.3)
    blended = s.similarity_blend(bm25, cosine, np.zeros(4, np.int64), [SpaceFusion(0.2, 0.4)])
    expected = [
        (0.4 * 1.0 + 0.6 * 0.5) * 0.8,
        (0.4 * 0.5 + 0.6 * 1.0) * 0.8,
        0.0,
        0.0,
    ]

    assert expected == exactly(blended)


def test_blend_takes_mean_best_and_weight_of_each_space() -> None:
    """Each space's best cosine counts full, whatever its scale; a row without vector has none."""
    spaces = [SpaceFusion(0.6, 0.5), SpaceFusion(0.1, 0.2)]
    cosine, space = floats(0.9, 0.75, 0.3, 0.2, NAN), np.array([0, 0, 1, 1, -1])
    bm25 = floats(NAN, NAN, NAN, NAN, 10.0)
    blended = s.similarity_blend(bm25, cosine, space, spaces)

    expected = [0.5 * 0.9, 0.25 * 0.9, 0.2 * 0.9, 0.1 * 0.9, 0.5 * 0.9]

    assert expected == exactly(blended)


def test_blend_without_a_lead_over_unrelated_texts_leaves_meaning_out() -> None:
    """Where the best cosine is the mean, the first term is 0."""
    blended = s.similarity_blend(
        floats(4, 8), floats(0.3, 0.3), np.zeros(2, np.int64), [SpaceFusion(0.3, 0.4)]
    )

    assert [0.6 * 0.5 * 0.3, 0.6 * 0.3] == exactly(blended)


def test_a_date_in_the_future_counts_as_now() -> None:
    """Days are fractions and never below 0."""
    now = 1_000 * s.MS_A_DAY
    at = np.array([now + 5 * s.MS_A_DAY, now, now - s.MS_A_DAY // 2, now - 7 * s.MS_A_DAY])

    assert [0.0, 0.0, 0.5, 7.0] == list(s.days_since(at, now))


values = st.one_of(st.just(NAN), st.floats(0.001, 60))
cosines = st.one_of(st.just(NAN), st.floats(-1, 1))
pools = st.lists(st.tuples(values, cosines), min_size=1, max_size=12)


@given(pools)
@settings(max_examples=200, deadline=None)
def test_similarity_is_between_0_and_1(pool: list[tuple[float, float]]) -> None:
    """In both modes, with any evidence."""
    bm25, cosine = floats(*(p[0] for p in pool)), floats(*(p[1] for p in pool))
    space = np.where(np.isnan(cosine), -1, 0)
    for similarity in (
        s.similarity_max(bm25, cosine),
        s.similarity_blend(bm25, cosine, space, [SpaceFusion(0.1, 0.4)]),
    ):
        assert (similarity >= 0).all()
        assert (similarity <= 1 + 1e-12).all()


@given(pools, st.data())
@settings(max_examples=200, deadline=None)
def test_more_evidence_never_ranks_lower(
    pool: list[tuple[float, float]], data: st.DataObject
) -> None:
    """Raising one row's cosine or BM25, below the pool's best, lowers no similarity of it."""
    bm25, cosine = floats(*(p[0] for p in pool)), floats(*(p[1] for p in pool))
    place = data.draw(st.integers(0, len(pool) - 1))
    for lane in (bm25, cosine):
        if np.isnan(lane[place]):
            continue
        raised = lane.copy()
        raised[place] = (lane[place] + np.nanmax(lane)) / 2
        ours = (raised, cosine) if lane is bm25 else (bm25, raised)
        assert s.similarity_max(*ours)[place] >= s.similarity_max(bm25, cosine)[place] - 1e-12
        space = np.where(np.isnan(cosine), -1, 0)
        fusion = [SpaceFusion(0.1, 0.4)]
        assert (
            s.similarity_blend(*ours, space, fusion)[place]
            >= s.similarity_blend(bm25, cosine, space, fusion)[place] - 1e-12
        )


@given(st.floats(0, 1), st.floats(0, 4_000), st.floats(0, 4_000))
@settings(max_examples=200, deadline=None)
def test_newer_is_never_worse(similarity: float, a: float, b: float) -> None:
    """Everything else equal, the score falls with age and stays within its bounds."""
    younger = totals(floats(similarity), days=min(a, b))[0]
    older = totals(floats(similarity), days=max(a, b))[0]

    assert younger >= older
    assert 0.0 <= older <= younger <= 1.025 + 1e-12
