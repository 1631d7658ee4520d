"""What the formats share: how one is recognised and read, and how titles and times are found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from twolaned.ingest.archived import ArchivedRow
from twolaned.ingest.place import Place
from twolaned.ingest.text import clean, first_line
from twolaned.model.conversation import Conversation, Message, MessageKind, TitleFrom
from twolaned.model.document import Document
from twolaned.model.report import Skip

Item = Conversation | Document | ArchivedRow | Skip
"""What a format gives."""


@dataclass(frozen=True, slots=True)
class ElementFormat:
    """A format whose exports are JSON objects, one a conversation.

    *recognises* judges an object by its shape; *read* gives what is in it. *where* names the object
    for people.
    """

    name: str
    recognises: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any], str], Iterator[Item]]


class Gathering(Protocol):
    """What one stream's objects amount to, as far as they have been seen."""

    def take(self, value: dict[str, Any], where: str) -> Iterator[Item]:
        """Take one object, and give what it completes."""

    def items(self) -> Iterator[Item]:
        """All that stands when the stream has ended."""


@dataclass(frozen=True, slots=True)
class GatheredFormat:
    """A format whose conversations lie in several objects of a stream, or in files beside it."""

    name: str
    recognises: Callable[[dict[str, Any]], bool]
    begin: Callable[[Place], Gathering]


_PLACEHOLDER = re.compile(
    r"(?:new|untitled) (?:chat|conversation)|untitled|new session(?: - .*)?", re.IGNORECASE
)
"""Titles that tools give before there is anything to name."""


def title_of(title: Any, messages: Iterable[Message], source: TitleFrom) -> tuple[str, TitleFrom]:
    """The *title* if it names something, else the first line that the person wrote."""
    given = clean(title).strip() if isinstance(title, str) else ""
    if given and not _PLACEHOLDER.fullmatch(given):
        return given, source
    line, line_from = first_human_line(messages)
    return (line, line_from) if line or not given else (given, source)


def first_human_line(messages: Iterable[Message]) -> tuple[str, TitleFrom]:
    """A title from the person's first words."""
    for message in messages:
        if message.kind is MessageKind.HUMAN and message.on_main_line:
            line = first_line(message.text)
            if line:
                return line, TitleFrom.FIRST_HUMAN_LINE
    return "", TitleFrom.NONE


def span_of(messages: Sequence[Message]) -> tuple[int | None, int | None]:
    """The first and the last time that *messages* tell."""
    times = [message.at for message in messages if message.at is not None]
    return (min(times), max(times)) if times else (None, None)


def texts(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; anything else that stands in it is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any) -> str:
    """*value* if it is text, else nothing."""
    return value if isinstance(value, str) else ""
