from __future__ import annotations

import asyncio
import logging
import time
import traceback

import numpy as np
import pytest

from tests.embedding.conftest import ended
from tests.support_http.ollama_api import OllamaServer
from tests.support_http.server import (
    CloseSilently,
    Drip,
    Fault,
    Hang,
    HttpServer,
    Late,
    Reply,
    ResetMidBody,
    closed_port,
)
from tests.support_http.vectors import unit_vector
from twolaned.embedding.endpoint import Endpoint, ollama_endpoint
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.ollama import CONFIRMED_SECONDS, OllamaProvider
from twolaned.embedding.ollama_models import ollama_space
from twolaned.embedding.provider import BatchLimits
from twolaned.model.embedding import EmbeddingFailure, FailureReason, InputType

SECRET = "what the person wrote about the merger"


async def failure_of(provider: OllamaProvider) -> EmbeddingFailure:
    with pytest.raises(EmbeddingError) as caught:
        await provider.embed([SECRET], InputType.DOCUMENT)
    return caught.value.failure


@pytest.mark.parametrize(
    ("input_type", "prefix"),
    [(InputType.QUERY, "search_query: "), (InputType.DOCUMENT, "search_document: ")],
)
async def test_texts_are_sent_with_the_models_prefix(
    ollama: OllamaProvider, ollama_server: OllamaServer, input_type: InputType, prefix: str
) -> None:
    """nomic-embed-text needs to be told what a text is; the library sends the rest."""
    vectors = await ollama.embed(["one", "two"], input_type)

    (request,) = ollama_server.embeds
    assert {
        "model": "nomic-embed-text",
        "input": [prefix + "one", prefix + "two"],
        "truncate": True,
        "keep_alive": "30m",
    } == request.json
    assert np.float32 == vectors.dtype
    assert (2, 768) == vectors.shape
    assert np.allclose(vectors[1], unit_vector(prefix + "two", 768), atol=1e-6)
    assert np.allclose(1.0, np.linalg.norm(vectors, axis=1), atol=1e-6)


async def test_fewer_dimensions_are_asked_for(ollama_server: OllamaServer) -> None:
    """A smaller size than the model's own is the server's work."""
    provider = OllamaProvider(ollama_space("", 256), ollama_endpoint(ollama_server.url))

    vectors = await provider.embed(["one"], InputType.DOCUMENT)
    await provider.aclose()

    assert 256 == ollama_server.embeds[0].json["dimensions"]
    assert (1, 256) == vectors.shape


async def test_the_connection_stays_open(
    ollama: OllamaProvider, ollama_server: OllamaServer
) -> None:
    """The question where the model runs and twenty calls take one connection."""
    for number in range(20):
        await ollama.embed([f"passage {number}"], InputType.DOCUMENT)

    assert (1, 20) == (len(ollama_server.shows), len(ollama_server.embeds))
    assert 1 == ollama_server.connections


@pytest.mark.parametrize("fault", [Hang(), Drip(0.05)], ids=["before", "in the middle"])
async def test_a_cancel_closes_the_socket(
    ollama: OllamaProvider, ollama_server: OllamaServer, fault: Fault
) -> None:
    """The server sees the connection end within 50 ms."""
    await ollama.embed(["first"], InputType.QUERY)
    ollama_server.always = fault
    call = asyncio.create_task(ollama.embed(["a question"], InputType.QUERY))
    await ollama_server.until(lambda: len(ollama_server.embeds) == 2)

    cancelled_at = time.monotonic()
    call.cancel()
    await ended(call)
    await ollama_server.until(lambda: ollama_server.open == 0)

    assert call.cancelled()
    assert ollama_server.closed_at[0] - cancelled_at < 0.05


