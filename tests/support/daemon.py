"""A real daemon in a process of its own, on a real socket, with a data folder of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from grpc import aio

from tests.support.sockets import open_channel, short_folder
from twolane.v1.admin_service_pb2_grpc import AdminServiceStub
from twolane.v1.archive_service_pb2_grpc import ArchiveServiceStub
from twolane.v1.search_service_pb2_grpc import SearchServiceStub
from twolane.v1.source_service_pb2_grpc import SourceServiceStub

START_SECONDS = 60.0
STOP_SECONDS = 60.0


class Daemon:
    """A daemon on the folder *home*: its data, socket, configuration and log lie there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"
        self.socket = home / "s"
        self.config = home / "config.toml"
        self.log = home / "log"
        self.process: Process
        self.manager: socket.socket
        self.channel: aio.Channel

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def searching(self) -> Any:
        return SearchServiceStub(self.channel)

    @property
    def archive(self) -> Any:
        return ArchiveServiceStub(self.channel)

    @property
    def sources(self) -> Any:
        return SourceServiceStub(self.channel)

    @property
    def admin(self) -> Any:
        return AdminServiceStub(self.channel)

    async def spawn(self, *options: str, env: Mapping[str, str] | None = None) -> Process:
        """Start the process and return it at once."""
        environment = {
            **os.environ,
            "HOME": str(self.home),
            "TWOLANE_CONFIG": str(self.config),
            **(env or {}),
        }
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *command(), "--data", str(self.data), "--socket", str(self.socket), *options,
                env=environment, stdin=DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    async def start(self, *options: str, env: Mapping[str, str] | None = None) -> None:
        """Start the process and return when it says that it is ready."""
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.setblocking(False)
        notify = self.home / "n"
        notify.unlink(missing_ok=True)
        self.manager.bind(str(notify))
        self.process = await self.spawn(*options, env={"NOTIFY_SOCKET": str(notify), **(env or {})})
        self.channel = open_channel(self.socket)
        told = asyncio.ensure_future(self.told())
        end = asyncio.ensure_future(self.process.wait())
        done, late = await asyncio.wait(
            (told, end), timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        for task in late:
            task.cancel()
        if told not in done:
            self.manager.close()
            await self.channel.close()
            raise AssertionError(f"the daemon did not get ready:\n{self.log_text()}")
        assert told.result() == "READY=1"

    async def told(self) -> str:
        """What the daemon tells its service manager next."""
        return (await asyncio.get_running_loop().sock_recv(self.manager, 100)).decode()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal *number* and return the exit status."""
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await self.ended()

    async def ended(self) -> int:
        """Wait until the process has ended and return its exit status."""
        self.manager.close()
        await self.channel.close()
        return await asyncio.wait_for(self.process.wait(), STOP_SECONDS)

    def writer_pid(self) -> int:
        """The process id of the one child."""
        (child,) = self.children()
        return child

    def children(self) -> list[int]:
        """The process ids of all children."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [int(pid) for file in threads for pid in file.read_text().split()]

    def log_text(self) -> str:
        """What the daemon has logged."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def command() -> list[str]:
    """How the daemon is started."""
    return [sys.executable, "-P", "-m", "twolaned.server"]


@contextlib.asynccontextmanager
async def running(
    *options: str, config: str = "", env: Mapping[str, str] | None = None
) -> AsyncIterator[Daemon]:
    """A daemon that is ready; it is stopped at the end, if it has not ended by then."""
    with short_folder() as home:
        daemon = Daemon(home)
        if config:
            daemon.config.write_text(config, encoding="utf-8")
        await daemon.start(*options, env=env)
        try:
            yield daemon
        finally:
            await daemon.stop()


async def gone(pid: int) -> None:
    """Return when the process *pid*, of whoever it is the child, has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), STOP_SECONDS)
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
