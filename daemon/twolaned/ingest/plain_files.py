"""Reading a file that may be anything, without waiting for it and without following a link."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from twolaned.ingest.decoding import HEAD_BYTES, is_binary

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reading of a file gave. *status* is the file's state behind the reading."""

    data: bytes
    status: os.stat_result
    steady: bool
    """Whether the file stayed as it was meanwhile."""


def read_plain(file: str, limit: int) -> Reading:
    """The first *limit* bytes of *file* and one more; of bytes that are no text only the head.

    Raises OSError where *file* cannot be read or is a link, a pipe or anything but a plain file.
    """
    descriptor = os.open(file, _OPEN)
    with os.fdopen(descriptor, "rb") as stream:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError("no plain file")
        data = stream.read(min(limit + 1, HEAD_BYTES))
        if not is_binary(data):
            data += stream.read(limit + 1 - len(data))
        after = os.fstat(descriptor)
    steady = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return Reading(data, after, steady)


def rule_lines(file: Path, limit: int = 1 << 20) -> list[str]:
    """The lines of a file of rules, as git splits them; none where it cannot be read."""
    try:
        data = read_plain(str(file), limit).data
    except OSError:  # no such file, or none that says anything
        return []
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
