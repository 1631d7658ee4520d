"""Days and spans as they are typed, in the person's own time zone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _MomentType = click.ParamType[datetime]
else:
    _MomentType = click.ParamType  # before click 8.5 it takes no type argument

_SPAN = re.compile(r"(\d{1,4})\s*([hdwmy])")
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?")


class When(_MomentType):
    """A moment: ``2024-05-12``, ``2024-05``, ``2024``, ``2024-05-12T14:00``, ``today``,
    ``yesterday``, or a span back from now such as ``36h``, ``7d``, ``3w``, ``6m``, ``2y``.
    """

    name = "when"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return *value* as an aware datetime; days begin at local midnight."""
        if isinstance(value, datetime):
            return value
        try:
            return parse(str(value), datetime.now().astimezone())
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a date. Use 2024-05-12, 2024-05, today, yesterday,"
                " or a span back from now such as 7d, 3w, 6m or 2y.",
                param,
                ctx,
            )


def parse(said: str, now: datetime) -> datetime:
    """Return what *said* means at *now*, in the system's time zone. Raises ValueError."""
    # Naive times are local; `astimezone` gives each the offset that was in force then.
    word = said.strip().lower()
    midnight = datetime(now.year, now.month, now.day)  # noqa: DTZ001
    if word in ("today", "yesterday"):
        return (midnight - timedelta(days=word == "yesterday")).astimezone()
    if span := _SPAN.fullmatch(word):
        return _back(now, int(span[1]), span[2])
    if month := _MONTH.fullmatch(word):
        return datetime(int(month[1]), int(month[2] or 1), 1).astimezone()
    moment = datetime.fromisoformat(said.strip())
    return moment if moment.tzinfo else moment.astimezone()


def _back(now: datetime, number: int, unit: str) -> datetime:
    if unit in "hdw":
        hours = number * {"h": 1, "d": 24, "w": 168}[unit]
        return now - timedelta(hours=hours)
    months = now.year * 12 + now.month - 1 - number * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    for day in (now.day, 30, 29, 28):
        try:
            return now.replace(year=year, month=month + 1, day=day)
        except ValueError:  # a shorter month: its last day
            continue
    raise ValueError(f"year {year} is out of range")
