"""Every call of the API against a real daemon."""

from __future__ import annotations

import asyncio
import json
import uuid
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc import aio
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.support.daemon import Daemon, running
from tests.support.details import collected, details, failure, reason, violated
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import common_pb2 as common
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import source_service_pb2 as sources


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def daemon() -> AsyncIterator[Daemon]:
    """One daemon for all tests here; each uses words and names of its own."""
    async with running() as daemon:
        yield daemon


@pytest.fixture
def word() -> str:
    """A word that no other test has stored."""
    # Letters only: where letters and digits meet, an analyzer may see a border between words.
    return "zq" + uuid.uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))


async def find(daemon: Daemon, query: str, **fields: Any) -> search.SearchResponse:
    """The final answer to *query*."""
    request = search.SearchRequest(query=query, **fields)
    answers = await collected(daemon.searching.Search(request))
    assert [answer.final for answer in answers] == [False] * (len(answers) - 1) + [True]
    last: search.SearchResponse = answers[-1]
    return last


def chat(word: str) -> list[dict[str, Any]]:
    """A Claude.ai export of one conversation that holds *word*."""
    text = f"Why did we drop {word} from the plan?"
    message = {
        "uuid": str(uuid.uuid4()),
        "sender": "human",
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": "2026-03-10T09:00:00.000000Z",
        "attachments": [],
        "files": [],
    }
    return [
        {
            "uuid": str(uuid.uuid4()),
            "name": "The plan",
            "created_at": "2026-03-10T09:00:00.000000Z",
            "updated_at": "2026-03-10T09:59:00.000000Z",
            "chat_messages": [message],
        }
    ]


def uploads(data: bytes, name: str) -> Iterator[archive.ImportRequest]:
    yield archive.ImportRequest(header=archive.ImportHeader(name=name, size=len(data)))
    for start in range(0, len(data), 1 << 20):
        yield archive.ImportRequest(chunk=data[start : start + (1 << 20)])


async def test_a_saved_note_is_found_and_opened(daemon: Daemon, word: str) -> None:
    """The three calls of every day."""
    saved = await daemon.archive.Save(
        archive.SaveRequest(
            source="test",
            summary=f"We chose {word} for the harbour.",
            content=f"A long talk about {word}.",
            decisions=[f"Use {word}."],
            topics=["harbour"],
        )
    )
    found = await find(daemon, word, explain=True)
    (result,) = found.results
    opened = await daemon.searching.OpenEvidence(
        search.OpenEvidenceRequest(id=result.expand.id, offset=0)
    )

    assert archive.SAVE_OUTCOME_CREATED == saved.outcome
    assert (saved.id, saved.evidence_key) == (result.id, result.evidence_key)
    assert saved.index_generation <= found.receipt.index_generation
    assert search.SEARCH_MODE_LEXICAL == found.mode == found.receipt.mode
    assert search.FOUND_BY_KEYWORD == result.found_by
    assert word in result.snippet.text
    assert result.HasField("score_parts")
    assert 0 < found.receipt.took.ToNanoseconds()
    assert word in opened.content
    assert [f"Use {word}."] == list(opened.decisions)
    assert saved.id == opened.id


async def test_the_same_key_changes_nothing(daemon: Daemon, word: str) -> None:
    """Saying it twice is saying it once."""
    request = archive.SaveRequest(source="test", summary=f"On {word}.", idempotency_key=word)

    first = await daemon.archive.Save(request)
    second = await daemon.archive.Save(request)

    assert archive.SAVE_OUTCOME_UNCHANGED == second.outcome
    assert first.id == second.id
    assert 1 == len((await find(daemon, word)).results)


async def test_an_upload_is_imported_and_found(daemon: Daemon, word: str) -> None:
    """Bytes in chunks, progress, totals; nothing stays in the spool."""
    data = json.dumps(chat(word)).encode()

    answers = await collected(daemon.archive.Import(uploads(data, "conversations.json")))

    assert [False] * (len(answers) - 1) + [True] == [answer.done for answer in answers]
    assert (1, 1) == (answers[-1].totals.rows_new, answers[-1].totals.conversations)
    assert 0 < answers[-1].index_generation
    assert 1 == len((await find(daemon, word)).results)
    assert [] == list((daemon.data / "spool").iterdir())


