"""Taking a large JSON object apart: elements of its long lists one by one, the rest at the end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from twolaned.ingest.json_stream import DEEP, STRING, ElementSplitter, end_of

_FLAT = re.compile(rb'[^"{}\[\]]*')
_COLON = re.compile(rb"\s*:\s*\Z")
_LONGEST_KEY = 1 << 10
_QUOTE, _OPEN, _CLOSE, _LIST = 0x22, b"[{", b"]}", 0x5B


class MemberSplitter:
    """Cuts the bytes of one top-level object into the elements of the lists under *keys*.

    All else of the object is kept, with those lists empty, and is there as `rest`. Elements above
    *limit* bytes come out as None; where the rest is above it, `overlong` says so and it is let go.
    """

    def __init__(self, keys: Collection[str], limit: int) -> None:
        self._keys = {key.encode() for key in keys}
        self._limit = limit
        self._buffer = bytearray()
        self._at = 0
        self._depth = 0
        self._string: int | None = None
        self._last = (0, 0)
        self._list: ElementSplitter | None = None
        self.closed = False
        """Whether the object's end has been seen."""
        self.overlong = False
        self.lists: set[str] = set()
        """Keys whose lists have been taken apart."""

    @property
    def rest(self) -> bytes:
        """The object as far as it has been seen, without what came out as elements."""
        return bytes(self._buffer)

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Take the next bytes and yield the elements that they complete."""
        while chunk:
            if self._list is not None:
                yield from self._list.feed(chunk)
                if not self._list.closed:
                    return
                chunk, self._list = b"]" + self._list.behind, None
            self._buffer += chunk
            chunk = b""
            while self._step():
                if self._list is not None:
                    chunk = bytes(self._buffer[self._at :])
                    del self._buffer[self._at :]
                    yield from self._list.feed(b"[")
                    break
            if len(self._buffer) > self._limit:
                self.overlong = True
                self._cut()

    def cut_off(self) -> bytes:
        """What looks like a whole last element where a list was cut off behind it."""
        return self._list.rest() if self._list is not None else b""

    def _cut(self) -> None:
        """Let go of the buffer but for what may still name a list."""
        if self._string is not None:
            start = self._string - 1
            if len(self._buffer) - start > _LONGEST_KEY:
                self._buffer, self._at = bytearray(b'"') + self._buffer[self._at :], 1
            else:
                self._buffer, self._at = self._buffer[start:], self._at - start
            self._string = 1
            return
        self._buffer = self._buffer[max(0, self._last[0] - 1) :]
        if len(self._buffer) > _LONGEST_KEY:
            self._buffer = bytearray(b'""')
        self._at = len(self._buffer)
        self._last = (1, max(1, self._buffer.find(b'"', 1)))

    def _step(self) -> bool:
        """Go on to the next border. False where more bytes are needed."""
        buffer = self._buffer
        if self._string is not None:
            self._at = end_of(STRING, buffer, self._at)
            if self._at >= len(buffer) or buffer[self._at] != _QUOTE:
                return False
            self._last = (self._string, self._at)
            self._string = None
            self._at += 1
            return True
        self._at = end_of(DEEP if self._depth > 1 else _FLAT, buffer, self._at)
        if self._at >= len(buffer):
            return False
        found = buffer[self._at]
        if found == _LIST and self._depth == 1 and (key := self._key()) in self._keys:
            self._at += 1
            self._depth += 1
            self.lists.add(key.decode())
            self._list = ElementSplitter(self._limit)
            return True
        self._at += 1
        if found == _QUOTE:
            self._string = self._at
        elif found in _OPEN:
            self._depth += 1
        elif found in _CLOSE:
            self._depth -= 1
            self.closed = self.closed or self._depth <= 0
        return True

    def _key(self) -> bytes:
        """The name before the list that begins here, if there is one."""
        start, end = self._last
        if _COLON.match(bytes(self._buffer[end + 1 : self._at])) is None:
            return b""
        return bytes(self._buffer[start:end])
