"""Taking a large JSON array apart element by element, however it is cut or damaged."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from twolaned.ingest.streams import Readable

CHUNK = 1 << 20
"""Bytes that are read at a time."""

# Unrolled so that no text can be matched in two ways, which keeps a failing match linear.
# Possessive
# quantifiers would say it in fewer signs, but Python before 3.11.5 gets them wrong.
DEEP = re.compile(
    rb'[^"{}\[\]]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"{}\[\]]*)*',
    re.DOTALL,
)
_FLAT = re.compile(rb'[^"{}\[\],]*')
STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_OPEN, _CLOSE, _QUOTE, _COMMA = b"[{", b"]}", 0x22, 0x2C

_strict = msgspec.json.Decoder()


class ElementSplitter:
    """Cuts the bytes of one top-level array into those of its elements.

    Only brackets, strings and commas are looked at; whether an element is JSON is for its decoder
    to say. Elements above *limit* bytes come out as None.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._at = 0
        self._depth = 0
        self._in_string = False
        self._start: int | None = None
        self._overlong = False
        self.closed = False
        """Whether the array's end has been seen."""

    @property
    def is_whole(self) -> bool:
        """Whether the array has ended, or never begun."""
        return self.closed or (self._depth == 0 and not self._buffer.strip(b"\0 \t\r\n"))

    @property
    def behind(self) -> bytes:
        """The bytes that followed the end of the array."""
        return bytes(self._buffer[self._at :]) if self.closed else b""

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Take the next bytes and yield the elements that they complete."""
        self._buffer += chunk
        while not self.closed and self._step():
            yield from self._completed()
        self._forget()

    def rest(self) -> bytes:
        """What looks like a whole last element where the array was cut off behind it."""
        if self.closed or self._depth != 1 or self._in_string or self._overlong:
            return b""
        return bytes(self._buffer[self._start or 0 :]).strip()

    def _completed(self) -> Iterator[bytes | None]:
        """The element that ends here, if one does; None for one that is too large."""
        if self._depth > 1 or self._in_string or self._start is None or self._at == 0:
            return
        if not self.closed and self._buffer[self._at - 1] != _COMMA:
            return
        start, self._start = self._start, None
        overlong, self._overlong = self._overlong, False
        if overlong:
            yield None
        elif element := bytes(self._buffer[start : self._at - 1]).strip():
            yield element

    def _step(self) -> bool:
        """Go on to the next border. False where more bytes are needed."""
        buffer = self._buffer
        if self._in_string:
            self._at = end_of(STRING, buffer, self._at)
            if self._at >= len(buffer) or buffer[self._at] != _QUOTE:
                return False
            self._at += 1
            self._in_string = False
            return True
        if self._depth == 1 and self._start is None:
            self._start = self._at
        self._at = end_of(DEEP if self._depth > 1 else _FLAT, buffer, self._at)
        if self._at >= len(buffer):
            return False
        found = buffer[self._at]
        self._at += 1
        if found == _QUOTE:
            self._in_string = self._depth > 0
        elif found in _OPEN:
            self._depth += 1
        elif found in _CLOSE:
            self._depth -= 1
            self.closed = self._depth <= 0
        return True

    def _forget(self) -> None:
        """Let go of the bytes that no element needs any more."""
        keep = self._at if self._start is None else self._start
        if self._start is not None and len(self._buffer) - self._start > self._limit:
            self._overlong = True
            keep = self._at
            self._start = 0
        elif self._start is not None:
            self._start = 0
        if self._overlong:
            keep = self._at
        del self._buffer[:keep]
        self._at -= keep


def end_of(pattern: re.Pattern[bytes], buffer: bytearray, at: int) -> int:
    """Where a match of *pattern*, which matches the empty string too, ends that begins at *at*."""
    match = pattern.match(buffer, at)
    assert match is not None, "these patterns match the empty string"
    return match.end()


def decode(data: bytes) -> Any:
    """One JSON value, forgiving what tools get wrong in strings.

    Half surrogate pairs, bad UTF-8, raw control characters and NaN pass. Raises ValueError for
    anything that is no JSON, RecursionError for nesting that is meant to hurt.
    """
    try:
        return _strict.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(data.decode("utf-8", "replace"), strict=False)


def utf8_chunks(stream: Readable) -> Iterator[bytes]:
    """The bytes of *stream* as UTF-8 without a byte order mark; UTF-16 is told by its mark."""
    chunk = stream.read(CHUNK)
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        while chunk:
            yield decoder.decode(chunk).encode("utf-8", "replace")
            chunk = stream.read(CHUNK)
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")
        return
    chunk = chunk.removeprefix(codecs.BOM_UTF8)
    while chunk:
        yield chunk
        chunk = stream.read(CHUNK)
