from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.cli.conftest import Run
from tests.client.fake import FakeDaemon
from twolane.cli.dates import parse


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A time zone with summer time."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


NOW = datetime(2024, 7, 31, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        pytest.param("2024-05-12", "2024-05-11T22:00:00+00:00", id="day in summer"),
        pytest.param("2024-01-12", "2024-01-11T23:00:00+00:00", id="day in winter"),
        pytest.param("2024-01", "2023-12-31T23:00:00+00:00", id="month"),
        pytest.param("2024", "2023-12-31T23:00:00+00:00", id="year"),
        pytest.param("2024-05-12T14:00", "2024-05-12T12:00:00+00:00", id="local time"),
        pytest.param("2024-05-12T14:00Z", "2024-05-12T14:00:00+00:00", id="time with a zone"),
        pytest.param("today", "2024-07-30T22:00:00+00:00", id="today"),
        pytest.param(" Yesterday ", "2024-07-29T22:00:00+00:00", id="yesterday"),
        pytest.param("36h", "2024-07-30T03:30:00+00:00", id="hours"),
        pytest.param("7d", "2024-07-24T15:30:00+00:00", id="days"),
        pytest.param("3w", "2024-07-10T15:30:00+00:00", id="weeks"),
        pytest.param("1m", "2024-06-30T15:30:00+00:00", id="a shorter month"),
        pytest.param("5m", "2024-02-29T15:30:00+00:00", id="February"),
        pytest.param("12m", "2023-07-31T15:30:00+00:00", id="a year of months"),
        pytest.param("2y", "2022-07-31T15:30:00+00:00", id="years"),
    ],
)
def test_what_was_said_is_a_moment(said: str, moment: str) -> None:
    """Days begin at local midnight as it was then; spans count back from now."""
    assert moment == parse(said, NOW).astimezone(UTC).isoformat()


@pytest.mark.parametrize(
    "said", ["", "never", "2024-13", "2024-05-32", "0000", "9999y", "-3d", "3"]
)
def test_nonsense_is_refused(said: str) -> None:
    """What is no date is not guessed at."""
    with pytest.raises(ValueError):  # noqa: PT011  any message
        parse(said, NOW)


def test_a_wrong_date_says_what_would_do(run: Run, served: FakeDaemon) -> None:
    """The message shows the forms that are understood."""
    ended = run("search", "x", "--since", "next week")

    assert 2 == ended.code
    assert "2024-05-12, 2024-05, today, yesterday" in ended.err
