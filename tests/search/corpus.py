"""Rows with texts, and the snapshot of an index over them."""

from __future__ import annotations

from typing import Any, cast

from tests.search.indexer import Indexer
from tests.search.world import NOW, MemoryStore, make_document, make_row
from twolaned.config.settings import RankingSettings
from twolaned.model.query import SearchQuery
from twolaned.model.result import SearchAnswer
from twolaned.model.row import Passage, Row
from twolaned.model.source import Source
from twolaned.search.engine import SearchEngine
from twolaned.search.row_table import RowTable
from twolaned.search.snapshot import IndexSnapshot


def cut(body: str, size: int) -> tuple[Passage, ...]:
    """Passages of about *size* characters each, cut between words."""
    found, start, offset = [], 0, 0
    while start < len(body):
        end = start + size
        while end < len(body) and not body[end].isspace():
            end += 1
        length = len(body[start:end].encode())
        found.append(Passage(offset, length))
        start, offset = end, offset + length
    return tuple(found)


class Corpus:
    """A small archive that is searched through the engine.

    A body is cut into passages of *passage* characters; title and passage are searchable together.
    """

    def __init__(self, *, passage: int = 400, ranking: RankingSettings | None = None) -> None:
        self.store = MemoryStore()
        self.indexer = Indexer()
        self.store.terms = self.indexer.terms
        self.table = RowTable.empty()
        self.sources: tuple[Source, ...] = ()
        self.engine = SearchEngine(ranking or RankingSettings(), clock=lambda: NOW)
        self.generation = 0
        self._passage = passage
        self._next = 1

    def add(self, body: str, *, document: tuple[str, str] | None = None, **fields: Any) -> str:
        """Add a row, a conversation or a document (root and path), and return its id.

        No two rows are copies of one another unless *fields* say so.
        """
        number = fields.pop("number", self._next)
        self._next = max(self._next, number) + 1
        fields.setdefault("passages", cut(body, self._passage))
        fields.setdefault("text_hash", number.to_bytes(32, "little"))
        row = (
            make_document(number, *document, body=body, **fields)
            if document
            else make_row(number, body=body, **fields)
        )
        if row.id in self.store.live:
            self.remove(row.id)
        row = self.store.put(row, body)
        self.table = self.table.with_rows([row])
        self.indexer.add(row.number, self.texts_of(row))
        self.generation += 1
        return row.id

    def remove(self, row_id: str) -> None:
        """Take a row away."""
        number = self.store.remove(row_id)
        self.table = self.table.without([number])
        self.indexer.remove(number)
        self.generation += 1

    def texts_of(self, row: Row) -> list[str]:
        """What the lane searches of each passage of *row*."""
        return [
            f"{row.title}\n{self.store.body_slice(row.number, p.offset, p.length)}"
            for p in row.passages
        ]

    def snapshot(self) -> IndexSnapshot:
        """The index as it is now."""
        return IndexSnapshot(
            generation=self.generation,
            keyword=self.indexer.index,
            rows=self.table,
            view=cast("Any", self.store.view),
            sources=self.sources,
        )

    def search(self, query: str, **arguments: Any) -> SearchAnswer:
        """Ask *query*."""
        return self.engine.search(self.snapshot(), SearchQuery(query=query, **arguments))

    def ids(self, query: str, **arguments: Any) -> list[str]:
        """The ids that *query* finds, best first."""
        return [result.id for result in self.search(query, **arguments).results]
