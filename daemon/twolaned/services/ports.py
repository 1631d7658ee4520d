"""What the services need from the process that they run in."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from twolaned.services.daemon_status import DaemonStatus
from twolaned.writer.protocol import (
    AddSource,
    Backup,
    Compact,
    Delete,
    Done,
    ForgetFeedback,
    ImportPath,
    LogFeedback,
    Progress,
    RemoveSource,
    Rollback,
    Save,
    ScanSources,
)

Command = (
    Save
    | ImportPath
    | AddSource
    | RemoveSource
    | ScanSources
    | Delete
    | Compact
    | Rollback
    | LogFeedback
    | ForgetFeedback
    | Backup
)


class Writer(Protocol):
    """The one who writes. Both raise what the command failed with, and Unavailable."""

    async def call(self, command: Command) -> Done:
        """Run *command*; on return a search sees what it did."""

    def stream(self, command: Command) -> AsyncGenerator[Progress | Done, None]:
        """Run *command* and yield its progress, then its end, as `call` returns it.

        Closing the generator before the end cancels the command.
        """


class Upload(Protocol):
    """A file that is being received."""

    path: Path

    async def write(self, chunk: bytes) -> None:
        """Add *chunk*. Raises DiskFull."""

    async def finish(self) -> None:
        """Close the file: all is there. Raises DiskFull."""


class Spool(Protocol):
    """Where uploaded bytes wait for the writer."""

    def receive(self, size: int) -> AbstractAsyncContextManager[Upload]:
        """Open a new file for about *size* bytes, 0 if not known; it is removed at the end.

        Raises DiskFull where there is no room for *size* bytes.
        """


class Daemon(Protocol):
    """The process."""

    async def status(self) -> DaemonStatus:
        """How it is."""

    def shut_down(self, grace: float) -> int:
        """Begin to stop, letting calls finish for *grace* seconds; return the process id."""
