"""What can go wrong, drawn as a tree. A caller catches the level it can do something about.

TwolaneError
 ├─ InvalidInput            the request is wrong; names the field and what to do
 ├─ NotFound                no such row, source or path
 ├─ AlreadyExists           it is there already; says how to use it
 ├─ NothingImported         an import that found nothing; says what was seen
 ├─ Unavailable             try again: the writer is restarting, the daemon is stopping
 ├─ StoreError
 │   ├─ StoreLocked         another process holds the folder; names it
 │   ├─ StoreTooNew         written by a later version; names both
 │   ├─ StoreCorrupt        bytes that do not check out; names ``twolane doctor``
 │   ├─ BackupUnusable      a backup that is not whole, or no backup; names what is wrong
 │   └─ DiskFull            nothing was lost, and it goes on when there is room
 └─ ConfigError             the configuration cannot be used; names the key and its file
"""

from __future__ import annotations


class TwolaneError(Exception):
    """The base of every error that twolane raises on purpose.

    *message* is one sentence that says what to do and holds nothing internal. *reason* is a
    stable word in UPPER_SNAKE for programs; *metadata* repeats each variable of the message.
    """

    reason = "INTERNAL"

    def __init__(self, message: str, *, reason: str | None = None, **metadata: str) -> None:
        super().__init__(message)
        self.message = message
        if reason is not None:
            self.reason = reason
        self.metadata = metadata


class InvalidInput(TwolaneError):
    """A request that cannot be served as it stands. *field* is the request's field path."""

    reason = "INVALID_FIELD"

    def __init__(
        self, field: str, message: str, *, reason: str | None = None, **metadata: str
    ) -> None:
        super().__init__(message, reason=reason, field=field, **metadata)
        self.field = field


class NotFound(TwolaneError):
    """Nothing by that name is kept here."""

    reason = "NOT_FOUND"


class AlreadyExists(TwolaneError):
    """What was to be made is there already."""

    reason = "ALREADY_EXISTS"


class NothingImported(TwolaneError):
    """An import that ended with nothing imported; the message says what was seen instead."""

    reason = "NOTHING_IMPORTED"


class Unavailable(TwolaneError):
    """Waiting helps. *retry_after* is in seconds."""

    reason = "UNAVAILABLE"

    def __init__(
        self, message: str, *, retry_after: float = 1.0, reason: str | None = None
    ) -> None:
        super().__init__(message, reason=reason)
        self.retry_after = retry_after


class StoreError(TwolaneError):
    """The store on disk cannot do what was asked."""

    reason = "STORE_ERROR"


class StoreLocked(StoreError):
    """Another process holds the data folder."""

    reason = "STORE_LOCKED"


class StoreTooNew(StoreError):
    """A later version of twolane wrote the store, and this one cannot read it."""

    reason = "STORE_TOO_NEW"


class StoreCorrupt(StoreError):
    """Stored bytes do not check out."""

    reason = "STORE_CORRUPT"


class BackupUnusable(StoreError):
    """What was to be restored is no backup, or not a whole one."""

    reason = "BACKUP_UNUSABLE"


class DiskFull(StoreError):
    """The disk has no room. What was acknowledged is kept."""

    reason = "DISK_FULL"


class ConfigError(TwolaneError):
    """The configuration file cannot be used."""

    reason = "CONFIG_INVALID"
