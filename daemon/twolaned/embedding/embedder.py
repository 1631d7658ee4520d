"""All that one provider can be asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.breaker import BreakerSettings, CircuitBreaker
from twolaned.embedding.cache import CacheBackend
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.passages import PassageEmbedder, PassageVectors
from twolaned.embedding.provider import Provider
from twolaned.embedding.questions import QuestionEmbedder, QuestionSettings
from twolaned.embedding.retry import RetryPolicy
from twolaned.embedding.sender import Sender
from twolaned.embedding.state import ProviderLedger, ProviderState
from twolaned.model.embedding import EmbeddingFailure, VectorSpace
from twolaned.model.source import Extraction


class Embedder:
    """Makes vectors in one space: from the cache first, and no text twice at the same time.

    Belongs to one event loop. *clock* is monotonic, in seconds.
    """

    def __init__(
        self,
        provider: Provider,
        backend: CacheBackend,
        *,
        questions: QuestionSettings | None = None,
        breaker: BreakerSettings | None = None,
        retry: RetryPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider = provider
        self._ledger = ProviderLedger()
        self._breaker = CircuitBreaker(breaker, clock)
        sender = Sender(provider, self._ledger)
        self._questions = QuestionEmbedder(
            sender, backend, self._breaker, questions or QuestionSettings(), clock
        )
        self._passages = PassageEmbedder(sender, backend, retry or RetryPolicy())

    @property
    def space(self) -> VectorSpace:
        """The space of all its vectors."""
        return self._provider.space

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""
        return self._provider.is_local

    @property
    def state(self) -> ProviderState:
        """How the provider is doing."""
        return self._ledger.state(
            self.space,
            is_local=self.is_local,
            breaker=self._breaker,
            in_flight=self._questions.in_flight + self._passages.in_flight,
        )

    async def warm(self) -> EmbeddingFailure | None:
        """Load what the first call needs, so that no question waits for it. Sends nothing."""
        try:
            await self._provider.warm()
        except EmbeddingError as e:
            self._ledger.failed(e.failure)
            return e.failure
        return None

    async def embed_question(
        self, text: str, deadline: float, extraction: Extraction = Extraction.DEFAULT
    ) -> NDArray[np.float32] | EmbeddingFailure:
        """The vector of *text*, of shape (dimensions,), or why there is none, by *deadline*.

        *deadline* is on the clock of ``time.monotonic``. Cancelling cancels the provider's call
        and closes its connection, unless others wait for the same text.
        """
        return await self._questions.embed(text, deadline, extraction)

    async def embed_passages(self, texts: Sequence[str], extraction: Extraction) -> PassageVectors:
        """The vectors of *texts* of sources with *extraction*, in their order.

        Tries again with pauses. Raises EmbeddingError and PrivacyViolation.
        """
        return await self._passages.embed(texts, extraction)

    async def aclose(self) -> None:
        """Cancel all calls and close the provider."""
        await self._questions.aclose()
        await self._passages.aclose()
        await self._provider.aclose()
