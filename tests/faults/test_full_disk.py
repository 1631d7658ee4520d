"""A disk that fills up, and one that may not be written: searches go on, nothing told is lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import grpc
import pytest
from grpc import aio

from tests.server.test_rpcs import find
from tests.support.daemon import Daemon
from tests.support.details import collected, failure, reason
from tests.support.sockets import short_folder
from tests.writer.harness import conversation, sentence
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search

SIZE = 24 << 20


def mounted(*arguments: str) -> bool:
    done = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with a small disk of its own mounted as `data`."""
    with short_folder() as home:
        data = home / "data"
        data.mkdir(mode=0o700)
        if not mounted("-t", "tmpfs", "-o", f"size={SIZE},mode=700", "tmpfs", str(data)):
            pytest.skip("mounting a small disk needs root")
        try:
            yield home
        finally:
            subprocess.run(["umount", "-l", str(data)], check=True)


@contextlib.asynccontextmanager
async def started(home: Path) -> AsyncIterator[Daemon]:
    daemon = Daemon(home)
    await daemon.start()
    try:
        yield daemon
    finally:
        await daemon.stop()


async def save_until_full(daemon: Daemon, random: Random) -> dict[str, str]:
    """Save notes until the disk is full; returns those that were acknowledged."""
    known: dict[str, str] = {}
    refused: object = None
    for number in range(2_000):
        word = "zq" + "".join(chr(ord("a") + int(digit)) for digit in str(number))
        summary = f"{sentence(random, 12)} {word}"
        content = " ".join(sentence(random) for _ in range(400))
        request = archive.SaveRequest(source="notes", summary=summary, content=content)
        try:
            saved = await daemon.archive.Save(request)
        except aio.AioRpcError as error:
            refused = (error.code(), reason(error))
            break
        known[saved.id] = word
    assert refused == (grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL")
    return known


async def assert_found(daemon: Daemon, known: dict[str, str]) -> None:
    for row_id, word in known.items():
        answer = await find(daemon, word)
        assert row_id in [r.id for r in answer.results]


async def test_saving_on_a_full_disk_is_refused_and_goes_on_when_there_is_room(home: Path) -> None:
    random = Random(1)
    ballast = home / "data" / "ballast"
    ballast.write_bytes(b"x" * (SIZE // 2))
    async with started(home) as daemon:
        known = await save_until_full(daemon, random)
        assert known
        await assert_found(daemon, known)
        ballast.unlink()
        saved = await daemon.archive.Save(
            archive.SaveRequest(source="notes", summary="There is room for this again.")
        )
        known[saved.id] = "room"
        await assert_found(daemon, known)
    async with started(home) as daemon:
        await assert_found(daemon, known)


async def test_an_import_onto_a_full_disk_keeps_what_it_told(home: Path) -> None:
    """The import ends with DISK_FULL, the daemon serves on, and a second import goes on."""
    random = Random(2)
    ballast = home / "data" / "ballast"
    ballast.write_bytes(b"x" * (SIZE * 3 // 4))
    chats = [conversation(random, turns=8) for _ in range(1_500)]
    data = json.dumps(chats).encode()
    export = home / "export.json"
    export.write_bytes(data)
    request = archive.ImportRequest(header=archive.ImportHeader(path=str(export)))
    async with started(home) as daemon:
        told = 0
        refused: object = None
        try:
            async for answer in daemon.archive.Import(iter([request])):
                told = answer.totals.rows_new
        except aio.AioRpcError as error:
            refused = (error.code(), reason(error))
        assert refused == (grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL")
        parts = await collected(daemon.archive.Export(archive.ExportRequest()))
        assert parts[-1].rows >= told
        ballast.unlink()
        answers = await collected(daemon.archive.Import(iter([request])))
        totals = answers[-1].totals
        assert totals.rows_new + totals.rows_unchanged == len(chats)
        assert totals.rows_unchanged >= told


async def test_an_upload_that_does_not_fit_is_refused(home: Path) -> None:
    (home / "data" / "ballast").write_bytes(b"x" * (SIZE - (4 << 20)))
    async with started(home) as daemon:
        refused = asyncio.Event()

        async def upload() -> AsyncIterator[archive.ImportRequest]:
            # No chunk is on its way when the answer comes: gRPC's client may then see only that.
            header = archive.ImportHeader(name="conversations.json", size=8 << 20)
            yield archive.ImportRequest(header=header)
            await refused.wait()

        error = await failure(collected(daemon.archive.Import(upload())))
        refused.set()
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert not list((home / "data" / "spool").iterdir())
        assert (await daemon.archive.Save(archive.SaveRequest(source="n", summary="Fits."))).id


async def test_a_disk_that_may_not_be_written_serves_searches(home: Path) -> None:
    async with started(home) as daemon:
        saved = await daemon.archive.Save(
            archive.SaveRequest(source="notes", summary="The ferry left before the tide.")
        )
    assert mounted("-o", "remount,ro", str(home / "data"))
    async with started(home) as daemon:
        answers = await asyncio.gather(*(find(daemon, "ferry tide") for _ in range(20)))
        assert {r.id for answer in answers for r in answer.results} == {saved.id}
        opened = search.OpenEvidenceRequest(id=saved.id)
        assert "ferry" in (await daemon.searching.OpenEvidence(opened)).content
        error = await failure(
            daemon.archive.Save(archive.SaveRequest(source="notes", summary="Not kept."))
        )
        assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert mounted("-o", "remount,rw", str(home / "data"))
    async with started(home) as daemon:
        assert (await daemon.archive.Save(archive.SaveRequest(source="n", summary="Kept."))).id
