"""A data folder made from a backup, where no daemon runs."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from twolane.render import to_json
from twolaned.model.backup import CopyProgress
from twolaned.model.errors import TwolaneError
from twolaned.server import process
from twolaned.server.folders import private_folder
from twolaned.server.holder import take_lock
from twolaned.server.interceptors.statuses import code_of
from twolaned.services.convert_backup import backup_to_proto, copy_progress_to_proto
from twolaned.store.layout import writer_lock_path
from twolaned.store.lock import FileLock
from twolaned.store.restore import restore

TELL_EVERY = 0.1
"""Seconds."""


def restore_and_tell(backup: Path, data: Path) -> int:
    """Make *data* from *backup*, telling of it on standard output in lines of JSON.

    Each is a `BackupResponse`, or the error that it ended with. Returns the exit status.
    """
    is_new = not data.exists()
    try:
        private_folder(data, "The folder")
        lock = take_lock(data, process.version(), "")
        try:
            writers = FileLock(writer_lock_path(data))
            writers.acquire()
            try:
                done = restore(backup, data, tell=_teller())
            finally:
                writers.release()
        finally:
            lock.release()
    except TwolaneError as e:
        if is_new:
            shutil.rmtree(data, ignore_errors=True)
        error = {"code": code_of(e).name, "reason": e.reason, "message": e.message}
        _print(json.dumps({"error": error}))
        return 1
    _print(to_json(backup_to_proto(done)))
    return 0


def _teller() -> Callable[[CopyProgress], None]:
    due = 0.0

    def tell(progress: CopyProgress) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + TELL_EVERY
            _print(to_json(copy_progress_to_proto(progress)))

    return tell


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
