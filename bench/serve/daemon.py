"""Runs a daemon on a folder and reads what the system knows of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio

from twolane.v1 import search_service_pb2 as search
from twolane.v1 import search_service_pb2_grpc as search_grpc

READY_TIMEOUT = 120.0
"""Seconds that a daemon may take until it answers its first search."""

_MACHINE_SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Work-arounds of some machines that make numpy slow; a person's machine has none of them."""

_TICKS = os.sysconf("SC_CLK_TCK")


def channel(socket: Path) -> grpc.aio.Channel:
    """A channel of its own to the daemon at *socket*."""
    options = [
        ("grpc.default_authority", "localhost"),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.max_receive_message_length", 16 << 20),
    ]
    return grpc.aio.insecure_channel(f"unix:{socket}", options=options)


@dataclass(frozen=True)
class Daemon:
    """A running daemon. *first_answer* is seconds from its start to its first answered search."""

    pid: int
    socket: Path
    data: Path
    first_answer: float

    def processes(self) -> dict[str, int]:
        """The process ids by role: the serving process and its one child, the writer."""
        (writer,) = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {"serving": self.pid, "writer": int(writer)}

    def anonymous_memory(self) -> dict[str, int]:
        """Bytes of anonymous memory by role."""
        return {role: _status(pid, "RssAnon") for role, pid in self.processes().items()}

    def peak_memory(self) -> dict[str, int]:
        """The most bytes of resident memory so far by role, mapped files included."""
        return {role: _status(pid, "VmHWM") for role, pid in self.processes().items()}

    def cpu_seconds(self) -> dict[str, float]:
        """CPU time used so far by role."""
        return {role: _cpu(pid) for role, pid in self.processes().items()}

    def disk(self) -> int:
        """Bytes that the data folder takes on disk."""
        return sum(f.stat().st_blocks * 512 for f in self.data.rglob("*") if f.is_file())


@contextlib.asynccontextmanager
async def running(folder: Path, command: list[str]) -> AsyncIterator[Daemon]:
    """Start a daemon on *folder*, wait until it answers, and stop it at the end."""
    socket, data = folder / "s", folder / "data"
    environment = {k: v for k, v in os.environ.items() if k not in _MACHINE_SETTINGS}
    environment |= {"TWOLANE_CONFIG": str(folder / "config.toml"), "HOME": str(folder)}
    start = time.perf_counter()
    with (folder / "daemon.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *command, "--data", str(data), "--socket", str(socket),
            env=environment, stdout=log, stderr=log, stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
    try:
        await _answers(socket, process)
        yield Daemon(process.pid, socket, data, time.perf_counter() - start)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), 60)


def default_command() -> list[str]:
    """How the daemon is started from a checkout."""
    return [sys.executable, "-m", "twolaned.server"]


async def _answers(socket: Path, process: asyncio.subprocess.Process) -> None:
    """Return once a search is answered; a daemon that ends before is an error."""
    async with asyncio.timeout(READY_TIMEOUT):
        while True:
            if process.returncode is not None:
                raise RuntimeError(f"the daemon ended with status {process.returncode}")
            async with channel(socket) as wire:
                stub = search_grpc.SearchServiceStub(wire)
                try:
                    async for _ in stub.Search(search.SearchRequest(query="ready"), timeout=10):
                        pass
                except grpc.aio.AioRpcError as e:
                    if e.code() is not grpc.StatusCode.UNAVAILABLE:
                        raise
                    await asyncio.sleep(0.01)
                else:
                    return


def _status(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
