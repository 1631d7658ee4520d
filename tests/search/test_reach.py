from __future__ import annotations

from dataclasses import dataclass

import pytest

from twolaned.model.query import Detail, Scope
from twolaned.model.row import Tier
from twolaned.search.reach import (
    ARCHIVE,
    CURRENT,
    EVERYTHING,
    first_reach,
    is_weak,
    search_in_reach,
)


@pytest.mark.parametrize(
    ("meaning", "detail", "scope", "tiers"),
    [
        (False, Detail.NORMAL, Scope.ALL, EVERYTHING),
        (True, Detail.NORMAL, Scope.ALL, CURRENT),
        (True, Detail.NORMAL, Scope.CONVERSATIONS, CURRENT),
        (True, Detail.FULL, Scope.ALL, CURRENT),
        (True, Detail.FULL, Scope.CONVERSATIONS, EVERYTHING),
    ],
)
def test_when_the_archive_is_searched_at_once(
    meaning: bool, detail: Detail, scope: Scope, tiers: frozenset[Tier]
) -> None:
    """Where search by meaning is off, and for conversations in full detail."""
    assert tiers == first_reach(meaning_is_on=meaning, detail=detail, scope=scope)


def test_what_is_weak() -> None:
    """Under 0.4, or nothing at all."""
    assert [True, True, False, False] == [is_weak(s) for s in (None, 0.3999, 0.4, 0.9)]


@dataclass
class Ranked:
    rows: list[tuple[str, float]]

    @property
    def best_score(self) -> float | None:
        return max((score for _, score in self.rows), default=None)


class Index:
    """Rows by tier, and the passes that were made over them."""

    def __init__(self, rows: dict[Tier, list[tuple[str, float]]]) -> None:
        self.rows = rows
        self.passes: list[frozenset[Tier]] = []

    def search(self, tiers: frozenset[Tier]) -> tuple[list[str], frozenset[Tier], bool]:
        def find(tiers: frozenset[Tier]) -> list[tuple[str, float]]:
            self.passes.append(tiers)
            return [row for tier in Tier if tier in tiers for row in self.rows.get(tier, [])]

        reached = search_in_reach(
            tiers, find, lambda a, b: a + b, lambda rows: Ranked(sorted(rows, key=lambda r: -r[1]))
        )
        return [name for name, _ in reached.ranked.rows], reached.tiers, reached.second_pass


def test_a_good_answer_is_left_alone() -> None:
    """The archive is not touched."""
    index = Index({Tier.HOT: [("a", 0.5)], Tier.COLD: [("b", 0.9)]})

    assert (["a"], CURRENT, False) == index.search(CURRENT)
    assert [CURRENT] == index.passes


@pytest.mark.parametrize("hot", [[], [("a", 0.39)]])
def test_a_weak_answer_is_merged_with_the_archive_and_ranked_again(
    hot: list[tuple[str, float]],
) -> None:
    """The second pass looks at the archive alone."""
    index = Index({Tier.HOT: hot, Tier.COLD: [("b", 0.38), ("c", 0.5)]})
    names, tiers, second = index.search(CURRENT)

    assert sorted([*hot, ("b", 0.38), ("c", 0.5)], key=lambda r: -r[1]) == [
        (n, dict([*hot, ("b", 0.38), ("c", 0.5)])[n]) for n in names
    ]
    assert (EVERYTHING, True) == (tiers, second)
    assert [CURRENT, ARCHIVE] == index.passes


def test_there_is_no_second_pass_over_what_was_searched_already() -> None:
    """However weak the answer."""
    index = Index({Tier.COLD: [("b", 0.1)]})

    assert (["b"], EVERYTHING, False) == index.search(EVERYTHING)
    assert [EVERYTHING] == index.passes
