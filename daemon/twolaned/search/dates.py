"""What a date in a query means, in the person's own time zone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_AGE = re.compile(r"(\d{1,4})([hdwmy])")
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"m": 1, "y": 12}
_CALENDAR = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}.*")


def moment(said: str, now: datetime) -> int | None:
    """The moment that *said* names, in UTC milliseconds, or None where it is no date.

    A year, a month or a day (``2026``, ``2026-03``, ``2026-03-01``, ``today``, ``yesterday``) is
    its first moment in the system's time zone. An age (``36h``, ``7d``, ``2w``, ``6m``, ``1y``)
    counts back from *now*, a local time without zone. An ISO 8601 date-time without a zone is
    local too.
    """
    try:
        found = _moment(said.lower(), now)
        # The system's rules give each naive time the offset that was in force then.
        return None if found is None else round(found.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def _moment(said: str, now: datetime) -> datetime | None:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said == "today":
        return midnight
    if said == "yesterday":
        return midnight - timedelta(days=1)
    if age := _AGE.fullmatch(said):
        return _back(now, int(age[1]), age[2])
    if calendar := _CALENDAR.fullmatch(said):
        year, month, day = (int(part or 1) for part in calendar.groups())
        return datetime(year, month, day)  # noqa: DTZ001  local, as the person means it
    if _MOMENT.fullmatch(said):
        return datetime.fromisoformat(said.upper())
    return None


def _back(now: datetime, number: int, unit: str) -> datetime:
    if unit == "h":
        return now - timedelta(hours=number)
    if unit in _DAYS:
        return now - timedelta(days=number * _DAYS[unit])
    year, month = divmod(now.year * 12 + now.month - 1 - number * _MONTHS[unit], 12)
    for day in (now.day, 30, 29, 28):
        try:
            return now.replace(year=year, month=month + 1, day=day)
        except ValueError:  # a shorter month: its last day
            continue
    raise ValueError(year)
