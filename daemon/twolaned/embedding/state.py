"""How a provider is doing: what the status shows of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from twolaned.embedding.breaker import CircuitBreaker, CircuitState
from twolaned.model.embedding import EmbeddingFailure, VectorSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """A provider at one moment. Times are UTC ms, counts are since the process started.

    *healthy* is None until there was a call. It turns False with a failure and True with the next
    success, and is False as long as the circuit is not closed.
    """

    space: VectorSpace
    is_local: bool
    healthy: bool | None
    circuit: CircuitState
    retry_in: float
    """Seconds until the circuit lets a question through."""
    last_failure: EmbeddingFailure | None
    last_failure_at: int | None
    last_success_at: int | None
    calls: int
    texts_sent: int
    """Texts of all calls, repetitions included."""
    cached_hits: int
    """Texts whose vector was in the cache or already on its way."""
    in_flight: int
    """Calls under way."""


class ProviderLedger:
    """Counts what a provider does. *now* is the time in UTC ms."""

    def __init__(self, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._now = now
        self._calls = 0
        self._texts = 0
        self._hits = 0
        self._healthy: bool | None = None
        self._failure: EmbeddingFailure | None = None
        self._failure_at: int | None = None
        self._success_at: int | None = None

    @property
    def has_succeeded(self) -> bool:
        """Whether any call ended well."""
        return self._success_at is not None

    def sent(self, texts: int) -> None:
        """A call with *texts* begins."""
        self._calls += 1
        self._texts += texts

    def hit(self, texts: int = 1) -> None:
        """*texts* needed no call of their own."""
        self._hits += texts

    def succeeded(self) -> None:
        """A call ended well."""
        self._healthy = True
        self._success_at = self._now()

    def failed(self, failure: EmbeddingFailure) -> None:
        """A call failed, or took longer than a question can wait."""
        self._healthy = False
        self._failure = failure
        self._failure_at = self._now()

    def state(
        self, space: VectorSpace, *, is_local: bool, breaker: CircuitBreaker, in_flight: int
    ) -> ProviderState:
        """The state now."""
        circuit = breaker.state
        return ProviderState(
            space=space,
            is_local=is_local,
            healthy=self._healthy if circuit is CircuitState.CLOSED else False,
            circuit=circuit,
            retry_in=breaker.retry_in,
            last_failure=self._failure,
            last_failure_at=self._failure_at,
            last_success_at=self._success_at,
            calls=self._calls,
            texts_sent=self._texts,
            cached_hits=self._hits,
            in_flight=in_flight,
        )
