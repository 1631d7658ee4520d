"""A copy of the whole store at one generation, made while the store is in use.

    FOLDER/manifest.json      what it is a copy of
    FOLDER/SHA256SUMS         the digest of every other file, as `sha256sum -c` reads it
    FOLDER/config.toml        the configuration as it was, where there was one
    FOLDER/store/main         the main environment
    FOLDER/store/segments     the sealed segments of that generation
    FOLDER/store/vectors      the vector files, as far as they counted

It is written beside its place, made durable, and takes its name at the last. A crash leaves a
folder of another name, which the next backup to the same place removes.

One read transaction says what belongs together. Segments and vector files that are replaced in the
meantime stay readable, because they are opened while that transaction is young.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import lmdb

from twolaned.model.backup import BackupReport, CopyProgress
from twolaned.model.embedding import VectorSpace
from twolaned.model.errors import AlreadyExists, DiskFull, InvalidInput, NotFound, StoreCorrupt
from twolaned.store.arrays import sync_folder
from twolaned.store.backup_manifest import CONFIG, FORMAT, BackupManifest, write_sums
from twolaned.store.faults import translated
from twolaned.store.layout import MAIN_MAP_SIZE, main_path, segments_path, vectors_path
from twolaned.store.store import Store, own_version
from twolaned.store.vector_file import committed_bytes, make_durable
from twolaned.store.view import View

CHUNK: Final = 4 << 20
"""Bytes that are copied at a time."""
SPARE: Final = 16 << 20
"""Bytes that a disk must have beyond what the copy is estimated to need."""
_ATTEMPTS = 10
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)

Tell = Callable[[CopyProgress], None]
"""Is told of progress often. What it raises ends the copying, and nothing is left of it."""


class Copying:
    """Counts bytes for *tell* and keeps the digests of files by their paths in *folder*."""

    def __init__(self, folder: Path, total: int, tell: Tell) -> None:
        self.folder = folder
        self.sums: dict[str, str] = {}
        self.size = 0
        self._total = total
        self._tell = tell
        self._done = 0

    def add(self, size: int) -> None:
        """*size* more bytes were copied."""
        self._done += size
        self._tell(CopyProgress(min(self._done, self._total), self._total))

    def copy(self, source: BinaryIO, size: int, target: Path) -> str:
        """Copy *size* bytes to the new file *target*, durable on return; returns their digest."""
        digest = hashlib.sha256()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with target.open("xb") as file:
            left = size
            while left and (chunk := source.read(min(left, CHUNK))):
                file.write(chunk)
                digest.update(chunk)
                left -= len(chunk)
                self.add(len(chunk))
            file.flush()
            make_durable(file.fileno())
        if left:
            raise StoreCorrupt(
                f"The file {target.name} is {left} bytes too short. Run `twolane verify`."
            )
        return self.keep(target, digest.hexdigest())

    def keep(self, path: Path, digest: str) -> str:
        """Count the file at *path*, whose SHA-256 is *digest*."""
        self.sums[path.relative_to(self.folder).as_posix()] = digest
        self.size += path.stat().st_size
        return digest


def write_backup(
    store: Store, target: Path, *, tell: Tell, config: Path | None = None
) -> BackupReport:
    """Copy *store* as it is now to the new folder *target*, with the file *config* as a note.

    On return all of it is durable; a folder *target* never holds less. May run in any thread.
    Raises InvalidInput, NotFound, AlreadyExists and DiskFull, StoreCorrupt where the store cannot
    be read, and whatever *tell* raises; nothing is left then.
    """
    _check_place(store.data, target)
    making = partial_path(target)
    try:
        with translated(target.parent), _writable(target.parent):
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(mode=0o700)
            manifest = _write(store, making, config, tell)
            _take_place(making, target)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    return BackupReport(
        path=str(target),
        generation=manifest.generation,
        created_at=manifest.created_at,
        rows=manifest.rows,
        vectors=manifest.vectors,
        files=manifest.files,
        size=manifest.size,
    )


def partial_path(target: Path) -> Path:
    """Where a backup to *target* is while it is being made."""
    return target.with_name(f".{target.name}.partial")


def _check_place(data: Path, target: Path) -> None:
    resolved, own = target.resolve(), data.resolve()
    if resolved.is_relative_to(own):
        raise InvalidInput(
            "path",
            f"{target} lies in the data folder, whose loss a backup is to outlive. Choose a folder"
            " outside of it, best on another disk.",
            reason="INSIDE_DATA_FOLDER",
        )
    if not target.parent.is_dir():
        raise NotFound(
            f"There is no folder {target.parent} to put the backup in. Make it, or mount its disk.",
            path=str(target.parent),
        )
    if os.path.lexists(target):
        raise AlreadyExists(
            f"{target} exists already. Name a folder that does not, such as"
            f" {target / time.strftime('twolane-%Y-%m-%d')}.",
            path=str(target),
        )


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        if e.errno not in _NOT_ALLOWED:
            raise
        raise InvalidInput(
            "path",
            f"Nothing can be written to {folder}: {e.strerror}. Choose another folder.",
            reason="NOT_WRITABLE",
        ) from e


def _write(store: Store, making: Path, config: Path | None, tell: Tell) -> BackupManifest:
    created = time.time_ns() // 1_000_000
    with ExitStack() as stack:
        view, files = _pinned(store, stack)
        total = view.size() + sum(size for _, size, _ in files)
        require_room(making, total)
        copying = Copying(making, total, tell)
        for source, size, place in files:
            copying.copy(source, size, making / place)
        _copy_main(view, copying)
        segments_path(making).mkdir(mode=0o700, exist_ok=True)
        vectors_path(making).mkdir(mode=0o700, exist_ok=True)
        if config is not None and config.is_file():
            with config.open("rb") as note:
                copying.copy(note, config.stat().st_size, making / CONFIG)
        generation, known = view.generation, view.format
        manifest = BackupManifest(
            format=FORMAT,
            twolane=own_version(),
            created_at=created,
            generation=generation,
            store_format=known.format_version,
            min_reader_version=known.min_reader_version,
            rows=view.count("ids"),
            vectors=sum(info.count for info in view.manifest.vectors),
            files=len(copying.sums) + 2,
            size=copying.size,
        )
    write_sums(making, manifest, copying.sums)
    for folder, _, _ in os.walk(making):
        sync_folder(Path(folder))
    return manifest


def _pinned(store: Store, stack: ExitStack) -> tuple[View, list[tuple[BinaryIO, int, Path]]]:
    """A view, and the files that belong to it: open, with their sizes and places."""
    for _ in range(_ATTEMPTS - 1):
        try:
            with ExitStack() as trial:
                found = _pin(store, trial)
                stack.push(trial.pop_all())
                return found
        except FileNotFoundError:
            continue  # replaced between the view and its opening
    try:
        return _pin(store, stack)
    except FileNotFoundError as e:
        raise StoreCorrupt(
            f"A file of the store is missing: {e.filename}. Run `twolane verify`."
        ) from e


def _pin(store: Store, stack: ExitStack) -> tuple[View, list[tuple[BinaryIO, int, Path]]]:
    view = stack.enter_context(store.view())
    manifest = view.manifest
    paths: list[tuple[Path, int | None]] = [
        (store.segment_path(s.id) / "data.mdb", None) for s in manifest.segments
    ]
    for info in manifest.vectors:
        rows = committed_bytes(info.count, VectorSpace.parse(info.space).dimensions)
        paths.append((store.vector_path(info.file), rows))
    files: list[tuple[BinaryIO, int, Path]] = []
    for path, size in paths:
        file = stack.enter_context(path.open("rb"))
        length = os.fstat(file.fileno()).st_size if size is None else size
        files.append((file, length, path.relative_to(store.data)))
    return view, files


def require_room(folder: Path, needed: int) -> None:
    """Raise DiskFull where the disk of *folder* cannot hold *needed* bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise DiskFull(
            f"The copy needs about {needed + SPARE:,} bytes, and the disk of {folder.parent} has"
            f" {free:,} free. Free some space, or choose another disk.",
            needed=str(needed + SPARE),
            free=str(free),
        )


