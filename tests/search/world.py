"""A small store in memory, and rows to put in it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from twolaned.model.row import MessageSpan, Passage, Row, RowKind, Tier
from twolaned.store.records import RowRecord

DAY = 86_400_000
NOW = 1_780_000_000_000
"""UTC milliseconds, in May 2026."""


def make_row(number: int, **fields: Any) -> Row:
    """A row with sensible fields; *body* gives it a size, a text hash and one passage."""
    body = fields.pop("body", f"body {number}").encode()
    kind = fields.pop("kind", RowKind.CONVERSATION)
    usual: dict[str, Any] = {
        "number": number,
        "id": f"chatgpt:{number:04}",
        "kind": kind,
        "tier": {RowKind.CONVERSATION: Tier.HOT, RowKind.DOCUMENT: Tier.DOCUMENT}.get(
            kind, Tier.DIGEST
        ),
        "source": "documents" if kind is RowKind.DOCUMENT else "chatgpt",
        "title": f"Title {number}",
        "passages": (Passage(0, len(body)),) if body else (),
        "content_hash": hashlib.sha256(body).digest(),
        "text_hash": hashlib.sha256(body).digest(),
        "content_bytes": len(body),
        "indexed_at": NOW,
    }
    return Row(**usual | fields)


def make_document(number: int, root: str, path: str, **fields: Any) -> Row:
    """A document of a followed folder."""
    return make_row(
        number,
        kind=RowKind.DOCUMENT,
        id=f"{root}:{path}",
        path=f"{root}/{path}",
        title=path.rpartition("/")[2],
        **fields,
    )


class MemoryStore:
    """Rows and their texts; itself the view of them."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.bodies: dict[int, bytes] = {}
        self.spans: dict[int, tuple[MessageSpan, ...]] = {}
        self.live: dict[str, int] = {}
        self.terms: dict[str, int] = {}

    def put(self, row: Row, body: str, spans: Iterable[MessageSpan] = ()) -> Row:
        """Keep *row* as the live version of its id."""
        data = body.encode()
        row = replace(row, content_bytes=len(data), message_count=len(tuple(spans)))
        self.rows[row.number], self.bodies[row.number] = row, data
        self.spans[row.number] = tuple(spans)
        self.live[row.id] = row.number
        return row

    def remove(self, row_id: str) -> int:
        """Take the live version of *row_id* away for good."""
        number = self.live.pop(row_id)
        del self.rows[number], self.bodies[number], self.spans[number]
        return number

    @contextmanager
    def view(self) -> Iterator[MemoryStore]:
        yield self

    def passage(self, number: int, index: int, /) -> Passage | None:
        row = self.rows.get(number)
        return row.passages[index] if row is not None and index < len(row.passages) else None

    def record(self, number: int, /) -> RowRecord | None:
        row = self.rows.get(number)
        if row is None:
            return None
        fields = {f.name: getattr(row, f.name) for f in dataclasses.fields(row)}
        del fields["number"], fields["passages"]
        return RowRecord(**fields, body_crc=0)

    def row(self, number: int, /) -> Row | None:
        return self.rows.get(number)

    def head(self, number: int, /) -> Row | None:
        row = self.rows.get(number)
        return None if row is None else replace(row, passages=())

    def number(self, row_id: str, /) -> int | None:
        return self.live.get(row_id)

    def numbers(self) -> list[int]:
        return list(self.live.values())

    def body_bytes(self, number: int, /) -> bytes:
        return self.bodies[number]

    def body_slice(self, number: int, offset: int, length: int, /) -> str:
        return self.bodies[number][offset : offset + length].decode("utf-8", "replace")

    def messages(self, number: int, /) -> tuple[MessageSpan, ...]:
        return self.spans[number]

    def term_ids(self, terms: Iterable[str], /) -> list[int | None]:
        return [self.terms.get(term) for term in terms]

    def terms_with_prefix(self, prefix: str, /) -> Iterator[tuple[str, int]]:
        return ((t, i) for t, i in sorted(self.terms.items()) if t.startswith(prefix))