@pytest.mark.parametrize(
    ("fault", "reason", "words"),
    [
        (Reply.of({"error": SECRET}, 400), "provider_error", "HTTP 400"),
        (Reply.of({"error": SECRET}, 401), "auth", "HTTP 401"),
        (Reply.of({"error": SECRET}, 404), "provider_error", "`ollama pull`"),
        (Reply.of({"error": SECRET}, 429), "rate_limited", "HTTP 429"),
        (Reply.of({"error": SECRET}, 500), "provider_error", "HTTP 500"),
        (Reply(503, SECRET.encode()), "provider_error", "HTTP 503"),
        (Reply(200, b'{"embeddings": [['), "provider_error", "no embedding"),
        (Reply(200, b"[]"), "provider_error", "no embedding"),
        (Reply(200, b'{"embeddings": "none"}'), "provider_error", "no embedding"),
        (Reply(200, b"\xff"), "provider_error", "no embedding"),
        (Reply(200, b'{"embeddings": []}'), "provider_error", "0 vectors"),
        (Reply.of({"embeddings": [[1.0] * 384]}), "provider_error", "384 dimensions"),
        (Reply.of({"embeddings": [[float("nan")] * 768]}), "provider_error", "points nowhere"),
        (Reply.of({"embeddings": [[0.0] * 768]}), "provider_error", "points nowhere"),
    ],
    ids=str,
)
async def test_each_failure_has_its_reason_and_nothing_of_the_text(
    ollama: OllamaProvider, ollama_server: OllamaServer, fault: Fault, reason: str, words: str
) -> None:
    """What the server wrote is not passed on."""
    await ollama.embed(["first"], InputType.DOCUMENT)
    ollama_server.faults.append(fault)

    with pytest.raises(EmbeddingError) as caught:
        await ollama.embed([SECRET], InputType.DOCUMENT)

    failure = caught.value.failure
    assert reason == failure.reason
    assert words in failure.message
    shown = "".join(traceback.format_exception(caught.value)) + repr(failure) + repr(ollama)
    assert SECRET not in shown


async def test_a_lost_connection_is_tried_again_once(
    ollama: OllamaProvider, ollama_server: OllamaServer
) -> None:
    """A reset in the middle of an answer is survived, a server that only closes is not."""
    await ollama.embed(["first"], InputType.DOCUMENT)
    ollama_server.faults.append(ResetMidBody())
    assert (1, 768) == (await ollama.embed(["second"], InputType.DOCUMENT)).shape

    ollama_server.always = CloseSilently()
    failure = await failure_of(ollama)

    assert FailureReason.PROVIDER_ERROR == failure.reason
    assert "closed the connection" in failure.message


async def test_a_busy_server_says_when_to_come_back(
    ollama: OllamaProvider, ollama_server: OllamaServer
) -> None:
    """The library drops the headers of a failure; they are read before it does."""
    await ollama.embed(["first"], InputType.DOCUMENT)
    ollama_server.faults.append(Reply.of({"error": "busy"}, 503, retry_after="3"))

    assert 3.0 == (await failure_of(ollama)).retry_after


async def test_no_server_is_unreachable() -> None:
    """The sentence says how to start one."""
    endpoint = ollama_endpoint(f"127.0.0.1:{closed_port()}")
    provider = OllamaProvider(ollama_space("", None), endpoint)

    failure = await failure_of(provider)
    await provider.aclose()

    assert FailureReason.PROVIDER_UNREACHABLE == failure.reason
    assert "`ollama serve`" in failure.message


async def test_a_name_that_does_not_resolve_is_unreachable() -> None:
    """``.invalid`` never resolves."""
    provider = OllamaProvider(ollama_space("", None), ollama_endpoint("http://ollama.invalid"))

    failure = await failure_of(provider)
    await provider.aclose()

    assert FailureReason.PROVIDER_UNREACHABLE == failure.reason


async def test_a_hanging_server_is_given_up(ollama_server: OllamaServer) -> None:
    """The client's own limit ends a call that nobody cancels."""
    ollama_server.always = Hang()
    provider = OllamaProvider(
        ollama_space("", None),
        ollama_endpoint(ollama_server.url),
        limits=BatchLimits(texts=1, bytes=1_000, seconds=0.2),
    )

    failure = await failure_of(provider)
    await provider.aclose()

    assert FailureReason.TIMEOUT == failure.reason


