from __future__ import annotations

import time

from tests.embedding.fake_provider import SPACE, FakeProvider, down
from twolaned.embedding.breaker import CircuitBreaker, CircuitState
from twolaned.embedding.cache import LruCache
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.state import ProviderLedger
from twolaned.model.embedding import FailureReason
from twolaned.model.source import Extraction


async def test_the_state_counts() -> None:
    """Calls, texts that were sent, and texts that did not have to be."""
    embedder = Embedder(FakeProvider(), LruCache(100))
    await embedder.embed_passages(["a", "b", "c", "d", "e"], Extraction.DEFAULT)
    await embedder.embed_passages(["a", "b", "f"], Extraction.DEFAULT)
    for _ in range(3):
        await embedder.embed_question("why?", time.monotonic() + 5.0)

    state = embedder.state

    assert (4, 7, 4) == (state.calls, state.texts_sent, state.cached_hits)
    assert (SPACE, True, 0) == (state.space, state.is_local, state.in_flight)


async def test_health_follows_the_last_call() -> None:
    """Unknown, then as the last call went; the last failure stays on show with its time."""
    provider = FakeProvider()
    embedder = Embedder(provider, LruCache(100))
    assert (None, None) == (embedder.state.healthy, embedder.state.last_failure)

    provider.errors.append(down())
    before = time.time_ns() // 1_000_000
    await embedder.embed_question("why?", time.monotonic() + 5.0)
    state = embedder.state
    assert (False, CircuitState.CLOSED) == (state.healthy, state.circuit)
    assert state.last_failure is not None
    assert FailureReason.PROVIDER_UNREACHABLE == state.last_failure.reason
    assert state.last_failure_at is not None
    assert before <= state.last_failure_at <= time.time_ns() // 1_000_000

    await embedder.embed_question("how?", time.monotonic() + 5.0)
    assert (True, state.last_failure) == (embedder.state.healthy, embedder.state.last_failure)


def test_an_open_circuit_is_not_healthy() -> None:
    """Whatever the last bulk call brought."""
    breaker = CircuitBreaker()
    ledger = ProviderLedger()
    ledger.succeeded()
    for _ in range(3):
        permit = breaker.acquire()
        assert permit is not None
        permit.failure(down().failure)

    state = ledger.state(SPACE, is_local=False, breaker=breaker, in_flight=0)

    assert (False, CircuitState.OPEN) == (state.healthy, state.circuit)
    assert 0.0 < state.retry_in <= 15.0


async def test_a_provider_that_cannot_be_loaded_says_why() -> None:
    """At start, before the first question; nothing is sent for it."""
    provider = FakeProvider()
    embedder = Embedder(provider, LruCache(100))
    assert None is await embedder.warm()

    provider.errors.append(down())

    assert down().failure == await embedder.warm()
    assert down().failure == embedder.state.last_failure
    assert ([], 2) == (provider.calls, provider.warmed)
