"""A backup beside whatever else the writer does."""

from __future__ import annotations

import threading
from pathlib import Path

from twolaned.model.backup import CopyProgress
from twolaned.model.errors import Unavailable
from twolaned.store.backup import write_backup
from twolaned.writer.context import Job, JobContext, TellBackup
from twolaned.writer.protocol import BackedUp, Backup


class _Stopped(Exception):
    """Nobody waits for the backup any more."""


def backup_job(context: JobContext, command: Backup, tell: TellBackup) -> Job:
    """Copy the store to the folder that *command* names, in a thread, where *tell* is called.

    Closing the job ends the copying, which then removes what there was. Raises Unavailable where
    another backup is being made.
    """
    if any(not copying.done() for copying in context.copies):
        raise Unavailable(
            "Another backup is being made. Try again when it is done.",
            retry_after=10.0,
            reason="BACKUP_RUNNING",
        )
    stopped = threading.Event()

    def told(progress: CopyProgress) -> None:
        if stopped.is_set():
            raise _Stopped
        tell(progress)

    copying = context.executor.submit(
        write_backup,
        context.committer.store,
        Path(command.path),
        tell=told,
        config=Path(command.config) if command.config else None,
    )
    context.copies[:] = [copying]
    try:
        yield copying
        return BackedUp(copying.result())
    finally:
        stopped.set()
        copying.cancel()
