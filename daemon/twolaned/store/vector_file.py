"""Float32 rows of one vector space in one append-only file.

A header page, then rows of *dimensions* little-endian float32 numbers, each followed by its CRC-32.
How many rows count is not in the file: the caller keeps that number in the main environment.

1. `VectorFile.append` writes rows and makes them durable.
2. The caller commits the new count together with what the rows mean.

A crash between the two leaves rows past the committed count. They are ignored, and the next append
overwrites them. The file is filled with zeros ahead of its rows, because making rows durable that
also make a file longer costs milliseconds, and it is never shortened, because a reader's map of a
page that is gone kills the reader.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import struct
import sys
import zlib
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twolaned.model.errors import StoreTooNew
from twolaned.store.arrays import sync_folder
from twolaned.store.faults import corrupt, translated

PAGE: Final = 4096
"""Bytes of the header."""
VERSION: Final = 1
MAX_DIMENSIONS: Final = 65_536
MAX_SPACE: Final = 512
"""Bytes of a space's id in UTF-8."""

SMALLEST_STEP: Final = 1 << 20
LARGEST_STEP: Final = 1 << 24
"""Bytes by which the file grows: an eighth of it between these two."""

_MAGIC = b"TLVECTOR"
_HEAD = struct.Struct("<8sIIH")
_CRC = struct.Struct("<I")
_COPIED = 1 << 23
"""Bytes that `VectorFile.rewrite` copies at a time."""

Vectors = NDArray[np.float32]


class VectorFile:
    """The writer's side. There is one writer, which holds the writer's lock."""

    def __init__(self, path: Path, fd: int, space: str, dimensions: int, count: int) -> None:
        self.path = path
        self.space = space
        self.dimensions = dimensions
        self.count = count
        """Rows that are durable. The caller's committed count follows it."""
        self._fd = fd

    @classmethod
    def create(cls, path: Path, *, space: str, dimensions: int) -> VectorFile:
        """Make an empty file for the vector space *space*, durable on return.

        Raises DiskFull, leaving nothing behind, and FileExistsError.
        """
        page = _header(space, dimensions)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with translated():
                _write(fd, page, 0)
                make_durable(fd)
            sync_folder(path.parent)
        except BaseException:
            os.close(fd)
            path.unlink()
            raise
        return cls(path, fd, space, dimensions, 0)

    @classmethod
    def open(cls, path: Path, *, space: str, dimensions: int, committed: int) -> VectorFile:
        """Open a file of which the first *committed* rows count.

        Raises StoreCorrupt where it is missing, cut off or of another space, and StoreTooNew.
        """
        fd = _open(path, os.O_RDWR, space, dimensions)
        if os.fstat(fd).st_size < committed_bytes(committed, dimensions):
            os.close(fd)
            raise corrupt(f"vector file {path.name} has fewer than {committed} rows")
        return cls(path, fd, space, dimensions, committed)

    def append(self, vectors: Vectors) -> int:
        """Write *vectors* (float32 [n, dimensions]) behind the last row, durable on return.

        Returns the count to commit. Raises DiskFull; the rows until then are as they were.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self.dimensions:
            raise ValueError(f"expected rows of {self.dimensions} numbers, got {vectors.shape}")
        records = _records(vectors, self.count)
        with translated():
            self._reserve(self.count + len(vectors))
            _write(self._fd, records, committed_bytes(self.count, self.dimensions))
            make_durable(self._fd)
        self.count += len(vectors)
        return self.count

    def rewind(self, count: int) -> None:
        """Go back to the first *count* rows, because the commit of those behind them failed."""
        if not 0 <= count <= self.count:
            raise ValueError(f"cannot go back from {self.count} rows to {count}")
        self.count = count

    def rewrite(self, path: Path, keep: NDArray[np.intp]) -> VectorFile:
        """Make a file at *path* with just the rows *keep* (row positions), in that order.

        It is durable on return, and this file stays as it is for those who read it. Raises
        StoreCorrupt where a kept row's checksum does not hold, and DiskFull; then nothing is left
        at *path*.
        """
        source = VectorMap(self.path, space=self.space, dimensions=self.dimensions)
        new = VectorFile.create(path, space=self.space, dimensions=self.dimensions)
        try:
            step = max(1, _COPIED // (4 * self.dimensions))
            for start in range(0, len(keep), step):
                new.append(source.checked(keep[start : start + step], self.count))
        except BaseException:
            new.close()
            path.unlink()
            raise
        finally:
            source.close()
        return new

    def _reserve(self, rows: int) -> None:
        """Fill the file with zeros up to and beyond the place of *rows* rows."""
        size, needed = os.fstat(self._fd).st_size, committed_bytes(rows, self.dimensions)
        if needed <= size:
            return
        step = min(max(size // 8, SMALLEST_STEP), LARGEST_STEP)
        disk = os.fstatvfs(self._fd)
        room = disk.f_bavail * disk.f_frsize - (needed - size)
        # Zeros must not take the last of the disk from those who have something to store.
        if room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        ahead = step if room > 4 * step else 0
        end = -(-(needed + ahead) // PAGE) * PAGE
        zeros = bytes(min(end - size, SMALLEST_STEP))
        while size < end:
            _write(self._fd, zeros[: end - size], size)
            size = min(end, size + len(zeros))

    def close(self) -> None:
        """Close the file. Maps of it stay valid."""
        os.close(self._fd)


class VectorMap:
    """A reader's side: committed rows as arrays that point into the mapped file.

    An array stays valid for as long as it is held, whatever happens to the map or the file's name.
    """

    def __init__(self, path: Path, *, space: str, dimensions: int) -> None:
        """Open the file at *path*. Raises StoreCorrupt and StoreTooNew."""
        self.path = path
        self.dimensions = dimensions
        self._fd = _open(path, os.O_RDONLY, space, dimensions)
        self._map: mmap.mmap | None = None

    def rows(self, count: int) -> Vectors:
        """The first *count* rows, read-only; *count* must be committed.

        float32 [count, dimensions]; the rows lie a few bytes apart. Raises StoreCorrupt where the
        file is shorter.
        """
        records = self._records(count)
        vectors = records[:, : self.dimensions]
        vectors.flags.writeable = False
        return vectors

    def checked(self, positions: NDArray[np.intp], count: int) -> Vectors:
        """A copy of the rows at *positions*. Raises StoreCorrupt where a checksum fails."""
        records = self._records(count)[positions]
        for record, position in zip(records, positions.tolist(), strict=True):
            if not _is_whole(record, position):
                raise corrupt(f"row {position} of vector file {self.path.name}")
        return records[:, : self.dimensions]

    def damaged(self, count: int) -> list[int]:
        """The positions among the first *count* rows whose checksum fails. Reads everything."""
        return [i for i, record in enumerate(self._records(count)) if not _is_whole(record, i)]

    def warm(self, count: int) -> None:
        """Ask the system to read the first *count* rows into its cache, without waiting for it."""
        self._records(count)
        if self._map is not None and hasattr(mmap, "MADV_WILLNEED"):
            self._map.madvise(mmap.MADV_WILLNEED, 0, committed_bytes(count, self.dimensions))

    def _records(self, count: int) -> Vectors:
        end = committed_bytes(count, self.dimensions)
        if self._map is None or len(self._map) < end:
            size = os.fstat(self._fd).st_size
            if size < end:
                raise corrupt(f"vector file {self.path.name} has fewer than {count} rows")
            self._map = mmap.mmap(self._fd, size, access=mmap.ACCESS_READ)
        width = self.dimensions + 1
        numbers = np.frombuffer(self._map, "<f4", count * width, PAGE)
        return numbers.reshape(count, width)

    def close(self) -> None:
        """Let go of the file. Arrays that are still held stay valid."""
        os.close(self._fd)
        self._map = None


def committed_bytes(count: int, dimensions: int) -> int:
    """Bytes of a file up to the end of its first *count* rows."""
    return PAGE + count * (dimensions + 1) * 4


def _records(vectors: Vectors, start: int) -> memoryview:
    """*vectors* as they are laid down at the row positions from *start* on."""
    records = np.empty((len(vectors), vectors.shape[1] + 1), "<f4")
    records[:, :-1] = vectors
    checksums = [_checksum(record, start + i) for i, record in enumerate(records)]
    records.view("<u4")[:, -1] = checksums
    return records.reshape(-1).view(np.uint8).data


def _checksum(record: Vectors, position: int) -> int:
    """Covers the row's place too, so that a row which lies where another belongs is damage."""
    return zlib.crc32(record[:-1].data, position & 0xFFFFFFFF)


