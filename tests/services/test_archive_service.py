"""Saving and importing, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.services.conftest import Rooms
from tests.support.details import collected, details, failure, reason, violated
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import archive_service_pb2_grpc as archive_grpc
from twolaned.model.errors import DiskFull, NothingImported
from twolaned.model.report import ImportReport
from twolaned.model.row import Quality
from twolaned.writer.protocol import Done, Imported, ImportPath, Progress, Save, Saved

HEADER = archive.ImportRequest(header=archive.ImportHeader(name="export.zip", size=5))


@pytest.fixture
def stub(channel: aio.Channel) -> Any:
    return archive_grpc.ArchiveServiceStub(channel)


def chunk(data: bytes) -> archive.ImportRequest:
    return archive.ImportRequest(chunk=data)


async def test_save_hands_on_and_answers(stub: Any, rooms: Rooms) -> None:
    """The answer has the id, the evidence key, the outcome and the generation."""
    saved = Saved(id="save:1", outcome="replaced", quality=Quality.HIGH, warnings=("Short.",))
    rooms.writer.done = Done(saved, 42)

    answer = await stub.Save(archive.SaveRequest(source="s", summary="x", topics=["t"]))

    assert [Save(source="s", summary="x", topics=("t",))] == rooms.writer.commands
    assert ("save:1", "conversation:save:1", archive.SAVE_OUTCOME_REPLACED, 42) == (
        answer.id,
        answer.evidence_key,
        answer.outcome,
        answer.index_generation,
    )
    assert ["Short."] == list(answer.warnings)


async def test_a_save_without_a_summary_is_not_handed_on(stub: Any, rooms: Rooms) -> None:
    """The field is named, and the writer hears nothing."""
    assert "summary" == violated(await failure(stub.Save(archive.SaveRequest(source="s"))))
    assert [] == rooms.writer.commands


async def test_an_import_by_path_reads_nothing_else(stub: Any, rooms: Rooms) -> None:
    """Behind a header with a path no chunk counts."""
    rooms.writer.done = Done(Imported(ImportReport(provider="chatgpt", rows_new=3)), 7)
    header = archive.ImportRequest(header=archive.ImportHeader(path="/home/ada/export.zip"))

    answers = await collected(stub.Import(iter([header, chunk(b"x")])))

    path = "/home/ada/export.zip"
    assert [ImportPath(path=path, name=path)] == rooms.writer.commands
    assert [(True, 3, 7)] == [(a.done, a.totals.rows_new, a.index_generation) for a in answers]


async def test_uploaded_bytes_reach_the_writer_whole_and_are_removed(
    stub: Any, rooms: Rooms
) -> None:
    """They lie in a file that only the owner may read, and not any longer than needed."""
    rooms.writer.done = Done(Imported(ImportReport(rows_new=1)), 7)
    big = b"x" * 1_048_576

    answers = await collected(stub.Import(iter([HEADER, chunk(big), chunk(b""), chunk(b"end")])))

    (command,) = rooms.writer.commands
    assert isinstance(command, ImportPath)
    assert ("export.zip", True) == (command.name, command.spooled)
    assert big + b"end" == rooms.writer.uploaded
    assert rooms.spool == Path(command.path).parent
    assert [] == list(rooms.spool.iterdir())
    assert answers[-1].done


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        pytest.param([], "header", id="nothing"),
        pytest.param([chunk(b"x")], "header", id="chunk first"),
        pytest.param([archive.ImportRequest()], "header", id="empty first"),
        pytest.param([HEADER, HEADER], "chunk", id="second header"),
        pytest.param([HEADER, chunk(b"x" * 1_048_577)], "chunk", id="large chunk"),
        pytest.param(
            [archive.ImportRequest(header=archive.ImportHeader(path="export.zip"))],
            "header.path",
            id="relative path",
        ),
        pytest.param(
            [archive.ImportRequest(header=archive.ImportHeader(name="n", size=-1))],
            "header.size",
            id="negative size",
        ),
        pytest.param(
            [archive.ImportRequest(header=archive.ImportHeader(name="n" * 1_025))],
            "header.name",
            id="long name",
        ),
    ],
)
async def test_a_wrong_stream_is_refused_and_leaves_nothing(
    stub: Any, rooms: Rooms, requests: list[archive.ImportRequest], field: str
) -> None:
    """The writer hears nothing of it, and no bytes stay behind."""
    assert field == violated(await failure(collected(stub.Import(iter(requests)))))
    assert [] == rooms.writer.commands
    assert [] == list(rooms.spool.iterdir())


async def test_a_name_is_a_name_only(stub: Any, rooms: Rooms) -> None:
    """Folders in an uploaded file's name are nobody's business."""
    rooms.writer.done = Done(Imported(ImportReport(rows_new=1)), 7)
    for name in ("../../etc/x.zip", ""):
        header = archive.ImportRequest(header=archive.ImportHeader(name=name))
        await collected(stub.Import(iter([header])))

    assert ["x.zip", "the uploaded file"] == [c.name for c in rooms.writer.commands]  # type: ignore[union-attr]


async def test_progress_comes_at_a_pace(stub: Any, rooms: Rooms) -> None:
    """However much the writer says, a client hears of it every 100 ms, and of the end at once."""
    rooms.writer.progress = [Progress(ImportReport(bytes_seen=n)) for n in range(1_000)]
    rooms.writer.done = Done(Imported(ImportReport(bytes_seen=1_000, rows_new=1)), 7)

    answers = await collected(stub.Import(iter([HEADER])))

    assert 2 <= len(answers) <= 50
    assert 0 == answers[0].totals.bytes_seen
    assert (True, 1_000) == (answers[-1].done, answers[-1].totals.bytes_seen)


async def test_nothing_imported_is_the_callers_error(stub: Any, rooms: Rooms) -> None:
    """It says what was seen, and the upload is gone."""
    rooms.writer.error = NothingImported("Nothing was imported from x: 2 × binary.")

    error = await failure(collected(stub.Import(iter([HEADER, chunk(b"x")]))))

    assert (grpc.StatusCode.INVALID_ARGUMENT, "NOTHING_IMPORTED") == (error.code(), reason(error))
    assert "2 × binary" in (error.details() or "")
    assert [] == list(rooms.spool.iterdir())


async def test_a_cancelled_import_leaves_writer_and_spool(stub: Any, rooms: Rooms) -> None:
    """A client that goes away stops the work that was done for it."""
    rooms.writer.endless = True
    call = stub.Import(iter([HEADER, chunk(b"x")]))
    await call.read()
    call.cancel()

    await asyncio.wait_for(rooms.writer.left.wait(), 20)
    assert await left_behind(stub, rooms) == []


async def test_a_client_that_goes_away_while_it_sends_leaves_nothing(
    stub: Any, rooms: Rooms
) -> None:
    """Half an upload is no import."""
    sent = asyncio.Event()

    async def requests() -> AsyncIterator[archive.ImportRequest]:
        yield HEADER
        yield chunk(b"half")
        sent.set()
        await asyncio.Event().wait()

    call = stub.Import(requests())
    await asyncio.wait_for(sent.wait(), 20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call.read()

    assert await left_behind(stub, rooms) == []
    assert 1 == len(rooms.writer.commands)


async def left_behind(stub: Any, rooms: Rooms) -> list[Path]:
    """What lies in the spool once a later import has come and gone."""
    rooms.writer.endless = False
    rooms.writer.done = Done(Imported(ImportReport(rows_new=1)), 7)
    await collected(stub.Import(iter([HEADER])))
    return list(rooms.spool.iterdir())


async def test_an_upload_that_cannot_fit_is_refused_at_once(stub: Any, rooms: Rooms) -> None:
    """Nobody sends a terabyte to be told at the end."""
    header = archive.ImportRequest(header=archive.ImportHeader(name="n", size=1 << 60))

    error = await failure(collected(stub.Import(iter([header]))))

    assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL") == (error.code(), reason(error))


async def test_a_full_disk_is_said(stub: Any, rooms: Rooms) -> None:
    """The writer's own word for it comes through."""
    rooms.writer.error = DiskFull("The disk is full.")

    error = await failure(stub.Save(archive.SaveRequest(source="s", summary="x")))

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.code()
    assert "RetryInfo" not in details(error)
