"""Searching, against BM25 in float64 over plain lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lanes.keyword.world import World, in_rows, inverted, zipf
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.query import KeywordQuery

PASSAGE = st.lists(st.integers(0, 6), min_size=1, max_size=8)
ROWS = st.lists(st.lists(PASSAGE, min_size=1, max_size=3), min_size=1, max_size=6)
QUERY = st.lists(st.integers(0, 8), min_size=1, max_size=5, unique=True)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A few changes of every kind, in any order."""
    world = World()
    for _ in range(draw(st.integers(0, 8))):
        match draw(st.sampled_from(["run", "run", "segment", "seal", "remove", "merge"])):
            case "run":
                world.add_run(draw(ROWS))
            case "segment":
                world.add_segment(draw(ROWS))
            case "seal" if world.runs:
                world.seal()
            case "remove" if world.rows:
                world.remove(draw(st.lists(st.sampled_from(sorted(world.rows)), unique=True)))
            case "merge" if world.segments:
                world.merge(draw(st.lists(st.sampled_from(sorted(world.segments)), unique=True)))
    return world


@settings(max_examples=300, deadline=None)
@given(worlds(), QUERY, st.integers(0, 12), st.data())
def test_search_is_exact(world: World, terms: list[int], n: int, data: st.DataObject) -> None:
    weights = data.draw(st.none() | st.tuples(*[st.sampled_from([0.25, 1.0, 3.0]) for _ in terms]))
    mask = data.draw(st.none() | st.lists(st.booleans(), max_size=40))
    allowed = None if mask is None else np.array(mask, np.bool_)
    world.check(KeywordQuery(tuple(terms), weights), n, allowed)


@settings(max_examples=100, deadline=None)
@given(worlds(), QUERY)
def test_rows_with_terms_are_exact(world: World, terms: list[int]) -> None:
    held = {
        number: {term for passage in passages for term in passage}
        for number, passages in world.rows.items()
    }
    every = sorted(number for number, has in held.items() if set(terms) <= has)
    some = sorted(number for number, has in held.items() if set(terms) & has)
    assert world.index.rows_with_all(terms).tolist() == every
    assert world.index.rows_with_any(terms).tolist() == some


@settings(max_examples=100, deadline=None)
@given(worlds(), QUERY)
def test_frequencies_and_passages_are_those_of_live_passages(
    world: World, terms: list[int]
) -> None:
    live = [set(passage) for passages in world.rows.values() for passage in passages]
    assert world.index.passages == len(live)
    expected = [sum(term in passage for passage in live) for term in terms]
    assert world.index.document_frequency(terms).tolist() == expected


