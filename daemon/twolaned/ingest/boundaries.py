"""Where a text may be cut, and how much each place asks for it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from enum import IntEnum


class Strength(IntEnum):
    """What begins at a place; a cut goes to the strongest place in its reach."""

    CHARACTER = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4
    """A paragraph, a code fence, a definition at the left margin."""
    SECTION = 5
    """A heading."""
    TURN = 6


_LINE = re.compile(r"\n[^\S\n]*(\n[\s]*)?")
_FENCE = re.compile(r"[^\S\n]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}[^\S\n]\S")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]+[」』”]*\s*")
_SPACE = re.compile(r"\s+")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_MODIFIERS = range(0x1F3FB, 0x1F400)


class Boundaries:
    """The places of *text* where a line or more begins, with their strengths, ascending.

    With *headings* a line of Markdown's ``#`` form begins a section, and code between fences is
    torn apart only where nothing else is in reach. *turns* are places where a message begins.
    """

    def __init__(self, text: str, *, headings: bool = True, turns: tuple[int, ...] = ()) -> None:
        self._text = text
        places: dict[int, Strength] = {}
        fence = ""
        opening = _FENCE.match(text) if headings else None
        if opening is not None:
            fence = opening[1]
        for match in _LINE.finditer(text):
            at = match.end()
            if match[1] is None:
                at = match.start() + 1
            mark = _FENCE.match(text, at) if headings else None
            if fence:
                strength = Strength.LINE
                if mark is not None and mark[1].startswith(fence):
                    fence = ""
                    at = _line_end(text, mark.end())
                    strength = Strength.PARAGRAPH
            elif mark is not None:
                fence, strength = mark[1], Strength.PARAGRAPH
            elif headings and _HEADING.match(text, at):
                strength = Strength.SECTION
            else:
                strength = Strength.LINE if match[1] is None else Strength.PARAGRAPH
                if match[1] is not None and not headings and text[at - 1] != "\n":
                    strength = Strength.LINE
            if 0 < at < len(text):
                places[at] = max(strength, places.get(at, Strength.CHARACTER))
        places.update(dict.fromkeys(turns, Strength.TURN))
        self._places = sorted(places)
        self._strengths = [places[at] for at in self._places]

    def best(self, low: int, high: int, ideal: int) -> int:
        """The strongest place from *low* to *high*, of equals the nearest to *ideal*."""
        first, last = bisect_left(self._places, low), bisect_right(self._places, high)
        if first < last:
            chosen = max(
                range(first, last),
                key=lambda i: (self._strengths[i], -abs(self._places[i] - ideal)),
            )
            return self._places[chosen]
        for pattern in (_SENTENCE_END, _SPACE):
            found = [m.end() for m in pattern.finditer(self._text, low, high)]
            if found:
                return min(found, key=lambda at: abs(at - ideal))
        return whole_character(self._text, ideal, low)


def whole_character(text: str, at: int, low: int) -> int:
    """*at*, or the place before it where a character as people see it begins, not below *low*.

    A base letter keeps its combining marks, an emoji its modifiers and what it is joined with.
    """
    place = at
    while place > low and _continues(text, place):
        place -= 1
    return place if place > low else at


def _continues(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    character = text[at]
    return (
        unicodedata.combining(character) != 0
        or unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character in _JOINERS
        or text[at - 1] == "\u200d"
        or ord(character) in _MODIFIERS
    )


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
