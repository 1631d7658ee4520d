"""The limits of the API, checked with sentences that name the field and say what to do."""

from __future__ import annotations

from collections.abc import Sized

from twolaned.model.errors import InvalidInput


def required(field: str, value: str) -> None:
    """Raise InvalidInput if *value* is empty or blank."""
    if not value.strip():
        raise InvalidInput(field, f"`{field}` is missing. Give it a value.", reason="REQUIRED")


def at_most_characters(field: str, value: str, limit: int) -> None:
    """Raise InvalidInput if *value* has more than *limit* characters (Unicode code points)."""
    _at_most(field, len(value), limit, "characters")


def at_most_bytes(field: str, value: str | bytes, limit: int) -> None:
    """Raise InvalidInput if *value* has more than *limit* bytes, in UTF-8 if it is text."""
    size = len(value) if isinstance(value, bytes) else _utf8_size(value)
    _at_most(field, size, limit, "bytes")


def at_most_items(field: str, values: Sized, limit: int) -> None:
    """Raise InvalidInput if there are more than *limit* of *values*."""
    _at_most(field, len(values), limit, "items")


def between(field: str, value: int, low: int, high: int) -> None:
    """Raise InvalidInput if *value* is not *low* to *high*, both included."""
    if not low <= value <= high:
        raise InvalidInput(
            field,
            f"`{field}` is {value}, which is not between {low:,} and {high:,}.",
            reason="OUT_OF_RANGE",
            value=str(value),
            low=str(low),
            high=str(high),
        )


def not_negative(field: str, value: int) -> None:
    """Raise InvalidInput if *value* is below 0."""
    if value < 0:
        raise InvalidInput(
            field,
            f"`{field}` is {value}. Give 0 or more.",
            reason="OUT_OF_RANGE",
            value=str(value),
        )


def absolute_path(field: str, value: str) -> None:
    """Raise InvalidInput if *value* is not an absolute path."""
    if not value.startswith("/") or "\0" in value:
        raise InvalidInput(
            field,
            f"`{field}` is {value!r}, which is not an absolute path: the daemon's working directory"
            " is not the caller's. Give the whole path.",
            reason="NOT_ABSOLUTE",
            path=value,
        )


def _at_most(field: str, size: int, limit: int, unit: str) -> None:
    if size > limit:
        raise InvalidInput(
            field,
            f"`{field}` has {size:,} {unit}; the limit is {limit:,}.",
            reason="TOO_LONG" if unit != "items" else "TOO_MANY",
            size=str(size),
            limit=str(limit),
        )


def _utf8_size(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode())
