"""Several spaces: each row is compared in one of them, and all meet on one scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.meaning import MeaningIndex
from twolaned.lanes.meaning.reference import ReferenceVector, reference_search

SIZES = {"one": 3, "two": 5, "three": 2}
Held = dict[str, list[ReferenceVector]]

vectors = st.lists(st.integers(-2, 2), min_size=5, max_size=5)
additions = st.lists(
    st.tuples(st.sampled_from(sorted(SIZES)), st.lists(st.tuples(st.integers(0, 9), vectors))),
    max_size=6,
)


def built(steps: list[tuple[str, list[tuple[int, list[int]]]]]) -> tuple[MeaningIndex, Held]:
    index, held = MeaningIndex.empty(), {}
    for number, (space, batch) in enumerate(steps):
        size = SIZES[space]
        rows = np.array([row for row, _ in batch], np.uint32)
        passages = np.arange(len(batch), dtype=np.uint32) + number * 100
        numbers = np.array([v[:size] for _, v in batch], np.float32).reshape(-1, size)
        index = index.with_rows(space, rows, passages, numbers, size)
        each = zip(rows, passages, numbers, strict=True)
        held.setdefault(space, []).extend(ReferenceVector(*v) for v in each)
    return index, held


@settings(max_examples=200, deadline=None)
@given(
    steps=additions,
    dead=st.sets(st.integers(0, 9)),
    n=st.integers(1, 12),
    allowed=st.none() | st.lists(st.booleans(), max_size=12),
    asked=st.sets(st.sampled_from(sorted(SIZES)), min_size=1),
    seed=st.integers(0, 9),
)
def test_the_answer_is_that_of_every_row_in_its_first_space(
    steps: list[tuple[str, list[tuple[int, list[int]]]]],
    dead: set[int],
    n: int,
    allowed: list[bool] | None,
    asked: set[str],
    seed: int,
) -> None:
    """By comparing everything: deaths, filters, ties, and spaces that nobody can embed for."""
    index, held = built(steps)
    index = index.with_dead(np.array(sorted(dead), np.uint32))
    random = np.random.default_rng(seed)
    questions = {name: random.standard_normal(SIZES[name]) for name in sorted(asked)}
    mask = None if allowed is None else np.array(allowed, np.bool_)
    hits = index.search(questions, n, mask)

    taken: set[int] = set()
    expected: dict[int, float] = {}
    for space in held:
        live = [v for v in held[space] if v.row not in dead and v.numbers.any()]
        mine = [v for v in live if v.row not in taken]
        taken |= {int(v.row) for v in live}
        if space in questions:
            found = reference_search(mine, questions[space], 99, mask)
            expected |= dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    best = sorted(expected.items(), key=lambda e: (-e[1], e[0]))
    floor = best[min(n, len(best)) - 1][1] if best else 0.0
    assert [row for row, score in best if score >= floor] == hits.rows.tolist()
    np.testing.assert_allclose(hits.scores, [expected[r] for r in hits.rows.tolist()], rtol=1e-5)
    rows = np.arange(10, dtype=np.uint32)
    cosines, places = index.cosines(questions, rows)
    for row in range(10):
        if mask is None:
            assert (row in expected) == (places[row] >= 0)
        if row in expected:
            assert cosines[row] == pytest.approx(expected[row], rel=1e-5)
    assert index.count == sum(
        bool(v.numbers.any()) and v.row not in dead for vs in held.values() for v in vs
    )


@pytest.mark.parametrize("question", [np.zeros(3), np.ones(4), np.full(3, np.nan)])
def test_a_question_without_direction_or_of_another_width_is_refused(question: np.ndarray) -> None:
    """Nothing can be near to it."""
    index, _ = built([("one", [(1, [1, 0, 0, 0, 0])])])
    with pytest.raises(ValueError, match=r"direction|dimensions"):
        index.search({"one": question}, 3)


def test_an_empty_index_finds_nothing() -> None:
    """Whatever is asked."""
    hits = MeaningIndex.empty().search({"one": np.ones(3)}, 5)

    assert ([], True) == (hits.rows.tolist(), hits.exhausted)
