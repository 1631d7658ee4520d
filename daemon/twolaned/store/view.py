"""Reading the store at one generation."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

import lmdb
import msgspec

from twolaned.model.feedback import Feedback
from twolaned.model.row import MessageSpan, Passage, Row, Tier
from twolaned.model.source import Source
from twolaned.store.compactions import CompactionRecord, Move, unseal_compaction, unseal_move
from twolaned.store.faults import corrupt
from twolaned.store.fresh_terms import FreshTerms, FreshTermsCache, unseal_run
from twolaned.store.keys import (
    file_key,
    hash_key,
    row_key,
    row_number,
    saved_key,
    text_key,
    vector_key,
)
from twolaned.store.manifest import (
    DeadRow,
    LogRecord,
    Manifest,
    VectorRun,
    unseal_dead,
    unseal_manifest,
    unseal_record,
    unseal_vector_run,
)
from twolaned.store.records import (
    FileRecord,
    FormatRecord,
    RowRecord,
    passage_of,
    passages_of,
    spans_of,
    unseal_feedback,
    unseal_file,
    unseal_format,
    unseal_row,
    unseal_source,
)
from twolaned.store.tombstone import Tombstone, unseal_tombstone

_U64 = struct.Struct(">Q")
_U32 = struct.Struct("<I")


class View:
    """One read transaction. Nothing it returns points into the mapped file."""

    def __init__(
        self,
        txn: lmdb.Transaction,
        tables: Mapping[str, Any],
        fresh: FreshTermsCache | None = None,
    ) -> None:
        self._txn = txn
        self._fresh_cache = FreshTermsCache() if fresh is None else fresh
        self._tables = tables
        self._active: frozenset[int] | None = None

    def _get(self, table: str, key: bytes) -> bytes | memoryview | None:
        return self._txn.get(key, db=self._tables[table])

    @property
    def manifest(self) -> Manifest:
        """What the index is made of."""
        data = self._get("meta", b"manifest")
        if data is None:
            raise corrupt("manifest")
        return unseal_manifest(data)

    @property
    def generation(self) -> int:
        """The sequence number of the last commit."""
        return self.manifest.generation

    @property
    def format(self) -> FormatRecord:
        """Who can read what is on disk."""
        data = self._get("meta", b"format")
        if data is None:
            raise corrupt("format")
        return unseal_format(data)

    @property
    def format_version(self) -> int:
        """The format version of what is on disk."""
        return self.format.format_version

    @property
    def tables(self) -> Sequence[str]:
        """The names of all tables."""
        return tuple(self._tables)

    def entries(self, table: str) -> Iterator[tuple[memoryview, memoryview]]:
        """All entries of one table as they are stored, in order of their keys.

        They point into the mapped file, and are to be used before the view ends.
        """
        return iter(self._txn.cursor(db=self._tables[table]))  # type: ignore[arg-type]

    def size(self) -> int:
        """Bytes of the pages that the tables take."""
        total = 0
        for table in self._tables.values():
            stat = self._txn.stat(db=table)
            pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
            total += pages * stat["psize"]
        return total

    def record(self, number: int) -> RowRecord | None:
        """The stored record of row version *number*, in the tier where it is now."""
        data = self._get("rows", row_key(number))
        if data is None:
            return None
        record = unseal_row(data)
        tier = self.moved_to(number)
        return record if tier is None else msgspec.structs.replace(record, tier=tier)

    def moved_to(self, number: int) -> Tier | None:
        """The tier that a compaction moved row version *number* to; None where none did."""
        if self._active is None:
            self._active = frozenset(self.manifest.compactions)
        if not self._active:
            return None
        data = self._get("moves", row_key(number))
        if data is None:
            return None
        move = unseal_move(data)
        return move.tier if move.compaction in self._active else None

    def moves(self, first: int, count: int) -> list[tuple[int, Move]]:
        """At most *count* moves, counting or not, of row versions from *first* on, in order."""
        cursor = self._txn.cursor(db=self._tables["moves"])
        if not cursor.set_range(row_key(first)):
            return []
        found = islice(cursor.iternext(keys=True, values=True), count)
        return [(row_number(key), unseal_move(value)) for key, value in found]

    @property
    def moving(self) -> int | None:
        """The compaction whose moves may have been left behind unfinished, if there is one."""
        data = self._get("meta", b"moving")
        return None if data is None else _U32.unpack(data)[0]

    def compaction(self, number: int) -> CompactionRecord | None:
        """What is known of the compaction *number*."""
        data = self._get("compactions", row_key(number))
        return None if data is None else unseal_compaction(data)

    def compactions(self) -> Iterator[CompactionRecord]:
        """All compactions, the latest first."""
        cursor = self._txn.cursor(db=self._tables["compactions"])
        if cursor.last():
            for value in cursor.iterprev(keys=False, values=True):
                yield unseal_compaction(value)

    def numbers_between(self, first: str, end: str) -> list[int]:
        """The numbers of the live versions whose ids stand from *first* to before *end*."""
        cursor = self._txn.cursor(db=self._tables["ids"])
        found: list[int] = []
        if cursor.set_range(text_key(first)):
            for key, value in cursor:
                if bytes(key) >= text_key(end):
                    break
                found.append(_U32.unpack(value)[0])
        return found

    def row(self, number: int) -> Row | None:
        """Row version *number*, or None where it is gone."""
        record = self.record(number)
        if record is None:
            return None
        data = self._get("passages", row_key(number))
        if data is None:
            raise corrupt(f"passages of row {number}")
        return record.row(number, passages_of(data))

    def head(self, number: int) -> Row | None:
        """Row version *number* with its passages left out, or None where it is gone."""
        record = self.record(number)
        return None if record is None else record.row(number, ())

    def passage(self, number: int, index: int) -> Passage | None:
        """One passage of row version *number*, or None where there is no such passage."""
        data = self._get("passages", row_key(number))
        return None if data is None else passage_of(data, index)

    def heads(self) -> Iterator[Row]:
        """All live rows in order of id, passages left out."""
        for number in self.numbers():
            head = self.head(number)
            if head is None:
                raise corrupt(f"row {number}")
            yield head

    def numbers(self) -> list[int]:
        """The numbers of all live row versions."""
        cursor = self._txn.cursor(db=self._tables["ids"])
        return [_U32.unpack(value)[0] for value in cursor.iternext(keys=False, values=True)]

    def number(self, row_id: str) -> int | None:
        """The number of the live version of the row *row_id*."""
        data = self._get("ids", text_key(row_id))
        return None if data is None else _U32.unpack(data)[0]

    def saved_row(self, source: str, key: str) -> str | None:
        """The id of the row that *source* saved under the idempotency *key*."""
        data = self._get("saved", saved_key(source, key))
        return None if data is None else bytes(data).decode()

    def tombstone(self, row_id: str) -> Tombstone | None:
        """What remains of the row *row_id* if it was deleted."""
        data = self._get("tombstones", text_key(row_id))
        return None if data is None else unseal_tombstone(data)

    def tombstones(self, prefix: str) -> Iterator[Tombstone]:
        """The tombstones of row ids that begin with *prefix*, which is not empty."""
        start = text_key(prefix)
        cursor = self._txn.cursor(db=self._tables["tombstones"])
        if cursor.set_range(start):
            for key, value in cursor:
                if bytes(key[: len(start)]) != start:
                    return
                yield unseal_tombstone(value)

    def feedback(self) -> Iterator[tuple[int, Feedback]]:
        """The log of evidence, newest first, with the entries' numbers."""
        cursor = self._txn.cursor(db=self._tables["feedback"])
        for key, value in cursor.iterprev(keys=True, values=True):
            yield _U64.unpack(key)[0], unseal_feedback(value)

    def is_buried(self, message_hash: int) -> bool:
        """Whether a deleted conversation held a message of this hash."""
        return self._get("buried", hash_key(message_hash)) is not None

    def body_bytes(self, number: int) -> bytes:
        """A row's whole text as UTF-8. Raises StoreCorrupt where it does not check out."""
        data = self._get("bodies", row_key(number))
        record = self.record(number)
        if data is None or record is None or zlib.crc32(data) != record.body_crc:
            raise corrupt(f"body of row {number}")
        return bytes(data)

    def body(self, number: int) -> str:
        """A row's whole text."""
        return self.body_bytes(number).decode()

    def body_slice(self, number: int, offset: int, length: int) -> str:
        """Bytes *offset* to *offset* + *length* of a row's text; both must be character borders."""
        data = self._get("bodies", row_key(number))
        if data is None:
            raise corrupt(f"body of row {number}")
        return bytes(data[offset : offset + length]).decode("utf-8", "replace")

    def messages(self, number: int) -> tuple[MessageSpan, ...]:
        """Where a conversation's messages stand in its body; empty for documents."""
        data = self._get("messages", row_key(number))
        return () if data is None else spans_of(data)

    def term_ids(self, terms: Iterable[str]) -> list[int | None]:
        """The id of each term, None where no row has ever held it."""
        keys = [text_key(term) for term in terms]
        found = [self._get("terms", key) for key in keys]
        ids = [None if data is None else int(_U32.unpack(data)[0]) for data in found]
        if None in ids:
            fresh = self._fresh().numbers
            if fresh:
                ids = [fresh.get(k) if i is None else i for k, i in zip(keys, ids, strict=True)]
        return ids

    def terms_with_prefix(self, prefix: str) -> Iterator[tuple[str, int]]:
        """All terms that begin with *prefix* and their ids, in order of their UTF-8 bytes."""
        return self._terms(text_key(prefix))

    def terms(self) -> Iterator[tuple[str, int]]:
        """All terms and their ids, in order of their UTF-8 bytes."""
        return self._terms(b"")

    def _terms(self, start: bytes) -> Iterator[tuple[str, int]]:
        last = None
        for key, number in merge(self._old_terms(start), self._fresh().beginning_with(start)):
            # While terms move, some are in both places.
            if key != last:
                yield key.decode("utf-8", "replace"), number
            last = key

    def _old_terms(self, start: bytes) -> Iterator[tuple[bytes, int]]:
        cursor = self._txn.cursor(db=self._tables["terms"])
        if cursor.set_range(start) if start else cursor.first():
            for key, value in cursor:
                if bytes(key[: len(start)]) != start:
                    return
                yield bytes(key), _U32.unpack(value)[0]

    def _fresh(self) -> FreshTerms:
        return self._fresh_cache.of(self._txn, self._tables["fresh_terms"])

    def fresh_terms(self, upto: int) -> list[tuple[bytes, int]]:
        """Keys and ids of terms that came with commits up to *upto* and wait for their place."""
        found: list[tuple[bytes, int]] = []
        for key, value in self._txn.cursor(db=self._tables["fresh_terms"]):
            if _U64.unpack(key)[0] > upto:
                break
            run = unseal_run(value)
            found += zip(run.terms, run.numbers, strict=True)
        return found

    def count_terms(self) -> int:
        """How many terms there are, a few of them counted twice while they move."""
        return self.count("terms") + len(self._fresh().numbers)

    @property
    def next_term(self) -> int:
        """A number above those of all terms that have their place."""
        data = self._get("meta", b"next_term")
        return 0 if data is None else int(_U32.unpack(data)[0])

    def log(self, after: int) -> Iterator[tuple[int, LogRecord]]:
        """The commits behind generation *after* in order, with their sequence numbers."""
        cursor = self._txn.cursor(db=self._tables["log"])
        if cursor.set_range(_U64.pack(after + 1)):
            for key, value in cursor:
                yield _U64.unpack(key)[0], unseal_record(value)

    def dead_rows(self) -> Iterator[DeadRow]:
        """The dead versions whose passages are still in a segment or the log."""
        cursor = self._txn.cursor(db=self._tables["dead"])
        return (unseal_dead(value) for value in cursor.iternext(keys=False, values=True))

    def vector_runs(self, file: str, start: int = 0) -> Iterator[tuple[int, VectorRun]]:
        """Whose the vectors of *file* are, by the row position where each run begins, in order.

        Runs that begin before *start* are left out.
        """
        prefix = vector_key(file, 0)[:-8]
        cursor = self._txn.cursor(db=self._tables["vectors"])
        if cursor.set_range(vector_key(file, start)):
            for key, value in cursor:
                if bytes(key[: len(prefix)]) != prefix:
                    return
                yield _U64.unpack(key[len(prefix) :])[0], unseal_vector_run(value)

    def versions(self, first: int, count: int) -> list[int]:
        """At most *count* numbers of row versions from *first* on, live or not, in order."""
        cursor = self._txn.cursor(db=self._tables["rows"])
        if not cursor.set_range(row_key(first)):
            return []
        keys = islice(cursor.iternext(keys=True, values=False), count)
        return [row_number(key) for key in keys]

    def staged(self) -> list[int]:
        """Row versions that were written and never published."""
        cursor = self._txn.cursor(db=self._tables["staged"])
        return [struct.unpack(">I", key)[0] for key in cursor.iternext(keys=True, values=False)]

    def sources(self) -> list[Source]:
        """All followed folders in order of id."""
        cursor = self._txn.cursor(db=self._tables["sources"])
        return [unseal_source(value) for value in cursor.iternext(keys=False, values=True)]

    def files(self, source_id: str) -> Iterator[tuple[str, FileRecord]]:
        """What the last scan knew of each file of a source, by path below its root."""
        prefix = file_key(source_id, "")
        cursor = self._txn.cursor(db=self._tables["files"])
        if cursor.set_range(prefix):
            for key, value in cursor:
                if bytes(key[: len(prefix)]) != prefix:
                    return
                path, record = unseal_file(value)
                yield path, record

    def count(self, table: str) -> int:
        """Entries of one table."""
        return int(self._txn.stat(db=self._tables[table])["entries"])

    def many(self, numbers: Sequence[int]) -> list[Row]:
        """The rows *numbers*, leaving out those that are gone, passages left out."""
        return [row for n in numbers if (row := self.head(n)) is not None]
