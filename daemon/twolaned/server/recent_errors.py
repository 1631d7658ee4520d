"""The last things that went wrong, for `Status`."""

from __future__ import annotations

import time
from collections import deque

from twolaned.services.daemon_status import RecentError

KEPT = 10
MAX_MESSAGE = 500
"""Characters."""


class RecentErrors:
    """Remembers the last few errors. Nothing in them is secret: a client may see them."""

    def __init__(self) -> None:
        self._errors: deque[RecentError] = deque(maxlen=KEPT)

    def add(self, where: str, message: str) -> None:
        """Remember that *message*, a sentence, was to be said of *where*, such as "writer"."""
        now = time.time_ns() // 1_000_000
        self._errors.appendleft(RecentError(now, where, message[:MAX_MESSAGE]))

    def newest_first(self) -> tuple[RecentError, ...]:
        """The errors that are remembered."""
        return tuple(self._errors)
