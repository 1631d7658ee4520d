"""Exit codes, in one table, and the one function that picks one for an error."""

from __future__ import annotations

from enum import IntEnum

from twolane.errors import DaemonUnavailable, NothingImported, TwolaneError


class ExitCode(IntEnum):
    """How the process ends."""

    OK = 0
    """Done."""
    NOTHING = 1
    """No result, nothing by that name, or a check failed."""
    USAGE = 2
    """The command line or the request is wrong."""
    UNAVAILABLE = 69
    """There is no daemon to talk to."""
    FAILED = 70
    """The daemon failed, or its store is damaged."""
    TRY_AGAIN = 75
    """The same command may work later: the daemon is busy, or the time was up."""
    CONFIG = 78
    """The configuration cannot be used."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""


MEANINGS = {
    ExitCode.OK: "Done.",
    ExitCode.NOTHING: "No result, nothing by that name, or a check failed.",
    ExitCode.USAGE: "The command line or the request is wrong.",
    ExitCode.UNAVAILABLE: "There is no daemon to talk to.",
    ExitCode.FAILED: "The daemon failed, or its store is damaged.",
    ExitCode.TRY_AGAIN: "The same command may work later: the daemon is busy, or time was up.",
    ExitCode.CONFIG: "The configuration cannot be used.",
    ExitCode.INTERRUPTED: "Stopped by Ctrl-C.",
}
"""The table as the documentation shows it."""

_BY_CODE = {
    "INVALID_ARGUMENT": ExitCode.USAGE,
    "OUT_OF_RANGE": ExitCode.USAGE,
    "NOT_FOUND": ExitCode.NOTHING,
    "ALREADY_EXISTS": ExitCode.NOTHING,
    "FAILED_PRECONDITION": ExitCode.NOTHING,
    "PERMISSION_DENIED": ExitCode.NOTHING,
    "UNAUTHENTICATED": ExitCode.NOTHING,
    "UNAVAILABLE": ExitCode.TRY_AGAIN,
    "ABORTED": ExitCode.TRY_AGAIN,
    "RESOURCE_EXHAUSTED": ExitCode.TRY_AGAIN,
    "DEADLINE_EXCEEDED": ExitCode.TRY_AGAIN,
    "CANCELLED": ExitCode.INTERRUPTED,
}


def exit_code(error: TwolaneError) -> ExitCode:
    """Return the exit code for *error*, by its reason first and its gRPC status second."""
    if error.reason == "CONFIG_INVALID":
        return ExitCode.CONFIG
    if isinstance(error, DaemonUnavailable):
        return ExitCode.UNAVAILABLE
    if isinstance(error, NothingImported):
        return ExitCode.NOTHING
    return _BY_CODE.get(error.code, ExitCode.FAILED)
