from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from google.rpc import code_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client.fake import Failure, FakeDaemon
from twolane import errors, requests
from twolane.calls import SEARCH
from twolane.client import Client, connect
from twolane.connection import OPTIONS, version
from twolane.v1 import common_pb2, search_service_pb2
from twolane.v1.search_service_pb2 import EvidenceMessage, OpenEvidenceResponse, SearchResponse


def test_search_yields_every_answer(daemon: FakeDaemon, client: Client) -> None:
    """A partial and a final answer both arrive, in order."""
    daemon.answers = [SearchResponse(), SearchResponse(final=True, degraded=True)]

    answers = list(client.search("queue", partial=True))

    assert [False, True] == [answer.final for answer in answers]
    assert daemon.last("Search").partial


def test_search_final_returns_the_last_answer(daemon: FakeDaemon, client: Client) -> None:
    """Who wants one answer gets the final one."""
    daemon.answers = [SearchResponse(), SearchResponse(final=True, degraded_reason="timeout")]

    assert "timeout" == client.search_final("queue").degraded_reason


def test_an_answer_that_is_cut_off_is_an_error(daemon: FakeDaemon, client: Client) -> None:
    """A stream that ends before its final message is not taken for an answer."""
    daemon.answers = [SearchResponse()]

    with pytest.raises(errors.DaemonFailed, match="before it was complete"):
        client.search_final("queue")


def test_options_become_fields(daemon: FakeDaemon, client: Client) -> None:
    """Words become enum values, datetimes timestamps, and every option its field."""
    moment = datetime(2024, 5, 12, 8, tzinfo=UTC)
    client.search_final(
        "deadlock",
        top_k=3,
        explain=True,
        scope="conversations",
        sources=["chatgpt", "claude-code"],
        domain="work",
        intent="repair",
        qualities=["low", "high"],
        topic="locks",
        decision="retry",
        client="acme",
        since=moment,
        cwd=Path("/src"),
        strict_project=True,
        detail="full",
        similarity="blend",
    )

    expected = search_service_pb2.SearchRequest(
        query="deadlock",
        top_k=3,
        explain=True,
        cwd="/src",
        strict_project=True,
        detail=search_service_pb2.DETAIL_FULL,
        similarity=search_service_pb2.SIMILARITY_BLEND,
        filters=search_service_pb2.Filters(
            scope=search_service_pb2.SCOPE_CONVERSATIONS,
            sources=["chatgpt", "claude-code"],
            domain="work",
            intent="repair",
            qualities=[common_pb2.QUALITY_LOW, common_pb2.QUALITY_HIGH],
            topic="locks",
            decision="retry",
            client="acme",
        ),
    )
    expected.filters.since.FromDatetime(moment)
    assert expected == daemon.last("Search")


def test_an_unknown_word_names_the_known_ones(client: Client) -> None:
    """A wrong word is refused before anything is sent, with the field and its choices."""
    with pytest.raises(errors.InvalidRequest, match="all, conversations, documents") as caught:
        client.search("x", scope="everything")

    assert "scope" == caught.value.violations[0].field


def test_a_time_needs_a_zone(client: Client) -> None:
    """A datetime that could mean any moment is refused."""
    with pytest.raises(errors.InvalidRequest, match="time zone"):
        client.search("x", since=datetime(2024, 5, 12))  # noqa: DTZ001


def test_every_call_says_who_calls_and_how_long_it_waits(
    daemon: FakeDaemon, client: Client
) -> None:
    """The daemon sees the client's name and the default deadline."""
    client.search_final("x")

    call = daemon.named("Search")[0]
    assert f"twolane-python/{version()}" == call.metadata["x-client"]
    assert call.seconds is not None
    assert SEARCH - 2 < call.seconds < SEARCH + 1


def test_a_timeout_of_its_own_wins(daemon: FakeDaemon) -> None:
    """The call's timeout stands before the client's, and the client's before the default."""
    with Client(daemon.socket, timeout=100) as client:
        client.status()
        client.status(timeout=50)
        client.status(timeout=math.inf)

    first, second, third = (call.seconds for call in daemon.named("Status"))
    assert first is not None
    assert second is not None
    assert 90 < first < 101
    assert 40 < second < 51
    assert third is None or third > 1e6


def test_imports_have_no_deadline(daemon: FakeDaemon, client: Client) -> None:
    """An import takes as long as it takes."""
    list(client.import_path("/exports/chats.zip"))

    seconds = daemon.named("Import")[0].seconds
    assert seconds is None or seconds > 1e6


