from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio
from google.rpc import code_pb2

from tests.client.fake import Failure, FakeDaemon
from twolane import errors, requests
from twolane.aio import AsyncClient, connect_async
from twolane.client import Client
from twolane.v1.search_service_pb2 import OpenEvidenceResponse, SearchResponse


@pytest_asyncio.fixture
async def connected(daemon: FakeDaemon) -> AsyncIterator[AsyncClient]:
    async with await connect_async(daemon.socket) as client:
        yield client


def test_both_clients_have_the_same_calls() -> None:
    """What can be called, can be called from both kinds of code."""

    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)


async def test_search(daemon: FakeDaemon, connected: AsyncClient) -> None:
    """Answers arrive in order, and the final one can be had alone."""
    daemon.answers = [SearchResponse(), SearchResponse(final=True)]

    answers = [answer async for answer in connected.search("x", partial=True, top_k=4)]

    assert [False, True] == [answer.final for answer in answers]
    assert 4 == daemon.last("Search").top_k
    assert (await connected.search_final("x")).final


async def test_a_cancelled_search_frees_the_daemon(
    daemon: FakeDaemon, connected: AsyncClient
) -> None:
    """Cancelling the task that waits cancels the call."""
    arrived, gone, hold = threading.Event(), threading.Event(), threading.Event()

    def wait(context: object) -> None:
        context.add_callback(gone.set)  # type: ignore[attr-defined]
        arrived.set()
        hold.wait(10)

    daemon.on_search = wait
    task = asyncio.create_task(connected.search_final("x"))
    assert await asyncio.to_thread(arrived.wait, 5)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(gone.wait, 5)
    hold.set()


async def test_leaving_early_frees_the_daemon(daemon: FakeDaemon, connected: AsyncClient) -> None:
    """A stream that is closed before its end is cancelled."""
    gone, hold = threading.Event(), threading.Event()
    daemon.on_search = lambda context: context.add_callback(gone.set)

    def answers() -> Iterator[SearchResponse]:
        yield SearchResponse()
        hold.wait(10)
        yield SearchResponse(final=True)

    daemon.answers = answers()  # type: ignore[assignment]
    async with aclosing(connected.search("x", partial=True)) as stream:  # type: ignore[type-var]
        async for _ in stream:
            break

    assert await asyncio.to_thread(gone.wait, 5)
    hold.set()


async def test_errors_are_the_same(daemon: FakeDaemon, connected: AsyncClient) -> None:
    """Details come through as they do elsewhere."""
    daemon.failures["Save"] = Failure(
        code_pb2.INVALID_ARGUMENT,
        "No.",
        reason="TOO_LONG",
        violations=(("summary", "too long"),),
    )

    with pytest.raises(errors.InvalidRequest) as caught:
        await connected.save("notes", "x")
    with pytest.raises(errors.NotFound):
        await connected.open("nothing")

    assert "TOO_LONG" == caught.value.reason
    assert "summary" == caught.value.violations[0].field


async def test_pages_join_to_the_text(daemon: FakeDaemon, connected: AsyncClient) -> None:
    """A long row comes page by page."""
    text = "語" * 5000
    daemon.rows["a"] = OpenEvidenceResponse(id="a", content=text)

    pages = [page.content async for page in connected.pages("a")]

    assert len(pages) > 1
    assert text == "".join(pages)


async def test_imports_send_every_byte(
    daemon: FakeDaemon, connected: AsyncClient, tmp_path: Path
) -> None:
    """A file is sent in chunks, and a path is only named."""
    file = tmp_path / "export.json"
    file.write_bytes(b"y" * (requests.CHUNK_BYTES + 1))

    sent = [answer async for answer in connected.import_file(file)]
    named = [answer async for answer in connected.import_path(file)]

    assert sent[-1].done
    assert named[-1].done
    assert file.read_bytes() == daemon.received
    assert str(file) == daemon.last("Import by path").path


async def test_a_failing_reader_is_the_error(daemon: FakeDaemon, connected: AsyncClient) -> None:
    """What reading the data failed with is raised."""

    def data() -> Iterator[bytes]:
        yield b"abc"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        async for _ in connected.import_bytes(data(), name="x"):
            pass


async def test_sources(daemon: FakeDaemon, connected: AsyncClient) -> None:
    """Folders are added, listed over pages, scanned and removed."""
    for number in range(2):
        await connected.add_source(f"/f{number}", scope="client", client_name="acme")

    assert ["s1", "s2"] == [source.id async for source in connected.sources()]
    assert [answer async for answer in connected.scan("s1")][-1].done
    assert 3 == await connected.remove_source("s2")
    assert daemon.status == await connected.status()
    assert daemon.status.pid == (await connected.shutdown()).pid


async def test_connecting_needs_a_daemon(short: Path) -> None:
    """With nothing to start, nobody there is an error."""
    with pytest.raises(errors.DaemonUnavailable):
        await connect_async(short / "none.sock", autostart=False)
