"""Short statements found in texts, word for word: decisions, constraints, rules and TODOs.

No model is asked. A statement is a sentence or a list item that says by a word, a label in front
of it or the heading above it what it is; the words stand in ``statement_words.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Final

from twolaned.lanes.keyword.analyzer import fold
from twolaned.search.words import UNSPACED

LONGEST: Final = 480
"""Characters of a statement. What is longer is prose that states many things."""
SHORTEST: Final = 12
SHORTEST_DENSE: Final = 5
"""Of scripts that need few characters."""
LONGEST_HEADING: Final = 120


class StatementKind(StrEnum):
    """What a statement states."""

    DECISION = "decision"
    CONSTRAINT = "constraint"
    RULE = "rule"
    TODO = "todo"


@dataclass(frozen=True, slots=True)
class Statement:
    """Characters *start* to *end* of the text that was read, as they stand there.

    *subject* is the label in front of it (``Database`` of ``Database: Postgres``), *heading* the
    one above it, both empty where there is none. *date* is the ISO day that stands with it or above
    it. *struck* says that its author crossed it out.
    """

    kind: StatementKind
    text: str
    start: int
    end: int
    heading: str = ""
    subject: str = ""
    date: str = ""
    struck: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    label: re.Pattern[str]
    heading: re.Pattern[str]
    words: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Signs:
    """What every statement known by its words holds: one of *words*, or a match of *dense*."""

    words: frozenset[str]
    dense: re.Pattern[str]

    def stand_in(self, text: str) -> bool:
        """Whether *text* may hold such a statement. Most does not, and this is told at once."""
        folded = fold(text)
        if not self.words.isdisjoint(_WORDS.findall(folded)):
            return True
        return not folded.isascii() and self.dense.search(folded) is not None


_FENCE = re.compile(r"^[^\S\n]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^[^\S\n]{0,3}(#{1,6})[^\S\n]+(.+?)[^\S\n]*#*$")
_BOLD_HEADING = re.compile(r"^\s*\*\*([^*]{2,80})\*\*:?\s*$")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX~-])\]\s+)?")
_QUOTED = re.compile(r"^\s*(?:>|\|)")
_LABEL = re.compile(r"^\W{0,4}(?P<label>[^\W\d_][\w' /-]{1,40}?)\W{0,3}:\W{0,3}\s+(?=\S)")
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\s\d]|\d+\s)|(?<=[。！？])")
_STRUCK = re.compile(r"^\W*~~.+~~\W*$", re.DOTALL)
_ASKED = re.compile(r"[?？]\W*$")
_DENSE = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"\w")
_WORDS = re.compile(r"\w+")
_MARKS = frozenset("#`~*>|")
"""What a line that stands alone begins with."""


def statements(text: str) -> list[Statement]:
    """The statements of *text* in order. Code in fences, quotations and questions are none."""
    found: list[Statement] = []
    heading, heading_kind, date, fence = "", None, "", ""
    for start, line in _lines(text):
        marked = line.lstrip()[:1] in _MARKS
        mark = _FENCE.match(line) if marked else None
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        title = _HEADING.match(line) if marked else None
        bold = _BOLD_HEADING.match(line) if marked else None
        name = title[2] if title else bold[1] if bold else ""
        if name:
            heading = name.strip()[:LONGEST_HEADING]
            heading_kind = _kind_of_heading(heading)
            date = _date(heading) or (date if title and len(title[1]) > 2 else "")
            continue
        if not line.strip() or (marked and _QUOTED.match(line)):
            continue
        found += _of_line(start, line, heading, heading_kind, date)
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and list items, with the places where they begin; wrapped lines are joined."""
    start = 0
    held: tuple[int, str] | None = None
    for line in text.split("\n"):
        single = _stands_alone(line)
        if held is not None and not single and not _BULLET.match(line):
            held = (held[0], f"{held[1]}\n{line}")
        else:
            if held is not None:
                yield held
            held = None
            if single:
                yield start, line
            else:
                held = (start, line)
        start += len(line) + 1
    if held is not None:
        yield held


