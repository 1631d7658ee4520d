"""What systemd is told."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import Iterator

import pytest

from tests.support.sockets import short_folder
from twolaned.server.notify import feed_watchdog, notify, watchdog_interval


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, dict[str, str]]]:
    """A service manager's socket, and the environment that names it."""
    with short_folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.settimeout(20)
        name = str(folder / "n") if request.param == "path" else f"@{uuid.uuid4().hex}"
        receiver.bind(name.replace("@", "\0"))
        yield receiver, {"NOTIFY_SOCKET": name}


def test_a_state_reaches_the_manager(manager: tuple[socket.socket, dict[str, str]]) -> None:
    """By a path, or by a name in the abstract namespace."""
    receiver, env = manager

    notify("READY=1", env)

    assert b"READY=1" == receiver.recv(100)


def test_without_a_manager_nothing_happens() -> None:
    """The same code runs from a terminal."""
    notify("READY=1", {})


def test_a_manager_that_is_gone_is_no_reason_to_fail(caplog: pytest.LogCaptureFixture) -> None:
    """It is only said."""
    notify("STOPPING=1", {"NOTIFY_SOCKET": "/nowhere/notify"})

    assert "was not told STOPPING=1" in caplog.text


@pytest.mark.parametrize(
    ("env", "interval"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": str(os.getpid())}, 1.0),
        ({"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"}, None),
    ],
    ids=["none", "given", "zero", "nonsense", "ours", "another's"],
)
def test_the_watchdog_is_fed_twice_as_often_as_it_asks(
    env: dict[str, str], interval: float | None
) -> None:
    """A watchdog that is not for this process is none."""
    assert interval == watchdog_interval(env)


async def test_signs_of_life_come_from_the_loop(
    manager: tuple[socket.socket, dict[str, str]],
) -> None:
    """They go on until the task ends."""
    receiver, env = manager
    receiver.setblocking(False)
    task = asyncio.create_task(feed_watchdog(0.01, env))

    loop = asyncio.get_running_loop()
    seen = [await asyncio.wait_for(loop.sock_recv(receiver, 100), 20) for _ in range(3)]
    task.cancel()

    assert [b"WATCHDOG=1"] * 3 == seen
