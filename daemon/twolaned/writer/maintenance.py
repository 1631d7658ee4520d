"""Keeping the index in shape: sealing the log, merging segments, removing what nobody uses.

The work itself runs in a background thread on data that cannot change; only the short
publication at its end runs in the writer's own loop.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.builder import Arrays, build_from_parts
from twolaned.lanes.keyword.postings import PostingBatch, PostingSource, merged_parts
from twolaned.lanes.keyword.segment import Segment, build_segment
from twolaned.store import Store
from twolaned.store.arrays import ArrayBundle, write_arrays
from twolaned.store.layout import segments_path
from twolaned.store.manifest import Manifest, SegmentInfo
from twolaned.writer.committer import Committer, Publication
from twolaned.writer.folding import TermFolding

SEAL_LOG_AT = 8_192
"""Passages in the log from which on it is sealed into a segment."""
MERGE_FACTOR = 4
"""Segments of about one size that are merged into one."""
SMALLEST_TIER = 4_096
"""Passages; segments below this count as of one size."""
DEAD_SHARE = 0.25
"""A segment with more dead passages than this share is written anew without them."""
QUIET_SECONDS = 5.0
"""Seconds without a commit after which segments are tidied that writing would have left apart."""
TIDY_GROWTH = 4
"""Tidying takes in a segment of up to so many times the passages of all smaller ones together, so
that what is quiet has few segments and each passage is still written but a few times."""
GRACE_SECONDS = 10.0
"""How long a merged segment's files stay for a reader that has not followed yet."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """The outcome of a background task: what to publish."""

    added: SegmentInfo | None
    removed: tuple[str, ...]
    reclaimed: tuple[int, ...]
    sealed_seq: int | None
    sealed_passages: int
    everything: bool = False
    """Whether all live passages were written anew."""


def seal_segment(
    store: Store, postings: PostingBatch, rows: NDArray[np.uint32], average: float
) -> SegmentInfo:
    """Write *postings* of passages that belong to *rows* as a new segment, durable on return."""
    return _written(store, build_segment(postings, rows, bm25=Bm25(average_length=average)))


def _written(store: Store, arrays: Arrays) -> SegmentInfo:
    segment = uuid.uuid4().hex[:16]
    size = write_arrays(store.segment_path(segment), arrays)
    return SegmentInfo(segment, len(arrays["rows"]), size)


