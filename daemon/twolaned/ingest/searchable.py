"""The words that a passage is found by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from twolaned.model.row import MessageSpan, Passage

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


def text_to_embed(
    title: str,
    occurred_at: int | None,
    passage: Passage,
    body: bytes,
    messages: Sequence[MessageSpan],
) -> str:
    """What the meaning lane embeds for *passage* of a row with *body* (UTF-8) and *messages*.

    As `searchable_text`, but where messages have named speakers, each stands before their own
    words: a model tells from that who said what, and not from a list of names
    (`bench/quality/hybrid.py`).
    """
    at, end = passage.offset, passage.offset + passage.length
    parts = []
    named = False
    for message in messages[bisect_right(messages, at, key=_end) :]:
        if message.offset >= end:
            break
        if message.speaker:
            start = max(message.offset, at)
            parts += [body[at:start], f"{message.speaker}: ".encode()]
            named, at = True, start
    words = b"".join([*parts, body[at:end]]).decode("utf-8", "replace")
    return searchable_text(
        title, occurred_at, replace(passage, context="") if named else passage, words
    )


def _end(message: MessageSpan) -> int:
    return message.offset + message.length


def _day(occurred_at: int | None) -> str:
    if occurred_at is None:
        return ""
    try:
        day = _EPOCH + timedelta(milliseconds=occurred_at)
    except OverflowError:  # a time that no calendar has is no day to search for
        return ""
    return f"{day.year:04}-{day.month:02}-{day.day:02} {_MONTHS[day.month - 1]}"
