"""Weeks of the calendar: ISO 8601, in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MS = 86_400_000
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def week_of(ms: int) -> str:
    """The week that the moment *ms* (UTC milliseconds) lies in, such as ``2026-W13``."""
    year, week, _ = _date(ms).isocalendar()
    return f"{year:04}-W{week:02}"


def day_of(ms: int) -> str:
    """The UTC day of *ms*, such as ``2026-03-25``."""
    return _date(ms).isoformat()


def week_in_words(week: str) -> str:
    """*week* as a person says it, such as ``Week 13 of 2026 (23 to 29 March 2026)``."""
    year, _, number = week.partition("-W")
    first = date.fromisocalendar(int(year), int(number), 1)
    last = date.fromisocalendar(int(year), int(number), 7)
    if first.year != last.year:
        begin = _in_words(first)
    elif first.month != last.month:
        begin = f"{first.day} {_MONTHS[first.month - 1]}"
    else:
        begin = str(first.day)
    return f"Week {int(number)} of {int(year)} ({begin} to {_in_words(last)})"


def _in_words(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _date(ms: int) -> date:
    try:
        found = (_EPOCH + timedelta(days=ms // _DAY_MS)).date()
    except OverflowError:
        found = date.max if ms > 0 else date.min
    # The weeks at both ends of the calendar lie partly in years that it does not have.
    return min(max(found, date(1, 1, 8)), date(9999, 12, 24))
