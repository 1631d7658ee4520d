"""What holds for every method of the API, whatever its name: through a real daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pool
from grpc import aio

from tests.support.daemon import Daemon, running
from tests.support.details import collected, details, failure, reason, violated
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import feedback_service_pb2 as feedback
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import source_service_pb2 as sources
from twolane.v1.feedback_service_pb2_grpc import FeedbackServiceStub
from twolaned.server.names import READING, WRITING

NAMES = [
    f"/{service}/{method.name}"
    for service in (*READING, *WRITING)
    for method in descriptor_pool.Default().FindServiceByName(service).methods
]
SHUTDOWN = "/twolane.v1.AdminService/Shutdown"
WATCH = "/twolane.v1.AdminService/WatchStatus"
EXPECTED = {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND}
UNKNOWN_FIELD = b"\xfa\xff\x03\x03abc"
"""Field 8191, three bytes: of a later version of the API."""
NO_ENUM = 99


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def daemon() -> AsyncIterator[Daemon]:
    async with running() as daemon:
        yield daemon


pytestmark = pytest.mark.asyncio(loop_scope="session")


def begun(daemon: Daemon, name: str, *requests: bytes) -> Any:
    """A call of the method *name*; every shape of call is one of streams on the wire."""
    metadata = (("x-request-id", "given-id"),)
    return daemon.channel.stream_stream(name)(iter(requests), metadata=metadata)


async def test_no_method_is_left_out() -> None:
    """The services that are served are those of the proto files."""
    assert {
        "Search",
        "Import",
        "ScanSources",
        "Compact",
        "ContextPack",
        "LogOutcome",
        "Status",
    } <= {name.rpartition("/")[2] for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
async def test_malformed_bytes_are_the_callers_fault(daemon: Daemon, name: str) -> None:
    error = await failure(collected(begun(daemon, name, b"\x0a\xff")))

    assert grpc.StatusCode.INVALID_ARGUMENT == error.code()
    assert "MALFORMED_REQUEST" == reason(error)
    assert "twolane.dev" == details(error)["ErrorInfo"].domain
    assert "given-id" == dict(error.trailing_metadata())["x-request-id"]


@pytest.mark.parametrize("name", [n for n in NAMES if n not in (SHUTDOWN, WATCH)])
@pytest.mark.parametrize("request_bytes", [b"", UNKNOWN_FIELD], ids=["empty", "unknown field"])
async def test_an_empty_request_is_answered_or_the_callers_fault(
    daemon: Daemon, name: str, request_bytes: bytes
) -> None:
    """Never ours. Fields of a later version change nothing; the id comes back each time."""
    call = begun(daemon, name, request_bytes)
    try:
        await collected(call)
    except aio.AioRpcError as error:
        assert details(error)["ErrorInfo"].reason  # noqa: PT017  an error is one of two good ends

    assert await call.code() in EXPECTED
    assert "given-id" == dict(await call.trailing_metadata())["x-request-id"]


async def test_a_number_that_an_enum_does_not_have_names_the_field(daemon: Daemon) -> None:
    find = search.SearchRequest
    wrong: dict[str, Any] = {
        "detail": collected(daemon.searching.Search(find(query="x", detail=NO_ENUM))),
        "form": daemon.searching.OpenEvidence(search.OpenEvidenceRequest(id="x", form=NO_ENUM)),
        "source.scope": daemon.sources.AddSource(
            sources.AddSourceRequest(source=sources.Source(path="/tmp", scope=NO_ENUM))
        ),
        "outcome": FeedbackServiceStub(daemon.channel).LogOutcome(
            feedback.LogOutcomeRequest(session_id="s", outcome=NO_ENUM)
        ),
    }

    assert list(wrong) == [violated(await failure(call)) for call in wrong.values()]


async def test_the_middle_form_is_start_and_end_of_a_row(daemon: Daemon) -> None:
    """Of a long row, in one message, with nothing to page through."""
    content = "\n\n".join(f"Paragraph {number} of the long note." for number in range(5_000))
    saved = await daemon.archive.Save(
        archive.SaveRequest(source="test", summary="long", content=content)
    )

    opened = await daemon.searching.OpenEvidence(
        search.OpenEvidenceRequest(id=saved.id, form=search.EVIDENCE_FORM_MIDDLE)
    )

    assert "Paragraph 0 of" in opened.content
    assert "Paragraph 4999 of" in opened.content
    assert "Paragraph 2500 of" not in opened.content
    assert 4_000 < len(opened.content) < 20_000 < opened.content_bytes
    assert 0 == opened.next_offset