async def test_loopback_is_not_asked_for_through_a_proxy(
    ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that the environment names would carry local texts away."""
    async with HttpServer(lambda _: Reply(502)) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        provider = OllamaProvider(ollama_space("", None), ollama_endpoint(ollama_server.url))
        await provider.embed([SECRET], InputType.DOCUMENT)
        await provider.aclose()

        assert 0 == proxy.connections
    assert 1 == len(ollama_server.embeds)


@pytest.mark.parametrize("path", ["/api/show", "/api/embed"])
async def test_a_redirect_is_not_followed(
    ollama: OllamaProvider, ollama_server: OllamaServer, path: str
) -> None:
    """A server on this machine may not send texts to another one."""
    if path == "/api/embed":
        await ollama.embed(["first"], InputType.DOCUMENT)
    async with OllamaServer() as elsewhere:
        location = f"{elsewhere.url}{path}"
        ollama_server.faults.append(Reply(307, headers={"location": location}))
        failure = await failure_of(ollama)

        assert 0 == elsewhere.connections
    assert "sends elsewhere" in failure.message


async def test_a_model_of_the_cloud_under_another_name_gets_no_text(
    ollama: OllamaProvider, ollama_server: OllamaServer
) -> None:
    """The server is asked where the model runs before the first text; no text is sent, ever."""
    ollama_server.remote["nomic-embed-text"] = "https://ollama.com:443"
    assert ollama.is_local

    for input_type in (*InputType, *InputType):
        with pytest.raises(EmbeddingError, match="runs nomic-embed-text on another machine"):
            await ollama.embed([SECRET], input_type)

    assert [] == ollama_server.embeds
    assert SECRET not in ollama_server.texts
    assert not ollama.is_local


async def test_calls_at_the_same_time_all_learn_that_the_model_is_remote(
    ollama: OllamaProvider, ollama_server: OllamaServer
) -> None:
    """The one that asked second does not slip through when the first has found out."""
    ollama_server.remote["nomic-embed-text"] = "https://ollama.com:443"
    ollama_server.faults.append(Late(0.05))

    outcomes = await asyncio.gather(
        *(ollama.embed([SECRET], InputType.DOCUMENT) for _ in range(4)), return_exceptions=True
    )

    assert [EmbeddingError] * 4 == [type(outcome) for outcome in outcomes]
    assert ([], 1) == (ollama_server.embeds, len(ollama_server.shows))


async def test_where_a_model_runs_is_asked_again(ollama_server: OllamaServer) -> None:
    """A model can be replaced while the daemon runs."""
    now = 0.0
    provider = OllamaProvider(
        ollama_space("", None), ollama_endpoint(ollama_server.url), clock=lambda: now
    )
    await provider.embed(["first"], InputType.DOCUMENT)
    ollama_server.remote["nomic-embed-text"] = "https://ollama.com:443"
    await provider.embed(["second"], InputType.DOCUMENT)

    now = CONFIRMED_SECONDS
    failure = await failure_of(provider)
    await provider.aclose()

    assert (2, 2) == (len(ollama_server.embeds), len(ollama_server.shows))
    assert FailureReason.PROVIDER_ERROR == failure.reason


async def test_without_an_answer_where_the_model_runs_nothing_is_sent(
    ollama: OllamaProvider, ollama_server: OllamaServer
) -> None:
    """In doubt a text stays here."""
    for fault in (Reply(500), Reply(200, b"[]"), Reply(200, b"{"), Reply.of({}, 404)):
        ollama_server.faults.append(fault)
        await failure_of(ollama)

    assert ([], True) == (ollama_server.embeds, ollama.is_local)


async def test_a_server_elsewhere_is_not_local_and_not_asked(
    ollama_server: OllamaServer,
) -> None:
    """A server on another machine may embed ordinary texts."""
    endpoint = Endpoint(ollama_server.url, on_loopback=False)
    provider = OllamaProvider(ollama_space("", None), endpoint)

    vectors = await provider.embed(["one"], InputType.DOCUMENT)
    await provider.aclose()

    assert (False, (1, 768), []) == (provider.is_local, vectors.shape, ollama_server.shows)


async def test_no_text_is_logged(
    ollama: OllamaProvider,
    ollama_server: OllamaServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """With every logger at DEBUG no text comes out."""
    caplog.set_level(logging.DEBUG)
    await ollama.embed([SECRET], InputType.DOCUMENT)
    ollama_server.faults.append(Reply.of({"error": SECRET}, 500))
    await failure_of(ollama)

    captured = capfd.readouterr()
    assert SECRET not in caplog.text + captured.out + captured.err
    assert [] == [record for record in caplog.records if record.name == "httpx"]
