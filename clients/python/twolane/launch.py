"""Starting the daemon when nobody answers, once, however many clients ask at the same time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from twolane import errors, paths
from twolane.connection import (
    NeedsRestart,
    Ready,
    Unreachable,
    listening,
    probe,
    require_compatible,
    serving,
)
from twolane.endpoint import Endpoint, socket_path

NO_AUTOSTART = "TWOLANE_NO_AUTOSTART"
"""With this environment variable set to 1, clients never start the daemon by themselves."""

START_TIMEOUT = 30.0
"""Seconds from the start of the process until it must serve; it usually takes less than one."""

START_POLL = 0.03
"""Seconds between looks at a daemon that is starting or stopping."""

LOG_LIMIT = 4 << 20
"""Bytes of the log above which it is put aside when the next daemon starts."""

LOG_TAIL = 8
"""Lines of the log that an error shows."""

CONFIG_EXIT = 78
"""The daemon's exit code for a configuration that it cannot use."""


def autostart_allowed() -> bool:
    """Return whether clients may start the daemon by themselves."""
    return os.environ.get(NO_AUTOSTART) != "1"


def ensure_daemon(
    socket: str | os.PathLike[str] | Endpoint | None = None,
    *,
    autostart: bool = True,
    on_start: Callable[[], None] | None = None,
) -> Ready | NeedsRestart:
    """Return what answers on *socket*; start a daemon first if nobody listens there.

    None is started for an `Endpoint`: whether a daemon has a port, its configuration says.
    *on_start* is called before one is started. Raises DaemonUnavailable, and its StartFailed and
    IncompatibleDaemon.
    """
    if isinstance(socket, Endpoint):
        return require_compatible(probe(socket))
    path = socket_path(socket)
    found = probe(path)
    if isinstance(found, Unreachable) and found.absent and autostart and autostart_allowed():
        return start_daemon(socket, on_start=on_start)
    return require_compatible(found)


def start_daemon(
    socket: str | os.PathLike[str] | None = None,
    *,
    timeout: float = START_TIMEOUT,
    on_start: Callable[[], None] | None = None,
) -> Ready | NeedsRestart:
    """Start the daemon and wait until it serves; if one came up meanwhile, return that one.

    Raises StartFailed with the log's last lines if it does not come up within *timeout* seconds.
    """
    path = socket_path(socket)
    data = data_folder()
    deadline = time.monotonic() + timeout
    with _startup_lock(data / "start.lock", deadline):
        found = probe(path)
        if isinstance(found, Unreachable):
            if not found.absent:
                raise found.error
            if on_start is not None:
                on_start()
            return require_compatible(_launch(socket, path, data, deadline))
        return require_compatible(found)


def data_folder() -> Path:
    """Return the data folder, made private to the user if it was not there. Raises StartFailed."""
    data = paths.data_dir(os.environ).absolute()
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise errors.StartFailed(
            f"The data folder {data} cannot be made: {error.strerror}."
            " Set TWOLANE_DATA to a folder that you can write to.",
            reason="DATA_FOLDER",
        ) from error
    return data


def log_path() -> Path:
    """Return the file that a daemon started by a client writes its log to."""
    return paths.data_dir(os.environ).absolute() / "daemon.log"


def command() -> list[str]:
    """Return the command that runs the daemon with this Python and these packages."""
    # -P: a folder that happens to be the current one must not provide modules.
    return [sys.executable, "-P", "-m", "twolaned.server"]


def environment(socket: str | os.PathLike[str] | None) -> dict[str, str]:
    """Return the environment for the daemon: relative paths made absolute, *socket* passed on."""
    env = dict(os.environ)
    places = {
        "TWOLANE_DATA": paths.data_dir(env),
        "TWOLANE_CONFIG": paths.config_path(env),
        "TWOLANE_SOCKET": socket_path(socket),
    }
    given = {name for name in places if env.get(name)}
    if socket is not None:
        given.add("TWOLANE_SOCKET")
    return env | {name: str(places[name]) for name in given}


def _launch(
    socket: str | os.PathLike[str] | None, path: Path, data: Path, deadline: float
) -> Ready | NeedsRestart:
    log = log_path()
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > LOG_LIMIT:
            log.replace(log.with_suffix(".log.1"))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        begin = os.fstat(out).st_size
        child = subprocess.Popen(
            command(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=data,
            env=environment(socket),
            start_new_session=True,
        )
    finally:
        os.close(out)
    # It is meant to outlive this process; if it ends before, it must not stay as a zombie.
    threading.Thread(target=child.wait, name="twolane-daemon", daemon=True).start()
    while time.monotonic() < deadline:
        if listening(path) and serving(path):
            found = probe(path)
            if not isinstance(found, Unreachable):
                return found
        if child.poll() is not None and not listening(path):
            reason = "CONFIG_INVALID" if child.returncode == CONFIG_EXIT else "START_FAILED"
            sentence = f"The daemon stopped while it was starting ({_end(child)})."
            raise _failed(sentence, log, begin, reason=reason)
        time.sleep(START_POLL)
    raise _failed("The daemon was started but does not serve yet.", log, begin)


@contextlib.contextmanager
def _startup_lock(path: Path, deadline: float) -> Iterator[None]:
    """Hold the lock that whoever starts the daemon holds until it serves."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                    raise
            if time.monotonic() >= deadline:
                raise _failed("Another client is starting the daemon and is not done.", log_path())
            time.sleep(START_POLL)
        yield
    finally:
        os.close(fd)


def _end(child: subprocess.Popen[bytes]) -> str:
    code = child.returncode
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _failed(
    sentence: str, log: Path, begin: int = 0, *, reason: str = "START_FAILED"
) -> errors.StartFailed:
    lines = log_tail(log, begin)
    end = f"Its log {log} ends with:" if lines else f"Its log is {log}."
    return errors.StartFailed(f"{sentence} {end}", reason=reason, log=lines)


def log_tail(log: Path, begin: int = 0) -> list[str]:
    """Return the last lines of *log*, at most `LOG_TAIL`, of what follows byte *begin*."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(begin, end - 16384))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()][-LOG_TAIL:]
