"""Ollama: vectors made by a server that the person runs, as a rule on this machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.endpoint import Endpoint
from twolaned.embedding.error import EmbeddingError, MissingPackage
from twolaned.embedding.ollama_models import asked_dimensions, is_local_model, prefixed
from twolaned.embedding.provider import BatchLimits
from twolaned.embedding.vectors import unit_vectors
from twolaned.model.embedding import FailureReason, InputType, VectorSpace

if TYPE_CHECKING:
    from twolaned.embedding.ollama_client import OllamaClient

LIMITS = BatchLimits(texts=32, bytes=64_000, calls=1, seconds=120.0)
"""A model on a slow processor makes a few vectors a second, and may have to be loaded first."""
KEEP_ALIVE = "30m"
"""How long the server keeps the model in memory after a call."""
CONFIRMED_SECONDS = 60.0
"""For how long it is believed that a model runs on this machine."""


class OllamaProvider:
    """Speaks to an Ollama server through its own client.

    It is local if its host is loopback and its model runs there. Before texts go to a model that
    is held to be local, and again once a minute, the server is asked where the model runs. One
    that turns out to run elsewhere, under a name that hides it, gets nothing any more.
    """

    def __init__(
        self,
        space: VectorSpace,
        endpoint: Endpoint,
        *,
        limits: BatchLimits = LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._space = space
        self._endpoint = endpoint
        self._limits = limits
        self._clock = clock
        self._meant_to_be_local = endpoint.on_loopback and is_local_model(space.model)
        self._is_local = self._meant_to_be_local
        self._confirmed_until = float("-inf")
        self._client: OllamaClient | None = None
        self._loading = asyncio.Lock()
        self._confirming = asyncio.Lock()

    def __repr__(self) -> str:
        return f"OllamaProvider({self._space}, {self._endpoint.url})"

    @property
    def space(self) -> VectorSpace:
        """The space that its vectors belong to."""
        return self._space

    @property
    def is_local(self) -> bool:
        """Whether the model runs on this machine, as far as is known."""
        return self._is_local

    @property
    def limits(self) -> BatchLimits:
        """What one call may hold."""
        return self._limits

    async def warm(self) -> None:
        """Import the client library off the event loop."""
        await self._opened()

    async def embed(self, texts: Sequence[str], input_type: InputType) -> NDArray[np.float32]:
        """One vector for each of *texts*. Raises EmbeddingError."""
        client = await self._opened()
        if self._meant_to_be_local:
            await self._confirm_local(client)
        raw = await client.embed(
            prefixed(self._space.model, texts, input_type),
            model=self._space.model,
            dimensions=asked_dimensions(self._space),
            keep_alive=KEEP_ALIVE,
        )
        return unit_vectors(
            raw, count=len(texts), dimensions=self._space.dimensions, provider="Ollama"
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _confirm_local(self, client: OllamaClient) -> None:
        """Raise unless the server says that the model runs there."""
        async with self._confirming:
            if self._is_local and self._clock() >= self._confirmed_until:
                shown = await client.show(self._space.model)
                self._is_local = is_local_model(self._space.model, shown)
                self._confirmed_until = self._clock() + CONFIRMED_SECONDS
            if not self._is_local:
                raise EmbeddingError(
                    FailureReason.PROVIDER_ERROR,
                    f"Ollama runs {self._space.model} on another machine: choose a model that "
                    "runs here.",
                    transient=False,
                )

    async def _opened(self) -> OllamaClient:
        async with self._loading:
            if self._client is None:
                try:
                    module = await asyncio.to_thread(
                        import_module, "twolaned.embedding.ollama_client"
                    )
                except ModuleNotFoundError:
                    raise MissingPackage("Ollama", "ollama") from None
                make: _MakeClient = module.OllamaClient
                self._client = make(self._endpoint.url, limits=self._limits)
            return self._client


class _MakeClient(Protocol):
    def __call__(self, url: str, *, limits: BatchLimits) -> OllamaClient: ...
