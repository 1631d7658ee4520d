"""Where uploaded bytes wait for the writer."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import FileIO
from pathlib import Path

from twolaned.model.errors import DiskFull

_PREFIX = "upload-"


class SpoolFile:
    """A file that is being received. Only its owner may read it."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self.path = path
        self._file = file

    async def write(self, chunk: bytes) -> None:
        """Add *chunk*. Raises DiskFull."""
        with _translated():
            await asyncio.to_thread(_write_all, self._file, chunk)

    async def finish(self) -> None:
        """Close the file: all is there. Raises DiskFull."""
        with _translated():
            await asyncio.to_thread(self._file.close)

    def abandon(self) -> None:
        """Close the file if it is open still; what it holds does not matter any more."""
        with contextlib.suppress(OSError):
            self._file.close()


class SpoolFolder:
    """The folder *path*, which exists. What a crash left there is removed at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        for left in path.glob(f"{_PREFIX}*"):
            left.unlink(missing_ok=True)

    @asynccontextmanager
    async def receive(self, size: int) -> AsyncIterator[SpoolFile]:
        """Open a new file for about *size* bytes, 0 if not known; it is removed at the end.

        Raises DiskFull where there is no room for *size* bytes.
        """
        free = os.statvfs(self._path)
        if size > free.f_bavail * free.f_frsize:
            raise _full()
        with _translated():
            descriptor, name = tempfile.mkstemp(prefix=_PREFIX, dir=self._path)
        file = SpoolFile(Path(name), FileIO(descriptor, "wb"))
        try:
            yield file
        finally:
            file.path.unlink(missing_ok=True)
            file.abandon()


def _write_all(file: FileIO, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        written = file.write(rest)
        assert written is not None, "a file never has to wait"
        rest = rest[written:]


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as e:
        if e.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full() from e
        raise


def _full() -> DiskFull:
    return DiskFull(
        "The disk of the data folder has no room for the uploaded file. Nothing that was stored is"
        " lost. Free some space and try again, or give the file's path instead of its bytes."
    )