def test_leaving_a_search_cancels_it(daemon: FakeDaemon, client: Client) -> None:
    """A caller that stops listening frees the daemon at once."""
    gone = threading.Event()
    daemon.on_search = lambda context: context.add_callback(gone.set)
    hold = threading.Event()

    def answers() -> Iterator[SearchResponse]:
        yield SearchResponse()
        hold.wait(10)
        yield SearchResponse(final=True)

    daemon.answers = answers()  # type: ignore[assignment]
    stream = client.search("x", partial=True)
    next(stream)
    stream.close()  # type: ignore[attr-defined]

    assert gone.wait(5)
    hold.set()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (code_pb2.INVALID_ARGUMENT, errors.InvalidRequest),
        (code_pb2.NOT_FOUND, errors.NotFound),
        (code_pb2.ALREADY_EXISTS, errors.AlreadyExists),
        (code_pb2.FAILED_PRECONDITION, errors.Refused),
        (code_pb2.UNAVAILABLE, errors.TryAgain),
        (code_pb2.RESOURCE_EXHAUSTED, errors.TryAgain),
        (code_pb2.DATA_LOSS, errors.StoreDamaged),
        (code_pb2.INTERNAL, errors.DaemonFailed),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else code_pb2.Code.Name(value),
)
def test_status_codes_become_errors(
    daemon: FakeDaemon, client: Client, code: int, kind: type[errors.TwolaneError]
) -> None:
    """Each status has its place in the tree of errors."""
    daemon.failures["Save"] = Failure(code, "No.", reason="SOME_REASON")

    with pytest.raises(errors.TwolaneError) as caught:
        client.save("notes", "x")

    assert kind is type(caught.value)
    assert code_pb2.Code.Name(code) == caught.value.code
    assert "SOME_REASON" == caught.value.reason


def test_an_error_carries_the_daemons_details(daemon: FakeDaemon, client: Client) -> None:
    """Reason, variables, fields, waiting time and request id all come through."""
    daemon.failures["Save"] = Failure(
        code_pb2.INVALID_ARGUMENT,
        "The summary is too long.",
        reason="TOO_LONG",
        metadata={"limit": "20000"},
        violations=(("summary", "at most 20,000 characters"),),
        retry_after=2.5,
        request_id="abc",
    )

    with pytest.raises(errors.InvalidRequest) as caught:
        client.save("notes", "x")

    error = caught.value
    assert "The summary is too long." == error.message == str(error)
    assert {"limit": "20000"} == error.metadata
    assert (errors.Violation("summary", "at most 20,000 characters"),) == error.violations
    assert 2.5 == error.retry_after
    assert "abc" == error.request_id


def test_nothing_imported_has_its_own_error(daemon: FakeDaemon, client: Client) -> None:
    """A reason narrows the status."""
    daemon.failures["Import"] = Failure(
        code_pb2.INVALID_ARGUMENT, "Three pictures were seen.", reason="NOTHING_IMPORTED"
    )

    with pytest.raises(errors.NothingImported, match="pictures"):
        list(client.import_path("/x"))


def test_nobody_there_is_not_try_again(short: Path) -> None:
    """UNAVAILABLE of gRPC's own means that there is no daemon; the daemon's own means wait."""
    with Client(short / "none.sock") as client, pytest.raises(errors.DaemonUnavailable):
        client.status()


def test_a_late_answer_is_a_deadline(daemon: FakeDaemon, client: Client) -> None:
    """A call whose time is up raises DeadlineExceeded, and waiting may help."""
    hold = threading.Event()
    daemon.on_search = lambda _: hold.wait(10)

    with pytest.raises(errors.DeadlineExceeded, match="time for the call"):
        client.search_final("x", timeout=0.05)
    hold.set()


def test_reads_are_retried(daemon: FakeDaemon, client: Client) -> None:
    """A search that meets a daemon which is just restarting is sent again."""
    daemon.failures["Search"] = Failure(
        code_pb2.UNAVAILABLE, "Stopping.", reason="STOPPING", times=2
    )

    assert client.search_final("x").final
    assert 3 == len(daemon.named("Search"))


def test_writes_are_not_retried(daemon: FakeDaemon, client: Client) -> None:
    """A save is sent once: the client cannot know whether it was kept."""
    daemon.failures["Save"] = Failure(code_pb2.UNAVAILABLE, "Stopping.", reason="STOPPING", times=1)

    with pytest.raises(errors.TryAgain):
        client.save("notes", "x")
    assert 1 == len(daemon.named("Save"))


@given(
    text=st.text(alphabet="aé語🙂\n", max_size=400),
    max_bytes=st.integers(min_value=4, max_value=64),
)
@settings(max_examples=20, deadline=None)
def test_pages_join_to_the_whole_text(text: str, max_bytes: int) -> None:
    """The pages of a row, one behind the other, are its text."""
    stored = text.encode()

    class Pages(Client):
        def __init__(self) -> None:
            pass

        def open(self, _: str, **options: object) -> OpenEvidenceResponse:  # type: ignore[override]
            offset = options["offset"]
            assert isinstance(offset, int)
            content = stored[offset : offset + max_bytes].decode(errors="ignore")
            end = offset + len(content.encode())
            return OpenEvidenceResponse(
                content=content, offset=offset, next_offset=end if end < len(stored) else 0
            )

    assert text == "".join(page.content for page in Pages().pages("x"))


