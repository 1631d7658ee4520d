"""The main environment: opened by every process, written by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import lmdb

from twolaned.model.errors import StoreCorrupt, StoreTooNew
from twolaned.store.change import Change
from twolaned.store.faults import translated
from twolaned.store.fresh_terms import FreshTermsCache
from twolaned.store.layout import (
    FORMAT_VERSION,
    MAIN_MAP_SIZE,
    MAX_READERS,
    MIN_READER_VERSION,
    TABLES,
    main_path,
    segments_path,
    spool_path,
    vectors_path,
)
from twolaned.store.manifest import Manifest
from twolaned.store.records import FormatRecord, seal, unseal_format
from twolaned.store.scrub import clear_gaps
from twolaned.store.view import View


class Store:
    """The store of one data folder.

    One `Store` a process: LMDB must not be opened twice by one. Reading is safe from any thread;
    only the process that holds the writer's lock calls `change`.
    """

    def __init__(self, data: Path, env: lmdb.Environment) -> None:
        self.data = data
        self._env = env
        self._fresh = FreshTermsCache()
        self._tables = {name: env.open_db(name.encode(), create=False) for name in TABLES}

    @classmethod
    def open(cls, data: Path, *, write: bool = False) -> Store:
        """Open the store below the folder *data*, making it where there is none.

        Raises StoreTooNew where a later version wrote it, StoreCorrupt where it does not check
        out, and DiskFull.
        """
        for folder in (
            main_path(data),
            segments_path(data),
            vectors_path(data),
            spool_path(data),
        ):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (main_path(data) / "data.mdb").exists():
            _create(data)
        with translated():
            env = _open_environment(data, readonly=not write)
            _check_format(env)
            env.reader_check()
            try:
                return cls(data, env)
            except (lmdb.ReadonlyError, lmdb.NotFoundError) as e:
                env.close()
                raise StoreCorrupt(
                    "The store on disk is not whole. Run `twolane doctor` to see what can be done."
                ) from e

    @contextmanager
    def view(self) -> Iterator[View]:
        """One read transaction: everything read through it is of one generation."""
        with translated(), self._env.begin(buffers=True) as txn:
            yield View(txn, self._tables, self._fresh)

    @contextmanager
    def change(self) -> Iterator[Change]:
        """One write transaction, durable when the block ends without an error.

        Raises DiskFull; the store is then as it was before.
        """
        with translated(self.data), self._env.begin(write=True) as txn:
            yield Change(txn, self._tables)

    def segment_path(self, segment: str) -> Path:
        """The folder of the sealed segment *segment*."""
        return segments_path(self.data) / segment

    def vector_path(self, file: str) -> Path:
        """The file of vectors *file*."""
        return vectors_path(self.data) / file

    def disk_bytes(self) -> int:
        """Bytes that the store takes on disk."""
        files = [
            main_path(self.data) / "data.mdb",
            *segments_path(self.data).glob("*/data.mdb"),
            *vectors_path(self.data).glob("*"),
        ]
        total = 0
        for file in files:
            try:
                total += file.stat().st_blocks * 512
            except FileNotFoundError:  # a merge unlinks segments at any time
                continue
        return total

    def pages(self) -> int:
        """Pages of the main environment's file, used or free."""
        return int(self._env.info()["last_pgno"]) + 1

    def clear_gaps(self) -> None:
        """Clear what was left inside pages; see `twolaned.store.scrub`."""
        clear_gaps(main_path(self.data) / "data.mdb", int(self._env.stat()["psize"]))

    def close(self) -> None:
        """Close the environment; no view may be open."""
        self._env.close()


def _open_environment(data: Path, *, readonly: bool) -> lmdb.Environment:
    return lmdb.open(
        str(main_path(data)),
        map_size=MAIN_MAP_SIZE,
        max_dbs=len(TABLES) + 4,
        max_readers=MAX_READERS,
        readonly=readonly,
        mode=0o600,
        readahead=False,
    )


def _create(data: Path) -> None:
    """Make an empty store. A crash before its one commit leaves a file that is made anew."""
    with translated():
        env = _open_environment(data, readonly=False)
        try:
            tables = {name: env.open_db(name.encode()) for name in TABLES}
            with env.begin(write=True) as txn:
                if txn.get(b"format", db=tables["meta"]) is None:
                    record = FormatRecord(FORMAT_VERSION, MIN_READER_VERSION, own_version())
                    txn.put(b"format", seal(record), db=tables["meta"])
                    txn.put(b"manifest", seal(Manifest()), db=tables["meta"])
        finally:
            env.close()
    fd = os.open(main_path(data), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _check_format(env: lmdb.Environment) -> None:
    try:
        meta = env.open_db(b"meta", create=False)
    except (lmdb.ReadonlyError, lmdb.NotFoundError):
        return
    with env.begin(buffers=True) as txn:
        data = txn.get(b"format", db=meta)
        if data is None:
            return
        found = unseal_format(data)
    if found.min_reader_version > FORMAT_VERSION:
        env.close()
        raise StoreTooNew(
            f"This store was written by twolane {found.written_by} (format"
            f" {found.format_version}); this is twolane {own_version()}, which reads up to format"
            f" {FORMAT_VERSION}. Upgrade twolane to use it.",
            written_by=found.written_by,
            store_format=str(found.format_version),
            own_format=str(FORMAT_VERSION),
        )


def own_version() -> str:
    """The version of twolane that runs."""
    try:
        return version("twolane")
    except PackageNotFoundError:
        return "unknown"
