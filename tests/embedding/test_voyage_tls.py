from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import uvloop

from tests.embedding.conftest import ended
from tests.support_http.certificate import client_context, server_context
from tests.support_http.server import Hang
from tests.support_http.voyage_api import KEY, VoyageServer
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.key import ApiKey
from twolaned.embedding.voyage import VoyageProvider, voyage_space
from twolaned.model.embedding import FailureReason, InputType

LOOPS = [
    pytest.param(asyncio.new_event_loop, id="asyncio"),
    pytest.param(uvloop.new_event_loop, id="uvloop"),
]


def run(
    loop: Callable[[], asyncio.AbstractEventLoop], main: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Run *main* in a loop of its own, away from the loop of the other tests."""

    def work() -> None:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(main())

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result(60)


def encrypted(server: VoyageServer, *, trusted: bool = True) -> VoyageProvider:
    return VoyageProvider(
        voyage_space("", None, provided=False),
        ApiKey(KEY),
        base_url=server.url,
        context=client_context() if trusted else None,
    )


@pytest.mark.parametrize("loop", LOOPS)
def test_questions_share_one_handshake(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Ten questions take one encrypted connection."""

    async def main() -> None:
        async with VoyageServer(context=server_context()) as server:
            provider = encrypted(server)
            for number in range(10):
                await provider.embed([f"question {number}"], InputType.QUERY)
            await provider.aclose()

            assert (10, 1) == (len(server.requests), server.connections)

    run(loop, main)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain"])
def test_a_cancel_closes_the_socket_at_once(
    loop: Callable[[], asyncio.AbstractEventLoop], tls: bool
) -> None:
    """Within 50 ms the server sees the end, on the loop that serves and encrypted as well."""

    async def main() -> None:
        async with VoyageServer(context=server_context() if tls else None) as server:
            server.always = Hang()
            provider = encrypted(server, trusted=tls)
            call = asyncio.create_task(provider.embed(["a question"], InputType.QUERY))
            await server.until(lambda: len(server.requests) == 1)

            cancelled_at = time.monotonic()
            call.cancel()
            await ended(call)
            await server.until(lambda: server.open == 0)
            await provider.aclose()

            assert server.closed_at[0] - cancelled_at < 0.05

    run(loop, main)


async def test_a_certificate_that_is_not_trusted_is_refused() -> None:
    """The key does not go to whoever answers at the address."""
    async with VoyageServer(context=server_context()) as server:
        provider = encrypted(server, trusted=False)
        with pytest.raises(EmbeddingError) as caught:
            await provider.embed(["a question"], InputType.QUERY)
        await provider.aclose()

        assert [] == server.requests
    assert FailureReason.PROVIDER_UNREACHABLE == caught.value.failure.reason
    assert "no trusted encrypted connection" in caught.value.failure.message