def test_open_asks_for_what_was_said(daemon: FakeDaemon, client: Client) -> None:
    """The form, the offset and the limit are passed on."""
    daemon.rows["a"] = OpenEvidenceResponse(
        id="a", content="0123456789", messages=[EvidenceMessage(offset=0, length=10)]
    )

    page = client.open("a", offset=2, max_bytes=3)

    assert ("234", 5) == (page.content, page.next_offset)


@given(
    pieces=st.lists(st.binary(max_size=3 * requests.CHUNK_BYTES // 2), max_size=3),
)
@settings(max_examples=15, deadline=None)
def test_chunks_join_to_the_data(pieces: list[bytes]) -> None:
    """However the data comes, its chunks are small enough, not empty, and are the data."""
    data = b"".join(pieces)
    for source in (data, list(pieces), BytesIO(data)):
        chunks = list(requests.chunks(source))

        assert data == b"".join(chunks)
        assert all(0 < len(chunk) <= requests.CHUNK_BYTES for chunk in chunks)


def test_a_file_is_sent_in_chunks(daemon: FakeDaemon, client: Client, tmp_path: Path) -> None:
    """A file's name, size and every byte arrive."""
    file = tmp_path / "export.zip"
    file.write_bytes(b"x" * (requests.CHUNK_BYTES + 5))

    last = list(client.import_file(file))[-1]

    assert last.done
    assert ("export.zip", file.stat().st_size) == (
        daemon.last("Import").name,
        daemon.last("Import").size,
    )
    assert [requests.CHUNK_BYTES, 5] == daemon.last("Import by bytes")
    assert file.read_bytes() == daemon.received


def test_a_failing_reader_is_the_error(daemon: FakeDaemon, client: Client) -> None:
    """What reading the data failed with is raised, not that the call was cut off."""

    def data() -> Iterator[bytes]:
        yield b"abc"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(client.import_bytes(data(), name="x"))


def test_paths_are_made_absolute(
    daemon: FakeDaemon, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon runs in another folder, so relative paths and the tilde are resolved here."""
    monkeypatch.chdir(tmp_path)
    list(client.import_path("a.zip"))
    client.add_source("~/notes", scope="project", exclude=["*.log"])

    assert str(tmp_path / "a.zip") == daemon.last("Import").path
    assert str(Path.home() / "notes") == daemon.last("AddSource").source.path
    assert ["*.log"] == list(daemon.last("AddSource").source.exclude)


def test_sources_are_read_page_by_page(daemon: FakeDaemon, client: Client) -> None:
    """All sources are listed, however many a page holds."""
    for number in range(3):
        client.add_source(f"/f{number}")

    assert ["s1", "s2", "s3"] == [source.id for source in client.sources()]
    assert 3 == len(daemon.named("ListSources"))


def test_scan_remove_save_and_shutdown(daemon: FakeDaemon, client: Client) -> None:
    """The remaining calls carry their arguments and return what is of use."""
    progress = list(client.scan("s1", "/notes"))
    client.save("notes", "Retries", decisions=["three"], quality="high", cwd="/src")
    client.shutdown(grace=1.5)

    assert progress[-1].done
    assert ["s1", "/notes"] == list(daemon.last("ScanSources").ids)
    assert 3 == client.remove_source("s1")
    assert common_pb2.QUALITY_HIGH == daemon.last("Save").quality
    assert ["three"] == list(daemon.last("Save").decisions)
    assert 1500 == daemon.last("Shutdown").grace.ToMilliseconds()


def test_connect_needs_a_daemon(short: Path) -> None:
    """With nothing to start, nobody there is an error that names the socket."""
    with pytest.raises(errors.DaemonUnavailable, match=r"none\.sock") as caught:
        connect(short / "none.sock", autostart=False)

    assert "DAEMON_NOT_RUNNING" == caught.value.reason


def test_connect_returns_a_client(daemon: FakeDaemon) -> None:
    """With a daemon there, the client works at once."""
    with connect(daemon.socket) as client:
        assert daemon.status == client.status()


@pytest.mark.parametrize("name", ["a b", "50%", "a%20b", "q?x", "é"])
def test_any_socket_path_can_be_reached(short: Path, name: str) -> None:
    """gRPC's targets are URIs; a path with their special characters is found all the same."""
    daemon = FakeDaemon(short / "plain.sock")
    daemon.start()
    (short / f"{name}.sock").symlink_to(daemon.socket)
    with Client(short / f"{name}.sock") as client:
        assert client.status().pid
    daemon.stop()


def test_a_closed_client_says_so(daemon: FakeDaemon) -> None:
    """Using a client after it was closed is a mistake of the caller's."""
    client = Client(daemon.socket)
    client.close()

    with pytest.raises(ValueError, match="closed"):
        client.status()


def test_the_authority_is_localhost() -> None:
    """Servers that refuse a path as the authority can be talked to."""
    assert ("grpc.default_authority", "localhost") in OPTIONS
