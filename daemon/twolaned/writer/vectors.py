"""The writer's side of the vector spaces: rows appended to files, then published with their count.

A vector counts once the commit that says whose it is is durable. What a crash leaves behind the
committed count is ignored and overwritten (`twolaned.store.vector_file`).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from functools import partial

import msgspec
import numpy as np
from numpy.typing import NDArray

from twolaned.model.embedding import VectorSpace
from twolaned.store import Store
from twolaned.store.change import Change
from twolaned.store.layout import vectors_path
from twolaned.store.manifest import VectorFileInfo, VectorRun
from twolaned.store.vector_file import VectorFile
from twolaned.writer.committer import Committer, Publication

Numbers = NDArray[np.uint32]

LONG_RUN = 65_536
"""Vectors of one run in a file that was written anew."""


@dataclass(slots=True)
class Covered:
    """How many of each row version's passages have a vector in one space, by row number.

    Passages get theirs in order, so the count says which one is next.
    """

    counts: Numbers = field(default_factory=lambda: np.zeros(0, np.uint32))

    def of(self, number: int) -> int:
        """Vectors of the row version *number*."""
        return int(self.counts[number]) if number < len(self.counts) else 0

    def add(self, rows: Numbers) -> None:
        """One more vector for each entry of *rows*."""
        if not len(rows):
            return
        size = int(rows.max()) + 1
        if size > len(self.counts):
            grown = np.zeros(size + size // 4 + 64, np.uint32)
            grown[: len(self.counts)] = self.counts
            self.counts = grown
        np.add.at(self.counts, rows, 1)


@dataclass(slots=True)
class Rewritten:
    """A space's file written anew, not published yet."""

    space: str
    old: str
    new: str
    file: VectorFile
    rows: Numbers
    passages: Numbers


