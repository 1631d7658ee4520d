from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support_http.ollama_api import OllamaServer
from tests.support_http.voyage_api import KEY, VoyageServer
from twolaned.embedding.endpoint import ollama_endpoint
from twolaned.embedding.key import ApiKey
from twolaned.embedding.ollama import OllamaProvider
from twolaned.embedding.ollama_models import ollama_space
from twolaned.embedding.voyage import VoyageProvider, voyage_space


@pytest.fixture(autouse=True)
def plain_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy and no address of the person's own takes part in a test."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY", "VOYAGE_API_KEY_PATH", "VOYAGE_LOG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def voyage_server() -> AsyncIterator[VoyageServer]:
    async with VoyageServer() as server:
        yield server


@pytest.fixture
async def voyage(voyage_server: VoyageServer) -> AsyncIterator[VoyageProvider]:
    """A provider with a key of the person's own, at the local server."""
    space = voyage_space("", None, provided=False)
    provider = VoyageProvider(space, ApiKey(KEY), base_url=voyage_server.url)
    yield provider
    await provider.aclose()


@pytest.fixture
async def ollama_server() -> AsyncIterator[OllamaServer]:
    async with OllamaServer() as server:
        yield server


@pytest.fixture
async def ollama(ollama_server: OllamaServer) -> AsyncIterator[OllamaProvider]:
    provider = OllamaProvider(ollama_space("", None), ollama_endpoint(ollama_server.url))
    yield provider
    await provider.aclose()


async def ended(task: asyncio.Task[object]) -> None:
    """Wait for a task that was cancelled."""
    await asyncio.wait({task})
