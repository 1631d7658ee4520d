"""The question's vectors: asked for the moment a search arrives, and never waited for too long."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding import Embedder, Embedders, ProviderState
from twolaned.lanes.meaning import MeaningIndex
from twolaned.model.embedding import EmbeddingFailure, FailureReason, VectorSpace

log = logging.getLogger(__name__)

BUDGET: Final = 1.5
"""Seconds from a call's arrival that its question may take to be embedded."""
MARGIN: Final = 0.05
"""Seconds before the caller's own deadline that are kept for finishing."""

Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class MeaningQuestion:
    """A question as the meaning lane takes it: its vector by the name of the space.

    *failure* says why vectors are missing, None where none is. *seconds* is how long it took.
    *pending* says that the answer does not wait for them and another one follows.
    """

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    failure: EmbeddingFailure | None = None
    seconds: float = 0.0
    pending: bool = False


NO_TEXT: Final = MeaningQuestion()
"""Of a search without words."""
NOT_YET: Final = MeaningQuestion(pending=True)
"""Of an answer that is sent before the question is embedded."""


def deadline_of(arrived: float, remaining: float | None) -> float:
    """When the question must be embedded, in seconds of the monotonic clock.

    *remaining* is how long the caller still waits; None means for ever.
    """
    latest = arrived + BUDGET
    if remaining is not None:
        latest = min(latest, time.monotonic() + remaining - MARGIN)
    return latest


class Questions:
    """Embeds questions in all spaces that hold vectors, at once. Belongs to one event loop."""

    def __init__(
        self,
        embedders: Embedders,
        off_because: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """*off_because* says why ordinary texts get no vectors; empty where they do."""
        self._embedders = embedders
        self._clock = clock
        self.off_because = off_because
        self.on_vectors: Callable[[Mapping[str, Vector]], None] = _forget
        """Told the vectors of every question that got one."""

    def is_on(self, index: MeaningIndex) -> bool:
        """Whether a search of *index* has a meaning lane."""
        return (
            not self.off_because
            or index.loading
            or any(space.count and self._embedder(space.space) for space in index.spaces)
        )

    async def warm(self) -> None:
        """Load what the first question needs. Sends nothing."""
        for embedder in self._embedders.all:
            failure = await embedder.warm()
            if failure is not None:
                log.warning("questions may not be embedded: %s", failure.message)

    @property
    def providers(self) -> Sequence[ProviderState]:
        """How those who embed are doing."""
        return [embedder.state for embedder in self._embedders.all]

    async def ask(self, text: str, index: MeaningIndex, deadline: float) -> MeaningQuestion:
        """The vectors of *text* in the spaces of *index* by *deadline*, and why any is missing.

        Cancelling cancels the calls under way.
        """
        began = self._clock()
        spaces = [space.space for space in index.spaces if space.count]
        if not spaces:
            return MeaningQuestion(failure=_LOADING if index.loading else _NOTHING_EMBEDDED)
        found = [(space, self._embedder(space)) for space in spaces]
        asked = [(space, embedder) for space, embedder in found if embedder is not None]
        outcomes = await self._outcomes(text, [embedder for _, embedder in asked], deadline)
        vectors = {}
        failure = None if len(asked) == len(spaces) else _NOBODY
        for (space, _), outcome in zip(asked, outcomes, strict=True):
            if isinstance(outcome, EmbeddingFailure):
                failure = outcome
            else:
                vectors[space] = outcome
        self.on_vectors(vectors)
        return MeaningQuestion(vectors, failure, self._clock() - began)

    async def recall(self, text: str, index: MeaningIndex) -> MeaningQuestion | None:
        """What `ask` would answer without asking a provider; None where it would ask one."""
        # With no time at all there are vectors only where the question is remembered.
        known = await self.ask(text, index, -math.inf)
        failure = known.failure
        return None if failure and failure.reason is FailureReason.TIMEOUT else known

    async def aclose(self) -> None:
        """Close all providers."""
        await self._embedders.aclose()

    def _embedder(self, space: str) -> Embedder | None:
        return self._embedders.for_space(VectorSpace.parse(space))

    @staticmethod
    async def _outcomes(
        text: str, embedders: Sequence[Embedder], deadline: float
    ) -> list[NDArray[np.float32] | EmbeddingFailure]:
        if len(embedders) == 1:
            return [await embedders[0].embed_question(text, deadline)]
        return await asyncio.gather(*(e.embed_question(text, deadline) for e in embedders))


def _forget(_: Mapping[str, Vector]) -> None:
    pass


_NOTHING_EMBEDDED = EmbeddingFailure(
    FailureReason.SPACE_INCOMPLETE, "Nothing has a vector yet; they are being made."
)
_LOADING = EmbeddingFailure(
    FailureReason.SPACE_INCOMPLETE, "The daemon has just started and is still reading the vectors."
)
_NOBODY = EmbeddingFailure(
    FailureReason.SPACE_INCOMPLETE,
    "Some vectors are of a model that cannot be asked any more; new ones are being made.",
)
