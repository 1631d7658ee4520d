"""From a query's words to the terms that the keyword lane looks for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.analyzer import analyze_query, fold
from twolaned.search.patterns import Pattern
from twolaned.search.ports import KeywordLane, StoreView
from twolaned.search.query import ParsedQuery

EXPANSIONS = 64
"""Terms that a prefix stands for at the most, by how many passages hold them."""
KEPT_PREFIXES = 64

_SUFFIXES = (
    "s es ed er ers est ing ings ly y ies ied ier e al ally able ably ability ance ances ence ences"
    " ant ent ate ated ates ating ation ations ator ators en ful fully ion ions ional ism ist ists"
    " ity ities ive ively ization izations ize ized izes izing less ment ments ness or ors ous"
    " ously th"
)
_TAILS = sorted({suffix[start:] for suffix in _SUFFIXES.split() for start in range(len(suffix))})
"""What may be missing at the end of a word that ends in a suffix."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """*ids* are the terms to rank by; *words* and *prefixes*, folded, are what to mark."""

    ids: tuple[int, ...]
    words: tuple[str, ...]
    prefixes: tuple[str, ...]

    @property
    def has_words(self) -> bool:
        """Whether the query names anything to look for, known or not."""
        return bool(self.words or self.prefixes)


class PrefixCache:
    """Remembers what prefixes stand for. Safe from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], tuple[int, ...]] = OrderedDict()
        self._lock = Lock()

    def expansions(
        self, prefix: str, generation: int, view: StoreView, lane: KeywordLane
    ) -> tuple[int, ...]:
        """The ids of the most frequent terms that words with *prefix*, folded, have."""
        key = (generation, prefix)
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            found = _expansions(prefix, view, lane)
            with self._lock:
                self._kept[key] = found
                if len(self._kept) > KEPT_PREFIXES:
                    self._kept.popitem(last=False)
        return found


def query_terms(
    parsed: ParsedQuery, generation: int, view: StoreView, lane: KeywordLane, cache: PrefixCache
) -> QueryTerms:
    """The terms of *parsed*. Prefixes count as any of the terms that they stand for."""
    words = tuple(analyze_query(parsed.text)) if parsed.text else ()
    ids = dict.fromkeys(i for i in view.term_ids(words) if i is not None)
    prefixes = tuple(filter(None, map(fold, parsed.prefixes)))
    for prefix in prefixes:
        ids |= dict.fromkeys(cache.expansions(prefix, generation, view, lane))
    return QueryTerms(tuple(ids), words, prefixes)


def _expansions(prefix: str, view: StoreView, lane: KeywordLane) -> tuple[int, ...]:
    begun = [number for _, number in view.terms_with_prefix(prefix)]
    return _most_frequent(begun, lane) or _most_frequent(_stems(prefix, view), lane)


def _stems(prefix: str, view: StoreView) -> list[int]:
    """What words with *prefix* may be found by where no term begins with it.

    Terms are stems: that of ``deployment`` is ``deploy``, which ``deployme`` goes beyond. Of text
    without spaces, the terms of the text itself.
    """
    terms = dict.fromkeys(analyze_query(prefix))
    for tail in _TAILS:
        found = analyze_query(prefix + tail)
        terms |= dict.fromkeys(t for t in found if prefix.startswith((t, t.removesuffix("i"))))
    return [number for number in view.term_ids(terms) if number is not None]


def _most_frequent(numbers: list[int], lane: KeywordLane) -> tuple[int, ...]:
    frequencies = lane.document_frequency(numbers)
    order = np.argsort(-frequencies, kind="stable")[:EXPANSIONS]
    return tuple(numbers[place] for place in order.tolist() if frequencies[place] > 0)


def rows_that_may_hold(
    patterns: Iterable[Pattern], view: StoreView, lane: KeywordLane, size: int
) -> NDArray[np.bool_] | None:
    """By row number below *size*, which rows may hold all *patterns*: those with all their terms.

    None where terms say nothing about that.
    """
    terms = {term for pattern in patterns for term in pattern.terms()}
    if not terms:
        return None
    mask = np.zeros(size, np.bool_)
    ids = view.term_ids(sorted(terms))
    known = [i for i in ids if i is not None]
    if len(known) == len(ids):
        rows = lane.rows_with_all(known)
        mask[rows[rows < size]] = True
    return mask
