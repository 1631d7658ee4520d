"""The few words that show why a row was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from twolaned.model.result import Snippet, Span
from twolaned.search import words
from twolaned.search.marking import Mark, Marker

SNIPPET = 400
"""Characters at the most."""
BEFORE = 3
"""The part of the room that is free which stands before the matches: one in three."""


def cut_snippet(passage: str, marker: Marker, *, offset: int = 0) -> Snippet:
    """Cut *passage*, which begins at byte *offset* of its row's body, around its densest matches.

    The densest stretch holds the most different parts of the query, then the most matches, then
    comes first. Without any match the snippet is the passage's start.
    """
    marks = marker.marks(passage)
    start, end = _stretch(passage, *_densest(marks))
    text = passage[start:end]
    return Snippet(
        text=text,
        matches=_spans(marks, start, end),
        offset=offset + len(passage[:start].encode()),
        length=len(text.encode()),
    )


def title_snippet(title: str, marker: Marker) -> Snippet:
    """The snippet of a row without text: none of its body."""
    cut = cut_snippet(title, marker)
    return Snippet(text=cut.text, matches=cut.matches, offset=0, length=0)


def _densest(marks: Sequence[Mark]) -> tuple[int, int]:
    """Where the matches stand that are to be shown together; at the start where there are none."""
    best, found = (0, 0), (0, 0)
    held: Counter[str] = Counter()
    first = 0
    for last, mark in enumerate(marks):
        held.update(mark.parts)
        while first < last and mark.end - marks[first].start > SNIPPET:
            held.subtract(marks[first].parts)
            held += Counter()
            first += 1
        measure = (len(held), last - first + 1)
        if measure > best:
            best, found = measure, (marks[first].start, max(mark.end, marks[first].end))
    return found


def _stretch(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen *start* to *end* to a snippet's size, and move both ends between words."""
    end = min(end, start + SNIPPET)
    begin = max(0, start - (SNIPPET - (end - start)) // BEFORE)
    begin = max(0, min(begin, len(text) - SNIPPET))
    begin = min(words.cut_after(text, begin), start)
    close = max(words.cut_before(text, begin + SNIPPET), end)
    while begin < start and text[begin].isspace():
        begin += 1
    while close > max(end, begin) and text[close - 1].isspace():
        close -= 1
    return begin, close


def _spans(marks: Sequence[Mark], start: int, end: int) -> tuple[Span, ...]:
    """The marks within *start* to *end* as spans of that cut; what touches or overlaps is one."""
    spans: list[Span] = []
    for mark in marks:
        a, b = max(mark.start, start) - start, min(mark.end, end) - start
        if a >= b:
            continue
        if spans and a < spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, b))
        else:
            spans.append(Span(a, b))
    return tuple(spans)
