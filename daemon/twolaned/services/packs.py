"""Building packs off the event loop, each on the snapshot that is current when it begins."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

from twolaned.context.builder import PackBuilder
from twolaned.context.pack import ContextPack, PackRequest
from twolaned.search.question import Questions
from twolaned.search.snapshot import IndexSnapshot
from twolaned.services.asking import meanings


class Threads(Protocol):
    """Where work is done that reads the index; `twolaned.services.searches.Searches` is one."""

    @property
    def run(self) -> Callable[..., Awaitable[ContextPack]]:
        """Do work in a thread."""


class Packs:
    """Builds packs with *builder* from what *snapshot* gives, in *threads*."""

    def __init__(
        self,
        builder: PackBuilder,
        snapshot: Callable[[], IndexSnapshot],
        threads: Threads,
        questions: Questions | None = None,
    ) -> None:
        """*questions* None means that search by meaning is off."""
        self._builder = builder
        self._snapshot = snapshot
        self._threads = threads
        self._questions = questions

    async def packs(
        self,
        request: PackRequest,
        arrived: float,
        *,
        partial: bool = False,
        remaining: float | None = None,
    ) -> AsyncGenerator[ContextPack, None]:
        """Yield the pack that *request* asks for, with *partial* by keyword first.

        *arrived* is seconds of the monotonic clock, *remaining* for how many seconds the caller
        still waits. Raises InvalidInput for what cannot be served.
        """
        snapshot = self._snapshot()
        text = self._builder.query(request).query
        asked = meanings(
            self._questions, snapshot, text, arrived, partial=partial, remaining=remaining
        )
        async with aclosing(asked):
            async for meaning in asked:
                yield await self._threads.run(
                    self._builder.build, snapshot, request, meaning=meaning
                )
