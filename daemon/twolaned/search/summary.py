"""A row in a few sentences."""

from __future__ import annotations

from twolaned.search import words

SUMMARY = 800
"""Characters at the most."""
SUMMARY_BYTES = 4 * SUMMARY + 4
"""Bytes of a body's start that hold a summary and the character behind it."""


def cut_summary(own: str, start: str, *, goes_on: bool = False) -> str:
    """The row's *own* summary, else the *start* of its body, cut between words.

    With *goes_on* the body is longer than *start*, whose last character may be a broken one.
    """
    text, room = own.strip(), SUMMARY
    if not text:
        text = start.strip()
        room = min(SUMMARY, len(text) - 1) if goes_on else SUMMARY
    return text if len(text) <= room else text[: words.cut_before(text, room)].rstrip()
