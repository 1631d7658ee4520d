"""How much of a task a text answers to."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from twolaned.lanes.keyword.analyzer import SEPARATE, analyze_query, raw_words, terms_of
from twolaned.search.marking import Marker, heads
from twolaned.search.ports import KeywordLane, StoreView

ENOUGH: Final = 0.3
"""The least relevance of a decision or an example."""
FEWEST_PASSAGES: Final = 1_000
"""As many passages at least are taken to be there: a small archive says little on what is rare."""

DOING: Final = frozenset(
    term
    for word in (
        "add implement write create fix make refactor rename extend please help want"
    ).split()
    for term in analyze_query(word)
)
"""What a task says of what is to be done, and not of what it is about."""

LONGEST_KEPT: Final = 48
"""Bytes of a word whose terms are remembered."""

_SYNTAX = re.compile(r"[\"“”„‟＂]|(?<!\S)-+(?=\S)|(?<=\w):(?=\S)|\*+(?!\S)")


def as_query(task: str) -> str:
    """*task* as a query in which nothing is syntax: all of it is words to look for."""
    return " ".join(_SYNTAX.sub(" ", task).split())


@dataclass(frozen=True, slots=True)
class TaskTerms:
    """The distinct terms of a task with their weights, and where they stand in texts.

    Belongs to one pack: it remembers the words that it has seen.
    """

    weights: dict[str, float]
    marker: Marker
    _known: dict[bytes, set[str]] = field(default_factory=dict)
    _heads: re.Pattern[bytes] = field(init=False)

    def __post_init__(self) -> None:
        begun = sorted({re.escape(head.encode()) for term in self.weights for head in heads(term)})
        object.__setattr__(self, "_heads", re.compile(b"|".join(begun) or b"(?!)"))

    @classmethod
    def of(cls, task: str, view: StoreView, lane: KeywordLane) -> TaskTerms:
        """The terms of *task*, weighted by how rare each is in the index.

        One that no passage holds weighs as little as the least of the others: nothing could have
        it, and a task is often about what is not there yet.
        """
        all_terms = analyze_query(task)
        terms = [term for term in all_terms if term not in DOING] or all_terms
        ids = view.term_ids(terms)
        known = [i for i in ids if i is not None]
        frequencies = dict(zip(known, lane.document_frequency(known).tolist(), strict=True))
        passages = max(lane.passages, FEWEST_PASSAGES)
        weighed = {
            term: _idf(passages, frequencies[number])
            for term, number in zip(terms, ids, strict=True)
            if number is not None and frequencies[number] > 0
        }
        least = min(weighed.values(), default=1.0)
        return cls({term: weighed.get(term, least) for term in terms}, Marker(terms))

    def held(self, text: str) -> frozenset[str]:
        """Which of the terms *text* holds."""
        data = text.encode("utf-8", "replace")
        found: set[str] = set()
        known = self._known
        for raw in self._likely(data) if data.isascii() else set(raw_words(data)):
            terms = known.get(raw)
            if terms is None:
                may = not raw.isascii() or self._heads.search(raw.lower())
                terms = known[raw] = self.weights.keys() & _terms(raw) if may else set()
            if terms:
                found |= terms
        return frozenset(found)

    def _likely(self, data: bytes) -> set[bytes]:
        """Those raw words of *data*, which is ASCII, that hold the head of a term."""
        words = set()
        lower, pieces = data.lower(), data.translate(SEPARATE)
        head = self._heads.search(lower)
        while head:
            begin = pieces.rfind(b" ", 0, head.start() + 1) + 1
            end = pieces.find(b" ", head.start() + 1)
            end = len(pieces) if end < 0 else end
            words.add(pieces[begin:end])
            head = self._heads.search(lower, end)
        words.discard(b"")
        return words

    def share(self, held: Iterable[str]) -> float:
        """The weight of the terms *held* as a share of the weight of all; 0 without terms."""
        total = math.fsum(self.weights.values())
        return math.fsum(self.weights[term] for term in held) / total if total else 0.0

    def matched(self, held: Iterable[str]) -> str:
        """How many of the terms are *held*, as ``4/7``."""
        return f"{len(set(held))}/{len(self.weights)}"


def _terms(raw: bytes) -> frozenset[str]:
    return _kept_terms(raw) if len(raw) <= LONGEST_KEPT else frozenset(terms_of(raw))


@lru_cache(maxsize=1 << 15)
def _kept_terms(raw: bytes) -> frozenset[str]:
    return frozenset(terms_of(raw))


def _idf(passages: int, frequency: int) -> float:
    return math.log1p((passages - frequency + 0.5) / (frequency + 0.5))