def large(seed: int, *, most: int, count: int = 9_000) -> World:
    """Segments and runs large enough that nothing is looked at that need not be."""
    generator = np.random.default_rng(seed)
    rows = in_rows(generator, zipf(generator, count, 2_000, 20), most)
    world = World()
    half, quarter = len(rows) // 2, len(rows) // 4
    world.add_segment(rows[:half])
    world.add_segment(rows[half : half + quarter])
    at = half + quarter
    while at < len(rows):
        step = int(generator.choice([1, 1, 2, 40]))
        world.add_run(rows[at : at + step])
        at += step
    gone = generator.choice(sorted(world.rows), len(rows) // 20, replace=False)
    for part in np.array_split(gone, 3):
        world.remove(part.tolist())
    return world


def queries(seed: int, count: int) -> list[KeywordQuery]:
    """Of few and many, frequent and rare terms."""
    generator = np.random.default_rng(seed)
    asked = []
    for place in range(count):
        frequent = generator.integers(0, 30, place % 7)
        rare = generator.integers(30, 2_100, place % 4)
        terms = tuple(dict.fromkeys([*frequent.tolist(), *rare.tolist()])) or (place,)
        weights = tuple(generator.uniform(0.1, 4, len(terms)).tolist()) if place % 3 == 0 else None
        asked.append(KeywordQuery(terms, weights))
    return asked


@pytest.mark.parametrize("most", [1, 6])
@pytest.mark.parametrize("share", [None, 0.5, 0.1, 0.01, 0.001])
def test_search_is_exact_where_most_can_be_skipped(most: int, share: float | None) -> None:
    world = large(7 + most, most=most)
    generator = np.random.default_rng(1)
    allowed = None if share is None else generator.random(max(world.rows) + 1) < share
    for n, query in zip([30, 1, 5, 300] * 6, queries(3, 24), strict=True):
        world.check(query, n, allowed)


def test_a_row_that_owns_the_best_passages_does_not_starve_the_rest() -> None:
    world = World()
    world.add_segment([[[1, 1, 1]] * 500, *([[1, 9, 9, 9]] for _ in range(40))])
    world.add_run([[[1, 1]] * 50])
    hits = world.check(KeywordQuery((1,)), 30)
    assert len(hits.rows) == 42


def test_all_rows_that_tie_with_the_last_are_found_in_order() -> None:
    world = World()
    world.add_segment([[[4, 5]]] * 50)
    world.add_run([[[4, 5]]] * 20)
    world.add_segment([[[4, 5]]] * 5_000)
    hits = world.check(KeywordQuery((4,)), 3)
    assert len(hits.rows) == 5_070


def test_equal_passages_have_equal_scores_wherever_they_lie() -> None:
    generator = np.random.default_rng(5)
    same = [3, 1, 4, 1, 5, 9, 2, 6]
    rows = [[passage] for passage in zipf(generator, 6_000, 300, 12)]
    world = World()
    world.add_segment([*rows[:3_000], [same]])
    world.add_segment([[same], *rows[3_000:]])
    world.add_run([[same]])
    hits = world.index.search(KeywordQuery((9, 2, 3, 1, 4)), 40)
    numbers = [number for number, passages in world.rows.items() if passages[0] == same]
    scores = [hits.scores[hits.rows == number].tolist() for number in numbers]
    assert len(numbers) == 3
    assert scores[0] == scores[1] == scores[2] != []


def test_an_empty_index_finds_nothing() -> None:
    index = KeywordIndex.empty(Bm25(average_length=10.0))
    hits = index.search(KeywordQuery((1, 2)), 10)
    assert len(hits.rows) == 0
    assert hits.exhausted
    assert index.passages == 0
    assert index.rows_with_any([1]).tolist() == []


def test_an_index_does_not_change_when_the_next_is_made() -> None:
    world = World()
    world.add_segment([[[1, 2]], [[1]]])
    world.add_run([[[1, 3]]])
    before = world.index
    world.remove([0])
    world.add_run([[[1, 1, 1]]])
    world.seal()
    assert sorted(before.search(KeywordQuery((1,)), 10).rows.tolist()) == [0, 1, 2]
    assert before.passages == 3
    assert before.document_frequency([1]).tolist() == [3]


def test_rows_that_died_before_their_segment_came_stay_dead() -> None:
    world = World()
    world.add_run([[[1]], [[1, 2]], [[1]]])
    world.remove([1])
    world.seal()
    assert world.check(KeywordQuery((1,)), 10).rows.tolist() == [0, 2]


@pytest.mark.parametrize("length", [0, 1, 3])
def test_rows_beyond_the_filter_are_not_allowed(length: int) -> None:
    world = World()
    world.add_segment([[[1]]] * 2)
    world.add_run([[[1]]] * 3)
    hits = world.check(KeywordQuery((1,)), 10, np.ones(length, np.bool_))
    assert hits.rows.tolist() == list(range(length))


def test_without_drops_only_what_it_names() -> None:
    world = World()
    for number in range(4):
        world.add_run([[[1, number + 2]]])
    kept = world.index.without(up_to_seq=2)
    assert kept.search(KeywordQuery((1,)), 9).rows.tolist() == [2, 3]
    assert kept.passages == 2
    postings = inverted([[1]])
    again = kept.with_run(9, np.array([40], np.uint32), postings)
    assert again.search(KeywordQuery((1,)), 9).rows.tolist() == [40, 2, 3]
