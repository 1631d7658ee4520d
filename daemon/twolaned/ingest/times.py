"""Reading the many forms in which tools write a moment."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

_MILLISECONDS_FROM = 1e11
"""A number above this counts milliseconds, else seconds."""
_LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_FRACTION = re.compile(r"\.(\d+)")


def to_ms(value: Any) -> int | None:
    """*value* as UTC milliseconds, or None where it says no moment.

    Takes ISO 8601 (without a zone it is UTC), seconds or milliseconds as a number or its digits,
    and ``{"$date": …}``. Zero means unknown. Never raises.
    """
    if isinstance(value, dict):
        inner = value.get("$date", value.get("$numberLong"))
        return None if inner is value else to_ms(inner)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    return _from_text(value.strip()) if isinstance(value, str) else None


def _from_number(value: float) -> int | None:
    if not math.isfinite(value):
        return None
    milliseconds = round(value if abs(value) > _MILLISECONDS_FROM else value * 1000)
    return milliseconds if 0 < milliseconds <= _LATEST else None


def _from_text(text: str) -> int | None:
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return _from_number(float(text))
    if text.endswith(("Z", "z")):
        text = f"{text[:-1]}+00:00"
    text = _FRACTION.sub(lambda match: f".{match[1][:6]:0<6}", text, count=1)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return _from_number(moment.timestamp() * 1000) if moment.year > 1970 else None
    except (ValueError, OverflowError):
        return None
