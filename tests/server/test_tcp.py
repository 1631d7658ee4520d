"""TCP: only on this machine's own addresses, only with the token."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from tests.support.details import collected, failure, reason
from tests.support.sockets import open_channel, short_folder
from twolaned.model.errors import ConfigError
from twolaned.server.interceptors import CallInterceptor, Gate
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.tcp import read_token, shows, tcp_address, token_path

TOKEN = "t" * 40
SERVING = health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:7777", "127.0.0.1:7777"),
        ("127.9.9.9:1", "127.9.9.9:1"),
        ("[::1]:65535", "[::1]:65535"),
        ("localhost:7777", "127.0.0.1:7777"),
    ],
)
def test_own_addresses_are_accepted(text: str, address: str) -> None:
    """Loopback in either family."""
    assert address == tcp_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0:7777",
        "[::]:7777",
        "192.168.1.4:7777",
        "example.org:7777",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:٧",
        ":7777",
        "7777",
        "127.1:7777",
    ],
)
def test_any_other_address_is_refused_with_the_reason(text: str) -> None:
    """Before anything listens."""
    with pytest.raises(ConfigError, match=r"server\.tcp") as caught:
        tcp_address(text)

    assert text in caught.value.message


def test_a_token_is_made_once_for_the_user_alone(tmp_path: Path) -> None:
    """It is long, stays the same, and is another for each folder."""
    token = read_token(tmp_path / "token")

    assert 0o600 == (tmp_path / "token").stat().st_mode & 0o777
    assert len(token) >= 40
    assert token == read_token(tmp_path / "token")
    assert token != read_token(tmp_path / "other")
    assert tmp_path / "token" == token_path("", tmp_path)
    assert Path(os.environ["HOME"]) / "t" == token_path("~/t", tmp_path)


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        pytest.param(TOKEN.encode(), 0o644, "open to others", id="mode"),
        pytest.param(b"short", 0o600, "no token", id="short"),
        pytest.param(b"", 0o600, "no token", id="empty"),
        pytest.param("é".encode() * 40, 0o600, "no token", id="not ascii"),
        pytest.param(b"\xff" * 40, 0o600, "cannot be read", id="no text"),
    ],
)
def test_a_bad_token_file_is_refused(tmp_path: Path, content: bytes, mode: int, said: str) -> None:
    """What others may know is no secret, and a guess must be hopeless."""
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(mode)

    with pytest.raises(ConfigError, match=said):
        read_token(file)


@pytest.mark.parametrize(
    ("authorization", "shown"),
    [
        (f"Bearer {TOKEN}", True),
        (f"Bearer {TOKEN}x", False),
        (f"bearer {TOKEN}", False),
        (TOKEN, False),
        ("Bearer ", False),
        ("", False),
        ("Bearer é", False),
    ],
)
def test_only_the_token_itself_is_the_token(authorization: str, shown: bool) -> None:
    """Behind the one word that the standard has for it."""
    assert shown is shows(TOKEN, authorization)


class Ways:
    """A server with both ways in."""

    unix: aio.Channel
    tcp: aio.Channel


@pytest.fixture
async def ways() -> AsyncIterator[Ways]:
    interceptor = CallInterceptor(Gate(calls=2, queued=2, bulk=1), RecentErrors(), TOKEN)
    server = aio.server(interceptors=[interceptor])
    health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)
    reflection.enable_server_reflection((reflection.SERVICE_NAME,), server)
    with short_folder() as folder:
        server.add_insecure_port(f"unix:{folder}/s")
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        found = Ways()
        async with (
            open_channel(folder / "s") as found.unix,
            aio.insecure_channel(f"127.0.0.1:{port}") as found.tcp,
        ):
            yield found
        await server.stop(0)


def check(channel: aio.Channel, **options: Any) -> Any:
    return health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), **options)


async def test_over_tcp_every_call_needs_the_token(ways: Ways) -> None:
    """Health and reflection too, and methods that there are not."""
    names = reflection_pb2.ServerReflectionRequest(list_services="")
    stub = reflection_pb2_grpc.ServerReflectionStub(ways.tcp)
    wrong = (("authorization", "Bearer " + "x" * 40),)
    refused = [
        await failure(check(ways.tcp)),
        await failure(check(ways.tcp, metadata=wrong)),
        await failure(collected(stub.ServerReflectionInfo(iter([names])))),
        await failure(ways.tcp.unary_unary("/twolane.v1.SearchService/Nothing")(b"")),
    ]
    right = (("authorization", f"Bearer {TOKEN}"),)

    assert {grpc.StatusCode.UNAUTHENTICATED} == {error.code() for error in refused}
    assert {"TOKEN_REQUIRED"} == {reason(error) for error in refused}
    assert SERVING == (await check(ways.tcp, metadata=right)).status
    assert TOKEN not in repr(refused)


async def test_over_the_socket_no_token_is_needed(ways: Ways) -> None:
    """Its folder is the protection."""
    assert SERVING == (await check(ways.unix)).status
