"""Reading a file of JSON lines, some of which may be damaged, huge or not yet finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twolaned.ingest.json_stream import utf8_chunks
from twolaned.ingest.streams import Readable


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line feed. *data* is None where it is above the limit.

    *ended* is False for a last line without a line feed: somebody may still be writing it.
    """

    number: int
    data: bytes | None
    ended: bool = True


def read_lines(stream: Readable, limit: int) -> Iterator[Line]:
    """The lines of *stream*, split at line feeds only: other line ends occur inside strings.

    A line above *limit* bytes is passed over without being held.
    """
    number, pending, skipping = 1, bytearray(), False
    for chunk in utf8_chunks(stream):
        first, *rest = chunk.split(b"\n")
        if not skipping:
            pending += first
        if rest:
            yield Line(number, None if skipping or len(pending) > limit else _line(pending))
            number, skipping = number + 1, False
            for part in rest[:-1]:
                yield Line(number, _line(part))
                number += 1
            pending = bytearray(rest[-1])
        if len(pending) > limit:
            pending, skipping = bytearray(), True
    if pending or skipping:
        yield Line(number, None if skipping else _line(pending), ended=False)


def _line(data: bytes | bytearray) -> bytes:
    return bytes(data).removesuffix(b"\r")
