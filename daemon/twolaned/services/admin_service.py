"""`twolane.v1.AdminService`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from grpc import aio

from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import admin_service_pb2_grpc as admin_grpc
from twolaned.model.errors import InvalidInput
from twolaned.services import checks
from twolaned.services.convert_backup import backup_to_proto, copy_progress_to_proto
from twolaned.services.convert_status import status_to_proto
from twolaned.services.convert_time import microseconds
from twolaned.services.ports import Daemon, Writer
from twolaned.writer import protocol
from twolaned.writer.protocol import BackedUp, Progress

Context = aio.ServicerContext[Any, Any]

DEFAULT_GRACE = 5.0
"""Seconds that running calls have to finish."""
MAX_GRACE = 60.0
MAX_PATH = 4_096
"""Bytes of a path, as the system has it."""
WATCH_SECONDS = 0.5
"""How often a watched state is looked at."""


class AdminService(admin_grpc.AdminServiceServicer):
    """Tells how the daemon is, takes care of what it keeps, and stops it.

    *config* is the configuration file, which may not exist.
    """

    def __init__(self, daemon: Daemon, writer: Writer, config: Path) -> None:
        self._daemon = daemon
        self._writer = writer
        self._config = config
        self._shared = _Shared(daemon)

    async def Status(  # noqa: N802
        self, _request: admin.StatusRequest, _: Context
    ) -> admin.StatusResponse:
        """Tell how the daemon is."""
        return status_to_proto(await self._daemon.status())

    async def WatchStatus(  # noqa: N802
        self, _request: admin.WatchStatusRequest, _: Context
    ) -> AsyncIterator[admin.WatchStatusResponse]:
        """Tell how the daemon is, again and again."""
        told = b""
        while True:
            status, lasting = await self._shared.latest()
            if lasting != told:
                told = lasting
                yield admin.WatchStatusResponse(status=status)
            await asyncio.sleep(WATCH_SECONDS)

    async def Backup(  # noqa: N802
        self, request: admin.BackupRequest, _: Context
    ) -> AsyncIterator[admin.BackupResponse]:
        """Copy the archive to a new folder."""
        checks.required("path", request.path)
        checks.at_most_bytes("path", request.path, MAX_PATH)
        checks.absolute_path("path", request.path)
        command = protocol.Backup(path=request.path, config=str(self._config))
        async with aclosing(self._writer.stream(command)) as events:
            async for event in events:
                if isinstance(event, Progress):
                    if event.copied is not None:
                        yield copy_progress_to_proto(event.copied)
                else:
                    assert isinstance(event.result, BackedUp)
                    yield backup_to_proto(event.result.report)

    async def Shutdown(  # noqa: N802
        self, request: admin.ShutdownRequest, _: Context
    ) -> admin.ShutdownResponse:
        """Begin to stop."""
        return admin.ShutdownResponse(pid=self._daemon.shut_down(_grace(request)))


class _Shared:
    """The state of *daemon* for all who watch it, so that many cost no more than one."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._lock = asyncio.Lock()
        self._latest = admin.StatusResponse(), b""
        self._until = 0.0

    async def latest(self) -> tuple[admin.StatusResponse, bytes]:
        """The state, at most `WATCH_SECONDS` old, and what of it lasts."""
        async with self._lock:
            if time.monotonic() >= self._until:
                status = status_to_proto(await self._daemon.status())
                self._latest = status, _lasting(status)
                self._until = time.monotonic() + WATCH_SECONDS
            return self._latest


def _lasting(status: admin.StatusResponse) -> bytes:
    """What of *status* a watcher is told of when it changes: not what always does."""
    copy = admin.StatusResponse()
    copy.CopyFrom(status)
    for field in ("uptime", "memory_bytes", "disk_free_bytes", "searches"):
        copy.ClearField(field)
    return copy.SerializeToString(deterministic=True)


def _grace(request: admin.ShutdownRequest) -> float:
    if not request.HasField("grace"):
        return DEFAULT_GRACE
    grace = microseconds("grace", request.grace) / 1e6
    if not 0 <= grace <= MAX_GRACE:
        raise InvalidInput(
            "grace",
            f"`grace` is {grace:g} s. Give 0 to {MAX_GRACE:g} s.",
            reason="OUT_OF_RANGE",
            seconds=f"{grace:g}",
        )
    return grace