class Maintenance:
    """Decides what is due and sees it through, one task at a time."""

    def __init__(self, committer: Committer, executor: Executor) -> None:
        self._committer = committer
        self._store = committer.store
        self._executor = executor
        self._doomed: list[tuple[float, str]] = []
        self._rewrites: list[Future[None]] = []
        self._folding = TermFolding(committer.store)
        self._seen = committer.manifest.generation
        self._quiet_from = time.monotonic()
        self._remove_strangers()

    def request_rewrite(self) -> Future[None]:
        """Ask for all live passages to be written anew, without anything that is dead."""
        done: Future[None] = Future()
        self._rewrites.append(done)
        return done

    def start(self, *, busy: bool = True) -> Future[Sealed] | None:
        """Begin the most urgent task in the background, or return None where nothing is due.

        *busy* says that a job is under way, and segments are not tidied yet.
        """
        manifest = self._committer.manifest
        quiet = self._seconds_to_quiet(manifest)
        if self._rewrites:
            if manifest.logged_passages and not manifest.average_fixed:
                self._committer.fix_average(average_length(self._logged(manifest)[0]))
                manifest = self._committer.manifest
            return self._executor.submit(self._rewrite, manifest, set(self._committer.dead))
        if manifest.logged_passages >= SEAL_LOG_AT:
            if not manifest.average_fixed:
                self._committer.fix_average(average_length(self._logged(manifest)[0]))
                manifest = self._committer.manifest
            return self._executor.submit(self._seal_log, manifest, set(self._committer.dead))
        victims = self._to_merge(manifest)
        if not victims and not busy and quiet <= 0.0:
            victims = to_tidy(manifest.segments)
        if victims:
            return self._executor.submit(self._merge, manifest, victims, set(self._committer.dead))
        return None

    def due(self) -> float | None:
        """The seconds until `start` should be called again if nothing else happens until then."""
        manifest = self._committer.manifest
        return self._seconds_to_quiet(manifest) if to_tidy(manifest.segments) else None

    def _seconds_to_quiet(self, manifest: Manifest) -> float:
        now = time.monotonic()
        if manifest.generation != self._seen:
            self._seen, self._quiet_from = manifest.generation, now
        return max(0.0, self._quiet_from + QUIET_SECONDS - now)

    def finish(self, sealed: Sealed) -> None:
        """Publish what a task made. Raises DiskFull; the task's segment is removed then."""
        publication = Publication(
            segments_added=() if sealed.added is None else (sealed.added,),
            segments_removed=sealed.removed,
            reclaimed=sealed.reclaimed,
            sealed_seq=sealed.sealed_seq,
            sealed_passages=sealed.sealed_passages,
            trim_log=sealed.everything,
        )
        try:
            self._committer.publish(publication)
        except BaseException:
            if sealed.added is not None:
                self.remove_segment(sealed.added.id)
            raise
        until = time.monotonic() + GRACE_SECONDS
        self._doomed += [(until, segment) for segment in sealed.removed]
        if sealed.everything:
            waiting, self._rewrites = self._rewrites, []
            for done in waiting:
                done.set_result(None)

    def fold_terms(self) -> bool:
        """Give some terms of what is sealed their lasting place. Returns whether it did any work.

        Raises DiskFull.
        """
        return self._folding.step(self._committer.manifest.sealed_seq)

    def sweep(self) -> float | None:
        """Remove files whose time is up. Returns the seconds until the next call is due."""
        now = time.monotonic()
        for _, segment in [d for d in self._doomed if d[0] <= now]:
            self.remove_segment(segment)
        self._doomed = [d for d in self._doomed if d[0] > now]
        return max(0.0, self._doomed[0][0] - now) if self._doomed else None

    def remove_segment(self, segment: str) -> None:
        """Unlink a segment's files; a process that has it open keeps reading it."""
        shutil.rmtree(self._store.segment_path(segment), ignore_errors=True)

    def _remove_strangers(self) -> None:
        """Remove segments that a crash left between their sealing and their publication."""
        known = {s.id for s in self._committer.manifest.segments}
        for folder in segments_path(self._store.data).iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def _to_merge(self, manifest: Manifest) -> list[SegmentInfo]:
        tiers: dict[int, list[SegmentInfo]] = defaultdict(list)
        for segment in manifest.segments:
            tiers[size_tier(segment.passages)].append(segment)
        for tier in sorted(tiers):
            if len(tiers[tier]) >= MERGE_FACTOR:
                # What lies below comes along: it costs little and saves a merge of its own.
                return [s for s in manifest.segments if size_tier(s.passages) <= tier]
        return self._mostly_dead(manifest)

    def _mostly_dead(self, manifest: Manifest) -> list[SegmentInfo]:
        dead = sum(d.passages for d in self._committer.dead.values())
        total = sum(s.passages for s in manifest.segments)
        if total and dead > DEAD_SHARE * total and dead > SMALLEST_TIER // 4:
            return list(manifest.segments)
        return []

    def _logged(self, manifest: Manifest) -> tuple[list[PostingBatch], list[NDArray[np.uint32]]]:
        """The log's postings up to the manifest's generation, and their passages' rows."""
        batches, rows = [], []
        with self._store.view() as view:
            for sequence, record in view.log(manifest.sealed_seq):
                if record.postings and sequence <= manifest.generation:
                    batches.append(PostingBatch.from_bytes(record.postings))
                    rows.append(np.frombuffer(record.passage_rows, "<u4").astype(np.uint32))
        return batches, rows

    def _seal_log(self, manifest: Manifest, dead: set[int]) -> Sealed:
        batches, rows = self._logged(manifest)
        added, reclaimed = self._write(batches, rows, dead, manifest.average_length)
        return Sealed(
            added=added,
            removed=(),
            reclaimed=reclaimed,
            sealed_seq=manifest.generation,
            sealed_passages=manifest.logged_passages,
        )

    def _merge(self, manifest: Manifest, victims: Sequence[SegmentInfo], dead: set[int]) -> Sealed:
        bundles = [ArrayBundle(self._store.segment_path(s.id)) for s in victims]
        segments = [Segment(bundle.arrays) for bundle in bundles]
        rows = [segment.rows for segment in segments]
        added, reclaimed = self._write(segments, rows, dead, manifest.average_length)
        del segments, rows
        for bundle in bundles:
            bundle.close()
        return Sealed(
            added=added,
            removed=tuple(s.id for s in victims),
            reclaimed=reclaimed,
            sealed_seq=None,
            sealed_passages=0,
        )

    def _rewrite(self, manifest: Manifest, dead: set[int]) -> Sealed:
        bundles = [ArrayBundle(self._store.segment_path(s.id)) for s in manifest.segments]
        segments = [Segment(bundle.arrays) for bundle in bundles]
        batches, rows = self._logged(manifest)
        rows += [segment.rows for segment in segments]
        added, _ = self._write([*batches, *segments], rows, dead, manifest.average_length)
        del segments, rows
        for bundle in bundles:
            bundle.close()
        return Sealed(
            added=added,
            removed=tuple(s.id for s in manifest.segments),
            reclaimed=tuple(sorted(dead)),
            sealed_seq=manifest.generation,
            sealed_passages=manifest.logged_passages,
            everything=True,
        )

    def _write(
        self,
        sources: Sequence[PostingSource],
        rows: list[NDArray[np.uint32]],
        dead: set[int],
        average: float,
    ) -> tuple[SegmentInfo | None, tuple[int, ...]]:
        """Write one segment of all *sources* without the *dead* rows, in order of row number."""
        all_rows = np.concatenate([np.empty(0, np.uint32), *rows])
        dead_rows = np.fromiter(dead, np.uint32, len(dead))
        keep = ~np.isin(all_rows, dead_rows)
        reclaimed = tuple(int(n) for n in np.unique(all_rows[~keep]))
        if not keep.any():
            return None, reclaimed
        order = np.argsort(all_rows, kind="stable")
        order = order[keep[order]]
        arrays = build_from_parts(
            merged_parts(sources, order),
            np.concatenate([source.lengths for source in sources])[order],
            np.sum([source.tf_counts() for source in sources], axis=0),
            all_rows[order],
            bm25=Bm25(average_length=average),
        )
        return _written(self._store, arrays), reclaimed


def to_tidy(segments: Sequence[SegmentInfo]) -> list[SegmentInfo]:
    """The segments to make one of while it is quiet: none, or two and more, the smallest ones.

    What remains beside them grows by a factor from one to the next, so there are never many.
    """
    ordered = sorted(segments, key=lambda s: s.passages)
    smaller = chosen = 0
    for place, segment in enumerate(ordered):
        if place and segment.passages <= TIDY_GROWTH * max(smaller, SEAL_LOG_AT):
            chosen = place + 1
        smaller += segment.passages
    return ordered[:chosen]


def size_tier(passages: int) -> int:
    """Which power of `MERGE_FACTOR` a segment of *passages* belongs to."""
    tier = 0
    while passages > SMALLEST_TIER:
        passages //= MERGE_FACTOR
        tier += 1
    return tier


def average_length(batches: Sequence[PostingBatch]) -> float:
    """Terms of an average passage of *batches*, which hold at least one passage."""
    total = sum(int(b.lengths.sum()) for b in batches)
    return max(1.0, total / sum(len(b.lengths) for b in batches))
