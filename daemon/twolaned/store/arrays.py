"""A sealed bundle of named arrays: an LMDB environment that is written once and never changed.

An array that an `ArrayBundle` hands out points into the mapped file. It must not outlive the
bundle; whoever keeps arrays keeps the bundle too.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lmdb
import msgspec
import numpy as np
from numpy.typing import NDArray

from twolaned.store.faults import corrupt, translated
from twolaned.store.records import Unsealer, seal

_PAGE = 4096
_SMALL = 4096
"""Bytes. LMDB keeps small values inside a page at odd addresses, so these are copied out."""
_DIRECTORY = b"\x00directory"


class ArrayEntry(msgspec.Struct, frozen=True, array_like=True):
    """The dtype (with byte order), shape and CRC-32 of one array."""

    dtype: str
    shape: tuple[int, ...]
    crc: int


_unseal_directory: Unsealer[dict[str, ArrayEntry]] = Unsealer(dict[str, ArrayEntry])


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> int:
    """Write *arrays* as a bundle at *path*, durable on return. Returns its bytes on disk.

    Raises DiskFull, leaving nothing behind.
    """
    path.mkdir(mode=0o700, parents=True)
    try:
        with translated(path.parent):
            _write(path, arrays)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    for folder in (path, path.parent):
        sync_folder(folder)
    return (path / "data.mdb").stat().st_blocks * 512


def _write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    pages = sum(a.nbytes // _PAGE + 4 for a in arrays.values()) + 64
    env = lmdb.open(
        str(path),
        map_size=pages * _PAGE * 2,
        mode=0o600,
        lock=False,
        readahead=False,
        max_dbs=0,
        sync=False,
    )
    try:
        directory = {}
        for name, array in arrays.items():
            data = _bytes_of(array)
            directory[name] = ArrayEntry(array.dtype.str, array.shape, zlib.crc32(data))
            # A transaction each: one for all would hold everything in memory once more.
            with env.begin(write=True) as txn:
                txn.put(name.encode(), data, append=False)
        with env.begin(write=True) as txn:
            txn.put(_DIRECTORY, seal(directory))
        env.sync(True)
    finally:
        env.close()


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def sync_folder(path: Path) -> None:
    """Make the names inside *path* durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class ArrayBundle:
    """Read access to a bundle, zero-copy for all but the smallest arrays."""

    def __init__(self, path: Path) -> None:
        """Open the bundle at *path*. Raises StoreCorrupt where it is not whole."""
        self.path = path
        try:
            size = (path / "data.mdb").stat().st_size
        except OSError as e:
            raise corrupt(f"segment {path.name} is missing") from e
        if size < _PAGE:
            raise corrupt(f"segment {path.name} is cut off at {size} bytes")
        with translated():
            self._env = lmdb.open(
                str(path),
                map_size=max(size, 1 << 20),
                readonly=True,
                lock=False,
                readahead=False,
                max_dbs=0,
            )
            self._txn = self._env.begin(buffers=True)
            head = self._txn.get(_DIRECTORY)
        if head is None:
            raise corrupt(f"segment {path.name} has no directory")
        self._directory = _unseal_directory(head)
        self.arrays: Mapping[str, NDArray[Any]] = {n: self._open(n) for n in self._directory}

    def _open(self, name: str) -> NDArray[Any]:
        entry = self._directory[name]
        dtype = np.dtype(entry.dtype)
        data = self._txn.get(name.encode())
        if data is None or len(data) != dtype.itemsize * int(np.prod(entry.shape, dtype=np.int64)):
            raise corrupt(f"array {name} of segment {self.path.name}")
        array = np.frombuffer(data, dtype).reshape(entry.shape)
        if array.nbytes < _SMALL:
            array = array.copy()
            array.flags.writeable = False
        return array

    def damaged(self) -> list[str]:
        """The names of arrays whose bytes do not match their checksum. Reads everything."""
        return [
            name
            for name, array in self.arrays.items()
            if zlib.crc32(_bytes_of(array)) != self._directory[name].crc
        ]

    def close(self) -> None:
        """Unmap the file. No array of this bundle may be used afterwards."""
        self.arrays = {}
        self._txn.abort()
        self._env.close()
