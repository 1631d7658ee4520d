from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import traceback

import numpy as np
import pytest

from tests.embedding.conftest import ended
from tests.support_http.server import (
    CloseSilently,
    Drip,
    Fault,
    Hang,
    HttpServer,
    Reply,
    ResetMidBody,
    closed_port,
)
from tests.support_http.vectors import unit_vector
from tests.support_http.voyage_api import KEY, VoyageServer, answer
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.key import ApiKey
from twolaned.embedding.provider import BatchLimits
from twolaned.embedding.voyage import LIMITS, VoyageProvider, voyage_space
from twolaned.model.embedding import EmbeddingFailure, FailureReason, InputType, VectorSpace
from twolaned.model.errors import ConfigError

SECRET = "what the person asked about the merger"


async def failure_of(provider: VoyageProvider, text: str = SECRET) -> EmbeddingFailure:
    with pytest.raises(EmbeddingError) as caught:
        await provider.embed([text], InputType.QUERY)
    return caught.value.failure


async def test_a_question_is_sent_as_the_service_wants_it(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """The library sends model, input type and truncation, with the key in the header."""
    vectors = await voyage.embed(["where is the key kept?"], InputType.QUERY)

    (request,) = voyage_server.requests
    assert "/v1/embeddings" == request.path
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert "application/json" == request.headers["content-type"]
    assert {
        "input": ["where is the key kept?"],
        "model": "voyage-3-lite",
        "input_type": "query",
        "truncation": True,
        "output_dtype": None,
        "output_dimension": None,
        "encoding_format": "base64",
    } == request.json
    assert np.allclose(vectors[0], unit_vector("query:where is the key kept?", 512), atol=1e-6)


async def test_a_provided_key_asks_the_newer_model_for_512_dimensions(
    voyage_server: VoyageServer,
) -> None:
    """``voyage-4-lite`` makes larger vectors unless it is told."""
    space = voyage_space("", None, provided=True)
    provider = VoyageProvider(space, ApiKey(KEY), base_url=voyage_server.base_url)

    vectors = await provider.embed(["a passage"], InputType.DOCUMENT)
    await provider.aclose()

    assert ("voyage-4-lite", 512, "document") == (
        voyage_server.requests[0].json["model"],
        voyage_server.requests[0].json["output_dimension"],
        voyage_server.requests[0].json["input_type"],
    )
    assert (1, 512) == vectors.shape


async def test_vectors_are_of_length_one_and_in_order(voyage: VoyageProvider) -> None:
    """Each text gets its own vector, float32 and of length 1."""
    texts = [f"text {number}" for number in range(50)]

    vectors = await voyage.embed(texts, InputType.DOCUMENT)

    assert np.float32 == vectors.dtype
    assert (50, 512) == vectors.shape
    assert np.allclose(1.0, np.linalg.norm(vectors, axis=1), atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(unit_vector(f"document:{text}", 512), vector, atol=1e-6)


async def test_the_connection_stays_open(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """Twenty questions one after the other take one connection."""
    for number in range(20):
        await voyage.embed([f"question {number}"], InputType.QUERY)

    assert (20, 1) == (len(voyage_server.requests), voyage_server.connections)


async def test_an_idle_connection_that_the_server_closed_is_replaced(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """A connection that dies as it is used again costs a second try, not the answer."""
    await voyage.embed(["first"], InputType.QUERY)
    voyage_server.faults.append(CloseSilently())

    vectors = await voyage.embed(["second"], InputType.QUERY)

    assert (1, 512) == vectors.shape
    assert 2 == voyage_server.connections


async def test_closing_ends_the_connection(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """Nothing stays open after ``aclose``."""
    await voyage.embed(["a question"], InputType.QUERY)

    await voyage.aclose()

    await voyage_server.until(lambda: voyage_server.open == 0)


@pytest.mark.parametrize("fault", [Hang(), Drip(0.05)], ids=["before", "in the middle"])
async def test_a_cancel_closes_the_socket(
    voyage: VoyageProvider, voyage_server: VoyageServer, fault: Fault
) -> None:
    """The server sees the connection end within 50 ms, whether it had begun to answer or not."""
    voyage_server.always = fault
    call = asyncio.create_task(voyage.embed(["a question"], InputType.QUERY))
    await voyage_server.until(lambda: len(voyage_server.requests) == 1)

    cancelled_at = time.monotonic()
    call.cancel()
    await ended(call)
    await voyage_server.until(lambda: voyage_server.open == 0)

    assert call.cancelled()
    assert voyage_server.closed_at[0] - cancelled_at < 0.05


@pytest.mark.parametrize(
    ("fault", "reason", "words"),
    [
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 401), "auth", "HTTP 401"),
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 403), "auth", "HTTP 403"),
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 429), "rate_limited", "HTTP 429"),
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 400), "provider_error", "embedding.model"),
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 422), "provider_error", "HTTP 422"),
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 404), "provider_error", "base_url"),
        (Reply.of({"detail": f"bad {KEY} {SECRET}"}, 402), "provider_error", "billing"),
        (Reply.of([KEY], 418), "provider_error", "HTTP 418"),
        (Reply(500, f"{KEY} {SECRET}".encode()), "provider_error", "HTTP 500"),
        (Reply(502, b"<html>"), "provider_error", "HTTP 502"),
        (Reply(503, b""), "provider_error", "HTTP 503"),
        (Reply(501, b"<html>"), "provider_error", "HTTP 501"),
        (Reply(408, b'{"detail": "slow"}'), "timeout", "HTTP 408"),
        (Reply(200, b'{"object": "list", "data": [{"embed'), "provider_error", "no embedding"),
        (Reply(200, b"[]"), "provider_error", "no embedding"),
        (Reply(200, b'{"data": [], "usage": {"total_tokens": 0}}'), "provider_error", "0 vectors"),
        (Reply(200, b'{"data": [{"embedding": "!"}]}'), "provider_error", "no embedding"),
        (Reply(200, b'{"data": [{}], "usage": {}}'), "provider_error", "no embedding"),
        (Reply(200, b"\xff\xfe"), "provider_error", "no embedding"),
        (Reply(200, b"fine", content_type="text/plain"), "provider_error", "no embedding"),
        (Reply(204, b""), "provider_error", "no embedding"),
        (answer([[1.0] * 1024]), "provider_error", "1024 dimensions"),
        (answer([[float("nan")] * 512]), "provider_error", "points nowhere"),
        (answer([[float("inf")] * 512]), "provider_error", "points nowhere"),
        (answer([[0.0] * 512]), "provider_error", "points nowhere"),
        (answer([[1.0] * 512] * 2), "provider_error", "2 vectors"),
        (ResetMidBody(), "provider_error", "broke off"),
    ],
    ids=lambda value: getattr(value, "status", None) and str(value.status),
)
async def test_each_failure_has_its_reason_and_no_secret(
    voyage: VoyageProvider,
    voyage_server: VoyageServer,
    fault: Fault,
    reason: str,
    words: str,
) -> None:
    """What the service wrote is not passed on: it may hold the key or the text."""
    voyage_server.faults.append(fault)

    with pytest.raises(EmbeddingError) as caught:
        await voyage.embed([SECRET], InputType.QUERY)

    failure = caught.value.failure
    assert reason == failure.reason
    assert words in failure.message
    shown = "".join(traceback.format_exception(caught.value)) + repr(failure) + repr(voyage)
    assert KEY not in shown
    assert SECRET not in shown


