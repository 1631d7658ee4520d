"""Telling systemd how the service is (`sd_notify`); without systemd this does nothing."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Mapping

log = logging.getLogger(__name__)

LATE = 1.0
"""Seconds. A wake-up later than this means a stuck loop, and then there is no sign of life."""


def notify(state: str, env: Mapping[str, str] = os.environ) -> None:
    """Send *state*, such as ``READY=1``, to the service manager, if there is one and it listens."""
    address = env.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):  # a name in the abstract namespace
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        try:
            sender.connect(address)
            sender.sendall(state.encode())
        except OSError as e:
            log.warning("the service manager was not told %s: %s", state, e)


def watchdog_interval(env: Mapping[str, str] = os.environ, pid: int | None = None) -> float | None:
    """Seconds between signs of life, half of what the manager allows; None if it wants none."""
    wanted = env.get("WATCHDOG_USEC", "")
    if not wanted.isdecimal() or int(wanted) == 0:
        return None
    if env.get("WATCHDOG_PID", "") not in ("", str(os.getpid() if pid is None else pid)):
        return None
    return int(wanted) / 2e6


async def feed_watchdog(interval: float, env: Mapping[str, str] = os.environ) -> None:
    """Give signs of life from the event loop, since that is what may get stuck."""
    while True:
        due = time.monotonic() + interval
        await asyncio.sleep(interval)
        if time.monotonic() - due < LATE:
            notify("WATCHDOG=1", env)
