"""The language model, against a server that speaks Ollama's protocol."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.support_http.server import HttpServer, Reply, Request
from twolaned.compaction.enrichment import EnrichmentFailed
from twolaned.compaction.models import model_for
from twolaned.compaction.ollama_model import OllamaModel
from twolaned.embedding.endpoint import Endpoint
from twolaned.model.compaction import Enrichment

SHAPE: dict[str, object] = {"type": "object"}


class ChatServer(HttpServer):
    """Has one model, "m"; *shown* is what it says of it, *said* what it answers."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.shown: dict[str, object] = {"details": {}}
        self.said = Reply.of({"model": "m", "message": {"role": "assistant", "content": "{}"}})

    @property
    def chats(self) -> list[Request]:
        return [r for r in self.requests if r.path == "/api/chat"]

    def _answer(self, request: Request) -> Reply:
        if request.json.get("model") != "m":
            return Reply.of({"error": "not found"}, 404)
        return Reply.of(self.shown) if request.path == "/api/show" else self.said


async def ask(
    server: ChatServer, name: str = "m", *, local_only: bool = False, loop: bool = True
) -> str:
    model = OllamaModel(Endpoint(server.url, on_loopback=loop), name, local_only=local_only)
    return await asyncio.to_thread(model.answer, "Write.", "material", SHAPE)


async def failure(server: ChatServer, name: str = "m", **options: bool) -> str:
    with pytest.raises(EnrichmentFailed) as caught:
        await ask(server, name, **options)
    return str(caught.value)


async def test_the_model_is_asked_for_json_of_a_shape() -> None:
    """With the prompt as its instructions and the material apart from it."""
    async with ChatServer() as server:
        assert "{}" == await ask(server)

    (chat,) = server.chats
    assert SHAPE == chat.json["format"]
    assert ["system", "user"] == [m["role"] for m in chat.json["messages"]]
    assert chat.json["options"]["temperature"] == 0


async def test_local_material_goes_to_a_local_model_only() -> None:
    """A model that runs elsewhere, or a server that is elsewhere, sees nothing."""
    async with ChatServer() as server:
        assert "{}" == await ask(server, local_only=True)
        server.shown = {"remote_host": "https://ollama.com"}
        assert "does not run on this machine" in await failure(server, local_only=True)
        assert "does not run on this machine" in await failure(server, local_only=True, loop=False)
        assert "does not run on this machine" in await failure(server, "m:cloud", local_only=True)

    assert 1 == len(server.chats)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(500, b"{}"), "HTTP 500"),
        (Reply(200, b"<html>", content_type="text/html"), "no chat"),
        (Reply(307, b"", {"location": "http://192.0.2.1/"}), "HTTP 307"),
    ],
)
async def test_what_goes_wrong_is_said(reply: Reply, why: str) -> None:
    """In our words, without the server's."""
    async with ChatServer() as server:
        server.said = reply
        assert why in await failure(server)


async def test_a_missing_model_can_be_fetched() -> None:
    """The person is told how."""
    async with ChatServer() as server:
        assert "ollama pull other" in await failure(server, "other")
        assert "ollama pull other" in await failure(server, "other", local_only=True)


async def test_nobody_there_is_said() -> None:
    """Most often the server does not run."""
    async with ChatServer() as server:
        url = server.url
    model = OllamaModel(Endpoint(url, on_loopback=True), "m")
    with pytest.raises(EnrichmentFailed, match="cannot be reached"):
        await asyncio.to_thread(model.answer, "", "", SHAPE)


async def test_the_settings_name_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """OLLAMA_HOST says where; a host that cannot be used fails when it is asked, not before."""
    assert model_for(Enrichment.EXTRACTIVE, "", local=False) is None
    async with ChatServer() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        model = model_for(Enrichment.OLLAMA, "m", local=True)
        assert model is not None
        assert "{}" == await asyncio.to_thread(model.answer, "", json.dumps({}), SHAPE)
    monkeypatch.setenv("OLLAMA_HOST", "ftp://x")
    unusable = model_for(Enrichment.OLLAMA, "m", local=False)
    assert unusable is not None
    with pytest.raises(EnrichmentFailed, match="http"):
        unusable.answer("", "", SHAPE)
