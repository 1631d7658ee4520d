"""The connection of one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from twolane.cli import terminal
from twolane.cli.options import settings

if TYPE_CHECKING:
    from twolane.client import Client
    from twolane.v1.admin_service_pb2 import StatusResponse

NAME = "twolane-cli"
"""What the daemon's log calls the command line."""


@contextmanager
def session() -> Iterator[tuple[Client, StatusResponse]]:
    """Connect as the options say, starting the daemon if need be; close at the end.

    Yields the client and the daemon's state as it was when it was asked. Says so on standard
    error if a daemon is started, or if the running one is of another version.
    """
    from twolane.client import Client
    from twolane.connection import NeedsRestart
    from twolane.launch import ensure_daemon

    options = settings()
    found = ensure_daemon(options.socket, on_start=_starting)
    if isinstance(found, NeedsRestart):
        terminal.warn(f"{found.reason} Run `twolane daemon restart`.")
    with Client(options.socket, timeout=options.timeout, name=NAME) as client:
        yield client, found.status


def _starting() -> None:
    if not settings().json:
        terminal.note(terminal.dim("Starting the daemon …"))
