"""How much of a task a text answers to."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from twolaned.lanes.keyword.analyzer import analyze_query
from twolaned.search.marking import Marker
from twolaned.search.ports import KeywordLane, StoreView

ENOUGH: Final = 0.3
"""The least relevance of a decision or an example."""

_SYNTAX = re.compile(r"[\"“”„‟＂]|(?<!\S)-+(?=\S)|(?<=\w):(?=\S)|\*+(?!\S)")


def as_query(task: str) -> str:
    """*task* as a query in which nothing is syntax: all of it is words to look for."""
    return " ".join(_SYNTAX.sub(" ", task).split())


@dataclass(frozen=True, slots=True)
class TaskTerms:
    """The distinct terms of a task with their weights, and where they stand in texts."""

    weights: dict[str, float]
    marker: Marker

    @classmethod
    def of(cls, task: str, view: StoreView, lane: KeywordLane) -> TaskTerms:
        """The terms of *task*, weighted by how rare each is in the index."""
        terms = analyze_query(task)
        ids = view.term_ids(terms)
        known = [i for i in ids if i is not None]
        frequencies = dict(zip(known, lane.document_frequency(known).tolist(), strict=True))
        passages = lane.passages
        weights = {
            term: _idf(passages, 0 if number is None else frequencies[number])
            for term, number in zip(terms, ids, strict=True)
        }
        return cls(weights, Marker(terms))

    def held(self, text: str) -> frozenset[str]:
        """Which of the terms *text* holds."""
        parts: set[str] = set()
        for mark in self.marker.marks(text):
            parts |= mark.parts
        return frozenset(parts & self.weights.keys())

    def share(self, held: Iterable[str]) -> float:
        """The weight of the terms *held* as a share of the weight of all; 0 without terms."""
        total = math.fsum(self.weights.values())
        return math.fsum(self.weights[term] for term in held) / total if total else 0.0

    def matched(self, held: Iterable[str]) -> str:
        """How many of the terms are *held*, as ``4/7``."""
        return f"{len(set(held))}/{len(self.weights)}"


def _idf(passages: int, frequency: int) -> float:
    return math.log1p((max(passages - frequency, 0) + 0.5) / (frequency + 0.5))