async def test_a_path_is_imported_twice_and_changes_nothing(
    daemon: Daemon, word: str, tmp_path: Path
) -> None:
    """The second time everything is unchanged."""
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive_file:
        archive_file.writestr("conversations.json", json.dumps(chat(word)))
    header = archive.ImportHeader(path=str(tmp_path / "export.zip"))
    request = archive.ImportRequest(header=header)

    first = (await collected(daemon.archive.Import(iter([request]))))[-1].totals
    second = (await collected(daemon.archive.Import(iter([request]))))[-1].totals

    assert (1, 0) == (first.rows_new, first.rows_unchanged)
    assert (0, 1) == (second.rows_new, second.rows_unchanged)


async def test_what_holds_nothing_is_not_imported(daemon: Daemon) -> None:
    """The error says what was seen."""
    call = daemon.archive.Import(uploads(b'[{"colour": "blue"}]', "colours.json"))

    error = await failure(collected(call))

    assert (grpc.StatusCode.INVALID_ARGUMENT, "NOTHING_IMPORTED") == (error.code(), reason(error))
    assert "colours.json" in (error.details() or "")


async def test_a_path_that_is_not_there_is_not_found(daemon: Daemon, tmp_path: Path) -> None:
    """It is named in the error."""
    header = archive.ImportHeader(path=str(tmp_path / "missing.zip"))

    error = await failure(
        collected(daemon.archive.Import(iter([archive.ImportRequest(header=header)])))
    )

    assert grpc.StatusCode.NOT_FOUND == error.code()
    assert str(tmp_path / "missing.zip") in (error.details() or "")


async def test_a_folder_is_followed_scanned_listed_and_let_go(
    daemon: Daemon, word: str, tmp_path: Path
) -> None:
    """The life of a source."""
    (tmp_path / "notes.md").write_text(f"# Notes\n\nAbout {word} and the weather.\n")
    request = sources.AddSourceRequest(source=sources.Source(path=f"{tmp_path}/"))
    added = (await daemon.sources.AddSource(request)).source
    again = await failure(daemon.sources.AddSource(request))
    scanned = await collected(
        daemon.sources.ScanSources(sources.ScanSourcesRequest(ids=[added.id]))
    )
    listed = await daemon.sources.ListSources(sources.ListSourcesRequest())
    found = await find(daemon, word)
    removed = await daemon.sources.RemoveSource(sources.RemoveSourceRequest(id=str(tmp_path)))

    assert str(tmp_path) == added.path
    assert grpc.StatusCode.ALREADY_EXISTS == again.code()
    assert (True, 1) == (scanned[-1].done, scanned[-1].totals.rows_new)
    (source,) = [source for source in listed.sources if source.id == added.id]
    assert 1 == source.documents
    assert source.HasField("last_scanned_at")
    (result,) = found.results
    assert (common.ROW_KIND_DOCUMENT, str(tmp_path / "notes.md")) == (result.kind, result.path)
    assert 1 == removed.documents_removed
    assert [] == list((await find(daemon, word)).results)


@pytest.mark.parametrize("call", ["remove", "scan", "open"])
async def test_what_there_is_not_is_not_found(daemon: Daemon, call: str) -> None:
    """Unknown ids are NOT_FOUND, with the id in the details."""
    calls: dict[str, Any] = {
        "remove": lambda: daemon.sources.RemoveSource(sources.RemoveSourceRequest(id="nobody")),
        "scan": lambda: collected(
            daemon.sources.ScanSources(sources.ScanSourcesRequest(ids=["nobody"]))
        ),
        "open": lambda: daemon.searching.OpenEvidence(search.OpenEvidenceRequest(id="nobody")),
    }

    error = await failure(calls[call]())

    assert (grpc.StatusCode.NOT_FOUND, "NOT_FOUND") == (error.code(), reason(error))
    assert "nobody" in details(error)["ErrorInfo"].metadata.values()


