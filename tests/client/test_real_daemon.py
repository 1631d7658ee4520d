"""The Python clients and the real daemon: over TCP, across a restart, and what the pages say."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import twolane
from tests.support.daemon import Daemon, running

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class OverTcp:
    """A daemon that listens on a port as well."""

    def __init__(self, daemon: Daemon, address: str) -> None:
        self.daemon = daemon
        self.address = address
        self.token_file = daemon.data / "token"


@pytest_asyncio.fixture(scope="module")
async def over_tcp() -> AsyncIterator[OverTcp]:
    address = f"127.0.0.1:{free_port()}"
    async with running(config=f'[server]\ntcp = "{address}"') as daemon:
        yield OverTcp(daemon, address)


async def test_calls_over_tcp_show_the_token(over_tcp: OverTcp) -> None:
    """From a file or given, in both clients, with the whole API."""

    def sync() -> list[str]:
        with twolane.connect(tcp=over_tcp.address, token_file=over_tcp.token_file) as client:
            saved = client.save("notes", "Ports are numbered from the harbour.")
            return [saved.id, *(r.id for r in client.search_final("harbour").results)]

    saved, *found = await asyncio.to_thread(sync)
    token = over_tcp.token_file.read_text().strip()
    async with await twolane.connect_async(tcp=over_tcp.address, token=token) as client:
        final = await client.search_final("harbour")
        partial = [answer.final async for answer in client.search("harbour", partial=True)]

    assert saved in found
    assert saved in [result.id for result in final.results]
    assert partial[-1]


async def test_a_wrong_token_is_refused_with_the_daemons_reason(over_tcp: OverTcp) -> None:
    """Before the first call of one's own."""
    with pytest.raises(twolane.Refused) as caught:
        await asyncio.to_thread(twolane.connect, tcp=over_tcp.address, token="x" * 43)

    assert "TOKEN_REQUIRED" == caught.value.reason
    assert "UNAUTHENTICATED" == caught.value.code


async def test_a_port_where_nobody_listens_starts_nothing() -> None:
    """The error says what the configuration needs."""
    with pytest.raises(twolane.DaemonUnavailable, match=r"\[server\] tcp") as caught:
        await twolane.connect_async(tcp=f"127.0.0.1:{free_port()}", token="x" * 43)

    assert "DAEMON_NOT_RUNNING" == caught.value.reason


async def test_a_proxy_of_the_environment_gets_nothing(
    over_tcp: OverTcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token stays on this machine."""
    with socket.socket() as proxy:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        proxy.setblocking(False)
        for name in ("http_proxy", "https_proxy", "grpc_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")

        async with await twolane.connect_async(
            tcp=over_tcp.address, token_file=over_tcp.token_file
        ) as client:
            answered = await client.status()

        assert over_tcp.daemon.pid == answered.pid
        with pytest.raises(BlockingIOError):
            proxy.accept()


async def test_a_client_outlives_a_restart_of_the_daemon() -> None:
    """A call that changes nothing finds the new daemon; nobody has to connect again."""
    async with (
        running() as daemon,
        await twolane.connect_async(daemon.socket, autostart=False) as client,
    ):
        saved = await client.save("notes", "Lighthouses keep their own logs.")
        await daemon.stop(signal.SIGKILL)
        await daemon.start()

        answer = await client.search_final("lighthouses")

        assert [saved.id] == [result.id for result in answer.results]


async def test_the_examples_of_the_page_do_what_it_says(
    tmp_path: Path,
) -> None:
    """`docs/python.md` is run from top to bottom against a daemon with the sample archive."""
    page = ROOT / "docs" / "python.md"
    address = f"127.0.0.1:{free_port()}"
    async with running(config=f'[server]\ntcp = "{address}"') as daemon:
        async with twolane.AsyncClient(daemon.socket) as client:
            async for _ in client.import_path(SAMPLES / "chatgpt-export.zip"):
                pass
        said = page.read_text(encoding="utf-8").replace("127.0.0.1:7777", address)
        copy = tmp_path / page.name
        copy.write_text(said, encoding="utf-8")
        # In a process of its own: gRPC's asyncio is at home in one event loop a process.
        doctest = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-m", "doctest", "-o", "ELLIPSIS", str(copy),
            stdout=PIPE, stderr=STDOUT,
            env={
                **os.environ,
                "TWOLANE_SOCKET": str(daemon.socket),
                "TWOLANE_DATA": str(daemon.data),
            },
        )  # fmt: skip
        report, _ = await doctest.communicate()

        assert "" == report.decode()
        assert 0 == doctest.returncode
        assert said.count(">>>") > 10
