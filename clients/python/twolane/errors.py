"""What a call can end with, drawn as a tree. Catch the level that you can do something about.

TwolaneError
 ├─ InvalidRequest          the request is wrong; `violations` name the fields
 │   └─ NothingImported     an import that found nothing; the message says what was seen
 ├─ NotFound                no such row, source or path
 ├─ AlreadyExists           it is there already
 ├─ Refused                 the daemon's state does not allow it
 │   └─ ConfigError         the configuration cannot be used
 ├─ TryAgain                waiting helps; `retry_after` may say how long
 │   └─ DeadlineExceeded    the call's time was up
 ├─ DaemonUnavailable       nobody answers on the socket
 │   ├─ StartFailed         it was started and did not come up; `log` holds its last lines
 │   └─ IncompatibleDaemon  the running daemon speaks another protocol
 ├─ Cancelled               the caller gave up
 └─ DaemonFailed            the daemon's own fault; its log knows more
     └─ StoreDamaged        stored bytes do not check out
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One field of a request that cannot be served as it stands, and why."""

    field: str
    description: str


class TwolaneError(Exception):
    """The base of every error that this package raises on purpose.

    *code* is the gRPC status code's name, such as ``NOT_FOUND``. *reason* is a stable word in
    UPPER_SNAKE for programs, and *metadata* holds the variables of *message*. *retry_after* is in
    seconds, or None where waiting is not known to help. *request_id* finds the call in the
    daemon's log; it is empty if the call never got there.
    """

    code = "UNKNOWN"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[Violation] = (),
        retry_after: float | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        self.reason = reason or self.code
        self.metadata = dict(metadata or {})
        self.violations = tuple(violations)
        self.retry_after = retry_after
        self.request_id = request_id


class InvalidRequest(TwolaneError):
    """The request cannot be served as it stands."""

    code = "INVALID_ARGUMENT"


class NothingImported(InvalidRequest):
    """An import that ended with nothing imported."""


class NotFound(TwolaneError):
    """Nothing by that name is kept here."""

    code = "NOT_FOUND"


class AlreadyExists(TwolaneError):
    """What was to be made is there already."""

    code = "ALREADY_EXISTS"


class Refused(TwolaneError):
    """The daemon's state or rights do not allow it."""

    code = "FAILED_PRECONDITION"


class ConfigError(Refused):
    """The configuration file cannot be used."""


class TryAgain(TwolaneError):
    """The daemon is busy, restarting its writer or out of room: the same call may work later."""

    code = "UNAVAILABLE"


class DeadlineExceeded(TryAgain):
    """The call's time was up before it had finished."""

    code = "DEADLINE_EXCEEDED"


class DaemonUnavailable(TwolaneError):
    """Nobody answers on the socket."""

    code = "UNAVAILABLE"


class StartFailed(DaemonUnavailable):
    """The daemon was started and did not come up. *log* holds the last lines that it wrote."""

    def __init__(self, message: str, *, reason: str, log: Sequence[str] = ()) -> None:
        super().__init__(message, reason=reason)
        self.log = tuple(log)


class IncompatibleDaemon(DaemonUnavailable):
    """The running daemon speaks another protocol than this client."""

    code = "FAILED_PRECONDITION"


class Cancelled(TwolaneError):
    """The caller gave up."""

    code = "CANCELLED"


class DaemonFailed(TwolaneError):
    """The daemon's own fault."""

    code = "INTERNAL"


class StoreDamaged(DaemonFailed):
    """Stored bytes do not check out."""

    code = "DATA_LOSS"