async def test_a_folder_that_is_not_there_cannot_be_followed(
    daemon: Daemon, tmp_path: Path
) -> None:
    """NOT_FOUND, as the API says."""
    source = sources.Source(path=str(tmp_path / "missing"))

    error = await failure(daemon.sources.AddSource(sources.AddSourceRequest(source=source)))

    assert grpc.StatusCode.NOT_FOUND == error.code()


async def test_wrong_fields_are_named(daemon: Daemon) -> None:
    """One of each service; the tables of limits are tested by themselves."""
    wrong = {
        "query": collected(daemon.searching.Search(search.SearchRequest(query="x" * 8_193))),
        "max_bytes": daemon.searching.OpenEvidence(
            search.OpenEvidenceRequest(id="x", max_bytes=(2 << 20) + 1)
        ),
        "summary": daemon.archive.Save(archive.SaveRequest(source="s")),
        "header": collected(daemon.archive.Import(iter([archive.ImportRequest(chunk=b"x")]))),
        "source.path": daemon.sources.AddSource(sources.AddSourceRequest()),
        "page_token": daemon.sources.ListSources(sources.ListSourcesRequest(page_token="x")),
    }

    assert list(wrong) == [violated(await failure(call)) for call in wrong.values()]


async def test_no_query_is_an_error_and_an_empty_one_finds_nothing(daemon: Daemon) -> None:
    """Whatever a person types is a question."""
    for query in ("", " ", '"', "-", "((", "a:b:c", '"unclosed', "-only", "*", "\0", "🛳️"):
        assert (await find(daemon, query)).final

    assert [] == list((await find(daemon, "")).results)


async def test_a_message_over_16_mib_is_refused_by_grpc(daemon: Daemon) -> None:
    """And the daemon goes on."""
    with pytest.raises(aio.AioRpcError) as caught:
        await daemon.archive.Save(
            archive.SaveRequest(source="s", summary="x", content="x" * (16 << 20))
        )

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == caught.value.code()
    assert (await find(daemon, "still here")).final


