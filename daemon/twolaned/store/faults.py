"""LMDB's errors in the project's own terms."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import lmdb

from twolaned.model.errors import DiskFull, StoreCorrupt, StoreError

_FULL = "The disk is full. Nothing that was acknowledged is lost; free some space and try again."
_CORRUPT = "The store on disk is damaged. Run `twolane doctor` to see what can be repaired."


@contextmanager
def translated() -> Iterator[None]:
    """Raise what LMDB and the file system raise inside as errors of `StoreError`'s tree."""
    try:
        yield
    except (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.InvalidError, lmdb.PanicError) as e:
        raise StoreCorrupt(_CORRUPT) from e
    except (lmdb.DiskError, lmdb.MapFullError) as e:
        raise DiskFull(_FULL) from e
    except lmdb.Error as e:
        if "No space left" in str(e):
            raise DiskFull(_FULL) from e
        raise StoreError(
            "The store could not be read or written. Run `twolane doctor`.", reason="STORE_IO"
        ) from e
    except OSError as e:
        if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFull(_FULL) from e
        raise


def corrupt(what: str) -> StoreCorrupt:
    """The error for stored bytes that do not check out; *what* names them for the log."""
    error = StoreCorrupt(_CORRUPT)
    error.add_note(what)
    return error
