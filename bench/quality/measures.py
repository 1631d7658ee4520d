"""Measures of a ranking, as trec_eval takes them.

Ordered by score, ties by descending text id; gains are linear; what is not judged is not relevant.
A question without an answer counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Run = Mapping[str, Mapping[str, float]]
"""By question, the score of each text found."""


@dataclass(frozen=True)
class Measures:
    ndcg10: float
    mrr10: float
    recall5: float
    recall10: float
    recall30: float
    hit1: float
    mrr: float


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Text ids, best first."""
    return sorted(sorted(scores, reverse=True), key=lambda text: -scores[text])


def measure(grades: Mapping[str, int], ranking: Sequence[str]) -> Measures:
    """The measures of one question's *ranking*; at least one grade is above 0."""
    relevant = {text for text, grade in grades.items() if grade > 0}
    gains = [max(grades.get(text, 0), 0) for text in ranking[:10]]
    ideal = sorted((g for g in grades.values() if g > 0), reverse=True)[:10]
    place = next((i for i, text in enumerate(ranking, 1) if text in relevant), None)

    def recall(depth: int) -> float:
        return len(relevant.intersection(ranking[:depth])) / len(relevant)

    return Measures(
        ndcg10=_dcg(gains) / _dcg(ideal),
        mrr10=1 / place if place is not None and place <= 10 else 0.0,
        recall5=recall(5),
        recall10=recall(10),
        recall30=recall(30),
        hit1=float(place == 1),
        mrr=1 / place if place is not None else 0.0,
    )


def mean(measures: Sequence[Measures]) -> Measures:
    """The mean of each measure."""
    names = Measures.__dataclass_fields__
    return Measures(**{n: sum(getattr(m, n) for m in measures) / len(measures) for n in names})


def score(run: Run, grades: Mapping[str, Mapping[str, int]], questions: Sequence[str]) -> Measures:
    """The means over *questions*."""
    return mean([measure(grades[q], ranked(run.get(q, {}))) for q in questions])


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
