"""Why and how the daemon is to stop."""

from __future__ import annotations

import asyncio
import logging

log = logging.getLogger(__name__)

DEFAULT_GRACE = 5.0
"""Seconds that running calls have to finish."""


class Stop:
    """A request to stop, made once; later ones can only shorten the *grace*."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self.grace = DEFAULT_GRACE
        self.error: BaseException | None = None
        """What forced the daemon to stop; None if it was asked to."""

    def ask(self, why: str, grace: float = DEFAULT_GRACE) -> None:
        """Ask the daemon to stop because of *why*."""
        log.info("stopping: %s", why)
        self.grace = min(self.grace, grace) if self._asked.is_set() else grace
        self._asked.set()

    def fail(self, error: BaseException) -> None:
        """Stop because of *error*, which the daemon cannot live with."""
        self.error = error
        self.ask("a fatal error")

    async def wait(self) -> None:
        """Return when somebody has asked."""
        await self._asked.wait()