def _copy_main(view: View, copying: Copying) -> None:
    folder = main_path(copying.folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    env = lmdb.open(
        str(folder),
        map_size=MAIN_MAP_SIZE,
        max_dbs=len(view.tables) + 4,
        mode=0o600,
        lock=False,
        readahead=False,
        sync=False,
    )
    try:
        for name in view.tables:
            table, entries = env.open_db(name.encode()), view.entries(name)
            more = True
            while more:
                # A transaction keeps in memory what it has written.
                some = _Limited(entries)
                with translated(copying.folder), env.begin(write=True, db=table) as txn:
                    txn.cursor().putmulti(some, append=True)
                copying.add(some.size)
                more = not some.ended
        with translated(copying.folder):
            env.sync(True)
    finally:
        env.close()
    path = folder / "data.mdb"
    with path.open("rb") as file:
        copying.keep(path, hashlib.file_digest(file, "sha256").hexdigest())


class _Limited(Iterator[tuple[memoryview, memoryview]]):
    """The next entries of *entries*, about `CHUNK` bytes of them."""

    def __init__(self, entries: Iterator[tuple[memoryview, memoryview]]) -> None:
        self._entries = entries
        self.size = 0
        self.ended = False

    def __next__(self) -> tuple[memoryview, memoryview]:
        if self.size >= CHUNK:
            raise StopIteration
        try:
            key, value = next(self._entries)
        except StopIteration:
            self.ended = True
            raise
        self.size += len(key) + len(value)
        return key, value


def _take_place(making: Path, target: Path) -> None:
    try:
        making.rename(target)
    except OSError as e:
        if e.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise AlreadyExists(
                f"{target} has come to exist in the meantime. Name another folder.",
                path=str(target),
            ) from e
        raise
    sync_folder(target.parent)