class VectorFiles:
    """The files of all vector spaces. Only for the writer's own thread, but for `rewrite`."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._store: Store = committer.store
        self._files: dict[str, VectorFile] = {}
        self._covered: dict[str, Covered] = {}
        self._remove_strangers()

    @property
    def infos(self) -> dict[str, VectorFileInfo]:
        """The published files by space."""
        return {info.space: info for info in self._committer.manifest.vectors}

    def covered(self, space: VectorSpace) -> Covered:
        """How far the rows are in *space*. Reads all of its runs the first time."""
        name = str(space)
        if name not in self._covered:
            self._covered[name] = Covered()
            info = self.infos.get(name)
            if info is not None:
                self._covered[name].add(rows_of(self._store, info)[0])
        return self._covered[name]

    def append(
        self, space: VectorSpace, rows: Numbers, passages: Numbers, vectors: NDArray[np.float32]
    ) -> int:
        """Make *vectors* of these passages durable and publish them. Returns the generation.

        Raises DiskFull; nothing has changed then.
        """
        file = self._file(space)
        info = self.infos.get(str(space)) or VectorFileInfo(str(space), file.path.name)
        start = file.count
        count = file.append(np.ascontiguousarray(vectors, np.float32))
        run = VectorRun(rows.astype("<u4").tobytes(), passages.astype("<u4").tobytes())
        try:
            generation = self._publish(
                msgspec.structs.replace(info, count=count, complete=False),
                partial(_put_run, file=info.file, start=start, run=run),
            )
        except BaseException:
            file.rewind(start)
            raise
        self.covered_so_far(space, rows)
        return generation

    def covered_so_far(self, space: VectorSpace, rows: Numbers) -> None:
        """Note that *rows* have one more vector each, where the space is being watched."""
        if str(space) in self._covered:
            self._covered[str(space)].add(rows)

    def say(
        self, space: str, *, complete: bool | None = None, retiring: bool | None = None
    ) -> None:
        """Publish what is known of *space*, where that is news."""
        info = self.infos.get(space)
        if info is None:
            return
        new = msgspec.structs.replace(
            info,
            complete=info.complete if complete is None else complete,
            retiring=info.retiring if retiring is None else retiring,
        )
        if new != info:
            self._publish(new)

    def drop(self, space: str) -> None:
        """Take *space* out of the index and remove its file; who has it mapped keeps reading it."""
        info = self.infos[space]
        left = tuple(i for i in self._committer.manifest.vectors if i.space != space)
        drop = partial(_drop_runs, file=info.file)
        self._committer.publish(Publication(vectors=left, amend=[drop]))
        self._close(space)
        self._store.vector_path(info.file).unlink(missing_ok=True)

    def dead(self, info: VectorFileInfo) -> int:
        """How many vectors of *info* belong to rows that are gone."""
        rows, _ = rows_of(self._store, info)
        return int(np.count_nonzero(~live_rows(self._store, rows)))

    def rewrite(self, space: VectorSpace) -> Rewritten:
        """Write the file of *space* anew without the vectors of rows that are gone.

        For a background thread, while nothing is appended to *space*. Raises DiskFull and
        StoreCorrupt; nothing is left then.
        """
        info = self.infos[str(space)]
        rows, passages = rows_of(self._store, info)
        keep = np.flatnonzero(live_rows(self._store, rows))
        name = uuid.uuid4().hex[:16]
        source = VectorFile.open(
            self._store.vector_path(info.file),
            space=info.space,
            dimensions=space.dimensions,
            committed=info.count,
        )
        try:
            file = source.rewrite(self._store.vector_path(name), keep)
        finally:
            source.close()
        return Rewritten(info.space, info.file, name, file, rows[keep], passages[keep])

    def publish_rewritten(self, made: Rewritten) -> None:
        """Switch to the file that `rewrite` made."""
        info = self.infos[made.space]
        new = msgspec.structs.replace(info, file=made.new, count=made.file.count)
        try:
            self._publish(new, partial(_replace_runs, made=made))
        except BaseException:
            made.file.close()
            made.file.path.unlink(missing_ok=True)
            raise
        self._close(made.space)
        self._files[made.space] = made.file
        self._store.vector_path(made.old).unlink(missing_ok=True)

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _publish(self, info: VectorFileInfo, *amend: object) -> int:
        others = tuple(i for i in self._committer.manifest.vectors if i.space != info.space)
        publication = Publication(vectors=(*others, info))
        publication.amend.extend(amend)  # type: ignore[arg-type]
        return self._committer.publish(publication)

    def _file(self, space: VectorSpace) -> VectorFile:
        name = str(space)
        if name not in self._files:
            info = self.infos.get(name)
            if info is None:
                path = self._store.vector_path(uuid.uuid4().hex[:16])
                file = VectorFile.create(path, space=name, dimensions=space.dimensions)
            else:
                file = VectorFile.open(
                    self._store.vector_path(info.file),
                    space=name,
                    dimensions=space.dimensions,
                    committed=info.count,
                )
            self._files[name] = file
        return self._files[name]

    def _close(self, space: str) -> None:
        self._covered.pop(space, None)
        if space in self._files:
            self._files.pop(space).close()

    def _remove_strangers(self) -> None:
        """Remove files that a crash left before their publication or after their removal."""
        known = {info.file for info in self._committer.manifest.vectors}
        for path in vectors_path(self._store.data).iterdir():
            if path.name not in known:
                path.unlink(missing_ok=True)


def rows_of(store: Store, info: VectorFileInfo) -> tuple[Numbers, Numbers]:
    """Whose the committed vectors of *info* are: row numbers and passage indices by position."""
    rows, passages = [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
    with store.view() as view:
        for _, run in view.vector_runs(info.file):
            rows.append(np.frombuffer(run.rows, "<u4").astype(np.uint32))
            passages.append(np.frombuffer(run.passages, "<u4").astype(np.uint32))
    return np.concatenate(rows)[: info.count], np.concatenate(passages)[: info.count]


def live_rows(store: Store, rows: Numbers) -> NDArray[np.bool_]:
    """Which of *rows* are live versions."""
    with store.view() as view:
        return np.isin(rows, np.array(view.numbers(), np.uint32))


def _put_run(change: Change, *, file: str, start: int, run: VectorRun) -> None:
    change.put_vector_run(file, start, run)


def _drop_runs(change: Change, *, file: str) -> None:
    change.drop_vector_runs(file)


def _replace_runs(change: Change, *, made: Rewritten) -> None:
    change.drop_vector_runs(made.old)
    for start in range(0, len(made.rows), LONG_RUN):
        part = slice(start, start + LONG_RUN)
        run = VectorRun(
            made.rows[part].astype("<u4").tobytes(), made.passages[part].astype("<u4").tobytes()
        )
        change.put_vector_run(made.new, start, run)
