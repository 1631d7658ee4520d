"""The way to the daemon that a client takes: its Unix socket, or TCP on this machine's loopback."""

from __future__ import annotations

import ipaddress
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from twolane import errors, paths

_LONGEST_TOKEN = 4096
"""Bytes that are read of a token file: one that is longer is another kind of file."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a client calls. *socket* is None over TCP, *token* is empty over a socket.

    *target* is gRPC's name of it, *address* the one for people.
    """

    target: str
    address: str
    socket: Path | None = None
    token: str = field(default="", repr=False)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call has to show."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()


def endpoint(
    socket: str | os.PathLike[str] | None = None,
    *,
    tcp: str | None = None,
    token: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
) -> Endpoint:
    """Return where to call: *tcp*, ``127.0.0.1:PORT``, or else *socket* or its usual place.

    Over TCP every call shows a token: *token*, or what *token_file* holds, by default the file
    that the daemon makes in the data folder. Raises InvalidRequest for what does not go together
    or is no address of this machine, DaemonUnavailable for a token file that cannot be used.
    """
    if tcp is None:
        for name, value in (("token", token), ("token_file", token_file)):
            if value is not None:
                raise _invalid(name, f"{name} is for TCP: give tcp too, such as 127.0.0.1:7777.")
        path = socket_path(socket)
        return Endpoint(target(path), f"unix:{path}", path)
    if socket is not None:
        raise _invalid("tcp", "Give either socket or tcp.")
    if token is not None and token_file is not None:
        raise _invalid("token", "Give either token or token_file.")
    if token is None:
        token = read_token(token_file)
    if not token.isascii() or not token.isprintable() or not token:
        raise _invalid("token", "The token must be printable ASCII, as in the daemon's token file.")
    family, address = loopback(tcp)
    return Endpoint(f"{family}:{address}", address, token=token)


def socket_path(socket: str | os.PathLike[str] | None = None) -> Path:
    """Return *socket*, or where the daemon listens by default."""
    if socket is None:
        return paths.socket_path(os.environ)
    return paths.fitting(Path(socket).expanduser().absolute(), os.environ)


def target(socket: Path) -> str:
    """Return the gRPC target of *socket*. Targets are URIs, so a path is percent-encoded."""
    return f"unix:{quote(str(socket))}"


def loopback(text: str) -> tuple[str, str]:
    """Return the family, ``ipv4`` or ``ipv6``, and the address of *text*, ``HOST:PORT``.

    The token would go in the clear, so that an address of another machine is refused: raises
    InvalidRequest.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        ip = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise _invalid("tcp", f"tcp is {text!r}; give 127.0.0.1:PORT or [::1]:PORT.") from None
    if not ip.is_loopback:
        raise _invalid("tcp", f"tcp is {text!r}, which is not this machine: the token would leave.")
    if not (port.isascii() and port.isdecimal() and 1 <= int(port) <= 65_535):
        raise _invalid("tcp", f"tcp is {text!r}; its port must be 1 to 65535.")
    return ("ipv6", f"[{ip}]:{port}") if ip.version == 6 else ("ipv4", f"{ip}:{port}")


def read_token(file: str | os.PathLike[str] | None = None) -> str:
    """Return the token in *file*, by default the data folder's. Raises DaemonUnavailable."""
    path = Path(file).expanduser() if file is not None else paths.token_path(os.environ)
    try:
        with path.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            token = opened.read(_LONGEST_TOKEN).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise _no_token(
            path,
            f"cannot be read: {why}. The daemon makes it when it starts with `server.tcp` set.",
        ) from None
    if mode & 0o077:
        raise _no_token(path, "is open to other users. Remove it and restart the daemon.")
    if not token:
        raise _no_token(path, "is empty. Remove it and restart the daemon.")
    return token


def _invalid(name: str, why: str) -> errors.InvalidRequest:
    return errors.InvalidRequest(
        why, reason="INVALID_FIELD", violations=[errors.Violation(name, why)]
    )


def _no_token(path: Path, why: str) -> errors.DaemonUnavailable:
    return errors.DaemonUnavailable(
        f"The token file {path} {why}", reason="NO_TOKEN", metadata={"path": str(path)}
    )
