"""Vectors of questions: now, or not at all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.breaker import CircuitBreaker, CircuitState, Permit
from twolaned.embedding.cache import CacheBackend, LruCache, VectorCache, cache_key
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.flights import Flight, Flights
from twolaned.embedding.gate import PrivacyGate
from twolaned.embedding.sender import BLANK, Sender, sendable
from twolaned.model.embedding import EmbeddingFailure, FailureReason, InputType
from twolaned.model.source import Extraction

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSettings:
    """How long questions wait, and what goes on without them. Times are in seconds."""

    background: float = 10.0
    """How long a call goes on after its question was answered without it."""
    background_calls: int = 8
    slow: float = 1.0
    """A call of this age that is given up counts as the provider's failure, a younger one as the
    caller's haste."""
    longest: float = 15.0
    """When a call ends in any case."""
    remembered: int = 512
    """Vectors of questions that are kept in memory."""


@dataclass(slots=True)
class _Trial:
    """A call and what the circuit breaker is to learn from it."""

    permit: Permit
    started: float


class QuestionEmbedder:
    """Embeds questions within a deadline. *clock* is ``time.monotonic`` or like it."""

    def __init__(
        self,
        sender: Sender,
        backend: CacheBackend,
        breaker: CircuitBreaker,
        settings: QuestionSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sender = sender
        self._space = sender.provider.space
        self._near = VectorCache(LruCache(settings.remembered), self._space)
        self._far = VectorCache(backend, self._space)
        self._breaker = breaker
        self._settings = settings
        self._clock = clock
        self._flights: Flights[bytes, Vector] = Flights()
        self._trials: dict[Flight[bytes, Vector], _Trial] = {}

    @property
    def in_flight(self) -> int:
        """Calls under way."""
        return self._flights.under_way

    async def embed(
        self, text: str, deadline: float, extraction: Extraction
    ) -> Vector | EmbeddingFailure:
        """The vector of *text*, read-only, or why there is none, by *deadline*.

        A call that is not done by then goes on for a while, so that asking again finds its vector
        in the cache. Being cancelled cancels the call, unless others wait for it too.
        """
        PrivacyGate.admit(self._sender.provider, extraction)
        if not text.strip():
            return BLANK
        text = sendable(text)
        key = cache_key(self._space, InputType.QUERY, text)
        remembered = self._recalled(key)
        if remembered is not None:
            self._sender.ledger.hit()
            return remembered
        if self._clock() >= deadline:
            return EmbeddingFailure(FailureReason.TIMEOUT, "No time was left for the embedding.")
        flight = self._flight_of(key, text, extraction)
        if flight is None:
            return self._left_alone()
        with self._flights.joined((flight,)):
            await asyncio.wait({flight.task}, timeout=max(0.0, deadline - self._clock()))
            if not flight.task.done():
                return self._given_up(flight)
        return _outcome(flight, key)

    async def aclose(self) -> None:
        """Cancel all calls."""
        await self._flights.aclose()

    def _recalled(self, key: bytes) -> Vector | None:
        near = self._near.get_many([key])[0]
        if near is not None:
            return near
        far = self._far.get_many([key])[0]
        if far is not None:
            self._near.put_many([(key, far)])
        return far

    def _flight_of(
        self, key: bytes, text: str, extraction: Extraction
    ) -> Flight[bytes, Vector] | None:
        """The call to wait for, started if there is none; None where none may be made."""
        if self._breaker.state is CircuitState.OPEN:
            return None
        flight = self._flights.find(key)
        if flight is not None:
            self._sender.ledger.hit()
            return flight
        permit = self._breaker.acquire()
        if permit is None:
            return None
        flight = self._flights.start((key,), self._call(key, text, extraction, permit))
        self._trials[flight] = _Trial(permit, self._clock())

        def ended(_: object) -> None:
            del self._trials[flight]
            # A call that was cancelled tells nothing, and its permit must not be lost.
            permit.release()

        flight.task.add_done_callback(ended)
        return flight

    async def _call(
        self, key: bytes, text: str, extraction: Extraction, permit: Permit
    ) -> Mapping[bytes, Vector]:
        try:
            vectors = await self._sender.send(
                [text], InputType.QUERY, extraction, seconds=self._settings.longest
            )
        except EmbeddingError as e:
            permit.failure(e.failure)
            raise
        permit.success()
        vector = vectors[0].copy()
        vector.setflags(write=False)
        self._near.put_many([(key, vector)])
        self._far.put_many([(key, vector)])
        return {key: vector}

    def _given_up(self, flight: Flight[bytes, Vector]) -> EmbeddingFailure:
        trial = self._trials[flight]
        age = self._clock() - trial.started
        name = self._space.provider.capitalize()
        failure = EmbeddingFailure(
            FailureReason.TIMEOUT, f"{name} did not embed the question within {age:.1f} s."
        )
        if age >= self._settings.slow:
            trial.permit.failure(failure)
            self._sender.ledger.failed(failure)
        self._flights.keep(
            flight, self._settings.background, at_most=self._settings.background_calls
        )
        return failure

    def _left_alone(self) -> EmbeddingFailure:
        cause, wait = self._breaker.cause, self._breaker.retry_in
        why = f" after it failed: {cause.message}" if cause else "."
        when = f"for {wait:.0f} s more" if wait >= 1.0 else "for a moment more"
        return EmbeddingFailure(
            FailureReason.CIRCUIT_OPEN,
            f"{self._space.provider.capitalize()} is left alone {when}{why}",
            retry_after=wait,
        )


def _outcome(flight: Flight[bytes, Vector], key: bytes) -> Vector | EmbeddingFailure:
    if flight.task.cancelled():
        return EmbeddingFailure(FailureReason.PROVIDER_ERROR, "The daemon is stopping.")
    error = flight.task.exception()
    if isinstance(error, EmbeddingError):
        return error.failure
    return flight.task.result()[key]
