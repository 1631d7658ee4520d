"""Status and shutdown, over a real socket."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from grpc import aio

from tests.services.conftest import STATUS, Rooms
from tests.support.details import failure, violated
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import admin_service_pb2_grpc as admin_grpc
from twolaned.services import admin_service
from twolaned.services.convert_status import status_from_proto


@pytest.fixture
def stub(channel: aio.Channel) -> Any:
    return admin_grpc.AdminServiceStub(channel)


async def test_status_tells_all(stub: Any) -> None:
    """What the process says of itself is what a client gets."""
    assert STATUS == status_from_proto(await stub.Status(admin.StatusRequest()))


@pytest.mark.parametrize(
    ("grace", "seconds"),
    [
        pytest.param(None, 5.0, id="default"),
        pytest.param(Duration(), 0.0, id="none"),
        pytest.param(Duration(seconds=1, nanos=500_000_000), 1.5, id="given"),
        pytest.param(Duration(seconds=60), 60.0, id="longest"),
    ],
)
async def test_shutdown_passes_the_grace_on(
    stub: Any, rooms: Rooms, grace: Duration | None, seconds: float
) -> None:
    """The answer names the process that goes away."""
    answer = await stub.Shutdown(admin.ShutdownRequest(grace=grace))

    assert ([seconds], STATUS.pid) == (rooms.graces, answer.pid)


@pytest.mark.parametrize(
    "grace",
    [Duration(seconds=61), Duration(seconds=-1), Duration(seconds=1, nanos=-1)],
    ids=["long", "negative", "mixed"],
)
async def test_a_wrong_grace_stops_nothing(stub: Any, rooms: Rooms, grace: Duration) -> None:
    """The field is named."""
    assert "grace" == violated(await failure(stub.Shutdown(admin.ShutdownRequest(grace=grace))))
    assert [] == rooms.graces


async def test_many_watchers_cost_no_more_than_one(
    stub: Any, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is looked at once for all of them."""
    monkeypatch.setattr(admin_service, "WATCH_SECONDS", 3_600)
    watching = [stub.WatchStatus(admin.WatchStatusRequest()) for _ in range(10)]

    told = [(await watch.read()).status.pid for watch in watching]

    assert ([STATUS.pid] * 10, 1) == (told, rooms.looks)
    for watch in watching:
        watch.cancel()


async def test_a_watcher_hears_of_nothing_that_always_changes(
    stub: Any, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time goes by and memory comes and goes; that is no news, and a new row is."""
    monkeypatch.setattr(admin_service, "WATCH_SECONDS", 0)
    watch = stub.WatchStatus(admin.WatchStatusRequest())
    await watch.read()
    rooms.now = replace(STATUS, uptime_us=99, memory_bytes=99, disk_free_bytes=99, searches=99)
    for _ in range(5):
        rooms.looked.clear()
        await asyncio.wait_for(rooms.looked.wait(), 20)
    rooms.now = replace(STATUS, uptime_us=100, index_generation=4)

    assert 4 == (await watch.read()).status.index_generation
    watch.cancel()
