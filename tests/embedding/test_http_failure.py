from __future__ import annotations

from datetime import UTC, datetime

import pytest

from twolaned.embedding.http_failure import retry_after, status_error

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 1.5 ", 1.5),
        ("-3", 0.0),
        ("1e99", 86_400.0),
        ("inf", 86_400.0),
        ("nan", None),
        ("", None),
        ("soon", None),
        ("Tue, 01 Dec 2026 12:00:30 GMT", 30.0),
        ("Tue, 01 Dec 2026 11:59:00 GMT", 0.0),
        ("Tue, 01 Dec 2026 13:00:00 +0100", 0.0),
        ("Tue, 01 Dec 2026 12:00:30", 30.0),
        ("Tue, 99 Foo 2026", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    """Numbers and dates, bounded to a day; anything else is as if it were not there."""
    assert seconds == retry_after({"Retry-After": value}, NOW)


def test_without_the_header_nothing_is_known() -> None:
    """Header names have no case."""
    assert None is retry_after({}, NOW)
    assert 2.0 == retry_after({"rEtRy-aFtEr": "2"}, NOW)


@pytest.mark.parametrize(
    ("status", "transient", "isolate"),
    [
        (400, False, True),
        (413, False, True),
        (422, False, True),
        (401, False, False),
        (404, False, False),
        (307, False, False),
        (408, True, False),
        (429, True, False),
        (500, True, False),
        (503, True, False),
        (529, True, False),
    ],
)
def test_what_may_help(status: int, transient: bool, isolate: bool) -> None:
    """Waiting helps against trouble there, smaller batches against one text that is refused."""
    error = status_error(status, {"retry-after": "5"}, provider="Voyage", hints={})

    assert (transient, isolate) == (error.transient, error.isolate)
    assert (5.0 if transient else None) == error.failure.retry_after
    assert f"(HTTP {status})" in error.failure.message
