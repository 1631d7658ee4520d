"""LMDB's errors in the project's own terms."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lmdb

from twolaned.model.errors import DiskFull, StoreCorrupt, StoreError

_FULL = "The disk is full. Nothing that was acknowledged is lost; free some space and try again."
_CORRUPT = "The store on disk is damaged. Run `twolane doctor` to see what can be repaired."


_NEARLY_FULL = 4 << 20
"""Bytes. With less room than this a write that broke off broke off for want of it."""


@contextmanager
def translated(place: Path | None = None) -> Iterator[None]:
    """Raise what LMDB and the file system raise inside as errors of `StoreError`'s tree.

    *place* is a folder on the disk that is written to.
    """
    try:
        yield
    except (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.InvalidError, lmdb.PanicError) as e:
        raise StoreCorrupt(_CORRUPT) from e
    except (lmdb.DiskError, lmdb.MapFullError) as e:
        raise DiskFull(_FULL) from e
    except lmdb.Error as e:
        # LMDB takes a write that stopped half-way, as on a disk that fills up, for a broken disk.
        broke_off = "Input/output error" in str(e) and place is not None and _is_full(place)
        if broke_off or "No space left" in str(e):
            raise DiskFull(_FULL) from e
        raise StoreError(
            "The store could not be read or written. Run `twolane doctor`.", reason="STORE_IO"
        ) from e
    except OSError as e:
        if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFull(_FULL) from e
        raise


def _is_full(place: Path) -> bool:
    try:
        disk = os.statvfs(place)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _NEARLY_FULL


def corrupt(what: str) -> StoreCorrupt:
    """The error for stored bytes that do not check out; *what* names them for the log."""
    error = StoreCorrupt(_CORRUPT)
    error.add_note(what)
    return error
