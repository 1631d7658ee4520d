"""A provider that answers when it is told to, and what it is told to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tests.support_http.vectors import unit_vector
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.provider import BatchLimits
from twolaned.model.embedding import FailureReason, InputType, VectorSpace

SPACE = VectorSpace("fake", "model", 8)


def down(**named: object) -> EmbeddingError:
    return EmbeddingError(
        FailureReason.PROVIDER_UNREACHABLE,
        "Fake cannot be reached.",
        **named,  # type: ignore[arg-type]
    )


def rejected(reason: str = "no") -> EmbeddingError:
    return EmbeddingError(FailureReason.PROVIDER_ERROR, reason, transient=False, isolate=True)


class FakeProvider:
    """Counts calls. While ``held`` no call ends; ``errors`` come first, one for each call."""

    def __init__(
        self,
        *,
        is_local: bool = True,
        space: VectorSpace = SPACE,
        limits: BatchLimits | None = None,
    ) -> None:
        self.space = space
        self.is_local = is_local
        self.limits = limits or BatchLimits(texts=4, bytes=1_000, calls=2)
        self.calls: list[tuple[list[str], InputType]] = []
        self.errors: deque[Exception] = deque()
        self.judge: Callable[[list[str]], Exception | None] = lambda _: None
        self.cancelled = 0
        self.finished = 0
        self.at_once = 0
        self.most_at_once = 0
        self.closed = False
        self.warmed = 0
        self._go = asyncio.Event()
        self._go.set()
        self._changed = asyncio.Condition()

    def hold(self) -> None:
        self._go.clear()

    def release(self) -> None:
        self._go.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5), self._changed:
            await self._changed.wait_for(condition)

    async def warm(self) -> None:
        self.warmed += 1
        if self.errors:
            raise self.errors.popleft()

    async def embed(self, texts: Sequence[str], input_type: InputType) -> NDArray[np.float32]:
        self.calls.append((list(texts), input_type))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._tell()
            await self._go.wait()
            await asyncio.sleep(0)
            if self.errors:
                raise self.errors.popleft()
            error = self.judge(list(texts))
            if error is not None:
                raise error
            self.finished += 1
        except asyncio.CancelledError:
            self.cancelled += 1
            asyncio.get_running_loop().call_soon(self._tell_soon)
            raise
        finally:
            self.at_once -= 1
        await self._tell()
        return np.array([vector_of(text, input_type) for text in texts], np.float32)

    async def aclose(self) -> None:
        self.closed = True

    @property
    def sent(self) -> list[str]:
        return [text for texts, _ in self.calls for text in texts]

    def _tell_soon(self) -> None:
        self._telling = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def vector_of(text: str, input_type: InputType) -> NDArray[np.float32]:
    return unit_vector(f"{input_type}:{text}", SPACE.dimensions)
