"""Compaction with both clients."""

from __future__ import annotations

from datetime import timedelta

from tests.client.fake import FakeDaemon
from twolane import AsyncClient, Client
from twolane.v1 import compaction_service_pb2 as pb


def test_compact_with_the_client(daemon: FakeDaemon) -> None:
    """Progress, rollback and all pages of the list."""
    daemon.compactions = [pb.Compaction(number=n) for n in (3, 2, 1)]
    with Client(daemon.socket) as client:
        span = timedelta(days=3, milliseconds=5)
        messages = list(client.compact(older_than=span, idempotency_key="k", dry_run=True))
        assert [False, True] == [message.done for message in messages]
        assert daemon.rolled_back == client.rollback()
        assert [3, 2, 1] == [c.number for c in client.compactions()]
        list(client.compact())

    first, second = (call.request for call in daemon.named("Compact"))
    assert (span, "k", True) == (
        first.older_than.ToTimedelta(),
        first.idempotency_key,
        first.dry_run,
    )
    assert pb.CompactRequest() == second


async def test_compact_with_the_asyncio_client(daemon: FakeDaemon) -> None:
    """The same, awaited."""
    daemon.compactions = [pb.Compaction(number=n) for n in (3, 2, 1)]
    async with AsyncClient(daemon.socket) as client:
        messages = [message async for message in client.compact(older_than=timedelta(0))]
        assert [False, True] == [message.done for message in messages]
        assert daemon.rolled_back == await client.rollback()
        assert [3, 2, 1] == [c.number async for c in client.compactions()]

    assert daemon.last("Compact").HasField("older_than")