async def test_the_largest_save_is_kept_and_opened_in_pages(daemon: Daemon, word: str) -> None:
    """Eight megabytes in, and the same out, a page at a time."""
    line = f"{word} one two three four five six seven eight nine ten.\n"
    content = line * (8_388_608 // len(line))
    saved = await daemon.archive.Save(
        archive.SaveRequest(source="test", summary=f"All of {word}.", content=content),
        timeout=60,
    )
    text, offset = "", 0
    while True:
        page = await daemon.searching.OpenEvidence(
            search.OpenEvidenceRequest(id=saved.id, offset=offset, max_bytes=2 << 20)
        )
        assert len(page.content.encode()) <= 2 << 20
        text += page.content
        offset = page.next_offset
        if not offset:
            break

    assert content.strip() in text
    assert page.content_bytes == len(text.encode())


async def test_many_searches_at_once_are_all_answered(daemon: Daemon, word: str) -> None:
    """More than run at a time, fewer than may wait."""
    await daemon.archive.Save(archive.SaveRequest(source="test", summary=f"On {word}."))

    answers = await asyncio.gather(*(find(daemon, word) for _ in range(100)))

    assert {1} == {len(answer.results) for answer in answers}


async def test_status_says_what_there_is(daemon: Daemon, word: str) -> None:
    """Counts, versions, places, lanes."""
    before = await daemon.admin.Status(admin.StatusRequest())
    await daemon.archive.Save(archive.SaveRequest(source=word[:60], summary=f"On {word}."))
    await find(daemon, word)
    status = await daemon.admin.Status(admin.StatusRequest())

    assert (1, 1) == (status.protocol, status.format_version)
    assert (daemon.pid, str(daemon.data)) == (status.pid, status.data_path)
    assert f"unix:{daemon.socket}" == status.endpoint
    assert str(daemon.config) == status.config_path
    assert before.started_at == status.started_at
    assert 0 < status.start_up.ToNanoseconds() < status.uptime.ToNanoseconds()
    assert before.index_generation < status.index_generation
    assert hot(before) + 1 == hot(status)
    (own,) = [source for source in status.sources if source.source == word[:60]]
    assert 1 == own.rows
    assert own.HasField("newest_at")
    assert before.passages < status.passages
    assert before.terms < status.terms
    assert 0 < status.disk_bytes < status.disk_free_bytes
    assert 10 << 20 < status.memory_bytes < 400 << 20
    assert {"keyword": "ready", "meaning": "off"} == {
        lane.lane: lane.state for lane in status.lanes
    }
    assert search.SEARCH_MODE_LEXICAL == status.mode
    assert search.SIMILARITY_MAX == status.similarity
    assert search.RANKING_DATE_INDEXED == status.ranking_date
    assert ("running", "") == (status.writer_state, status.writer_activity)
    assert before.searches + 1 == status.searches


def hot(status: admin.StatusResponse) -> int:
    return sum(tier.rows for tier in status.tiers if tier.tier == common.TIER_HOT)


async def test_reflection_shows_every_service(daemon: Daemon) -> None:
    """Editors and grpcurl need no proto file at hand."""
    stub = reflection_pb2_grpc.ServerReflectionStub(daemon.channel)
    requests = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="twolane.v1.SearchService"),
    ]
    listed, file = await collected(stub.ServerReflectionInfo(iter(requests)))
    names = {service.name for service in listed.list_services_response.service}
    files = [
        FileDescriptorProto.FromString(raw)
        for raw in file.file_descriptor_response.file_descriptor_proto
    ]

    assert {
        "twolane.v1.SearchService",
        "twolane.v1.ArchiveService",
        "twolane.v1.SourceService",
        "twolane.v1.CompactionService",
        "twolane.v1.FeedbackService",
        "twolane.v1.ContextService",
        "twolane.v1.AdminService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    } == names
    assert "twolane/v1/search_service.proto" in {file.name for file in files}


async def test_configured_sources_are_followed(tmp_path: Path) -> None:
    """Those in the file, beside those added by hand; one that is missing is only reported."""
    (tmp_path / "notes").mkdir()
    config = f"""
        [ranking]
        date = "occurred"
        [[sources]]
        path = "{tmp_path}/notes/"
        scope = "client"
        client_name = "Acme"
        [[sources]]
        path = "{tmp_path}/missing"
        [embedding]
        provider = "voyage"
        """
    async with running(config=config) as daemon:
        while True:
            listed = await daemon.sources.ListSources(sources.ListSourcesRequest())
            status = await daemon.admin.Status(admin.StatusRequest())
            if listed.sources and status.recent_errors:
                break

        (source,) = listed.sources
        assert (f"{tmp_path}/notes", "Acme") == (source.path, source.client_name)
        assert f"{tmp_path}/missing" in status.recent_errors[0].message
        assert "twolane source scan" in status.next_action
        assert search.RANKING_DATE_OCCURRED == status.ranking_date
        (meaning,) = [lane for lane in status.lanes if lane.lane == "meaning"]
        assert ("off", True) == (meaning.state, "VOYAGE_API_KEY" in meaning.message)


async def test_what_is_typed_is_completed(daemon: Daemon, word: str) -> None:
    saved = await daemon.archive.Save(
        archive.SaveRequest(source="notes", summary="x", title=f"About {word} and more")
    )

    told = await daemon.searching.Suggest(search.SuggestRequest(prefix=f"see {word[:9]}"))

    assert [(s.kind, s.text, s.id) for s in told.suggestions] == [
        (search.SUGGESTION_KIND_WORD, f"see {word}", ""),
        (search.SUGGESTION_KIND_TITLE, f"About {word} and more", saved.id),
    ]
    for field, value in (("prefix", "x" * 1_025), ("limit", 51), ("limit", -1)):
        request = search.SuggestRequest(**{field: value})
        assert field == violated(await failure(daemon.searching.Suggest(request)))


async def test_a_watcher_is_told_what_changes(daemon: Daemon, word: str) -> None:
    """The state comes at once, and again when a row has come; the call ends when it is left."""
    watching = daemon.admin.WatchStatus(admin.WatchStatusRequest())
    first = (await watching.read()).status
    saved = await daemon.archive.Save(archive.SaveRequest(source="notes", summary=word))
    while True:
        told = (await watching.read()).status
        if told.index_generation >= saved.index_generation:
            break
    assert sum(t.rows for t in told.tiers) > sum(t.rows for t in first.tiers)
    watching.cancel()