def _is_whole(record: Vectors, position: int) -> bool:
    return bool(_checksum(record, position) == record.view("<u4")[-1])


def _header(space: str, dimensions: int) -> bytes:
    name = space.encode()
    if not 0 < dimensions <= MAX_DIMENSIONS or not 0 < len(name) <= MAX_SPACE:
        raise ValueError(f"not a vector space: {space!r} of {dimensions} dimensions")
    page = _HEAD.pack(_MAGIC, VERSION, dimensions, len(name)) + name
    page = page.ljust(PAGE - _CRC.size, b"\0")
    return page + _CRC.pack(zlib.crc32(page))


def _open(path: Path, flags: int, space: str, dimensions: int) -> int:
    try:
        fd = os.open(path, flags | os.O_CLOEXEC)
    except FileNotFoundError as e:
        raise corrupt(f"vector file {path.name} is missing") from e
    try:
        _check_header(os.pread(fd, PAGE, 0), path.name, space, dimensions)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check_header(page: bytes, name: str, space: str, dimensions: int) -> None:
    if len(page) < PAGE or zlib.crc32(page[: -_CRC.size]) != _CRC.unpack(page[-_CRC.size :])[0]:
        raise corrupt(f"header of vector file {name}")
    magic, version, width, length = _HEAD.unpack_from(page)
    if magic == _MAGIC and version > VERSION:
        raise StoreTooNew(
            f"A later twolane wrote the vectors (format {version}); this one reads up to format"
            f" {VERSION}. Upgrade twolane to use them.",
            format=str(version),
            readable=str(VERSION),
        )
    found = page[_HEAD.size : _HEAD.size + length]
    if (magic, width, found) != (_MAGIC, dimensions, space.encode()):
        raise corrupt(f"vector file {name} is of another space")


def _write(fd: int, data: bytes | memoryview, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written


def make_durable(fd: int) -> None:
    """Make the bytes of the open file *fd* outlive a power cut."""
    if sys.platform == "darwin":  # fsync there does not reach the disk itself
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)
