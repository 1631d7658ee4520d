"""The second way in, off by default: TCP on this machine's own addresses, with a token.

A Unix socket is protected by its folder. Over TCP any user and any program of this machine can
knock, so that every call must show the token.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import stat
from pathlib import Path

from twolaned.model.errors import ConfigError

TOKEN_BYTES = 32
"""Random bytes of a token that is made here."""
LEAST_TOKEN = 32
"""Characters of the shortest token that is accepted from a file."""

_SCHEME = "Bearer "
_MODE = 0o600


def tcp_address(text: str) -> str:
    """The gRPC address for *text*: ``127.0.0.1:PORT``, ``[::1]:PORT`` or ``localhost:PORT``.

    Raises ConfigError for anything that another machine could reach.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    host = "127.0.0.1" if host == "localhost" else host
    try:
        address = ipaddress.ip_address(host)
    except ValueError as e:
        raise _refused(text, "it is not HOST:PORT with an address of this machine") from e
    if not address.is_loopback:
        raise _refused(text, "other machines could reach it")
    if not port.isascii() or not port.isdecimal() or not 1 <= int(port) <= 65_535:
        raise _refused(text, "its port is not 1 to 65535")
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def token_path(given: str, data: Path) -> Path:
    """Where the token lies: *given* by the configuration, else in the data folder."""
    return Path(given).expanduser() if given else data / "token"


def read_token(path: Path) -> str:
    """The token in *path*; where there is no such file, a new one is made.

    Raises ConfigError if anybody but the user could have read it, or if it is too short to be one.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    except FileExistsError:
        return _checked(path)
    except OSError as e:
        raise ConfigError(
            f"The token file {path} cannot be made: {e.strerror}. Name another in"
            " `server.token_file`."
        ) from e
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def shows(token: str, authorization: str) -> bool:
    """Whether *authorization*, a call's metadata, shows *token*; takes the same time either way."""
    shown = authorization.removeprefix(_SCHEME) if authorization.startswith(_SCHEME) else ""
    return hmac.compare_digest(token.encode(), shown.encode())


def _checked(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            token = file.read().strip()
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(
            f"The token file {path} cannot be read. Remove it to get a new one."
        ) from e
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ConfigError(
            f"The token file {path} is open to others. Remove it to get a new one, and make sure"
            " that nobody has used it."
        )
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise ConfigError(
            f"The token file {path} holds no token of at least {LEAST_TOKEN} characters. Remove it"
            " to get a new one."
        )
    return token


def _refused(text: str, why: str) -> ConfigError:
    return ConfigError(
        f"`server.tcp` is {text!r}, and {why}. Give 127.0.0.1:PORT or [::1]:PORT, or leave it out:"
        " then only the Unix socket is open.",
        key="server.tcp",
    )
