from __future__ import annotations

from datetime import datetime

import numpy as np

from tests.search.indexer import Indexer
from tests.search.world import MemoryStore
from twolaned.search.patterns import Pattern
from twolaned.search.query import parse_query
from twolaned.search.terms import (
    EXPANSIONS,
    PrefixCache,
    QueryTerms,
    query_terms,
    rows_that_may_hold,
)


class World:
    """A lane over some texts, and the table of its terms."""

    def __init__(self, *texts: str) -> None:
        self.store = MemoryStore()
        indexer = Indexer()
        for number, text in enumerate(texts):
            indexer.add(number, [text])
        self.store.terms = indexer.terms
        self.lane = indexer.index
        self.cache = PrefixCache()

    def terms(self, query: str, generation: int = 1) -> QueryTerms:
        parsed = parse_query(query, datetime(2026, 1, 1))  # noqa: DTZ001
        return query_terms(parsed, generation, self.store, self.lane, self.cache)

    def found(self, query: str) -> set[str]:
        ids = set(self.terms(query).ids)
        return {term for term, number in self.store.terms.items() if number in ids}


def test_unknown_words_have_no_number() -> None:
    """But are words to look for, and to mark."""
    terms = World("queue").terms("queues nonsense")

    assert 1 == len(terms.ids)
    assert ("queue", "nonsens") == terms.words
    assert terms.has_words
    assert not World("queue").terms("( )").has_words


def test_a_prefix_stands_for_its_most_frequent_terms() -> None:
    """64 at the most, by passages."""
    rare = [f"pre{n:03}x" for n in range(100)]
    world = World(" ".join(rare), *["presto prelude"] * 3)

    assert EXPANSIONS == len(world.found("pre*"))
    assert {"presto", "prelud"} <= world.found("pre*")


def test_a_prefix_beyond_the_stem_finds_the_stem() -> None:
    """Only where no term begins with it."""
    world = World("deployment running happily studying configuration")

    assert {"deploy"} == world.found("deployme*")
    assert {"run"} == world.found("runni*")
    assert {"studi"} == world.found("studyi*")
    assert {"configur"} == world.found("conf*")
    assert set() == world.found("zebra*")


def test_a_prefix_without_spaces_is_its_text() -> None:
    """Pairs of characters."""
    assert {"悬空", "空引"} == World("悬空引用").found("悬空引*")
    assert {"悬空"} == World("悬空引用").found("悬空*")


def test_expansions_are_remembered_for_a_generation() -> None:
    """The next one may have other terms."""
    world = World("queue")
    first = world.terms("que*", 1).ids
    world.lane = World().lane

    assert () == world.terms("que*", 2).ids
    assert first == world.terms("que*", 1).ids
    assert () != first


def test_rows_that_may_hold_a_phrase() -> None:
    """Those with all its words, in any passage; none if a word is unknown.

    Rows beyond the size came after the snapshot.
    """
    world = World("full jitter", "jitter full", "full", "full jitter, beyond the size")

    def rows(said: str) -> list[int] | None:
        pattern = Pattern.of(said)
        assert pattern is not None
        mask = rows_that_may_hold([pattern], world.store, world.lane, 3)
        return None if mask is None else np.flatnonzero(mask).tolist()

    assert [0, 1] == rows("full jitter")
    assert [] == rows("full nonsense")
    assert None is rows("ก")
