from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator

import numpy as np
import pytest

from tests.support_http.ollama_api import OllamaServer
from tests.support_http.server import Drip, Fault, Hang, HttpServer, Late, Reply, ResetMidBody
from tests.support_http.voyage_api import KEY, VoyageServer, answer
from twolaned.embedding.cache import LruCache
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.endpoint import ollama_endpoint
from twolaned.embedding.key import ApiKey
from twolaned.embedding.ollama import OllamaProvider
from twolaned.embedding.ollama_models import ollama_space
from twolaned.embedding.provider import Provider
from twolaned.embedding.questions import QuestionSettings
from twolaned.embedding.voyage import VoyageProvider, voyage_space
from twolaned.model.embedding import EmbeddingFailure, FailureReason
from twolaned.model.source import Extraction

BUDGET = 0.3
"""Seconds. Real questions have 1.5."""
CEILING = 0.15
"""Seconds that an answer may come after its deadline on a busy machine."""

Bench = tuple[Embedder, HttpServer]


async def warmed(provider: Provider) -> Embedder:
    embedder = Embedder(
        provider, LruCache(100), questions=QuestionSettings(slow=BUDGET / 2, background=5.0)
    )
    assert None is await embedder.warm()
    return embedder


@pytest.fixture(params=["voyage", "ollama"])
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    """An embedder with a real client, and the server it speaks to."""
    server: HttpServer
    provider: Provider
    server = VoyageServer() if request.param == "voyage" else OllamaServer()
    async with server:
        if request.param == "voyage":
            space = voyage_space("", None, provided=False)
            provider = VoyageProvider(space, ApiKey(KEY), base_url=server.url)
        else:
            provider = OllamaProvider(ollama_space("", None), ollama_endpoint(server.url))
        embedder = await warmed(provider)
        yield embedder, server
        await embedder.aclose()


async def timed(embedder: Embedder, text: str) -> tuple[object, float]:
    """What a question gets, and how long after its deadline (negative: before)."""
    deadline = time.monotonic() + BUDGET
    outcome = await embedder.embed_question(text, deadline)
    return outcome, time.monotonic() - deadline


@pytest.mark.parametrize("fault", [Hang(), Drip(0.02), Late(2.0)], ids=["hang", "drip", "late"])
async def test_a_slow_provider_does_not_hold_up_a_question(bench: Bench, fault: Fault) -> None:
    """The answer comes at the deadline, neither much later nor much earlier."""
    embedder, server = bench
    await timed(embedder, "warm connection")
    server.always = fault

    outcome, late = await timed(embedder, "why?")

    assert isinstance(outcome, EmbeddingFailure)
    assert FailureReason.TIMEOUT == outcome.reason
    assert -0.05 < late < CEILING


@pytest.mark.parametrize(
    "fault", [Reply(500), Reply(200, b"{"), ResetMidBody(), Reply(401), Reply(429)], ids=str
)
async def test_a_failure_is_not_waited_for(bench: Bench, fault: Fault) -> None:
    """The answer goes out as soon as it is clear that there will be no vector."""
    embedder, server = bench
    await timed(embedder, "warm connection")
    server.always = fault

    outcome, late = await timed(embedder, "why?")

    assert isinstance(outcome, EmbeddingFailure)
    assert FailureReason.TIMEOUT != outcome.reason
    assert late < -BUDGET / 3


async def test_a_late_vector_is_there_the_second_time(bench: Bench) -> None:
    """And the provider is not asked again."""
    embedder, server = bench
    await timed(embedder, "warm connection")
    server.faults.append(Hang())
    outcome, _ = await timed(embedder, "why?")
    assert isinstance(outcome, EmbeddingFailure)
    asked = len(server.requests)

    server.release()
    await timed(embedder, "why?")
    outcome, late = await timed(embedder, "why?")

    assert isinstance(outcome, np.ndarray)
    assert late < -BUDGET / 2
    assert asked == len(server.requests)


