"""The built-in model: vectors made in this process, with no key, no server and no network."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.error import MissingPackage
from twolaned.embedding.provider import BatchLimits
from twolaned.embedding.vectors import unit_vectors
from twolaned.model.embedding import InputType, VectorSpace

if TYPE_CHECKING:
    from twolaned.embedding.builtin_model import BuiltinModel

P = ParamSpec("P")
T = TypeVar("T")

SPACE = VectorSpace("builtin", "all-minilm-l6-v2-int8", 384)

LIMITS = BatchLimits(texts=16, bytes=64_000, calls=1, seconds=120.0)


class BuiltinProvider:
    """Runs the model in one thread of its own, which also loads it when it is first needed."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "embedding")
        self._model: BuiltinModel | None = None

    def __repr__(self) -> str:
        return f"BuiltinProvider({SPACE})"

    @property
    def space(self) -> VectorSpace:
        """The space that its vectors belong to."""
        return SPACE

    @property
    def is_local(self) -> bool:
        """True: texts do not leave the process."""
        return True

    @property
    def limits(self) -> BatchLimits:
        """What one call may hold."""
        return LIMITS

    async def warm(self) -> None:
        """Load the model."""
        await self._run(self._loaded)

    async def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,  # noqa: ARG002 (the model was trained on pairs of equals)
    ) -> NDArray[np.float32]:
        """One vector for each of *texts*. Raises EmbeddingError.

        *input_type* makes no difference. Cancelling lets the thread finish the text it is at.
        """
        left = threading.Event()
        try:
            raw = await self._run(self._embed, list(texts), left)
        finally:
            left.set()
        return unit_vectors(
            raw, count=len(texts), dimensions=SPACE.dimensions, provider="The built-in model"
        )

    async def aclose(self) -> None:
        """End the thread and free the model."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._model = None

    async def _run(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, *arguments, **named))

    def _embed(self, texts: list[str], left: threading.Event) -> NDArray[np.float32]:
        model = self._loaded()
        vectors = np.zeros((len(texts), SPACE.dimensions), np.float32)
        for row, text in enumerate(texts):
            if left.is_set():
                break
            vectors[row] = model.embed(text)
        return vectors

    def _loaded(self) -> BuiltinModel:
        if self._model is None:
            try:
                module = import_module("twolaned.embedding.builtin_model")
            except ModuleNotFoundError:
                raise MissingPackage("The built-in model", "builtin") from None
            self._model = module.load_model()
        return self._model
