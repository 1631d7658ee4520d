"""Context packs through a real daemon: a project with a history, a scan, a saved session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.timestamp_pb2 import Timestamp

from tests.context.repository import Repository
from tests.support.daemon import Daemon, running
from tests.support.details import collected, details, failure, violated
from twolane.render import to_json
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import context_service_pb2 as context
from twolane.v1 import source_service_pb2 as source
from twolane.v1.context_service_pb2_grpc import ContextServiceStub

LATER = 4_102_444_800
"""UTC seconds: 2100."""

pytestmark = pytest.mark.needs("git")


@pytest_asyncio.fixture
async def daemon() -> AsyncIterator[Daemon]:
    async with running() as daemon:
        yield daemon


@pytest_asyncio.fixture
async def shop(daemon: Daemon, tmp_path: Path) -> Path:
    """A scanned repository with an untracked file, a session in it and one elsewhere."""
    made = Repository(tmp_path / "shop")
    made.commit(
        {
            "src/queue.py": "# The job queue.\nTABLE = 'jobs'\n",
            "DECISIONS.md": "# Decisions\n\n- 2026-02-01: The job queue runs on Redis.\n"
            "- 2026-05-01: The job queue moved from Redis to Postgres.\n",
        }
    )
    made.write("scratch.md", "The job queue runs on RabbitMQ.\n")
    added = await daemon.sources.AddSource(
        source.AddSourceRequest(source=source.Source(path=str(made.folder)))
    )
    await collected(daemon.sources.ScanSources(source.ScanSourcesRequest(ids=[added.source.id])))
    for cwd, text in (
        (made.folder, "The job queue loses nothing since it is in Postgres."),
        (tmp_path / "bank", "The job queue of the bank is Kafka."),
    ):
        await daemon.archive.Save(archive.SaveRequest(source="notes", summary=text, cwd=str(cwd)))
    return made.folder


async def pack(daemon: Daemon, **fields: Any) -> context.ContextPackResponse:
    """The final pack."""
    stub = ContextServiceStub(daemon.channel)
    *_, last = await collected(stub.ContextPack(context.ContextPackRequest(**fields)))
    assert last.final
    return last


def buckets(message: context.ContextPackResponse) -> dict[str, list[dict[str, Any]]]:
    """The items by the name of their bucket, as clients print them."""
    tree = json.loads(to_json(message))
    return {shelf["bucket"]: shelf["items"] for shelf in tree["buckets"]}


async def test_a_pack_tells_what_a_project_holds(daemon: Daemon, shop: Path) -> None:
    """Each source stands where its kind, git and its project put it."""
    reply = await pack(
        daemon, task="Which database does the job queue use now?", cwd=str(shop), max_bytes=16_384
    )

    found = buckets(reply)
    assert reply.project == "shop"
    assert not reply.HasField("current_truth_caveat")
    assert {"src/queue.py", "DECISIONS.md"} == {one["path"] for one in found["current_truth"]}
    assert "Postgres" in found["decisions"][0]["quote"]
    assert found["decisions"][0]["line"] == 4
    assert "Redis" in found["conflicts"][0]["quote"]
    assert [("scratch.md", "untracked")] == [
        (one["path"], one["trust_reason"]) for one in found["discounted"]
    ]
    assert ["The job queue loses nothing since it is in Postgres."] == [
        one["quote"] for one in found["past_reasoning"]
    ]
    assert ["The job queue of the bank is Kafka."] == [
        one["quote"] for one in found["other_projects"]
    ]


async def test_the_wall_holds(daemon: Daemon, shop: Path) -> None:
    """With `strict_project` nothing of another project is quoted, named or counted."""
    reply = await pack(
        daemon, task="the job queue", cwd=str(shop), strict_project=True, max_bytes=16_384
    )

    text = to_json(reply)
    assert "Postgres" in text
    assert "Kafka" not in text
    assert "bank" not in text
    assert "other_projects" not in text


async def test_the_size_is_kept(daemon: Daemon, shop: Path) -> None:
    """What the client prints is no larger than what was asked for; a size that no pack fits is
    refused, and the one that the error names is enough."""
    asked = {"task": "Why does the job queue use Postgres?", "cwd": str(shop)}
    for size in (1_000, 2_000, 6_144, 16_384):
        assert len(to_json(await pack(daemon, **asked, max_bytes=size)).encode()) <= size

    error = await failure(pack(daemon, **asked, max_bytes=50))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert violated(error) == "max_bytes"
    smallest = int(details(error)["ErrorInfo"].metadata["smallest"])
    assert len(to_json(await pack(daemon, **asked, max_bytes=smallest)).encode()) <= smallest


async def test_a_restart_changes_nothing(daemon: Daemon, shop: Path) -> None:
    """The same index gives the same bytes, when asked again and by the next process."""
    task = "Why does the job queue use Postgres?"
    # Without a moment the test would fail in the last second of an hour.
    asked = {"task": task, "cwd": str(shop), "as_of": Timestamp(seconds=LATER)}
    before = to_json(await pack(daemon, **asked))
    assert before == to_json(await pack(daemon, **asked))
    await daemon.stop()
    await daemon.start()

    assert before == to_json(await pack(daemon, **asked))
