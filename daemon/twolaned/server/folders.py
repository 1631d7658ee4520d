"""Folders that nobody else may look into, and the socket in one of them."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path
from urllib.parse import quote

from twolane import paths
from twolaned.model.errors import ConfigError, StoreLocked

_SOCKET_MODE = 0o600


def private_folder(folder: Path, what: str) -> Path:
    """Make *folder*, called *what*, if it is not there, and return it.

    Raises ConfigError if it cannot be made, or is not the user's own alone.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The folder itself may be a link that the person made; what it points at is judged.
        fault = paths.fault_of_folder(folder.resolve())
    except OSError as e:
        raise ConfigError(
            f"{what} {folder} cannot be made: {e.strerror}. Choose another.", path=str(folder)
        ) from e
    if fault is not None:
        raise ConfigError(
            f"{what} {folder} {fault}. It must be yours alone: run `chmod 700 {folder}`, or choose"
            " another.",
            path=str(folder),
        )
    return folder


def address_of(path: Path) -> str:
    """The gRPC address of the socket at *path*. Addresses are URIs, so it is percent-encoded."""
    return f"unix:{quote(str(path))}"


def clear_socket(path: Path) -> None:
    """Remove the socket that a daemon left at *path* when it was killed.

    Only the holder of the data folder's lock may call this. Raises StoreLocked if somebody
    listens there, ConfigError if something else stands in the way.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise ConfigError(
            f"{path} is where the daemon is to listen, but something else is there. Remove it, or"
            " choose another place with `--socket`.",
            path=str(path),
        )
    if _listens(path):
        raise StoreLocked(
            f"Another daemon, of another data folder, listens on {path}. Stop it, or choose another"
            " place with `--socket`.",
            reason="SOCKET_IN_USE",
            path=str(path),
        )
    path.unlink(missing_ok=True)


def close_off(path: Path) -> tuple[int, int]:
    """Make the socket at *path* the user's own alone; return its device and inode."""
    path.chmod(_SOCKET_MODE)
    found = path.lstat()
    return found.st_dev, found.st_ino


def remove_socket(path: Path, identity: tuple[int, int]) -> None:
    """Remove the socket at *path* if it still is the one of *identity*."""
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if (found.st_dev, found.st_ino) == identity:
            path.unlink()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dial:
        dial.settimeout(1.0)
        try:
            dial.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # it does not answer, but it is not certain that nobody is there
            return True
    return True
