"""The words that a passage is found by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from twolaned.model.row import Passage

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def searchable_text(title: str, occurred_at: int | None, passage: Passage, text: str) -> str:
    """What the lanes index for *passage*, whose words are *text*.

    Title, headings, speakers and the day (UTC, of *occurred_at* in milliseconds) are searchable
    together with it (retrieval, section 1).
    """
    parts = (title, passage.context, _day(occurred_at), text)
    return "\n".join(part for part in parts if part)


def _day(occurred_at: int | None) -> str:
    if occurred_at is None:
        return ""
    try:
        day = _EPOCH + timedelta(milliseconds=occurred_at)
    except OverflowError:  # a time that no calendar has is no day to search for
        return ""
    return f"{day.year:04}-{day.month:02}-{day.day:02} {_MONTHS[day.month - 1]}"
