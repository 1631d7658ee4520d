"""Writing the store: one transaction, all of it or nothing."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import lmdb

from twolaned.model.feedback import Feedback, FeedbackKind
from twolaned.model.row import RowDraft
from twolaned.model.source import Source
from twolaned.store.compactions import CompactionRecord, Move
from twolaned.store.fresh_terms import FreshRun
from twolaned.store.keys import file_key, hash_key, row_key, saved_key, text_key, vector_key
from twolaned.store.manifest import DeadRow, LogRecord, Manifest, VectorRun
from twolaned.store.records import FileRecord, RowRecord, seal, seal_passages, seal_spans
from twolaned.store.tombstone import Tombstone
from twolaned.store.view import View

_U64 = struct.Struct(">Q")
_U32 = struct.Struct("<I")


class Change(View):
    """One write transaction; it reads its own writes."""

    def __init__(self, txn: lmdb.Transaction, tables: Mapping[str, Any]) -> None:
        super().__init__(txn, tables)

    def _put(self, table: str, key: bytes, value: bytes) -> None:
        self._txn.put(key, value, db=self._tables[table])

    def _delete(self, table: str, key: bytes) -> bool:
        return bool(self._txn.delete(key, db=self._tables[table]))

    def put_manifest(self, manifest: Manifest) -> None:
        """Publish *manifest* with this transaction."""
        self._put("meta", b"manifest", seal(manifest))
        self._active = None

    def stage_row(self, number: int, record: RowRecord, draft: RowDraft, body: bytes) -> None:
        """Write a row version that nothing refers to yet. It is removed unless it is published."""
        key = row_key(number)
        self._put("rows", key, seal(record))
        self._put("passages", key, seal_passages(draft.passages))
        self._put("bodies", key, body)
        if draft.messages:
            self._put("messages", key, seal_spans(draft.messages))
        self._put("staged", key, b"\x01")

    def publish_row(self, number: int, row_id: str) -> None:
        """Make a staged version the live one of its id."""
        self._put("ids", text_key(row_id), _U32.pack(number))
        self._delete("staged", row_key(number))

    def unstage_row(self, number: int) -> None:
        """Drop a version that was never published."""
        self.drop_row(number)
        self._delete("staged", row_key(number))

    def unlist_row(self, row_id: str) -> None:
        """Leave *row_id* without a live version."""
        self._delete("ids", text_key(row_id))

    def drop_row(self, number: int) -> None:
        """Remove a version's record, passages, body, messages and move."""
        key = row_key(number)
        for table in ("rows", "passages", "bodies", "messages", "moves"):
            self._delete(table, key)

    def stage_moves(self, numbers: Iterable[int], move: Move) -> None:
        """Prepare *move* for the row versions *numbers*. It counts once its compaction does."""
        data = seal(move)
        for number in numbers:
            self._put("moves", row_key(number), data)
        self._put("meta", b"moving", _U32.pack(move.compaction))

    def drop_moves(self, numbers: Iterable[int]) -> None:
        """Remove moves that do not count."""
        for number in numbers:
            self._delete("moves", row_key(number))

    def set_moving(self, compaction: int | None) -> None:
        """Say which compaction's moves may be left behind if the process ends now; None: none."""
        if compaction is None:
            self._delete("meta", b"moving")
        else:
            self._put("meta", b"moving", _U32.pack(compaction))

    def put_compaction(self, record: CompactionRecord) -> None:
        """Add or replace what is known of a compaction."""
        self._put("compactions", row_key(record.number), seal(record))

    def put_dead(self, dead: DeadRow) -> None:
        """Remember a dead version for as long as a segment or the log holds its passages."""
        self._put("dead", row_key(dead.number), seal(dead))

    def reclaim_dead(self, numbers: Iterable[int]) -> None:
        """Forget dead versions that no segment and no log record holds any more."""
        for number in numbers:
            self._delete("dead", row_key(number))

    def put_vector_run(self, file: str, start: int, run: VectorRun) -> None:
        """Say whose the vectors from the row position *start* of *file* on are."""
        self._put("vectors", vector_key(file, start), seal(run))

    def drop_vector_runs(self, file: str) -> None:
        """Forget whose the vectors of *file* are."""
        prefix = vector_key(file, 0)[:-8]
        cursor = self._txn.cursor(db=self._tables["vectors"])
        while cursor.set_range(prefix) and bytes(cursor.key()).startswith(prefix):
            cursor.delete()

    def put_terms(self, terms: Mapping[str, int]) -> None:
        """Add *terms* with their ids."""
        self.place_terms((text_key(term), number) for term, number in terms.items())
        beyond = max(terms.values(), default=-1) + 1
        if beyond > self.next_term:
            self._put("meta", b"next_term", _U32.pack(beyond))

    def place_terms(self, terms: Iterable[tuple[bytes, int]]) -> None:
        """Put the ids of terms under their keys, in order among all terms."""
        for key, number in terms:
            self._put("terms", key, _U32.pack(number))

    def put_fresh_terms(self, sequence: int, terms: Mapping[str, int]) -> None:
        """Add the *terms* that come with the commit *sequence*, with their ids."""
        if terms:
            data = seal(FreshRun([text_key(term) for term in terms], list(terms.values())))
            self._txn.put(_U64.pack(sequence), data, db=self._tables["fresh_terms"], append=True)

    def drop_fresh_terms(self, upto: int) -> None:
        """Forget where the terms of commits up to *upto* waited; they have their place now."""
        cursor = self._txn.cursor(db=self._tables["fresh_terms"])
        while cursor.first() and _U64.unpack(cursor.key())[0] <= upto:
            cursor.delete()

    def append_log(self, sequence: int, record: LogRecord) -> None:
        """Add a commit at the end of the log."""
        self._txn.put(_U64.pack(sequence), seal(record), db=self._tables["log"], append=True)

    def trim_log(self, before: int) -> None:
        """Remove the commits with sequence numbers under *before*."""
        cursor = self._txn.cursor(db=self._tables["log"])
        if cursor.first():
            while cursor.key() and _U64.unpack(cursor.key())[0] < before:
                if not cursor.delete():
                    return

    def put_tombstone(self, tombstone: Tombstone) -> None:
        """Remember that a row was deleted, and by how many tombstones its messages are held."""
        self.lift_tombstone(tombstone.row_id)
        self._put("tombstones", text_key(tombstone.row_id), seal(tombstone))
        for value in tombstone.hashes:
            self._put("buried", hash_key(value), _U32.pack(self._holders(value) + 1))

    def lift_tombstone(self, row_id: str) -> None:
        """Let a deleted row come back."""
        known = self.tombstone(row_id)
        if known is None:
            return
        self._delete("tombstones", text_key(row_id))
        for value in known.hashes:
            holders = self._holders(value) - 1
            if holders > 0:
                self._put("buried", hash_key(value), _U32.pack(holders))
            else:
                self._delete("buried", hash_key(value))

    def _holders(self, message_hash: int) -> int:
        data = self._get("buried", hash_key(message_hash))
        return 0 if data is None else int(_U32.unpack(data)[0])

    def delete_terms(self, terms: Iterable[str]) -> None:
        """Forget *terms*, whose numbers no posting holds any more."""
        for term in terms:
            self._delete("terms", text_key(term))

    def fill(self, key: int, value: bytes) -> None:
        """Write *value* over a page that nothing uses; see `clear_filling`."""
        self._put("filler", _U64.pack(key), value)

    def clear_filling(self, keys: Iterable[int]) -> None:
        """Let go of what `fill` wrote."""
        for key in keys:
            self._delete("filler", _U64.pack(key))

    def log_feedback(self, entry: Feedback) -> bool:
        """Add *entry* to the log of evidence; False for an opening that the session has there."""
        once = saved_key(entry.session, entry.evidence_key)
        if entry.kind is FeedbackKind.OPENED:
            if self._get("opened", once) is not None:
                return False
            self._put("opened", once, b"\x01")
        cursor = self._txn.cursor(db=self._tables["feedback"])
        number = _U64.unpack(cursor.key())[0] + 1 if cursor.last() else 1
        self._put("feedback", _U64.pack(number), seal(entry))
        return True

    def forget_feedback(self, sessions: Collection[str], evidence_keys: Collection[str]) -> int:
        """Remove what the log holds of these sessions and of this evidence; returns how many."""
        gone = [
            (number, entry)
            for number, entry in self.feedback()
            if entry.session in sessions or entry.evidence_key in evidence_keys
        ]
        for number, entry in gone:
            self._delete("feedback", _U64.pack(number))
            if entry.kind is FeedbackKind.OPENED:
                self._delete("opened", saved_key(entry.session, entry.evidence_key))
        return len(gone)

    def put_saved(self, source: str, key: str, row_id: str) -> None:
        """Remember that *source* saved *row_id* under the idempotency *key*."""
        self._put("saved", saved_key(source, key), row_id.encode())

    def put_source(self, source: Source) -> None:
        """Add or replace a followed folder."""
        self._put("sources", text_key(source.id), seal(source))

    def delete_source(self, source_id: str) -> None:
        """Stop following a folder; its files are forgotten one by one."""
        self._delete("sources", text_key(source_id))

    def put_file(self, source_id: str, path: str, record: FileRecord) -> None:
        """Remember what was read of one file."""
        self._put("files", file_key(source_id, path), seal((path, record)))

    def delete_file(self, source_id: str, path: str) -> None:
        """Forget one file."""
        self._delete("files", file_key(source_id, path))
