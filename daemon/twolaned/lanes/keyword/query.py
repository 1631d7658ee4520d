"""What the keyword lane is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """Distinct terms, of which a passage must hold at least one.

    *weights* multiply each term's part of the score and are above 0; without them all are 1.
    """

    term_ids: tuple[int, ...]
    weights: tuple[float, ...] | None = None

    def weighted_terms(self) -> Iterator[tuple[int, float]]:
        """Each term with its weight."""
        return zip(self.term_ids, self.weights or (1.0,) * len(self.term_ids), strict=True)
