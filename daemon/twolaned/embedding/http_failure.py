"""What an HTTP status of a provider means, in our words.

Nothing that a server wrote is quoted: its sentence may hold the key or the text.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from twolaned.embedding.error import EmbeddingError
from twolaned.model.embedding import FailureReason

_LONGEST_WAIT = 86_400.0

REJECTED = frozenset({400, 413, 422})
"""Statuses that one unusual text can bring upon a whole batch."""


def status_error(
    status: int,
    headers: Mapping[str, str],
    *,
    provider: str,
    hints: Mapping[int, str],
    isolate: Container[int] = REJECTED,
) -> EmbeddingError:
    """The error for an answer with *status*.

    *hints* say what a person can do about a status; one of *isolate* may come from a single text.
    """
    reason, what, transient = _meaning(status)
    hint = hints.get(status, "")
    return EmbeddingError(
        reason,
        f"{provider} {what} (HTTP {status}){f': {hint}' if hint else ''}.",
        retry_after=retry_after(headers) if transient else None,
        transient=transient,
        isolate=status in isolate,
    )


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds until ``Retry-After``, a number or a date, at most a day; None without a valid one.

    (RFC 9110, section 10.2.3)
    """
    value = next((v for k, v in headers.items() if k.lower() == "retry-after"), "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = (at - (now or datetime.now(UTC))).total_seconds()
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_WAIT)


def _meaning(status: int) -> tuple[FailureReason, str, bool]:
    if status in (401, 403):
        return FailureReason.AUTH, "did not accept the key", False
    if status == 408:
        return FailureReason.TIMEOUT, "gave up waiting for the request", True
    if status == 429:
        return FailureReason.RATE_LIMITED, "was asked too often", True
    if status >= 500:
        return FailureReason.PROVIDER_ERROR, "has trouble of its own", True
    return FailureReason.PROVIDER_ERROR, "did not accept the request", False
