"""Reading JSON exports: arrays of conversations, and single ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twolaned.ingest.formats import beside, chatgpt, claude_ai, codex
from twolaned.ingest.formats.common import ElementFormat, Item
from twolaned.ingest.json_stream import ElementSplitter, decode, utf8_chunks
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.streams import Readable
from twolaned.model.report import Skip

FORMATS: tuple[ElementFormat, ...] = (
    chatgpt.FORMAT,
    claude_ai.FORMAT,
    claude_ai.PROJECTS,
    codex.FORMAT,
    beside.FORMAT,
)
"""Every format of JSON objects, in the order in which they are asked."""

_NESTED = ("conversations",)
"""Keys of an object whose list is an export by itself."""


def read_array(stream: Readable, where: str, limits: IngestLimits) -> Iterator[Item | None]:
    """The elements of a JSON array, as the formats read them; None as a pause between chunks.

    What comes before a cut or a damage is kept.
    """
    splitter = ElementSplitter(limits.max_element_bytes)
    elements = _Elements(where)
    for chunk in utf8_chunks(stream):
        for element in splitter.feed(chunk):
            if element is None:
                yield Skip("conversation_too_large", where, size=limits.max_element_bytes)
            else:
                yield from elements.read(element)
        yield None
    if not splitter.closed:
        rest = splitter.rest()
        if rest and _is_json(rest):
            yield from elements.read(rest)
        yield Skip("truncated", where)
    yield from elements.unknown()


def read_object(stream: Readable, where: str, limits: IngestLimits) -> Iterator[Item]:
    """What one JSON object holds: a conversation, or a list of them under a known key."""
    data = bytearray()
    for chunk in utf8_chunks(stream):
        data += chunk
        if len(data) > limits.max_element_bytes:
            yield Skip("conversation_too_large", where, size=limits.max_element_bytes)
            return
    try:
        value = decode(bytes(data))
    except (ValueError, RecursionError):
        yield Skip("not_json", where, size=len(data))
        return
    elements = _Elements(where)
    nested = (
        next((value[key] for key in _NESTED if isinstance(value.get(key), list)), None)
        if isinstance(value, dict)
        else None
    )
    for element in [value] if nested is None else nested:
        yield from elements.take(element)
    yield from elements.unknown()


class _Elements:
    """Gives each element to the format that knows it, and counts those that none knows."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._number = 0
        self._recognised = 0
        self._unknown = 0

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
            yield from found.read(value, where)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # Formats check what they read; what they have not foreseen must not stop the others.
            yield Skip("bad_conversation", where)

    def unknown(self) -> Iterator[Skip]:
        """What no format knew."""
        if self._unknown:
            yield Skip("unknown_schema", self._where, self._unknown)
        elif not self._recognised:
            yield Skip("no_conversations", self._where)


def _format_of(value: Any) -> ElementFormat | None:
    if not isinstance(value, dict):
        return None
    return next((f for f in FORMATS if f.recognises(value)), None)


def _is_json(data: bytes) -> bool:
    try:
        decode(data)
    except (ValueError, RecursionError):
        return False
    return True
