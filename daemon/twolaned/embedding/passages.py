"""Vectors of passages: all of them, however long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.batches import batches
from twolaned.embedding.cache import CacheBackend, VectorCache, cache_key
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.flights import Flight, Flights
from twolaned.embedding.gate import PrivacyGate
from twolaned.embedding.retry import RetryPolicy
from twolaned.embedding.sender import BLANK, Sender, sendable
from twolaned.model.embedding import EmbeddingFailure, FailureReason, InputType
from twolaned.model.source import Extraction

Outcome = NDArray[np.float32] | EmbeddingFailure

SYSTEMIC = 8
"""So many texts rejected one by one, and none accepted, are not the texts' fault."""


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """*vectors*, of shape (n, dimensions), in the order of the texts.

    The row of a text in *failures*, which says by its index why it was refused, is zero.
    """

    vectors: NDArray[np.float32]
    failures: Mapping[int, EmbeddingFailure]


class PassageEmbedder:
    """Embeds passages in batches, with patience, and each text once."""

    def __init__(self, sender: Sender, backend: CacheBackend, retry: RetryPolicy) -> None:
        self._sender = sender
        self._space = sender.provider.space
        self._limits = sender.provider.limits
        self._cache = VectorCache(backend, self._space)
        self._retry = retry
        self._flights: Flights[bytes, Outcome] = Flights()
        self._slots = asyncio.Semaphore(self._limits.calls)

    @property
    def in_flight(self) -> int:
        """Calls under way or waiting for their turn."""
        return self._flights.under_way

    async def embed(self, texts: Sequence[str], extraction: Extraction) -> PassageVectors:
        """The vectors of *texts*, which are of sources with *extraction*.

        What was made is in the cache when this ends, in whichever way. Raises EmbeddingError when
        the provider fails for good; its ``retry_after`` says when to come back, if that is known.
        Raises PrivacyViolation, with nothing sent, where the provider may not see the texts.
        """
        PrivacyGate.admit(self._sender.provider, extraction)
        texts = [sendable(text) for text in texts]
        keys = [cache_key(self._space, InputType.DOCUMENT, text) for text in texts]
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if text.strip()}
        outcomes = self._cached(list(wanted))
        flights = self._flights_for(
            {key: text for key, text in wanted.items() if key not in outcomes}, extraction
        )
        with self._flights.joined(flights):
            if flights:
                await asyncio.wait(
                    [flight.task for flight in flights],
                    return_when=asyncio.FIRST_EXCEPTION,
                )
            for flight in flights:
                outcomes.update(_landed(flight))
        return self._assembled([outcomes.get(key, BLANK) for key in keys])

    async def aclose(self) -> None:
        """Cancel all calls."""
        await self._flights.aclose()

    def _cached(self, keys: list[bytes]) -> dict[bytes, Outcome]:
        found = zip(keys, self._cache.get_many(keys), strict=True)
        cached: dict[bytes, Outcome] = {key: v for key, v in found if v is not None}
        self._sender.ledger.hit(len(cached))
        return cached

    def _flights_for(
        self, missing: Mapping[bytes, str], extraction: Extraction
    ) -> list[Flight[bytes, Outcome]]:
        """The calls that will have all of *missing*, those under way first."""
        under_way = {key: flight for key in missing if (flight := self._flights.find(key))}
        self._sender.ledger.hit(len(under_way))
        new = [(key, text) for key, text in missing.items() if key not in under_way]
        flights = list(dict.fromkeys(under_way.values()))
        for span in batches([text for _, text in new], self._limits):
            batch = [new[index] for index in span]
            flights.append(
                self._flights.start((key for key, _ in batch), self._call(batch, extraction))
            )
        return flights

    async def _call(
        self, batch: list[tuple[bytes, str]], extraction: Extraction
    ) -> Mapping[bytes, Outcome]:
        async with self._slots:
            try:
                return await self._retry.run(lambda: self._made(batch, extraction))
            except EmbeddingError as e:
                if not e.isolate:
                    raise
                return await self._isolated(batch, extraction, e)

    async def _made(
        self, batch: list[tuple[bytes, str]], extraction: Extraction
    ) -> dict[bytes, Outcome]:
        vectors = await self._sender.send(
            [text for _, text in batch],
            InputType.DOCUMENT,
            extraction,
            seconds=self._limits.seconds,
        )
        made = [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)]
        self._cache.put_many(made)
        return dict(made)

    async def _isolated(
        self, batch: list[tuple[bytes, str]], extraction: Extraction, error: EmbeddingError
    ) -> Mapping[bytes, Outcome]:
        """Single out, by halving, the texts that brought *error* upon *batch*."""
        outcomes: dict[bytes, Outcome] = {}
        rejected = 0
        suspects = [(batch, error)]
        while suspects:
            part, error = suspects.pop()
            if len(part) == 1:
                outcomes[part[0][0]] = error.failure
                rejected += 1
                if rejected == len(outcomes) == SYSTEMIC:
                    raise error
                continue
            middle = len(part) // 2
            for half in (part[middle:], part[:middle]):
                try:
                    outcomes.update(await self._made(half, extraction))
                except EmbeddingError as e:
                    if not e.isolate:
                        raise
                    suspects.append((half, e))
        # A provider that never took anything is set up wrong, and no text is to blame.
        if rejected == len(outcomes) and not self._sender.ledger.has_succeeded:
            raise error
        return outcomes

    def _assembled(self, outcomes: Sequence[Outcome]) -> PassageVectors:
        vectors = np.zeros((len(outcomes), self._space.dimensions), np.float32)
        failures = {}
        for index, outcome in enumerate(outcomes):
            if isinstance(outcome, EmbeddingFailure):
                failures[index] = outcome
            else:
                vectors[index] = outcome
        return PassageVectors(vectors, failures)


def _landed(flight: Flight[bytes, Outcome]) -> Mapping[bytes, Outcome]:
    """What *flight* brought; nothing if another one failed before it was done."""
    if not flight.task.done():
        return {}
    if flight.task.cancelled():
        raise EmbeddingError(FailureReason.PROVIDER_ERROR, "The daemon is stopping.")
    return flight.task.result()