def _stands_alone(line: str) -> bool:
    first = line.lstrip()[:1]
    if first not in _MARKS:
        return not first
    return any(m.match(line) for m in (_FENCE, _HEADING, _BOLD_HEADING, _QUOTED))


def _of_line(
    start: int, line: str, heading: str, under: StatementKind | None, date: str
) -> Iterator[Statement]:
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet else len(line) - len(line.lstrip())
    box = bullet["box"] if bullet else None
    told = StatementKind.TODO if box is not None else under
    signs = _signs()
    if told is None and ":" not in line and not signs.stand_in(line):
        return
    day: str | None = None
    for first, sentence in _sentences(line, begin, whole=bullet is not None):
        says = sentence.strip()
        subject, kind = _labelled(says) if ":" in says else ("", None)
        kind = kind or told or (_kind_of_words(says) if signs.stand_in(says) else None)
        if kind is None or not _fits(says) or _ASKED.search(says):
            continue
        if day is None:
            day = _date(line) or date
        place = start + first + (len(sentence) - len(sentence.lstrip()))
        yield Statement(
            kind, says, place, place + len(says), heading, subject, day,
            struck=_STRUCK.match(says) is not None,
        )  # fmt: skip


def _sentences(line: str, begin: int, *, whole: bool) -> Iterator[tuple[int, str]]:
    if whole and len(line) - begin <= LONGEST:
        yield begin, line[begin:]
        return
    at = begin
    for end in _SENTENCE.finditer(line, begin):
        yield at, line[at : end.start()]
        at = end.end()
    yield at, line[at:]


def _fits(says: str) -> bool:
    if len(says) > LONGEST:
        return False
    if len(_DENSE.findall(says)) >= SHORTEST_DENSE:
        return True
    return len(says) >= SHORTEST and len(_WORD.findall(says)) * 2 >= len(says)


def _labelled(says: str) -> tuple[str, StatementKind | None]:
    """The label in front, and the kind that it names. Such a label is no subject."""
    label = _LABEL.match(says)
    if label is None:
        return "", None
    folded = fold(label["label"])
    for kind, words in _words().items():
        if words.label.fullmatch(folded):
            return "", kind
    return label["label"], None


def _kind_of_words(says: str) -> StatementKind | None:
    folded = fold(says.replace("’", "'"))
    return next((kind for kind, words in _words().items() if words.words.search(folded)), None)


@lru_cache(maxsize=1024)
def _kind_of_heading(heading: str) -> StatementKind | None:
    folded = fold(heading).strip(" :.*_0123456789-")
    return next((kind for kind, words in _words().items() if words.heading.fullmatch(folded)), None)


def _date(text: str) -> str:
    found = _DATE.search(text)
    return found[0] if found else ""


@lru_cache(maxsize=1)
def _signs() -> _Signs:
    tables = _tables().values()
    dense = [re.escape(word) for table in tables for word in table["dense"]]
    return _Signs(
        frozenset(word for table in tables for word in table["signs"]),
        re.compile("|".join(dense) or r"(?!)"),
    )


@lru_cache(maxsize=1)
def _words() -> dict[StatementKind, _Words]:
    return {kind: _compiled(_tables()[kind.value]) for kind in StatementKind}


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, list[str]]]:
    text = files(__package__).joinpath("statement_words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _compiled(table: dict[str, list[str]]) -> _Words:
    # One border for all: tried word by word, not pattern by pattern.
    bordered = [rf"(?<!\w)(?:{'|'.join(table['words'])})(?!\w)"] if table["words"] else []
    return _Words(
        label=re.compile("|".join(table["label"]) or r"(?!)"),
        heading=re.compile("|".join(table["heading"]) or r"(?!)"),
        words=re.compile("|".join([*bordered, *map(re.escape, table["dense"])]) or r"(?!)"),
    )
