"""Compacting, rolling back and listing, over a real socket."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from grpc import aio

from tests.services.conftest import Rooms
from tests.support.details import collected, failure, reason, violated
from twolane.v1 import compaction_service_pb2 as compactions
from twolane.v1 import compaction_service_pb2_grpc as compactions_grpc
from twolaned.config import CompactionSettings, EnrichmentSettings, Settings
from twolaned.model.compaction import (
    CompactionProgress,
    CompactionReport,
    DigestReport,
    Enrichment,
)
from twolaned.model.errors import NotFound
from twolaned.model.report import ImportReport
from twolaned.services.compaction_service import CompactionDefaults
from twolaned.writer.protocol import (
    Compact,
    Compacted,
    Done,
    Progress,
    Rollback,
    RolledBack,
)

DAY_MS = 86_400_000
DIGEST = DigestReport(
    id="2026-W13",
    conversations=4,
    statements=3,
    replaced=True,
    provider=Enrichment.EXTRACTIVE,
    fell_back="it was slow",
)
REPORT = CompactionReport(
    number=2,
    idempotency_key="k",
    started_at=1_000,
    finished_at=2_000,
    cutoff=500,
    conversations=7,
    content_bytes=99,
    digests=(DIGEST,),
)


@pytest.fixture
def stub(channel: aio.Channel) -> Any:
    return compactions_grpc.CompactionServiceStub(channel)


async def test_compact_streams_progress_and_ends_with_what_it_did(stub: Any, rooms: Rooms) -> None:
    """The settings stand in for what the request leaves open."""
    rooms.writer.progress = [
        Progress(ImportReport(), compaction=CompactionProgress("looking", 3, 9))
    ]
    rooms.writer.done = Done(Compacted(REPORT), 42)

    first, last = await collected(stub.Compact(compactions.CompactRequest()))

    assert [Compact(older_than_ms=30 * DAY_MS)] == rooms.writer.commands
    assert (compactions.COMPACTION_PHASE_LOOKING, 3, 9) == (
        first.phase,
        first.phase_done,
        first.phase_total,
    )
    assert (False, False) == (first.done, first.HasField("compaction"))
    done = last.compaction
    assert (True, 42, False) == (last.done, last.index_generation, last.repeated_answer)
    assert (2, "k", 7, 99) == (
        done.number,
        done.idempotency_key,
        done.conversations,
        done.content_bytes,
    )
    assert (1, 2, 500_000_000) == (
        done.started_at.seconds,
        done.finished_at.seconds,
        done.cutoff_at.nanos,
    )
    assert (False, False) == (done.rolled_back, done.HasField("rolled_back_at"))
    assert (
        compactions.Digest(
            id="2026-W13",
            conversations=4,
            statements=3,
            replaced=True,
            provider=compactions.DIGEST_PROVIDER_EXTRACTIVE,
            fell_back="it was slow",
        )
        == done.digests[0]
    )


async def test_the_request_is_handed_on(stub: Any, rooms: Rooms) -> None:
    """Zero is an age, and not the default."""
    rooms.writer.done = Done(Compacted(REPORT, repeated=True), 42)
    request = compactions.CompactRequest(
        dry_run=True, idempotency_key="k", older_than=Duration(seconds=0)
    )

    (last,) = await collected(stub.Compact(request))

    assert [Compact(older_than_ms=0, dry_run=True, idempotency_key="k")] == rooms.writer.commands
    assert last.repeated_answer


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (compactions.CompactRequest(idempotency_key="k" * 201), "idempotency_key"),
        (compactions.CompactRequest(older_than=Duration(seconds=-1)), "older_than"),
        (compactions.CompactRequest(older_than=Duration(seconds=1, nanos=-5)), "older_than"),
    ],
)
async def test_what_is_wrong_is_not_handed_on(
    stub: Any, rooms: Rooms, request_: compactions.CompactRequest, field: str
) -> None:
    """The field is named, and the writer hears nothing."""
    assert field == violated(await failure(collected(stub.Compact(request_))))
    assert [] == rooms.writer.commands


async def test_rollback_says_what_came_back(stub: Any, rooms: Rooms) -> None:
    """And that it was rolled back before, if it was."""
    report = CompactionReport(number=2, rolled_back_at=3_000, restored=6)
    rooms.writer.done = Done(RolledBack(report, repeated=True), 43)

    answer = await stub.Rollback(compactions.RollbackRequest())

    assert [Rollback()] == rooms.writer.commands
    assert (True, 3, 6) == (
        answer.compaction.rolled_back,
        answer.compaction.rolled_back_at.seconds,
        answer.compaction.restored,
    )
    assert (True, 43) == (answer.repeated_answer, answer.index_generation)


async def test_nothing_to_roll_back_is_not_found(stub: Any, rooms: Rooms) -> None:
    """With a reason that a program can tell from others."""
    rooms.writer.error = NotFound("There is none.", reason="NOTHING_TO_ROLL_BACK")

    error = await failure(stub.Rollback(compactions.RollbackRequest()))

    assert (grpc.StatusCode.NOT_FOUND, "NOTHING_TO_ROLL_BACK") == (error.code(), reason(error))


async def test_compactions_are_listed_from_the_latest(stub: Any, rooms: Rooms) -> None:
    """In pages."""
    rooms.compactions = [CompactionReport(number=n) for n in (1, 12, 3, 2)]
    request = compactions.ListCompactionsRequest(page_size=3)
    first = await stub.ListCompactions(request)
    request.page_token = first.next_page_token
    second = await stub.ListCompactions(request)

    assert [[12, 3, 2], [1]] == [[c.number for c in p.compactions] for p in (first, second)]
    assert "" == second.next_page_token


def test_the_settings_say_how_old_and_who_writes() -> None:
    """Every word of the settings has its meaning."""
    settings = Settings(
        compaction=CompactionSettings(age_threshold_days=7),
        enrichment=EnrichmentSettings(provider="ollama", model="m"),
    )

    assert CompactionDefaults(7 * DAY_MS, Enrichment.OLLAMA, "m") == CompactionDefaults.of(settings)
    assert Enrichment.OFF is CompactionDefaults.of(Settings()).enrichment
