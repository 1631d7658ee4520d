"""What a person typed, taken apart. No input is a syntax error."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from twolaned.search.dates import moment
from twolaned.search.patterns import Pattern

_CLOSING = {'"': '"”＂', "“": '”“"', "”": '”"', "„": '“”"', "‟": '”"', "＂": '＂"'}
"""What may end a quotation that each of these begins."""

_FIELD = re.compile(r"([A-Za-z]{2,}):(?![:/\\])")
"""What looks like a filter: not ``std::``, not ``https://``, not ``C:\\``."""

FIELDS = ("source", "path", "after", "before")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A query's parts. *after* is inclusive and *before* exclusive, both UTC milliseconds.

    *text* holds every word to rank by, those of required phrases included and those of *prefixes*
    not.
    """

    text: str = ""
    required: tuple[Pattern, ...] = ()
    excluded: tuple[Pattern, ...] = ()
    prefixes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    after: int | None = None
    before: int | None = None
    read_as_text: tuple[str, ...] = ()
    """What looks like a filter and is none."""

    @property
    def has_filters(self) -> bool:
        """Whether any part narrows the rows rather than ranks them."""
        limits = (self.excluded, self.sources, self.paths)
        return any(limits) or self.after is not None or self.before is not None


@dataclass(slots=True)
class _Parts:
    text: list[str] = field(default_factory=list)
    required: dict[Pattern, None] = field(default_factory=dict)
    excluded: dict[Pattern, None] = field(default_factory=dict)
    prefixes: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)
    after: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    read_as_text: dict[str, None] = field(default_factory=dict)


def parse_query(text: str, now: datetime) -> ParsedQuery:
    """Take *text* apart (retrieval rules, section 2). *now* is the local time, without a zone.

    Several ``source:`` are alternatives, and so are several ``path:``; of several dates the
    narrowest counts.
    """
    parts = _Parts()
    for token in _tokens(text):
        _sort_in(token, parts, now)
    return ParsedQuery(
        text=" ".join(parts.text),
        required=tuple(parts.required),
        excluded=tuple(parts.excluded),
        prefixes=tuple(parts.prefixes),
        sources=tuple(parts.sources),
        paths=tuple(parts.paths),
        after=max(parts.after, default=None),
        before=min(parts.before, default=None),
        read_as_text=tuple(parts.read_as_text),
    )


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or a quotation: *head* stands before it without a space (``-``, ``path:``)."""

    head: str
    body: str
    quoted: bool
    raw: str


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start, at = at, _head_end(text, at)
        head = text[start:at]
        closing = _closing(text, at)
        if closing is not None:
            yield _Token(head, text[at + 1 : closing], True, text[start : closing + 1])
            at = closing + 1
            continue
        end = at + 1
        while end < len(text) and not text[end].isspace() and not _opens(text, end):
            end += 1
        yield _Token("", text[start:end], False, text[start:end])
        at = end


def _head_end(text: str, at: int) -> int:
    """Where a ``-`` or a ``field:`` that begins at *at* ends, if a quotation follows it."""
    end = at + 1 if text[at] == "-" else at
    if end == at and (name := _FIELD.match(text, at)):
        end = name.end()
    return end if _closing(text, end) is not None else at


def _closing(text: str, at: int) -> int | None:
    """Where the quotation that opens at *at* closes; None if none does."""
    if at >= len(text) or text[at] not in _CLOSING:
        return None
    found = (text.find(mark, at + 1) for mark in _CLOSING[text[at]])
    return min((place for place in found if place >= 0), default=None)


def _opens(text: str, at: int) -> bool:
    """Whether a quotation may open at *at* though no white space stands before it."""
    return (
        text[at] in _CLOSING
        and not text[at - 1].isalnum()
        and text[at - 1] not in "-:"
        and _closing(text, at) is not None
    )


def _sort_in(token: _Token, parts: _Parts, now: datetime) -> None:
    if token.quoted:
        _sort_in_quotation(token, parts, now)
    elif name := _FIELD.match(token.body):
        field_name, value = name[1].lower(), token.body[name.end() :]
        if not _take_filter(field_name, value, parts, now):
            if value or field_name in FIELDS:
                parts.read_as_text[token.raw] = None
            parts.text.append(token.body)
    elif token.body.startswith("-") and _begins_word(token.body, 1):
        _exclude(token, parts)
    elif token.body.endswith("*") and token.body[:-1].strip("*") and "*" not in token.body[:-1]:
        _take_prefix(token.body[:-1], parts)
    else:
        parts.text.append(token.body)


def _sort_in_quotation(token: _Token, parts: _Parts, now: datetime) -> None:
    pattern = Pattern.of(token.body)
    if token.head in ("", "-"):
        if pattern is None:
            parts.text.append(token.body)
        elif token.head:
            parts.excluded[pattern] = None
        else:
            parts.required[pattern] = None
            parts.text.append(token.body)
    elif not _take_filter(token.head[:-1].lower(), token.body, parts, now):
        parts.read_as_text[token.raw] = None
        parts.text += [token.head, token.body]


def _take_filter(name: str, value: str, parts: _Parts, now: datetime) -> bool:
    """Take ``name:value`` as a filter; False if it is none."""
    value = unicodedata.normalize("NFC", value.strip())
    if name not in FIELDS or not value:
        return False
    if name == "source":
        parts.sources[value] = None
    elif name == "path":
        parts.paths[value] = None
    else:
        at = moment(value, now)
        if at is None:
            return False
        (parts.after if name == "after" else parts.before).append(at)
    return True


def _exclude(token: _Token, parts: _Parts) -> None:
    word = token.body[1:]
    if _FIELD.match(word):
        parts.read_as_text[token.raw] = None
        parts.text.append(word)
        return
    stem = word.removesuffix("*")
    pattern = Pattern.of(stem, prefix=stem != word)
    if pattern is None:
        parts.text.append(word)
    else:
        parts.excluded[pattern] = None


def _take_prefix(stem: str, parts: _Parts) -> None:
    """Take ``stem*`` as a prefix; of ``docs/conf*``, ``docs`` is text and ``conf`` the prefix."""
    end = len(stem)
    start = end
    while start > 0 and _in_word(stem[start - 1]):
        start -= 1
    if start == end:
        parts.text.append(f"{stem}*")
        return
    if start:
        parts.text.append(stem[:start])
    parts.prefixes[stem[start:]] = None


def _begins_word(text: str, at: int) -> bool:
    return at < len(text) and _in_word(text[at])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
