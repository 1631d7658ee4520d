"""Where everything of one user lies on this machine. No other module spells a path out.

Every function takes the environment as a mapping, so that the daemon, its clients and a test with
an environment of its own all come to the same answer.

* data: ``$TWOLANE_DATA``, else the user's data folder for twolane
* configuration: ``$TWOLANE_CONFIG``, else ``config.toml`` in the user's configuration folder
* socket: ``$TWOLANE_SOCKET``; else, for the default data folder,
  ``$XDG_RUNTIME_DIR/twolane/twolane.sock``; else ``run/twolane.sock`` in the data folder. Another
  data folder has a socket of its own, so that two daemons never share one.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

Environment = Mapping[str, str]

MAX_SOCKET_BYTES = 103
"""Bytes of the longest path that a Unix socket may have on every system that is supported."""

_NAME = "twolane"
_SOCKET = "twolane.sock"
_MAC = "darwin"


def data_dir(env: Environment, *, platform: str = sys.platform) -> Path:
    """Return the data folder. It may not exist."""
    given = env.get("TWOLANE_DATA")
    return _expanded(given, env) if given else _default_data_dir(env, platform)


def config_path(env: Environment, *, platform: str = sys.platform) -> Path:
    """Return the configuration file. It may not exist."""
    given = env.get("TWOLANE_CONFIG")
    if given:
        return _expanded(given, env)
    if platform == _MAC:
        return _application_support(env) / "config.toml"
    return (_xdg(env, "XDG_CONFIG_HOME") or _home(env) / ".config") / _NAME / "config.toml"


def socket_path(env: Environment, *, platform: str = sys.platform) -> Path:
    """Return where the daemon of this environment listens, short enough for a socket."""
    given = env.get("TWOLANE_SOCKET")
    if given:
        return fitting(_expanded(given, env), env)
    data = data_dir(env, platform=platform)
    runtime = _xdg(env, "XDG_RUNTIME_DIR")
    if runtime is not None and data == _default_data_dir(env, platform):
        return fitting(runtime / _NAME / _SOCKET, env)
    return fitting(data / "run" / _SOCKET, env)


def fitting(socket: Path, env: Environment) -> Path:
    """Return *socket* itself if a socket may have this path, else its short stand-in.

    The stand-in has a name made from the long path and lies in a folder that must be private to
    the user: whoever uses it checks that with `fault_of_folder`.
    """
    if _fits(socket):
        return socket
    name = hashlib.sha256(os.fsencode(socket)).hexdigest()[:16] + ".sock"
    runtime = _xdg(env, "XDG_RUNTIME_DIR")
    if runtime is not None and _fits(runtime / _NAME / name):
        return runtime / _NAME / name
    return Path("/tmp") / f"{_NAME}-{os.getuid()}" / name  # noqa: S108  checked before it is used


def fault_of_folder(folder: Path) -> str | None:
    """Return why *folder* is not private to this user, as a clause, or None if it is.

    Raises FileNotFoundError if there is nothing by that name.
    """
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder"
    if found.st_uid != os.getuid():
        return "belongs to another user"
    if stat.S_IMODE(found.st_mode) & 0o077:
        return "is open to other users"
    return None


def token_path(env: Environment) -> Path:
    """Return where the daemon keeps its token for TCP, unless the configuration says otherwise."""
    return data_dir(env) / "token"


def daemon_lock_path(data: Path) -> Path:
    """Return the lock that the daemon of the data folder *data* holds while it lives."""
    return data / "daemon.lock"


def _default_data_dir(env: Environment, platform: str) -> Path:
    if platform == _MAC:
        return _application_support(env)
    return (_xdg(env, "XDG_DATA_HOME") or _home(env) / ".local" / "share") / _NAME


def _application_support(env: Environment) -> Path:
    return _home(env) / "Library" / "Application Support" / _NAME


def _xdg(env: Environment, name: str) -> Path | None:
    """The folder in the variable *name*; a relative one is to be ignored, says the standard."""
    value = env.get(name, "")
    return Path(value) if value.startswith("/") else None


def _home(env: Environment) -> Path:
    return Path(env.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)


def _expanded(given: str, env: Environment) -> Path:
    """*given* as an absolute path; a unit file has no shell that would replace the tilde."""
    if given == "~" or given.startswith("~/"):
        return _home(env) / given[2:]
    return Path(os.path.abspath(given))  # noqa: PTH100  pathlib keeps ".."


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= MAX_SOCKET_BYTES
