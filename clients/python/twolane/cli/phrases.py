"""Numbers, sizes, times and lists as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.message import Message
    from google.protobuf.timestamp_pb2 import Timestamp

_UNITS = ("B", "kB", "MB", "GB", "TB")


def count(number: int, one: str, many: str | None = None) -> str:
    """Return *number* with its noun, such as ``1 row`` or ``12,345 rows``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """Return *number* of bytes in the unit that suits it, such as ``41 MB``."""
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    digits = 1 if unit and value < 9.95 else 0
    return f"{value:.{digits}f} {_UNITS[unit]}"


def span(seconds: float) -> str:
    """Return a span of time in the one unit that suits it, such as ``3.1 ms`` or ``2 h``."""
    if seconds < 0.9995:
        milliseconds = seconds * 1000
        return f"{milliseconds:.{0 if milliseconds >= 99.5 else 1}f} ms"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.{1 if seconds < 10 else 0}f} s"


def ago(moment: datetime, now: datetime) -> str:
    """Return how long *moment* lies before *now*, such as ``3 min ago``."""
    seconds = (now - moment).total_seconds()
    return "just now" if seconds < 2 else f"{span(seconds)} ago"


def day(moment: datetime) -> str:
    """Return the local calendar day of *moment*, such as ``2024-05-12``."""
    return moment.astimezone().strftime("%Y-%m-%d")


def minute(moment: datetime) -> str:
    """Return *moment* in local time to the minute, such as ``2024-05-12 14:03``."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def moment(stamp: Timestamp) -> datetime | None:
    """Return *stamp* as a datetime, or None where it lies outside the years 1 to 9999."""
    try:
        value: datetime = stamp.ToDatetime(tzinfo=UTC)
    except (OverflowError, ValueError):
        return None
    # Room for the local time zone at both ends.
    return value if 1 < value.year < 9999 else None


def moment_of(message: Message, *fields: str) -> datetime | None:
    """Return the first of the timestamp *fields* of *message* that is set."""
    for field in fields:
        if message.HasField(field):
            return moment(getattr(message, field))
    return None


def seconds(duration: Duration) -> float:
    """Return *duration* in seconds."""
    value: timedelta = duration.ToTimedelta()
    return value.total_seconds()


def joined(parts: Iterable[str], by: str = " · ") -> str:
    """Return the *parts* that are not empty, joined."""
    return by.join(part for part in parts if part)


def listed(items: Iterable[str], last: str = "and") -> str:
    """Return *items* as a phrase, such as ``a, b and c``."""
    every = list(items)
    if len(every) < 2:
        return "".join(every)
    return f"{', '.join(every[:-1])} {last} {every[-1]}"
