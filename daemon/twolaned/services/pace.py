"""Progress at a pace that a client can show."""

from __future__ import annotations

import time

from twolaned.writer.protocol import Done, Progress

INTERVAL = 0.1
"""Seconds between two messages of progress."""


class Pace:
    """Lets progress through at most every *interval* seconds, and ends always."""

    def __init__(self, interval: float = INTERVAL) -> None:
        self._interval = interval
        self._due = 0.0

    def allows(self, event: Progress | Done) -> bool:
        """Whether *event* is to be passed on now."""
        if isinstance(event, Done):
            return True
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + self._interval
        return True
