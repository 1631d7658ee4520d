from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.client.fake import FakeDaemon
from tests.client.fixtures import daemon as daemon
from tests.client.fixtures import short as short
from twolane.aio import AsyncClient
from twolane.client import Client
from twolane.errors import DaemonFailed, InvalidRequest
from twolane.v1 import context_service_pb2 as pb


def test_what_is_asked_is_sent(daemon: FakeDaemon) -> None:
    """Every option has its field; none that was not given is set."""
    with Client(daemon.socket) as client:
        list(
            client.pack(
                "fix it",
                cwd=Path("/p"),
                max_bytes=4_000,
                max_per_bucket=2,
                since=datetime(2026, 1, 2, tzinfo=UTC),
                as_of=datetime(2026, 2, 3, tzinfo=UTC),
                strict_project=True,
                partial=True,
            )
        )
        list(client.pack("fix it"))

    first, second = (call.request for call in daemon.named("ContextPack"))
    assert ("fix it", "/p", 4_000, 2) == (
        first.task,
        first.cwd,
        first.max_bytes,
        first.max_per_bucket,
    )
    assert (first.since.seconds, first.as_of.seconds) == (1767312000, 1770076800)
    assert first.strict_project
    assert first.partial
    assert pb.ContextPackRequest(task="fix it") == second


def test_the_final_pack_is_the_last_one(daemon: FakeDaemon) -> None:
    """A stream that ends before it is a failure, not a pack."""
    daemon.packs = [
        pb.ContextPackResponse(pack_id="a"),
        pb.ContextPackResponse(pack_id="b", final=True),
    ]
    with Client(daemon.socket) as client:
        assert "b" == client.pack_final("x", partial=True).pack_id
        daemon.packs.pop()
        with pytest.raises(DaemonFailed):
            client.pack_final("x")


def test_a_moment_needs_its_zone(daemon: FakeDaemon) -> None:
    """A time that could mean several is refused before anything is sent."""
    with Client(daemon.socket) as client, pytest.raises(InvalidRequest):
        client.pack_final("x", as_of=datetime(2026, 1, 2))  # noqa: DTZ001

    assert [] == daemon.named("ContextPack")


async def test_the_same_for_asyncio(daemon: FakeDaemon) -> None:
    """Both clients take the same and answer the same."""
    daemon.packs = [
        pb.ContextPackResponse(pack_id="a"),
        pb.ContextPackResponse(pack_id="b", final=True),
    ]
    async with AsyncClient(daemon.socket) as client:
        assert ["a", "b"] == [pack.pack_id async for pack in client.pack("x", partial=True)]
        assert "b" == (await client.pack_final("x")).pack_id