async def test_a_cancelled_question_closes_the_socket(bench: Bench) -> None:
    """From the search down to the connection within 50 ms."""
    embedder, server = bench
    await timed(embedder, "warm connection")
    server.always = Hang()
    before = len(server.requests)
    ask = asyncio.create_task(embedder.embed_question("why?", time.monotonic() + 30.0))
    await server.until(lambda: len(server.requests) == before + 1)

    cancelled_at = time.monotonic()
    ask.cancel()
    await asyncio.wait({ask})
    await server.until(lambda: server.open == 0)

    assert server.closed_at[0] - cancelled_at < 0.05


async def test_a_provider_that_is_down_costs_three_questions(bench: Bench) -> None:
    """From the fourth on they are answered at once, until a probe finds it back."""
    embedder, server = bench
    await timed(embedder, "warm connection")
    server.always = Reply(503)
    failures = []
    for number in range(6):
        outcome, _ = await timed(embedder, f"question {number}")
        assert isinstance(outcome, EmbeddingFailure)
        failures.append(outcome)

    assert ["provider_error"] * 3 + ["circuit_open"] * 3 == [f.reason.value for f in failures]
    assert all("HTTP 503" in failure.message for failure in failures)


async def test_a_connection_that_never_opens(bench: Bench) -> None:
    """A host that drops packets costs no more than one that hangs."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        filling = [socket.socket() for _ in range(3)]
        try:
            for one in filling:
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            url = f"http://127.0.0.1:{full.getsockname()[1]}"
            provider: Provider = (
                VoyageProvider(voyage_space("", None, provided=False), ApiKey(KEY), base_url=url)
                if isinstance(bench[1], VoyageServer)
                else OllamaProvider(ollama_space("", None), ollama_endpoint(url))
            )
            embedder = await warmed(provider)

            outcome, late = await timed(embedder, "why?")
            await embedder.aclose()
        finally:
            for one in filling:
                one.close()

    assert isinstance(outcome, EmbeddingFailure)
    assert FailureReason.TIMEOUT == outcome.reason
    assert -0.05 < late < CEILING


async def test_the_first_question_may_load_the_library() -> None:
    """Without ``warm`` the import goes on in the background when the deadline passes."""
    async with VoyageServer() as server:
        provider = VoyageProvider(
            voyage_space("", None, provided=False), ApiKey(KEY), base_url=server.url
        )
        embedder = Embedder(provider, LruCache(10))

        outcome = await embedder.embed_question("why?", time.monotonic() + 30.0)
        await embedder.aclose()

    assert isinstance(outcome, np.ndarray)


async def test_a_batch_over_the_limit_is_split(bench: Bench) -> None:
    """A thousand passages go out in calls that the service takes, over few connections."""
    embedder, server = bench
    texts = [f"passage {number} " + "x" * 700 for number in range(400)]

    made = await embedder.embed_passages(texts, Extraction.DEFAULT)

    assert {} == made.failures
    assert np.allclose(1.0, np.linalg.norm(made.vectors, axis=1), atol=1e-5)
    sent = [r.json["input"] for r in server.requests if "input" in r.json]
    assert 400 == sum(map(len, sent))
    assert max(map(len, sent)) <= 128
    assert server.connections <= 4


async def test_vectors_that_are_wrong_are_not_cached() -> None:
    """After a wrong answer the right one is asked for."""
    async with VoyageServer() as server:
        space = voyage_space("", None, provided=False)
        embedder = await warmed(VoyageProvider(space, ApiKey(KEY), base_url=server.url))
        server.faults.append(answer([[0.5] * 1024]))

        first, _ = await timed(embedder, "why?")
        second, _ = await timed(embedder, "why?")
        await embedder.aclose()

    assert isinstance(first, EmbeddingFailure)
    assert isinstance(second, np.ndarray)
