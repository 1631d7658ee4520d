"""An export in messages of an even size."""

from __future__ import annotations

from collections.abc import Iterator

from twolane.v1 import archive_service_pb2 as archive
from twolaned.search.selection import export_lines
from twolaned.search.snapshot import IndexSnapshot

PART = 1_048_576
"""Bytes of one part."""


def export_parts(snapshot: IndexSnapshot, ids: list[str]) -> Iterator[archive.ExportResponse]:
    """The rows *ids* in parts; an export of nothing is one empty part."""
    waiting = bytearray()
    rows = 0
    for line in export_lines(snapshot, ids):
        waiting += line
        rows += 1
        while len(waiting) >= PART:
            yield _part(waiting[:PART], rows, len(ids))
            del waiting[:PART]
    if waiting or not rows:
        yield _part(waiting, rows, len(ids))


def _part(chunk: bytearray, rows: int, total: int) -> archive.ExportResponse:
    return archive.ExportResponse(chunk=bytes(chunk), rows=rows, rows_total=total)
