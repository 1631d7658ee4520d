"""Digests by a language model: who gets to see what."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.compaction.test_ollama_model import ChatServer
from tests.support_http.server import Reply
from tests.writer.archive import ignore, old_chat, opened, run
from twolaned.model.compaction import Enrichment
from twolaned.writer.compact_job import compact_job
from twolaned.writer.protocol import Compact, Compacted

SECRET = "The password of the harbour pilot is a well kept secret."
OPEN = "The ferry timetable moves to a new queue in June."


def compact(data: Path, *, dry_run: bool = False) -> Compacted:
    with opened(data) as archive:
        archive.add(old_chat(0, text=OPEN), old_chat(3, text=SECRET, local=True), indexed_at=5)
        command = Compact(older_than_ms=0, dry_run=dry_run, enrichment=Enrichment.OLLAMA, model="m")
        result = run(compact_job(archive.context, command, ignore))
        assert isinstance(result, Compacted)
        return result


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch):
    async with ChatServer() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        line = '{"lines":[{"text":"' + OPEN + '","sources":[1, 2]}]}'
        server.said = Reply.of({"model": "m", "message": {"role": "assistant", "content": line}})
        yield server


async def test_a_model_elsewhere_sees_no_local_material(server: ChatServer, tmp_path: Path) -> None:
    """Its digest is made without it, and says why; the other one is the model's."""
    server.shown = {"remote_host": "https://ollama.com"}
    done = await asyncio.to_thread(compact, tmp_path)

    digests = {d.id: d for d in done.report.digests}
    assert Enrichment.OLLAMA is digests["2026-W13"].provider
    local = digests["2026-W13-local"]
    assert (Enrichment.EXTRACTIVE, "the model does not run on this machine") == (
        local.provider,
        local.fell_back,
    )
    assert OPEN in server.chats[0].body.decode()
    assert not any("secret" in request.body.decode() for request in server.requests)


async def test_a_model_here_sees_it_apart(server: ChatServer, tmp_path: Path) -> None:
    """Never in one question with other material."""
    await asyncio.to_thread(compact, tmp_path)

    assert [(True, False), (False, True)] == [
        (OPEN in body, SECRET in body) for body in (c.body.decode() for c in server.chats)
    ]


async def test_a_dry_run_asks_no_model(server: ChatServer, tmp_path: Path) -> None:
    """It says which digests there would be."""
    done = await asyncio.to_thread(compact, tmp_path, dry_run=True)

    assert ["2026-W13", "2026-W13-local"] == [d.id for d in done.report.digests]
    assert [] == server.requests
