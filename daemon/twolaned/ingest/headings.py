"""Which headings a place of a Markdown document stands under."""

from __future__ import annotations

import re
from bisect import bisect_right

_HEADING = re.compile(r"^(#{1,6})[^\S\n]+(.+?)[^\S\n]*#*[^\S\n]*$", re.MULTILINE)
_FENCE = re.compile(r"^[^\S\n]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_DEEPEST = 3
_LONGEST = 120


class HeadingPaths:
    """The path of headings at each place of *text*, outermost first, without the first title."""

    def __init__(self, text: str, title: str) -> None:
        self._places: list[int] = []
        self._paths: list[str] = []
        fenced = _fenced(text)
        path: list[tuple[int, str]] = []
        for match in _HEADING.finditer(text):
            if _inside(fenced, match.start()):
                continue
            level, name = len(match[1]), match[2][:_LONGEST]
            path = [(depth, known) for depth, known in path if depth < level]
            path.append((level, name))
            names = [known for _, known in path if known != title]
            self._places.append(match.start())
            self._paths.append(" > ".join(names[-_DEEPEST:]))

    def at(self, place: int) -> str:
        """The path at the character *place*; empty above the first heading."""
        index = bisect_right(self._places, place) - 1
        return self._paths[index] if index >= 0 else ""


def _fenced(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    mark, start = "", 0
    for match in _FENCE.finditer(text):
        if not mark:
            mark, start = match[1], match.start()
        elif match[1].startswith(mark):
            spans.append((start, match.end()))
            mark = ""
    if mark:
        spans.append((start, len(text)))
    return spans


def _inside(spans: list[tuple[int, int]], place: int) -> bool:
    index = bisect_right(spans, (place, len(spans) + place)) - 1
    return index >= 0 and spans[index][0] <= place < spans[index][1]
