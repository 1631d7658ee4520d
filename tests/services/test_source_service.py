"""Followed folders, over a real socket."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from grpc import aio

from tests.services.conftest import Rooms
from tests.support.details import collected, failure, reason, violated
from twolane.v1 import source_service_pb2 as sources
from twolane.v1 import source_service_pb2_grpc as sources_grpc
from twolaned.model.errors import AlreadyExists, NotFound
from twolaned.model.report import ImportReport
from twolaned.model.source import Source, source_id
from twolaned.writer.protocol import (
    AddSource,
    Done,
    Imported,
    Progress,
    RemoveSource,
    ScanSources,
    SourceAdded,
    SourceRemoved,
)


@pytest.fixture
def stub(channel: aio.Channel) -> Any:
    return sources_grpc.SourceServiceStub(channel)


def notes() -> Source:
    return Source(id=source_id("/notes"), path="/notes")


async def test_a_folder_is_added(stub: Any, rooms: Rooms) -> None:
    """The answer is the source as it was stored."""
    rooms.writer.done = Done(SourceAdded(notes()), 3)

    answer = await stub.AddSource(sources.AddSourceRequest(source=sources.Source(path="/notes/")))

    assert [AddSource(notes())] == rooms.writer.commands
    assert (notes().id, sources.EXTRACTION_DEFAULT) == (
        answer.source.id,
        answer.source.extraction,
    )


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        pytest.param(NotFound("No folder."), grpc.StatusCode.NOT_FOUND, id="not there"),
        pytest.param(AlreadyExists("It is."), grpc.StatusCode.ALREADY_EXISTS, id="there already"),
    ],
)
async def test_what_cannot_be_added_is_said(
    stub: Any, rooms: Rooms, raised: NotFound | AlreadyExists, code: grpc.StatusCode
) -> None:
    """Each reason has its code."""
    rooms.writer.error = raised
    request = sources.AddSourceRequest(source=sources.Source(path="/notes"))

    error = await failure(stub.AddSource(request))

    assert (code, raised.reason) == (error.code(), reason(error))


@pytest.mark.parametrize(("name", "asked"), [("notes-1", "notes-1"), ("/notes/", "/notes")])
async def test_a_source_is_removed_by_id_or_path(
    stub: Any, rooms: Rooms, name: str, asked: str
) -> None:
    """A path is spelt as the store spells it."""
    rooms.writer.done = Done(SourceRemoved(12), 3)

    answer = await stub.RemoveSource(sources.RemoveSourceRequest(id=name))

    assert [RemoveSource(asked)] == rooms.writer.commands
    assert 12 == answer.documents_removed


async def test_a_removal_needs_a_name(stub: Any) -> None:
    """An empty id is no wish to remove all."""
    assert "id" == violated(await failure(stub.RemoveSource(sources.RemoveSourceRequest())))


async def test_sources_are_listed_in_pages(stub: Any, rooms: Rooms) -> None:
    """In order of their ids, each once."""
    rooms.sources = tuple(Source(id=f"s{number}", path=f"/s{number}") for number in (3, 1, 4, 2, 5))
    seen, token = [], ""
    for _ in range(3):
        answer = await stub.ListSources(sources.ListSourcesRequest(page_size=2, page_token=token))
        seen += [source.id for source in answer.sources]
        token = answer.next_page_token

    assert (["s1", "s2", "s3", "s4", "s5"], "") == (seen, token)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (sources.ListSourcesRequest(page_size=-1), "page_size"),
        (sources.ListSourcesRequest(page_token="AAAA"), "page_token"),
    ],
    ids=["size", "token"],
)
async def test_a_wrong_page_is_refused(
    stub: Any, request_: sources.ListSourcesRequest, field: str
) -> None:
    """The field is named."""
    assert field == violated(await failure(stub.ListSources(request_)))


async def test_a_scan_streams_progress_and_its_end(stub: Any, rooms: Rooms) -> None:
    """Progress names the source in hand; the last message has `done`."""
    rooms.writer.progress = [Progress(ImportReport(files_seen=1), "notes-1")]
    rooms.writer.done = Done(Imported(ImportReport(files_seen=2)), 9)

    answers = await collected(
        stub.ScanSources(sources.ScanSourcesRequest(ids=["notes-1", "/acme/"]))
    )

    assert [ScanSources(("notes-1", "/acme"))] == rooms.writer.commands
    assert [(False, "notes-1", 1, 0), (True, "", 2, 9)] == [
        (a.done, a.source_id, a.totals.files_seen, a.index_generation) for a in answers
    ]


async def test_a_scan_of_a_nameless_source_is_refused(stub: Any) -> None:
    """The place in the list is named."""
    scan = stub.ScanSources(sources.ScanSourcesRequest(ids=["a", ""]))

    assert "ids[1]" == violated(await failure(collected(scan)))
