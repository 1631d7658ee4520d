"""Tasks that live as long as the daemon. If one fails, the daemon stops; none is left behind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from twolaned.server.stop import Stop

log = logging.getLogger(__name__)


class Background:
    """Owns tasks: on leaving, all are cancelled and waited for."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run *work* until it ends, or until the daemon stops."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.critical("%s failed", task.get_name(), exc_info=error)
            self._stop.fail(error)
