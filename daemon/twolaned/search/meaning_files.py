"""Following the vector files: from what the writer publishes to the meaning lane's index."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning import MeaningIndex, VectorIndex
from twolaned.model.embedding import VectorSpace
from twolaned.model.errors import StoreCorrupt
from twolaned.search.row_table import RowTable
from twolaned.store import Store, View
from twolaned.store.faults import corrupt
from twolaned.store.manifest import Manifest, VectorFileInfo
from twolaned.store.vector_file import VectorMap

log = logging.getLogger(__name__)

Numbers = NDArray[np.uint32]

STEP = 16_384
"""Vectors that are read in about a fiftieth of a second."""


@dataclass(slots=True)
class _Followed:
    """A mapped file, and how many of its vectors are in *index*."""

    file: str
    mapped: VectorMap
    index: VectorIndex


class MeaningFiles:
    """Keeps the vector files mapped. Only one thread at a time follows.

    What a store holds when it is opened is read in steps, one at each `follow`, so that a search by
    words need not wait for a million vectors. Until the last step there is none by meaning.
    """

    def __init__(self, store: Store, step: int = STEP) -> None:
        """*step* is how many vectors one step reads, or a little more."""
        self._store = store
        self._step = step
        self.behind = True
        """Whether there are more steps."""
        self._followed: dict[str, _Followed] = {}
        self._index = MeaningIndex.empty()

    def follow(
        self, view: View, manifest: Manifest, rows: RowTable, dead: Sequence[int] | None
    ) -> MeaningIndex:
        """The index of *manifest*'s vectors of the rows that are live in *rows*.

        *dead* are those that died since the last time; None asks for all to be checked. What is
        there already is kept, so that this costs what was added and what died. Where a file or its
        runs do not fit the manifest, the index stays as it was until the next time.
        """
        try:
            self._follow(view, manifest, rows, dead)
        except StoreCorrupt as e:
            self.behind = False
            self._index = replace(self._index, loading=False)
            # The writer may have replaced the file just now; then the next commit says so.
            log.warning(
                "the vectors cannot be followed: %s",
                "; ".join(getattr(e, "__notes__", [e.message])),
            )
        return self._index

    def _follow(
        self, view: View, manifest: Manifest, rows: RowTable, dead: Sequence[int] | None
    ) -> None:
        wanted = {info.space for info in manifest.vectors}
        for space in [s for s in self._followed if s not in wanted]:
            self._let_go(space)
        begun, left = self.behind, self._step
        self.behind = False
        for info in manifest.vectors:
            left -= self._catch_up(view, info, rows, left if begun else None)
        for followed in self._followed.values():
            gone = np.array(() if dead is None else dead, np.uint32)
            if dead is None:
                held = np.flatnonzero(followed.index.rows_with_vectors()).astype(np.uint32)
                gone = held[~_live(rows, held)]
            if len(gone):
                followed.index = followed.index.without(gone)

        if self.behind:
            self._index = MeaningIndex(loading=True)
            return

        # A finished space goes before one that is to go, and that before one in the making.
        def place(info: VectorFileInfo) -> int:
            return 1 if info.retiring else 0 if info.complete else 2

        order = sorted(manifest.vectors, key=place)
        self._index = MeaningIndex.of([self._followed[info.space].index for info in order])

    def close(self) -> None:
        """Let go of all files. Indexes that are still held stay as they are."""
        for space in list(self._followed):
            self._let_go(space)

    def _let_go(self, space: str) -> None:
        self._followed.pop(space).mapped.close()

    def _catch_up(self, view: View, info: VectorFileInfo, rows: RowTable, limit: int | None) -> int:
        """Read the new vectors of *info*, where there is a *limit* about so many; how many."""
        followed = self._followed.get(info.space)
        if followed is not None and (
            followed.file != info.file or followed.index.stored > info.count
        ):
            self._let_go(info.space)
            followed = None
        if followed is None:
            followed = self._open(info)
        known = followed.index.stored
        if known == info.count:
            return 0
        if limit is not None and limit <= 0:
            self.behind = True
            return 0
        numbers, passages = _runs(view, info, known, limit)
        self.behind = self.behind or known + len(numbers) < info.count
        index = followed.index.with_rows(numbers, passages, followed.mapped)
        dead = np.unique(numbers[~_live(rows, numbers)])
        followed.index = index.without(dead) if len(dead) else index
        return len(numbers)

    def _open(self, info: VectorFileInfo) -> _Followed:
        dimensions = VectorSpace.parse(info.space).dimensions
        path = self._store.vector_path(info.file)
        mapped = VectorMap(path, space=info.space, dimensions=dimensions)
        index = VectorIndex.empty(info.space, dimensions)
        self._followed[info.space] = _Followed(info.file, mapped, index)
        return self._followed[info.space]


def _runs(
    view: View, info: VectorFileInfo, known: int, limit: int | None
) -> tuple[Numbers, Numbers]:
    """Whose the vectors from *known* to the count of *info* are; with *limit*, of about so many.

    A run is not cut, so that there may be a few more. Raises StoreCorrupt.
    """
    rows, passages, at = [], [], known
    for start, run in view.vector_runs(info.file, known):
        if start != at:
            break
        rows.append(np.frombuffer(run.rows, "<u4").astype(np.uint32))
        passages.append(np.frombuffer(run.passages, "<u4").astype(np.uint32))
        at += len(rows[-1])
        if limit is not None and at >= known + limit:
            return np.concatenate(rows), np.concatenate(passages)
    if at != info.count:
        raise corrupt(f"runs of vector file {info.file} end at {at}, not at {info.count}")
    return np.concatenate(rows), np.concatenate(passages)


def _live(rows: RowTable, numbers: Numbers) -> NDArray[np.bool_]:
    """Which of *numbers* are live in *rows*."""
    inside = numbers < len(rows.live)
    live: NDArray[np.bool_] = np.zeros(len(numbers), np.bool_)
    live[inside] = rows.live[numbers[inside]]
    return live
