"""How a client finds the daemon and sees whether it can be talked to."""

from __future__ import annotations

import importlib.metadata
import json
import os
import socket as sockets
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from twolane import errors, paths
from twolane._status import error_from
from twolane.endpoint import Endpoint, target
from twolane.v1 import admin_service_pb2, admin_service_pb2_grpc

PROTOCOL = 1
"""What this client speaks. A daemon of another number needs a restart."""

PROBE_TIMEOUT = 5.0
"""Seconds that a probe waits for an answer: a busy daemon still answers in much less."""

DIAL_TIMEOUT = 1.0
"""Seconds to connect to the socket; more only if the daemon's accept queue is full."""

RETRYABLE = (
    ("twolane.v1.SearchService", "Search"),
    ("twolane.v1.SearchService", "OpenEvidence"),
    ("twolane.v1.SearchService", "Suggest"),
    ("twolane.v1.ContextService", "ContextPack"),
    ("twolane.v1.ArchiveService", "Export"),
    ("twolane.v1.SourceService", "ListSources"),
    ("twolane.v1.CompactionService", "ListCompactions"),
    ("twolane.v1.FeedbackService", "WhyEvidence"),
    ("twolane.v1.AdminService", "Status"),
    ("twolane.v1.AdminService", "WatchStatus"),
)
"""The calls that may be repeated: gRPC does so when a daemon that restarts cuts them off before it
has answered anything. A save, an import or a deletion may have happened, and never is.
"""

_RETRY = {
    "maxAttempts": 4,
    "initialBackoff": "0.05s",
    "maxBackoff": "0.5s",
    "backoffMultiplier": 3,
    "retryableStatusCodes": ["UNAVAILABLE"],
}

_MAX_RECEIVE = 16 << 20
"""Bytes: as much as the daemon takes in, well over its largest reply."""

OPTIONS = (
    # Over a Unix socket gRPC would send the path as the authority, which some servers refuse.
    ("grpc.default_authority", "localhost"),
    # A proxy of the environment would get the token.
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.max_receive_message_length", _MAX_RECEIVE),
    (
        "grpc.service_config",
        json.dumps(
            {
                "methodConfig": [
                    {
                        "name": [{"service": s, "method": m} for s, m in RETRYABLE],
                        "retryPolicy": _RETRY,
                    }
                ]
            }
        ),
    ),
)
"""The channel options of every client."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The daemon answers and speaks this client's protocol."""

    status: admin_service_pb2.StatusResponse


@dataclass(frozen=True, slots=True)
class NeedsRestart:
    """The daemon answers, but is of another version; *reason* names both sides.

    *compatible* is True where the protocol is the same, so that calls work all the same.
    """

    reason: str
    compatible: bool
    status: admin_service_pb2.StatusResponse


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Nobody can be talked to; *error* says why.

    *absent* is True where nobody listens at all, so that starting a daemon may help.
    """

    error: errors.TwolaneError
    absent: bool


Probe = Ready | NeedsRestart | Unreachable


@cache
def version() -> str:
    """Return this package's version."""
    return importlib.metadata.version("twolane")


def open_channel(place: Path | Endpoint) -> grpc.Channel:
    """Return a channel to *place*. Nothing is sent until the first call."""
    to = place.target if isinstance(place, Endpoint) else target(place)
    return grpc.insecure_channel(to, options=OPTIONS)


def require_private(socket: Path) -> None:
    """Raise DaemonUnavailable if others could have put a daemon of theirs at *socket*.

    A folder that does not exist yet is well: the daemon makes it.
    """
    folder = socket.parent
    try:
        # A link may be followed if nobody else can turn it elsewhere.
        if folder.is_symlink() and folder.lstat().st_uid == os.getuid():
            folder = folder.resolve()
        fault = paths.fault_of_folder(folder)
    except FileNotFoundError:
        return
    if fault is not None:
        raise errors.DaemonUnavailable(
            f"The socket's folder {folder} {fault}, so what listens there is not trusted."
            f" Run `chmod 700 {folder}` if it is yours, or set TWOLANE_SOCKET.",
            reason="SOCKET_NOT_PRIVATE",
            metadata={"folder": str(folder)},
        )


def listening(socket: Path) -> bool:
    """Return whether a process listens on *socket*."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as dial:
        dial.settimeout(DIAL_TIMEOUT)
        try:
            dial.connect(str(socket))
        except OSError:
            return False
    return True


def probe(place: Path | Endpoint, *, timeout: float = PROBE_TIMEOUT) -> Probe:
    """Ask the daemon on *place*, a socket or over TCP, who it is. Changes and starts nothing."""
    socket = place if isinstance(place, Path) else place.socket
    if socket is not None:
        try:
            require_private(socket)
        except errors.DaemonUnavailable as error:
            return Unreachable(error, absent=False)
        if not listening(socket):
            return Unreachable(_nobody(socket), absent=True)
    shown = place.metadata if isinstance(place, Endpoint) else ()
    with open_channel(place) as channel:
        stub = admin_service_pb2_grpc.AdminServiceStub(channel)
        request = admin_service_pb2.StatusRequest()
        try:
            status = stub.Status(request, timeout=timeout, metadata=shown)
        except grpc.RpcError as call:
            why = error_from(call)
            if isinstance(place, Endpoint) and isinstance(why, errors.DaemonUnavailable):
                why = _no_port(place) if place.socket is None else why
            return Unreachable(why, absent=False)
    return judge(status)


def judge(status: admin_service_pb2.StatusResponse) -> Ready | NeedsRestart:
    """Compare the daemon's version and protocol with this client's."""
    if status.protocol == PROTOCOL and status.version == version():
        return Ready(status)
    reason = (
        f"The running daemon is twolane {status.version or 'unknown'} (protocol {status.protocol}),"
        f" this client {version()} (protocol {PROTOCOL})."
    )
    return NeedsRestart(reason, compatible=status.protocol == PROTOCOL, status=status)


def serving(socket: Path, *, timeout: float = PROBE_TIMEOUT) -> bool:
    """Return whether the daemon on *socket* reports itself healthy."""
    return health(socket, timeout=timeout) == "serving"


def health(socket: Path, service: str = "", *, timeout: float = PROBE_TIMEOUT) -> str:
    """Return what the daemon reports of *service*, such as ``serving``; empty means the whole."""
    request = health_pb2.HealthCheckRequest(service=service)
    with open_channel(socket) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=timeout)
        except grpc.RpcError as call:
            return error_from(call).code.lower()
    name: str = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    return name.lower()


def require_compatible(found: Probe) -> Ready | NeedsRestart:
    """Return *found* if calls will work. Raises DaemonUnavailable, IncompatibleDaemon."""
    if isinstance(found, Unreachable):
        raise found.error
    if isinstance(found, NeedsRestart) and not found.compatible:
        raise errors.IncompatibleDaemon(
            f"{found.reason} Run `twolane daemon restart`.", reason="PROTOCOL_MISMATCH"
        )
    return found


def _no_port(place: Endpoint) -> errors.DaemonUnavailable:
    return errors.DaemonUnavailable(
        f"No daemon answers on {place.address}. It listens there when its configuration says"
        f' `[server] tcp = "{place.address}"`.',
        reason="DAEMON_NOT_RUNNING",
        metadata={"address": place.address},
    )


def _nobody(socket: Path) -> errors.DaemonUnavailable:
    return errors.DaemonUnavailable(
        f"No daemon listens on {socket}.",
        reason="DAEMON_NOT_RUNNING",
        metadata={"socket": str(socket)},
    )
