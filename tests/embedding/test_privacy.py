from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.support_http.ollama_api import OllamaServer
from tests.support_http.server import HttpServer, Reply
from tests.support_http.voyage_api import KEY, VoyageServer
from twolaned.embedding.cache import LruCache
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.factory import Embedders, EmbeddingPlan
from twolaned.embedding.gate import PrivacyGate, PrivacyViolation
from twolaned.embedding.key import ApiKey
from twolaned.embedding.ollama_models import ollama_space
from twolaned.embedding.voyage import voyage_space
from twolaned.model.source import Extraction

LOCAL = [f"local secret {number}" for number in range(40)]
ORDINARY = [f"ordinary text {number}" for number in range(40)]


@dataclass
class Listening:
    """Both providers, each with an ear on it."""

    remote: VoyageServer
    local: OllamaServer
    plan: EmbeddingPlan
    embedders: Embedders

    async def embed(self, texts: list[str], extraction: Extraction) -> None:
        embedder = self.embedders.for_extraction(extraction)
        assert embedder is not None
        made = await embedder.embed_passages(texts, extraction)
        assert {} == made.failures


@pytest.fixture
async def both() -> AsyncIterator[Listening]:
    async with VoyageServer() as remote, OllamaServer() as local:
        plan = EmbeddingPlan(
            provider="voyage", key=ApiKey(KEY), base_url=remote.url, ollama_host=local.url
        )
        embedders = Embedders(plan, LruCache(1_000))
        yield Listening(remote, local, plan, embedders)
        await embedders.aclose()


async def test_ingest(both: Listening) -> None:
    """Local texts are heard at the local provider only, ordinary ones at the remote one only."""
    await asyncio.gather(
        both.embed(LOCAL, Extraction.LOCAL), both.embed(ORDINARY, Extraction.DEFAULT)
    )

    assert all(text in both.local.texts for text in LOCAL)
    assert all(text in both.remote.texts for text in ORDINARY)
    assert "local secret" not in both.remote.texts
    assert "ordinary text" not in both.local.texts


async def test_a_text_that_is_in_both(both: Listening) -> None:
    """A vector from one provider does not stand in for one of the other's."""
    await both.embed(["same"], Extraction.DEFAULT)
    await both.embed(["same"], Extraction.LOCAL)

    assert 1 == len(both.remote.requests)
    assert 1 == len(both.local.embeds)


async def test_a_change_of_model(both: Listening) -> None:
    """Making all vectors again takes the same way."""
    await both.embed(LOCAL, Extraction.LOCAL)
    changed = Embedders(replace(both.plan, model="voyage-3"), LruCache(1_000))
    for extraction, texts in ((Extraction.LOCAL, LOCAL), (Extraction.DEFAULT, ORDINARY)):
        embedder = changed.for_extraction(extraction)
        assert embedder is not None
        await embedder.embed_passages(texts, extraction)
    await changed.aclose()

    assert "voyage-3" == both.remote.requests[-1].json["model"]
    assert "local secret" not in both.remote.texts


async def test_a_digest(both: Listening) -> None:
    """What is made of local and ordinary texts is treated as local."""
    extraction = PrivacyGate.strictest([Extraction.DEFAULT, Extraction.LOCAL])

    await both.embed([f"digest of {LOCAL[0]}"], extraction)

    assert 0 == both.remote.connections
    assert "digest of local secret 0" in both.local.texts


async def test_the_embedder_of_ordinary_texts_refuses_local_ones(both: Listening) -> None:
    """A caller that takes the wrong embedder gets an error, and nothing is heard."""
    wrong = both.embedders.for_extraction(Extraction.DEFAULT)
    assert wrong is not None

    with pytest.raises(PrivacyViolation):
        await wrong.embed_passages(LOCAL, Extraction.LOCAL)
    with pytest.raises(PrivacyViolation):
        await wrong.embed_question(LOCAL[0], time.monotonic() + 5.0, Extraction.LOCAL)

    assert 0 == both.remote.connections


async def test_an_earlier_space_is_no_way_around(both: Listening) -> None:
    """Nor is an embedder for the questions of another space."""
    old = both.embedders.for_space(voyage_space("voyage-3", None, provided=False))
    assert old is not None

    with pytest.raises(PrivacyViolation):
        await old.embed_passages(LOCAL, Extraction.LOCAL)

    assert 0 == both.remote.connections


async def test_a_local_provider_that_is_down_is_not_replaced(both: Listening) -> None:
    """Local texts wait; they do not go to the provider that works."""
    both.local.models = {}
    embedder = both.embedders.for_extraction(Extraction.LOCAL)
    assert embedder is not None

    with pytest.raises(EmbeddingError, match="ollama pull"):
        await embedder.embed_passages(LOCAL, Extraction.LOCAL)

    assert 0 == both.remote.connections


async def test_a_local_model_that_runs_in_the_cloud(both: Listening) -> None:
    """Not one local text is heard anywhere, then or later; the gate stays shut."""
    both.local.remote["nomic-embed-text"] = "https://ollama.com:443"
    embedder = both.embedders.for_extraction(Extraction.LOCAL)
    assert embedder is not None

    with pytest.raises(EmbeddingError, match="on another machine"):
        await embedder.embed_passages(LOCAL, Extraction.LOCAL)
    with pytest.raises(PrivacyViolation):
        await embedder.embed_passages(LOCAL, Extraction.LOCAL)
    with pytest.raises(PrivacyViolation):
        both.embedders.for_extraction(Extraction.LOCAL)

    assert "local secret" not in both.local.texts + both.remote.texts


async def test_questions_are_asked_in_each_space(both: Listening) -> None:
    """A question is the person's own and goes to every space that holds vectors in reach."""
    spaces = (voyage_space("", None, provided=True), ollama_space("", None))

    for space in spaces:
        embedder = both.embedders.for_space(space)
        assert embedder is not None
        answer = await embedder.embed_question("why?", time.monotonic() + 30.0)
        assert isinstance(answer, np.ndarray)
        assert (space.dimensions,) == answer.shape


@pytest.mark.parametrize("host", ["http://192.0.2.1:11434", "http://gpu.invalid"])
async def test_an_ollama_server_elsewhere_gets_no_local_text(host: str) -> None:
    """A server in the same network is another machine."""
    plan = EmbeddingPlan(provider="voyage", key=ApiKey(KEY), ollama_host=host)
    embedders = Embedders(plan, LruCache(10))

    with pytest.raises(PrivacyViolation):
        embedders.for_extraction(Extraction.LOCAL)
    await embedders.aclose()


async def test_an_ordinary_provider_that_is_an_ollama_server_elsewhere() -> None:
    """Two servers make vectors in one space, and each text goes to its own."""
    async with OllamaServer() as local, HttpServer(lambda _: Reply(500)) as trap:
        plan = EmbeddingPlan(
            provider="ollama",
            base_url=trap.url.replace("127.0.0.1", "gpu.invalid"),
            ollama_host=local.url,
        )
        embedders = Embedders(plan, LruCache(10))
        ordinary = embedders.for_extraction(Extraction.DEFAULT)
        private = embedders.for_extraction(Extraction.LOCAL)
        assert ordinary is not None
        assert private is not None
        await private.embed_passages(LOCAL, Extraction.LOCAL)
        await embedders.aclose()

        assert ordinary.space == private.space
        assert (False, True) == (ordinary.is_local, private.is_local)
        assert all(text in local.texts for text in LOCAL)
        assert 0 == trap.connections
