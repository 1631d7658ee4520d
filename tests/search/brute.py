"""BM25 without any cleverness."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

K1, B, AVERAGE = 0.9, 0.4, 12.0


def bm25(terms: Sequence[str], passages: Sequence[Sequence[str]]) -> list[float]:
    """Lucene's BM25 of each passage in float64, over all *passages*."""
    counts = [Counter(passage) for passage in passages]
    scores = [0.0] * len(passages)
    for term in dict.fromkeys(terms):
        df = sum(1 for count in counts if term in count)
        idf = math.log(1 + (len(passages) - df + 0.5) / (df + 0.5))
        for place, count in enumerate(counts):
            tf = min(count[term], 255)
            norm = K1 * (1 - B + B * len(passages[place]) / AVERAGE)
            scores[place] += idf * tf / (tf + norm)
    return scores
