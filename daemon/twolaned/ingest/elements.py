"""Reading JSON exports: arrays of conversations, objects that hold such, and single ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twolaned.ingest.formats import beside, chatgpt, claude_ai, codex, grok
from twolaned.ingest.formats.common import ElementFormat, GatheredFormat, Gathering, Item
from twolaned.ingest.json_members import MemberSplitter
from twolaned.ingest.json_stream import ElementSplitter, decode, utf8_chunks
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.place import Place
from twolaned.ingest.streams import Readable
from twolaned.model.report import Skip

FORMATS: tuple[ElementFormat | GatheredFormat, ...] = (
    chatgpt.FORMAT,
    claude_ai.FORMAT,
    claude_ai.PROJECTS,
    grok.FORMAT,
    codex.FORMAT,
    beside.FORMAT,
)
"""Every format of JSON objects, in the order in which they are asked."""

_NESTED = ("conversations",)
"""Keys of an object whose list is an export by itself."""


def read_array(stream: Readable, place: Place, limits: IngestLimits) -> Iterator[Item | None]:
    """The elements of a JSON array, as the formats read them; None as a pause between chunks.

    What comes before a cut or a damage is kept.
    """
    splitter = ElementSplitter(limits.max_element_bytes)
    elements = Elements(place)
    for chunk in utf8_chunks(stream):
        yield from elements.read_all(splitter.feed(chunk), limits)
        yield None
    if not splitter.closed:
        yield from elements.read_cut_off(splitter.rest())
    yield from elements.end()


def read_object(stream: Readable, place: Place, limits: IngestLimits) -> Iterator[Item | None]:
    """What one JSON object holds: a conversation, or a list of them under a known key.

    None is a pause between chunks. Of a list, what comes before a cut or a damage is kept.
    """
    where = place.entry.name
    splitter = MemberSplitter(_NESTED, limits.max_element_bytes)
    elements = Elements(place)
    size = 0
    for chunk in utf8_chunks(stream):
        size += len(chunk)
        yield from elements.read_all(splitter.feed(chunk), limits)
        yield None
        if splitter.overlong and not splitter.lists and size > 2 * limits.max_element_bytes:
            break
    if splitter.lists and not splitter.closed:
        yield from elements.read_cut_off(splitter.cut_off())
    elif splitter.overlong and not splitter.lists:
        yield Skip("conversation_too_large", where, size=limits.max_element_bytes)
        return
    elif not splitter.overlong:
        try:
            value = decode(splitter.rest)
        except (ValueError, RecursionError):
            yield Skip("not_json", where, size=size)
            return
        if not splitter.lists or Elements.knows(value):
            yield from elements.take(value)
    yield from elements.end()


class Elements:
    """Gives each element to the format that knows it, and counts those that none knows."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._where = place.entry.name
        self._number = 0
        self._recognised = 0
        self._unknown = 0
        self._gathered: dict[str, Gathering] = {}

    @staticmethod
    def knows(value: Any) -> bool:
        """Whether a format knows *value*."""
        return _format_of(value) is not None

    def read_all(self, found: Iterator[bytes | None], limits: IngestLimits) -> Iterator[Item]:
        """What the elements *found* hold; None stands for one that is too large."""
        for element in found:
            if element is None:
                yield Skip("conversation_too_large", self._where, size=limits.max_element_bytes)
            else:
                yield from self.read(element)

    def read_cut_off(self, rest: bytes) -> Iterator[Item]:
        """The last element where the stream ended too early, if it is whole."""
        if rest and _is_json(rest):
            yield from self.read(rest)
        yield Skip("truncated", self._where)

    def read(self, data: bytes) -> Iterator[Item]:
        """What the bytes of one element hold."""
        try:
            value = decode(data)
        except (ValueError, RecursionError):
            self._number += 1
            yield Skip("bad_conversation", f"{self._where} #{self._number}", size=len(data))
            return
        yield from self.take(value)

    def take(self, value: Any) -> Iterator[Item]:
        """What one element holds."""
        self._number += 1
        if value is None:
            return
        found = _format_of(value)
        if found is None:
            self._unknown += 1
            return
        self._recognised += 1
        where = f"{self._where} #{self._number}"
        try:
            if isinstance(found, ElementFormat):
                yield from found.read(value, where)
            else:
                yield from self._gathering(found).take(value, where)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # Formats check what they read; what they have not foreseen must not stop the others.
            yield Skip("bad_conversation", where)

    def end(self) -> Iterator[Item]:
        """What several elements amount to together, and what no format knew."""
        for gathering in self._gathered.values():
            yield from gathering.items()
        if self._unknown:
            yield Skip("unknown_schema", self._where, self._unknown)
        elif not self._recognised:
            yield Skip("no_conversations", self._where)

    def _gathering(self, found: GatheredFormat) -> Gathering:
        if found.name not in self._gathered:
            self._gathered[found.name] = found.begin(self._place)
        return self._gathered[found.name]


def _format_of(value: Any) -> ElementFormat | GatheredFormat | None:
    if not isinstance(value, dict):
        return None
    return next((f for f in FORMATS if f.recognises(value)), None)


def _is_json(data: bytes) -> bool:
    try:
        decode(data)
    except (ValueError, RecursionError):
        return False
    return True
