"""Voyage: vectors made by a service, with a key."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.endpoint import voyage_endpoint
from twolaned.embedding.error import MissingPackage
from twolaned.embedding.key import ApiKey
from twolaned.embedding.provider import BatchLimits
from twolaned.embedding.vectors import unit_vectors
from twolaned.model.embedding import InputType, VectorSpace
from twolaned.model.errors import ConfigError

if TYPE_CHECKING:
    from twolaned.embedding.voyage_client import VoyageClient

NAME = "voyage"
OWN_KEY_MODEL = "voyage-3-lite"
PROVIDED_KEY_MODEL = "voyage-4-lite"
DIMENSIONS = 512

FIXED_DIMENSIONS = {
    "voyage-3-lite": 512,
    "voyage-3": 1024,
    "voyage-finance-2": 1024,
    "voyage-law-2": 1024,
    "voyage-multilingual-2": 1024,
    "voyage-code-2": 1536,
}
"""Models that know one size only and take no ``output_dimension``."""

LIMITS = BatchLimits(texts=128, bytes=120_000, calls=4, seconds=60.0)
"""The API takes 1,000 texts and, depending on the model, 120,000 to 1,000,000 tokens."""


def voyage_space(model: str, dimensions: int | None, *, provided: bool) -> VectorSpace:
    """The space of *model* (empty: the default one) in *dimensions* (None: 512, or its only size).

    *provided* says that the key came with the product. Raises ConfigError for a size that the
    model does not know.
    """
    model = model or (PROVIDED_KEY_MODEL if provided else OWN_KEY_MODEL)
    fixed = FIXED_DIMENSIONS.get(model)
    if fixed is not None and dimensions not in (None, fixed):
        raise ConfigError(
            f"embedding.output_dimension is {dimensions}, and {model} makes vectors of {fixed} "
            "dimensions only. Take the key out, or name another embedding.model.",
            key="embedding.output_dimension",
        )
    return VectorSpace(NAME, model, dimensions or fixed or DIMENSIONS)


class VoyageProvider:
    """Speaks to the Voyage API through its own client, over connections that stay open.

    *base_url* is empty for a key of one's own: the client knows from the key which of Voyage's
    hosts takes it. *context* replaces the system's certificates.
    """

    def __init__(
        self,
        space: VectorSpace,
        key: ApiKey,
        *,
        base_url: str = "",
        limits: BatchLimits = LIMITS,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._space = space
        self._key = key
        self._url = voyage_endpoint(base_url).url if base_url else None
        self._limits = limits
        self._context = context
        self._client: VoyageClient | None = None
        self._loading = asyncio.Lock()

    def __repr__(self) -> str:
        return f"VoyageProvider({self._space})"

    @property
    def space(self) -> VectorSpace:
        """The space that its vectors belong to."""
        return self._space

    @property
    def is_local(self) -> bool:
        """False: texts go to a service, wherever it is reached."""
        return False

    @property
    def limits(self) -> BatchLimits:
        """What one call may hold."""
        return self._limits

    async def warm(self) -> None:
        """Import the client library, which takes most of a second, off the event loop."""
        await self._opened()

    async def embed(self, texts: Sequence[str], input_type: InputType) -> NDArray[np.float32]:
        """One vector for each of *texts*. Raises EmbeddingError."""
        client = await self._opened()
        raw = await client.embed(
            list(texts),
            model=self._space.model,
            input_type=input_type.value,
            dimensions=self._asked_dimensions(),
        )
        return unit_vectors(
            raw, count=len(texts), dimensions=self._space.dimensions, provider="Voyage"
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _asked_dimensions(self) -> int | None:
        return None if self._space.model in FIXED_DIMENSIONS else self._space.dimensions

    async def _opened(self) -> VoyageClient:
        async with self._loading:
            if self._client is None:
                try:
                    module = await asyncio.to_thread(
                        import_module, "twolaned.embedding.voyage_client"
                    )
                except ModuleNotFoundError:
                    raise MissingPackage("Voyage", "voyage") from None
                make: _MakeClient = module.VoyageClient
                self._client = make(
                    self._key, base_url=self._url, limits=self._limits, context=self._context
                )
            return self._client


class _MakeClient(Protocol):
    def __call__(
        self,
        key: ApiKey,
        *,
        base_url: str | None,
        limits: BatchLimits,
        context: ssl.SSLContext | None,
    ) -> VoyageClient: ...
