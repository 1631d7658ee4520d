"""Stopping a daemon for good: asked over its socket, and gone when its process is."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from twolane import errors, paths
from twolane.client import Client
from twolane.connection import Unreachable, listening, probe
from twolane.endpoint import socket_path
from twolane.launch import START_POLL

DEFAULT_GRACE = 5.0
"""Seconds that running calls may take to finish."""

STOP_MARGIN = 10.0
"""Seconds beyond the grace for the writer to finish its step and the process to end."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the data folder. *text* is what it wrote into the lock, *pid* is part of that."""

    text: str
    pid: int | None


def lock_holder(lock: Path) -> Holder | None:
    """Return who holds *lock*, or None if it is free or not there. Changes nothing."""
    try:
        fd = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        written = os.pread(fd, 400, 0).decode("utf-8", "replace").splitlines()
        facts = dict(line.partition(" ")[::2] for line in written)
        pid = facts.get("pid", "")
        return Holder(", ".join(written), int(pid) if pid.isdigit() else None)
    else:
        return None
    finally:
        os.close(fd)


def daemon_lock() -> Path:
    """Return the file that the daemon of the data folder locks for life."""
    return paths.daemon_lock_path(paths.data_dir(os.environ))


def stop(
    socket: str | os.PathLike[str] | None = None,
    *,
    grace: float = DEFAULT_GRACE,
    force: bool = False,
) -> int | None:
    """Stop the daemon and wait until its process is gone; return its id, None if none ran.

    With *force* a daemon that holds the data folder but does not answer is sent SIGTERM. Raises
    DaemonUnavailable if it does not answer or does not go.
    """
    path = socket_path(socket)
    found = probe(path)
    if not isinstance(found, Unreachable):
        with Client(path) as client:
            pid = client.shutdown(grace=grace).pid
        _wait(pid, path, grace + STOP_MARGIN)
        return pid
    holder = lock_holder(daemon_lock())
    if holder is None and found.absent:
        return None
    if not force or holder is None or holder.pid is None:
        who = f" ({holder.text})" if holder and holder.text else ""
        raise errors.DaemonUnavailable(
            f"A daemon{who} is there but does not answer on {path}."
            " `twolane daemon stop --force` ends it.",
            reason="DAEMON_NOT_ANSWERING",
        )
    os.kill(holder.pid, signal.SIGTERM)
    _wait(holder.pid, path, grace + STOP_MARGIN)
    return holder.pid


def alive(pid: int) -> bool:
    """Return whether the process *pid* runs; one that only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:  # no /proc here, or gone since
        return not Path("/proc/self").exists()
    return state.rpartition(")")[2].split()[0] not in ("Z", "X")


def _wait(pid: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while alive(pid) or listening(path):
        if time.monotonic() >= deadline:
            raise errors.DaemonUnavailable(
                f"The daemon (process {pid}) was told to stop and is still there after"
                f" {timeout:.0f} s.",
                reason="STILL_STOPPING",
            )
        time.sleep(START_POLL)
