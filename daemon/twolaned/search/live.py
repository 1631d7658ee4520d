"""Following the store: from what the writer commits to what a search sees."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.postings import PostingBatch
from twolaned.lanes.keyword.segment import Segment
from twolaned.model.errors import StoreCorrupt
from twolaned.search.meaning_files import STEP, MeaningFiles
from twolaned.search.row_table import RowTable
from twolaned.search.snapshot import IndexSnapshot
from twolaned.store import Store, View
from twolaned.store.arrays import ArrayBundle
from twolaned.store.manifest import DeadRow, LogRecord, Manifest

log = logging.getLogger(__name__)

RELOADS = 5
"""How often to start over where segments vanish under a reload because a merge replaced them."""


class LiveIndex:
    """The index as it is now. `snapshot` is immutable and may be used from any thread.

    `refresh` applies what was committed since, record by record; only where the log no longer
    reaches back that far, or a constant of the store changed, is everything loaded anew.
    """

    def __init__(self, store: Store, *, vector_step: int = STEP) -> None:
        """*vector_step* is how many of the stored vectors this and each `refresh` read."""
        self._store = store
        self._lock = threading.Lock()
        self._dead: dict[int, DeadRow] = {}
        self._average = 0.0
        self._meaning = MeaningFiles(store, vector_step)
        self.snapshot = self._reload()

    @property
    def behind(self) -> bool:
        """Whether a refresh has more to do although nothing new was committed."""
        return self._meaning.behind

    @property
    def generation(self) -> int:
        """The commit that `snapshot` is made of."""
        return self.snapshot.generation

    def refresh(self) -> int:
        """Bring `snapshot` up to the store's last commit and return its generation. Blocks."""
        with self._lock:
            with self._store.view() as view:
                manifest = view.manifest
                if manifest.generation == self.generation and not self.behind:
                    return self.generation
                follows = (
                    manifest.log_start <= self.generation + 1
                    and manifest.average_length == self._average
                )
                try:
                    self.snapshot = self._follow(view, manifest) if follows else self._reload()
                except StoreCorrupt:
                    # A merge may have removed a segment that an older record adds.
                    log.info("the log names a segment that is gone; loading the index anew")
                    self.snapshot = self._reload()
            return self.generation

    def _reload(self) -> IndexSnapshot:
        for attempt in range(RELOADS):
            with self._store.view() as view:
                manifest = view.manifest
                try:
                    return self._load(view, manifest)
                except StoreCorrupt:
                    with self._store.view() as later:
                        moved_on = later.generation != manifest.generation
                    if not moved_on or attempt == RELOADS - 1:
                        raise
        raise AssertionError("unreachable")

    def _load(self, view: View, manifest: Manifest) -> IndexSnapshot:
        keyword = KeywordIndex.empty(Bm25(average_length=manifest.average_length))
        for info in manifest.segments:
            keyword = keyword.with_segment(info.id, self._open_segment(info.id))
        for sequence, record in view.log(manifest.sealed_seq):
            if record.postings:
                keyword = _with_run(keyword, sequence, record)
        self._dead = {dead.number: dead for dead in view.dead_rows()}
        keyword = keyword.with_dead(*_tally(self._dead.values()))
        self._average = manifest.average_length
        rows = RowTable.empty().with_rows(view.heads())
        return IndexSnapshot(
            generation=manifest.generation,
            keyword=keyword,
            rows=rows,
            view=self._store.view,
            sources=tuple(view.sources()),
            meaning=self._meaning.follow(view, manifest, rows, None),
        )

    def _follow(self, view: View, manifest: Manifest) -> IndexSnapshot:
        keyword, rows = self.snapshot.keyword, self.snapshot.rows
        sources = self.snapshot.sources
        dead = dict(self._dead)
        died: list[int] = []
        for sequence, record in view.log(self.generation):
            if record.rows:
                numbers = np.frombuffer(record.rows, "<u4").tolist()
                rows = rows.with_rows(view.many(numbers))
            if record.postings:
                keyword = _with_run(keyword, sequence, record)
            for info in record.segments_added:
                keyword = keyword.with_segment(info.id, self._open_segment(info.id))
            if record.dead:
                keyword = keyword.with_dead(*_tally(record.dead))
                rows = rows.without([d.number for d in record.dead])
                died += [d.number for d in record.dead]
                dead.update((d.number, d) for d in record.dead)
            keyword = keyword.without(record.segments_removed, up_to_seq=record.sealed_seq)
            if record.reclaimed:
                gone = [dead.pop(number) for number in record.reclaimed]
                keyword = keyword.reclaimed(*_tally(gone))
            if record.moved_to is not None:
                moved = np.frombuffer(record.moved, "<u4").tolist()
                rows = rows.with_tiers(moved, record.moved_to)
            if record.sources_changed:
                sources = tuple(view.sources())
        self._dead = dead
        return IndexSnapshot(
            generation=manifest.generation,
            keyword=keyword,
            rows=rows,
            view=self._store.view,
            sources=sources,
            meaning=self._meaning.follow(view, manifest, rows, died),
        )

    def _open_segment(self, segment: str) -> Segment:
        bundle = ArrayBundle(self._store.segment_path(segment))
        return Segment(bundle.arrays, keepalive=bundle)


def _with_run(keyword: KeywordIndex, sequence: int, record: LogRecord) -> KeywordIndex:
    rows = np.frombuffer(record.passage_rows, "<u4").astype(np.uint32)
    return keyword.with_run(sequence, rows, PostingBatch.from_bytes(record.postings))


def _tally(
    dead: Iterable[DeadRow],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """The numbers of *dead* rows, their distinct terms, and the passages that each term loses."""
    entries = list(dead)
    numbers = np.array([d.number for d in entries], np.uint32)
    terms = np.concatenate(
        [np.empty(0, np.uint32), *(np.frombuffer(d.term_ids, "<u4") for d in entries)]
    )
    counts = np.concatenate(
        [np.empty(0, np.uint32), *(np.frombuffer(d.counts, "<u4") for d in entries)]
    )
    distinct, place = np.unique(terms, return_inverse=True)
    total = np.bincount(place, weights=counts, minlength=len(distinct)).astype(np.int64)
    return numbers, distinct.astype(np.uint32), total
