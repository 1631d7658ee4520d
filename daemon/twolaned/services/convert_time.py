"""Times and spans: UTC milliseconds and microseconds here, well-known types on the wire."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from twolaned.model.errors import InvalidInput

_FIRST_SECOND = -62_135_596_800
"""0001-01-01T00:00:00Z, the earliest Timestamp."""
_LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z, the latest."""
_LONGEST_SPAN = 315_576_000_000
"""Seconds of the longest Duration."""
_NANOS = 1_000_000_000


def timestamp(ms: int | None) -> Timestamp | None:
    """*ms* since the epoch as a Timestamp; None leaves the field absent."""
    if ms is None:
        return None
    return Timestamp(seconds=ms // 1_000, nanos=ms % 1_000 * 1_000_000)


def milliseconds(field: str, value: Timestamp) -> int:
    """*value*, found in *field*, in ms since the epoch. Raises InvalidInput if it is no time."""
    if not (_FIRST_SECOND <= value.seconds <= _LAST_SECOND and 0 <= value.nanos < _NANOS):
        raise InvalidInput(
            field,
            f"`{field}` is {value.seconds} s and {value.nanos} ns, which is no time between the"
            " years 1 and 9999.",
            reason="OUT_OF_RANGE",
            seconds=str(value.seconds),
            nanos=str(value.nanos),
        )
    return value.seconds * 1_000 + value.nanos // 1_000_000


def duration(microseconds: int) -> Duration:
    """*microseconds*, which may be negative, as a Duration."""
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    sign = -1 if microseconds < 0 else 1
    return Duration(seconds=sign * seconds, nanos=sign * rest * 1_000)


def microseconds(field: str, value: Duration) -> int:
    """*value*, found in *field*, in microseconds. Raises InvalidInput if it is no span."""
    mixed = value.seconds * value.nanos < 0
    if mixed or abs(value.seconds) > _LONGEST_SPAN or abs(value.nanos) >= _NANOS:
        raise InvalidInput(
            field,
            f"`{field}` is {value.seconds} s and {value.nanos} ns, which is no span of time.",
            reason="OUT_OF_RANGE",
            seconds=str(value.seconds),
            nanos=str(value.nanos),
        )
    return value.seconds * 1_000_000 + int(value.nanos / 1_000)
