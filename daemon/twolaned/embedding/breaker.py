"""The circuit breaker: a provider that fails is left alone for a while.

(Nygard, "Release It!", 2007)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from twolaned.model.embedding import EmbeddingFailure


class CircuitState(StrEnum):
    """CLOSED lets calls through, OPEN none, HALF_OPEN one at a time, as a probe."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerSettings:
    """When a circuit opens, and for how long. Times are in seconds."""

    failures: int = 3
    """So many in a row open it."""
    cool_down: float = 15.0
    """How long it stays open the first time; each probe that fails doubles it."""
    longest: float = 300.0


class Permit:
    """The right to make one call. Its first verdict counts, later ones do not."""

    def __init__(self, breaker: CircuitBreaker, era: int) -> None:
        self._breaker = breaker
        self._era = era
        self._settled = False

    def success(self) -> None:
        """The provider answered in time."""
        self._settle(None)

    def failure(self, failure: EmbeddingFailure) -> None:
        """It did not."""
        self._settle(failure)

    def release(self) -> None:
        """Nobody waited for the end, so nothing is known."""
        self._settle("unknown")

    def _settle(self, verdict: EmbeddingFailure | Literal["unknown"] | None) -> None:
        if not self._settled:
            self._settled = True
            self._breaker._settle(self._era, verdict)


class CircuitBreaker:
    """Counts failures in a row. For one event loop; *clock* is monotonic, in seconds."""

    def __init__(
        self,
        settings: BreakerSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings or BreakerSettings()
        self._clock = clock
        self._in_a_row = 0
        self._opened = False
        self._open_until = 0.0
        self._cool_down = self._settings.cool_down
        self._probing = False
        # A verdict on a call from before the circuit last opened or closed says nothing new.
        self._era = 0
        self._cause: EmbeddingFailure | None = None

    @property
    def state(self) -> CircuitState:
        """The state now."""
        if not self._opened:
            return CircuitState.CLOSED
        waits = self._clock() < self._open_until
        return CircuitState.OPEN if waits else CircuitState.HALF_OPEN

    @property
    def retry_in(self) -> float:
        """Seconds until the next call is let through; 0.0 if one is now."""
        return max(0.0, self._open_until - self._clock()) if self._opened else 0.0

    @property
    def cause(self) -> EmbeddingFailure | None:
        """What opened the circuit; None while it is closed."""
        return self._cause if self._opened else None

    def acquire(self) -> Permit | None:
        """The right to make a call, or None. Each permit needs a verdict in the end."""
        state = self.state
        if state is CircuitState.OPEN or (state is CircuitState.HALF_OPEN and self._probing):
            return None
        self._probing = state is CircuitState.HALF_OPEN
        return Permit(self, self._era)

    def _settle(self, era: int, verdict: EmbeddingFailure | Literal["unknown"] | None) -> None:
        if era != self._era:
            return
        was_probe, self._probing = self._probing, False
        if verdict == "unknown":
            return
        if verdict is None:
            self._close()
            return
        self._in_a_row += 1
        asked = min(verdict.retry_after or 0.0, self._settings.longest)
        if was_probe:
            self._cool_down = min(self._cool_down * 2.0, self._settings.longest)
            self._open(verdict, max(asked, self._cool_down))
        elif asked or self._in_a_row >= self._settings.failures:
            # A provider that says when to come back is taken at its word.
            self._open(verdict, asked or self._cool_down)

    def _open(self, cause: EmbeddingFailure, seconds: float) -> None:
        self._opened = True
        self._open_until = self._clock() + seconds
        self._cause = cause
        self._era += 1

    def _close(self) -> None:
        self._in_a_row = 0
        if self._opened:
            self._opened = False
            self._cool_down = self._settings.cool_down
            self._era += 1