async def test_it_works_again_after_each_failure(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """No failure leaves a connection in a state that spoils the next call."""
    for fault in (Reply(500), ResetMidBody(), Reply(200, b"{"), answer([[0.0] * 512])):
        voyage_server.faults.append(fault)
        await failure_of(voyage)

    assert (1, 512) == (await voyage.embed(["a question"], InputType.QUERY)).shape


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("never", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
)
async def test_retry_after_is_read(
    voyage: VoyageProvider, voyage_server: VoyageServer, value: str, seconds: float | None
) -> None:
    """A 429 says when to come back, in seconds or by a date."""
    voyage_server.faults.append(Reply.of({"detail": "slow down"}, 429, retry_after=value))

    assert seconds == (await failure_of(voyage)).retry_after


async def test_a_refused_connection_is_unreachable() -> None:
    """Nobody listens at the address."""
    provider = VoyageProvider(
        voyage_space("", None, provided=False),
        ApiKey(KEY),
        base_url=f"http://127.0.0.1:{closed_port()}",
    )

    failure = await failure_of(provider)
    await provider.aclose()

    assert FailureReason.PROVIDER_UNREACHABLE == failure.reason
    assert "Voyage cannot be reached: connection refused." == failure.message


async def test_a_name_that_does_not_resolve_is_unreachable() -> None:
    """``.invalid`` never resolves."""
    provider = VoyageProvider(
        voyage_space("", None, provided=False), ApiKey(KEY), base_url="https://voyage.invalid"
    )

    failure = await failure_of(provider)
    await provider.aclose()

    assert FailureReason.PROVIDER_UNREACHABLE == failure.reason
    assert "name does not resolve" in failure.message


async def test_a_server_that_only_closes_is_unreachable(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """Two tries, then it is over."""
    voyage_server.always = CloseSilently()

    failure = await failure_of(voyage)

    assert FailureReason.PROVIDER_UNREACHABLE == failure.reason
    assert 2 == len(voyage_server.requests)


@pytest.mark.parametrize("fault", [Hang(), Drip(0.02)], ids=["hang", "drip"])
async def test_a_slow_server_is_given_up(voyage_server: VoyageServer, fault: Fault) -> None:
    """The library's own limit ends a call that nobody cancels, bytes coming in or not."""
    voyage_server.always = fault
    provider = VoyageProvider(
        voyage_space("", None, provided=False),
        ApiKey(KEY),
        base_url=voyage_server.url,
        limits=BatchLimits(texts=1, bytes=1_000, seconds=0.2),
    )

    failure = await failure_of(provider)
    await provider.aclose()

    assert FailureReason.TIMEOUT == failure.reason
    await voyage_server.until(lambda: voyage_server.open == 0)


async def test_a_redirect_is_not_followed(
    voyage: VoyageProvider, voyage_server: VoyageServer
) -> None:
    """Texts go to the configured host only."""
    async with HttpServer(lambda _: Reply.of({})) as elsewhere:
        voyage_server.faults.append(Reply(307, headers={"location": f"{elsewhere.url}/v1"}))
        failure = await failure_of(voyage)

        assert 0 == elsewhere.connections
    assert FailureReason.PROVIDER_ERROR == failure.reason
    assert "sends elsewhere" in failure.message


async def test_an_endless_answer_is_cut_off(
    voyage: VoyageProvider, voyage_server: VoyageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer larger than any batch's vectors is not held in memory."""
    await voyage.warm()
    monkeypatch.setattr("twolaned.embedding.voyage_client.LARGEST_ANSWER", 10_000)
    voyage_server.faults.append(Reply(200, b" " * 20_000))

    assert "larger than any batch" in (await failure_of(voyage)).message


async def test_nothing_secret_is_logged(
    voyage: VoyageProvider,
    voyage_server: VoyageServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """With every logger at DEBUG neither the key nor a text comes out."""
    caplog.set_level(logging.DEBUG)
    voyage_server.faults.append(Reply.of({"detail": f"{KEY} {SECRET}"}, 400))
    voyage_server.faults.append(ResetMidBody())

    for _ in range(3):
        with contextlib.suppress(EmbeddingError):
            await voyage.embed([SECRET], InputType.QUERY)

    captured = capfd.readouterr()
    shown = caplog.text + captured.out + captured.err
    assert 3 == len(voyage_server.requests)
    assert KEY not in shown
    assert SECRET not in shown


async def test_a_proxy_of_the_environment_is_used(
    voyage_server: VoyageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that is not on this machine is asked for through the proxy."""
    async with HttpServer(lambda _: Reply(502)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        provider = VoyageProvider(
            voyage_space("", None, provided=False), ApiKey(KEY), base_url="https://voyage.invalid"
        )
        failure = await failure_of(provider)
        await provider.aclose()

        assert [("CONNECT", "voyage.invalid:443")] == [(r.method, r.path) for r in proxy.requests]
        assert KEY not in proxy.texts
    assert FailureReason.PROVIDER_UNREACHABLE == failure.reason
    assert "proxy" in failure.message


def test_spaces_of_voyage() -> None:
    """One's own key and a provided one have different models, both with 512 dimensions."""
    assert VectorSpace("voyage", "voyage-3-lite", 512) == voyage_space("", None, provided=False)
    assert VectorSpace("voyage", "voyage-4-lite", 512) == voyage_space("", None, provided=True)
    assert VectorSpace("voyage", "voyage-4-lite", 256) == voyage_space("", 256, provided=True)
    assert VectorSpace("voyage", "voyage-3", 1024) == voyage_space("voyage-3", None, provided=True)


def test_a_size_that_the_model_does_not_know_is_refused() -> None:
    """The configuration is wrong at start rather than at every call."""
    with pytest.raises(ConfigError, match=r"vectors of 512 dimensions only"):
        voyage_space("voyage-3-lite", 256, provided=False)


def test_limits_keep_those_of_every_model() -> None:
    """At most 1,000 texts and 120,000 tokens, of which there are never more than bytes."""
    assert LIMITS.texts <= 1_000
    assert LIMITS.bytes <= 120_000
