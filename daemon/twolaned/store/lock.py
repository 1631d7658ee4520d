"""Advisory locks on files of the data folder: held for life, never deleted, not inherited."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path

from twolaned.model.errors import StoreLocked


class FileLock:
    """An exclusive lock on *path*, released when the process ends however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._read_only = False

    def acquire(self, *, timeout: float = 0.0) -> None:
        """Take the lock, waiting at most *timeout* seconds. Raises StoreLocked."""
        fd = self._open()
        deadline = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                holder = os.pread(fd, 200, 0).decode("utf-8", "replace").strip() or "unknown"
                os.close(fd)
                raise StoreLocked(
                    f"Another twolane process is using this data folder (holder: {holder})."
                    " Stop it with `twolane daemon stop`, or use another folder.",
                    holder=holder,
                ) from None
            self._fd = fd
            return

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as e:
            if e.errno != errno.EROFS:
                raise
            # A disk that may not be written can still be searched, by one daemon at a time.
            self._read_only = True
            return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)

    def describe(self, text: str) -> None:
        """Write who holds the lock into its file, for the next who asks."""
        assert self._fd is not None, "describe() needs the lock"
        if self._read_only:
            return
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text.encode(), 0)

    def release(self) -> None:
        """Give the lock back."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
