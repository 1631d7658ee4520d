"""The archive rule: when conversations that compaction moved away are searched too.

Retrieval rules, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from twolaned.model.query import Detail, Scope
from twolaned.model.row import Tier

CURRENT = frozenset({Tier.HOT, Tier.DOCUMENT, Tier.DIGEST})
ARCHIVE = frozenset({Tier.COLD})
EVERYTHING = CURRENT | ARCHIVE

WEAK = 0.4
"""A best score below this, before folding, is not taken for an answer."""


def first_reach(*, meaning_is_on: bool, detail: Detail, scope: Scope) -> frozenset[Tier]:
    """The tiers that a search begins with.

    Everything where search by meaning is off, and where the caller asks for conversations in full
    detail.
    """
    if not meaning_is_on or (detail is Detail.FULL and scope is Scope.CONVERSATIONS):
        return EVERYTHING
    return CURRENT


def is_weak(best_score: float | None) -> bool:
    """Whether the first pass found nothing, or nothing worth showing. None means nothing."""
    return best_score is None or best_score < WEAK


class Ranked(Protocol):
    """What came out of ranking a pool."""

    @property
    def best_score(self) -> float | None:
        """The highest score before folding; None if nothing was found."""


C = TypeVar("C")
R = TypeVar("R", bound=Ranked)


@dataclass(frozen=True, slots=True)
class Reached(Generic[R]):
    """What was *ranked*, from which *tiers*, and whether that took a second pass."""

    ranked: R
    tiers: frozenset[Tier]
    second_pass: bool


def search_in_reach(
    tiers: frozenset[Tier],
    find: Callable[[frozenset[Tier]], C],
    join: Callable[[C, C], C],
    rank: Callable[[C], R],
) -> Reached[R]:
    """Search *tiers*, and where that is weak the archive too: merged, and ranked again together.

    *find* asks the lanes for candidates of some tiers, *join* makes one list of two of them.
    """
    found = find(tiers)
    ranked = rank(found)
    if tiers >= ARCHIVE or not is_weak(ranked.best_score):
        return Reached(ranked, tiers, second_pass=False)
    ranked = rank(join(found, find(ARCHIVE)))
    return Reached(ranked, tiers | ARCHIVE, second_pass=True)
