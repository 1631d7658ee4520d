"""One daemon a data folder: the lock, and who holds it."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from twolane import paths
from twolaned.model.errors import StoreLocked
from twolaned.store.lock import FileLock

PATIENCE = 5.0
"""Seconds that the holder may take to serve: it may be starting."""
_POLL = 0.1
_CALL = 2.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a data folder's lock, as written into it."""

    pid: str
    version: str
    endpoint: str

    def __str__(self) -> str:
        return f"twolane {self.version}, process {self.pid}, on {self.endpoint}"


def take_lock(data: Path, version: str, endpoint: str) -> FileLock:
    """Take the lock of the folder *data* and write into it who holds it. Raises StoreLocked."""
    lock = FileLock(paths.daemon_lock_path(data))
    lock.acquire()
    lock.describe(f"pid {os.getpid()}\nversion {version}\nendpoint {endpoint}\n")
    return lock


def read_holder(data: Path) -> Holder:
    """Who holds the lock of *data*, or held it last."""
    text = paths.daemon_lock_path(data).read_text(encoding="utf-8", errors="replace")
    told = dict(line.partition(" ")[::2] for line in text.splitlines())
    return Holder(
        told.get("pid", "unknown"), told.get("version", "unknown"), told.get("endpoint", "")
    )


async def serving_holder(data: Path) -> Holder:
    """The daemon that holds *data*, once it serves. Raises StoreLocked if it does not."""
    end = time.monotonic() + PATIENCE
    while True:
        holder = read_holder(data)
        if holder.endpoint and await _serves(holder.endpoint):
            return holder
        if time.monotonic() >= end:
            raise StoreLocked(
                f"Another daemon holds the data folder {data} but does not serve: {holder}. Stop it"
                " with `twolane daemon stop`, or end its process.",
                pid=holder.pid,
                version=holder.version,
                endpoint=holder.endpoint,
            )
        await asyncio.sleep(_POLL)


async def _serves(endpoint: str) -> bool:
    options = (("grpc.default_authority", "localhost"),)
    async with aio.insecure_channel(endpoint, options=options) as channel:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=_CALL
            )
        except grpc.RpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
