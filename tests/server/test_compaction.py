"""Compaction through a real daemon: what is archived can still be found."""

from __future__ import annotations

from typing import Any

from google.protobuf.duration_pb2 import Duration

from tests.support.daemon import Daemon, running
from tests.support.details import collected
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import common_pb2 as common
from twolane.v1 import compaction_service_pb2 as compactions
from twolane.v1 import search_service_pb2 as searching
from twolane.v1.compaction_service_pb2_grpc import CompactionServiceStub

CONFIG = '[enrichment]\nprovider = "extractive"\n'
NOTES = {
    "harbour": "The harbour pilot asked for a second beacon at the northern berth.",
    "ledger": "Retrying the ledger import costs forty seconds for every invoice.",
    "ferry": "The ferry timetable moves to a new queue at the harbour in June.",
}


async def save_all(daemon: Daemon) -> None:
    for name, summary in NOTES.items():
        request = archive.SaveRequest(source="notes", summary=summary, idempotency_key=name)
        request.occurred_at.FromJsonString("2026-03-25T10:00:00Z")
        await daemon.archive.Save(request)


async def compact(daemon: Daemon, **fields: Any) -> compactions.CompactResponse:
    request = compactions.CompactRequest(older_than=Duration(), **fields)
    return (await collected(CompactionServiceStub(daemon.channel).Compact(request)))[-1]


async def found(daemon: Daemon, query: str) -> dict[str, str]:
    """The tier of each result, by title."""
    answer = (await collected(daemon.searching.Search(searching.SearchRequest(query=query))))[-1]
    return {r.title: common.Tier.Name(r.tier) for r in answer.results}


async def test_what_is_archived_is_found_as_before() -> None:
    """By keyword the archive is always in reach; the digest stands beside it, and goes again."""
    async with running(config=CONFIG) as daemon:
        await save_all(daemon)
        before = await found(daemon, "harbour berth queue invoice")
        assert {"TIER_HOT"} == set(before.values())
        dry = await compact(daemon, dry_run=True)
        assert before == await found(daemon, "harbour berth queue invoice")

        done = await compact(daemon, idempotency_key="k")
        assert (3, ["2026-W13"]) == (
            done.compaction.conversations,
            [digest.id for digest in done.compaction.digests],
        )
        assert dry.compaction.digests == done.compaction.digests
        after = await found(daemon, "harbour berth queue invoice")
        digest = "Digest: Week 13 of 2026 (23 to 29 March 2026)"
        assert {**dict.fromkeys(before, "TIER_COLD"), digest: "TIER_DIGEST"} == after
        opened = await daemon.searching.OpenEvidence(
            searching.OpenEvidenceRequest(id="digest:2026-W13")
        )
        assert "northern berth" in opened.content

        assert (await compact(daemon, idempotency_key="k")).repeated_answer
        stub = CompactionServiceStub(daemon.channel)
        undone = await stub.Rollback(compactions.RollbackRequest())
        assert 3 == undone.compaction.restored
        assert before == await found(daemon, "harbour berth queue invoice")
        (listed,) = (await stub.ListCompactions(compactions.ListCompactionsRequest())).compactions
        assert listed == undone.compaction


async def test_tiers_outlive_the_daemon() -> None:
    """A restart loads them as they were, and the status counts them."""
    async with running(config=CONFIG) as daemon:
        await save_all(daemon)
        await compact(daemon)
        assert 0 == await daemon.stop()
        await daemon.start()
        status = await daemon.admin.Status(admin.StatusRequest())
        assert {"TIER_COLD": 3, "TIER_DIGEST": 1} == {
            common.Tier.Name(tier.tier): tier.rows for tier in status.tiers if tier.rows
        }
        assert {"TIER_COLD", "TIER_DIGEST"} == set((await found(daemon, "harbour")).values())
