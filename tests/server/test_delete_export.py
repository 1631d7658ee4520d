"""Deleting and exporting through a real daemon."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import grpc
import pytest_asyncio

from tests.server.test_rpcs import find, uploads
from tests.support.daemon import Daemon, running
from tests.support.details import collected, failure, reason, violated
from tests.writer.harness import conversation
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search


@pytest_asyncio.fixture
async def daemon() -> AsyncIterator[Daemon]:
    async with running() as daemon:
        yield daemon


async def bring_in(daemon: Daemon, chats: list[dict[str, Any]]) -> archive.ImportResponse:
    answers = await collected(
        daemon.archive.Import(uploads(json.dumps(chats).encode(), "conversations.json"))
    )
    last: archive.ImportResponse = answers[-1]
    return last


async def exported(daemon: Daemon, **filters: Any) -> bytes:
    request = archive.ExportRequest(filters=search.Filters(**filters))
    parts = await collected(daemon.archive.Export(request))
    data = b"".join(part.chunk for part in parts)
    assert parts[-1].rows == data.count(b"\n")
    return data


async def test_a_deleted_row_is_found_by_nothing_and_no_import_brings_it_back(
    daemon: Daemon,
) -> None:
    random = Random(1)
    chats = [conversation(random, marker=f"zqmark{name}") for name in "abc"]
    await bring_in(daemon, chats)
    gone = f"claude-ai:{chats[1]['uuid']}"

    told = await daemon.archive.Delete(archive.DeleteRequest(ids=[f"conversation:{gone}"]))

    assert (told.rows, list(told.ids)) == (1, [gone])
    assert not (await find(daemon, "zqmarkb")).results
    error = await failure(daemon.searching.OpenEvidence(search.OpenEvidenceRequest(id=gone)))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    again = await bring_in(daemon, chats)
    assert [(skip.reason, skip.count) for skip in again.totals.skips] == [("deleted", 1)]
    assert not (await find(daemon, "zqmarkb")).results
    assert len((await find(daemon, "zqmarka")).results) == 1


async def test_a_dry_run_says_what_a_run_does_and_does_nothing(daemon: Daemon) -> None:
    random = Random(2)
    await bring_in(daemon, [conversation(random) for _ in range(3)])
    note = await daemon.archive.Save(archive.SaveRequest(source="notes", summary="Kept apart."))
    request = archive.DeleteRequest(filters=search.Filters(sources=["claude-ai"]), dry_run=True)

    told = await daemon.archive.Delete(request)
    assert len((await exported(daemon)).splitlines()) == 4

    request.dry_run = False
    done = await daemon.archive.Delete(request)
    assert (told.rows, sorted(told.ids)) == (done.rows, sorted(done.ids)) == (3, sorted(done.ids))
    left = [json.loads(line)["row"]["id"] for line in (await exported(daemon)).splitlines()]
    assert left == [note.id]


async def test_what_is_asked_must_limit_and_be_there(daemon: Daemon) -> None:
    """An empty request deletes nothing; one unknown id stops all."""
    saved = await daemon.archive.Save(archive.SaveRequest(source="notes", summary="Stays here."))
    assert violated(await failure(daemon.archive.Delete(archive.DeleteRequest()))) == "ids"
    request = archive.DeleteRequest(ids=[saved.id, "chatgpt:none"])
    error = await failure(daemon.archive.Delete(request))
    assert (error.code(), reason(error)) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    many = archive.DeleteRequest(ids=["x"] * 10_001)
    assert violated(await failure(daemon.archive.Delete(many))) == "ids"
    assert (await exported(daemon)).count(b"\n") == 1


async def test_an_export_makes_an_equal_archive(daemon: Daemon) -> None:
    """Taken into an empty daemon it gives the same rows, times included, and the same export."""
    random = Random(3)
    await bring_in(daemon, [conversation(random, turns=6) for _ in range(40)])
    await daemon.archive.Save(
        archive.SaveRequest(
            source="notes", summary="We keep one queue.", decisions=["One."], domain="work"
        )
    )
    data = await exported(daemon)
    async with running() as other:
        answers = await collected(other.archive.Import(uploads(data, "archive.jsonl")))
        assert answers[-1].totals.rows_new == 41
        assert await exported(other) == data
        again = await collected(other.archive.Import(uploads(data, "archive.jsonl")))
        assert (again[-1].totals.rows_new, again[-1].totals.rows_unchanged) == (0, 41)


async def test_an_export_of_nothing_is_one_empty_part(daemon: Daemon) -> None:
    parts = await collected(daemon.archive.Export(archive.ExportRequest()))
    assert [(part.chunk, part.rows, part.rows_total) for part in parts] == [(b"", 0, 0)]


async def test_a_large_export_comes_in_small_parts(daemon: Daemon) -> None:
    """No part is above 1 MiB, also where one row is larger than that."""
    await daemon.archive.Save(
        archive.SaveRequest(source="notes", summary="Large.", content="tide and ebb " * 200_000)
    )
    parts = await collected(daemon.archive.Export(archive.ExportRequest()))
    assert [len(part.chunk) == 1 << 20 for part in parts] == [True] * (len(parts) - 1) + [False]
    assert len(parts) > 2
    assert json.loads(b"".join(part.chunk for part in parts))["row"]["source"] == "notes"
