"""The daemon's life: one a folder, clean ends, no traces, no orphans."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import lmdb
import pytest
from google.protobuf.duration_pb2 import Duration
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.daemon import Daemon, command, gone, running
from tests.support.details import collected, failure, reason
from tests.support.sockets import open_channel, short_folder
from twolane import paths
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import admin_service_pb2_grpc as admin_grpc
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search
from twolaned.server.holder import read_holder
from twolaned.store.layout import main_path
from twolaned.store.records import FormatRecord, seal

HEADER = archive.ImportRequest(header=archive.ImportHeader(name="export.json"))
SERVING = health_pb2.HealthCheckResponse.SERVING
SERVICES = ("Search", "Archive", "Source", "Admin")


def note(text: str) -> archive.SaveRequest:
    return archive.SaveRequest(source="test", summary=text)


async def health(channel: aio.Channel, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
    return int(answer.status)


def modes(folder: Path) -> dict[str, int]:
    """Who may do what with everything below *folder*."""
    return {str(p): stat.S_IMODE(p.lstat().st_mode) for p in folder.rglob("*")}


async def test_a_daemon_on_an_empty_folder_serves(tmp_path: Path) -> None:
    """Everything it made belongs to the user alone, and every service is healthy."""
    async with running() as daemon:
        await daemon.archive.Save(note("hello"))

        assert SERVING == await health(daemon.channel)
        for name in SERVICES:
            assert SERVING == await health(daemon.channel, f"twolane.v1.{name}Service")
        assert {} == {p: m for p, m in modes(daemon.data).items() if m & 0o077}
        assert 0o600 == stat.S_IMODE(daemon.socket.lstat().st_mode)
        holder = read_holder(daemon.data)
        assert (str(daemon.pid), f"unix:{daemon.socket}") == (holder.pid, holder.endpoint)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    """Exit status 0, no socket, no child, and the lock free for the next."""
    async with running() as daemon:
        writer = daemon.writer_pid()
        daemon.process.send_signal(number)

        assert "STOPPING=1" == await daemon.told()
        assert 0 == await daemon.ended()

        await gone(writer)
        assert not daemon.socket.exists()
        assert (daemon.data / "daemon.lock").exists()
        assert "Traceback" not in daemon.log_text()
        await daemon.start()


async def test_what_was_saved_is_there_after_a_restart() -> None:
    """A stop loses nothing."""
    async with running() as daemon:
        saved = await daemon.archive.Save(note("The ferry leaves at nine."))
        await daemon.stop()
        await daemon.start()

        answers = await collected(daemon.searching.Search(search.SearchRequest(query="ferry")))

        assert [saved.id] == [result.id for result in answers[-1].results]


async def test_a_second_daemon_says_who_serves_and_ends_well() -> None:
    """Exit status 0, so that a supervisor does not try again; the first one is not disturbed."""
    async with running() as daemon:
        second = await daemon.spawn()

        assert 0 == await asyncio.wait_for(second.wait(), 60)
        assert f"served already, by twolane {read_holder(daemon.data).version}" in daemon.log_text()
        assert f"process {daemon.pid}" in daemon.log_text()
        assert SERVING == await health(daemon.channel)


async def test_of_three_that_start_at_once_one_serves() -> None:
    """The others end well, as if it had been there before."""
    with short_folder() as home:
        daemon = Daemon(home)
        starting = [await daemon.spawn() for _ in range(3)]
        ends = [asyncio.ensure_future(process.wait()) for process in starting]
        _, serving = await asyncio.wait(ends, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        while len(serving) > 1:
            _, serving = await asyncio.wait(
                serving, timeout=60, return_when=asyncio.FIRST_COMPLETED
            )

        async with open_channel(daemon.socket) as channel:
            assert SERVING == await health(channel)
        (pid,) = [p.pid for p in starting if p.returncode is None]
        assert str(pid) == read_holder(daemon.data).pid
        os.kill(pid, signal.SIGTERM)
        assert [0, 0, 0] == await asyncio.gather(*ends)


async def test_a_second_daemon_beside_one_that_hangs_is_an_error() -> None:
    """A holder that does not serve is named, and the exit status is 69."""
    async with running() as daemon:
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            second = await daemon.spawn()
            assert 69 == await asyncio.wait_for(second.wait(), 60)
        finally:
            daemon.process.send_signal(signal.SIGCONT)

        assert "does not serve: twolane" in daemon.log_text()
        assert f"process {daemon.pid}" in daemon.log_text()
        assert SERVING == await health(daemon.channel)


async def test_two_folders_do_not_share_a_socket() -> None:
    """The daemon of another folder is refused, not the first one's clients."""
    async with running() as first:
        with short_folder() as home:
            second = Daemon(home)
            second.socket = first.socket
            process = await second.spawn()

            assert 69 == await asyncio.wait_for(process.wait(), 60)
            assert f"listens on {first.socket}" in second.log_text()
        assert SERVING == await health(first.channel)


async def test_a_stale_socket_is_no_obstacle() -> None:
    """A daemon that was killed leaves one behind; its lock died with it."""
    async with running() as daemon:
        writer = daemon.writer_pid()
        await daemon.stop(signal.SIGKILL)
        await gone(writer)
        assert daemon.socket.exists()

        await daemon.start()

        assert SERVING == await health(daemon.channel)


async def test_a_killed_daemon_leaves_no_writer() -> None:
    """The writer ends when its pipe closes, also in the middle of its work."""
    async with running() as daemon:
        await daemon.archive.Save(note("hello"))
        writer = daemon.writer_pid()

        await daemon.stop(signal.SIGKILL)

        await gone(writer)


async def test_a_killed_writer_comes_back() -> None:
    """A save waits for the new one; meanwhile searches go on."""
    async with running() as daemon:
        await daemon.archive.Save(note("before"))
        first = daemon.writer_pid()
        os.kill(first, signal.SIGKILL)
        await gone(first)

        answers = await collected(daemon.searching.Search(search.SearchRequest(query="before")))
        assert 1 == len(answers[-1].results)
        while (error := await outcome(daemon.archive.Save(note("after")))) is not None:
            assert "WRITER_RESTARTING" == reason(error)

        assert first != daemon.writer_pid()
        status = await daemon.admin.Status(admin.StatusRequest())
        assert "running" == status.writer_state
        assert ["writer"] == [error.where for error in status.recent_errors]
        assert "SIGKILL" in status.recent_errors[0].message


async def test_shutdown_lets_a_running_call_finish() -> None:
    """New calls are refused while an upload that had begun is still taken in."""
    async with running() as daemon:
        begun, go = asyncio.Event(), asyncio.Event()

        async def upload() -> AsyncIterator[archive.ImportRequest]:
            yield HEADER
            begun.set()
            await go.wait()
            yield archive.ImportRequest(chunk=b"{}")

        importing = asyncio.ensure_future(collected(daemon.archive.Import(upload())))
        await asyncio.wait_for(begun.wait(), 20)
        request = admin.ShutdownRequest(grace=Duration(seconds=30))
        answer = await daemon.admin.Shutdown(request)
        assert daemon.pid == answer.pid
        while (error := await outcome(daemon.archive.Save(note("late")))) is None:
            pass
        go.set()

        assert grpc.StatusCode.UNAVAILABLE == error.code()
        assert "NOTHING_IMPORTED" == reason(await failure(importing))
        assert 0 == await daemon.ended()


async def outcome(call: object) -> aio.AioRpcError | None:
    """The error that *call* ended with, if it did."""
    try:
        await call  # type: ignore[misc]
    except aio.AioRpcError as e:
        return e
    return None


async def test_sigterm_ends_a_stream_that_would_not_end() -> None:
    """After the grace, it is cut off; the daemon ends all the same."""
    async with running() as daemon:
        begun = asyncio.Event()

        async def upload() -> AsyncIterator[archive.ImportRequest]:
            yield HEADER
            yield archive.ImportRequest(chunk=b"half of")
            begun.set()
            await asyncio.Event().wait()

        importing = asyncio.ensure_future(collected(daemon.archive.Import(upload())))
        watching = health_pb2_grpc.HealthStub(daemon.channel).Watch(health_pb2.HealthCheckRequest())
        assert SERVING == (await watching.read()).status
        await asyncio.wait_for(begun.wait(), 20)

        request = admin.ShutdownRequest(grace=Duration(nanos=200_000_000))
        await daemon.admin.Shutdown(request)

        assert 0 == await daemon.ended()
        with pytest.raises((aio.AioRpcError, asyncio.CancelledError)):
            await importing
        assert [] == list((daemon.data / "spool").iterdir())
        assert "Traceback" not in daemon.log_text()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        pytest.param("[servr]", "did you mean `server`?", id="unknown section"),
        pytest.param("[limits]\nconcurrent_calls = 0", "limits.concurrent_calls", id="range"),
        pytest.param("nonsense", "it is not TOML", id="no TOML"),
    ],
)
async def test_a_wrong_configuration_is_refused(config: str, said: str) -> None:
    """Exit status 78: starting again without a change is of no use."""
    with short_folder() as home:
        daemon = Daemon(home)
        daemon.config.write_text(config)

        process = await daemon.spawn()

        assert 78 == await asyncio.wait_for(process.wait(), 60)
        assert said in daemon.log_text()
        assert str(daemon.config) in daemon.log_text()
        assert not daemon.data.exists()


async def test_a_folder_that_is_open_to_others_is_refused() -> None:
    """Neither data nor socket may lie where others look in."""
    with short_folder() as home:
        daemon = Daemon(home)
        daemon.data.mkdir(mode=0o755)
        daemon.data.chmod(0o755)

        process = await daemon.spawn()

        assert 78 == await asyncio.wait_for(process.wait(), 60)
        assert "chmod 700" in daemon.log_text()


async def test_a_damaged_store_is_refused_with_the_way_out() -> None:
    """Exit status 69 and the command that helps; nothing is overwritten."""
    async with running() as daemon:
        await daemon.archive.Save(note("hello"))
        await daemon.stop()
        file = daemon.data / "store" / "main" / "data.mdb"
        file.write_bytes(b"x" * file.stat().st_size)

        process = await daemon.spawn()

        assert 69 == await asyncio.wait_for(process.wait(), 60)
        assert "twolane doctor" in daemon.log_text()
        assert b"xxxx" == file.read_bytes()[:4]
        file.unlink()
        await daemon.start()


async def test_a_store_of_a_later_version_is_refused_by_name() -> None:
    """Exit status 69 and both versions; the store is as it was, and no socket is left."""
    async with running() as daemon:
        await daemon.stop()
        folder = main_path(daemon.data)
        with lmdb.open(str(folder), max_dbs=20, map_size=1 << 30) as store:
            meta = store.open_db(b"meta")
            with store.begin(write=True) as txn:
                ours = txn.get(b"format", db=meta)
                txn.put(b"format", seal(FormatRecord(9, 9, "9.0.0")), db=meta)

        process = await daemon.spawn()

        assert 69 == await asyncio.wait_for(process.wait(), 60)
        assert "9.0.0" in daemon.log_text()
        assert "Traceback" not in daemon.log_text()
        assert not daemon.socket.exists()
        with lmdb.open(str(folder), max_dbs=20, map_size=1 << 30) as store:
            meta = store.open_db(b"meta")
            with store.begin(write=True) as txn:
                txn.put(b"format", ours, db=meta)
        await daemon.start()


async def test_without_a_runtime_folder_the_socket_lies_in_the_data_folder() -> None:
    """As on servers and in cron jobs: nobody need set XDG_RUNTIME_DIR."""
    with short_folder() as home:
        daemon = Daemon(home)
        env = {"HOME": str(home), "TWOLANE_CONFIG": str(daemon.config)}
        daemon.data = paths.data_dir(env)
        daemon.socket = paths.socket_path(env)
        process = await asyncio.create_subprocess_exec(*command(), env=env)
        try:
            async with open_channel(daemon.socket) as channel:
                watch = health_pb2_grpc.HealthStub(channel).Watch(
                    health_pb2.HealthCheckRequest(), wait_for_ready=True
                )
                async with asyncio.timeout(60):
                    while (await watch.read()).status != SERVING:
                        pass
        finally:
            process.terminate()
            ended = await asyncio.wait_for(process.wait(), 60)

        assert 0 == ended
        assert daemon.data / "run" == daemon.socket.parent
        assert 0o700 == stat.S_IMODE(daemon.socket.parent.stat().st_mode)


async def test_the_configuration_says_how_long_a_client_may_be_silent() -> None:
    """An upload that does not go on is ended, and leaves nothing in the spool."""
    async with running(config="[limits]\npatience_seconds = 1") as daemon:
        done = asyncio.Event()

        async def upload() -> AsyncIterator[archive.ImportRequest]:
            yield HEADER
            yield archive.ImportRequest(chunk=b"half of")
            await done.wait()

        error = await failure(collected(daemon.archive.Import(upload())))
        done.set()

        assert (grpc.StatusCode.DEADLINE_EXCEEDED, "CLIENT_SILENT") == (
            error.code(),
            reason(error),
        )
        assert [] == list((daemon.data / "spool").iterdir())


async def test_the_log_can_go_to_a_file_as_well() -> None:
    """With every call at debug level, and the writer's lines."""
    with short_folder() as folder:
        log = folder / "logs" / "twolaned.log"
        async with running("--log-file", str(log), "--log-level", "debug") as daemon:
            call = daemon.archive.Save(note("hello"), metadata=(("x-request-id", "my-id"),))
            await call

            assert "/twolane.v1.ArchiveService/Save OK" in log.read_text()
            assert "my-id" in log.read_text()
            assert "my-id" in daemon.log_text()


async def test_a_folder_with_a_strange_name_is_served() -> None:
    """Spaces and letters beyond ASCII are no trouble in a socket's path."""
    with short_folder() as home:
        strange = home / "a é%20"
        strange.mkdir(mode=0o700)
        daemon = Daemon(strange)
        await daemon.start()
        try:
            async with open_channel(daemon.socket) as channel:
                assert SERVING == await health(channel)
        finally:
            assert 0 == await daemon.stop()


async def test_a_path_that_is_too_long_has_a_short_stand_in() -> None:
    """The lock names it, and clients find it by the same rule."""
    with short_folder() as home:
        runtime = home / "run"
        runtime.mkdir(mode=0o700)
        env = {"XDG_RUNTIME_DIR": str(runtime)}
        long = home / ("x" * 100) / "twolane.sock"
        daemon = Daemon(home)
        daemon.socket = paths.fitting(long, env)
        await daemon.start("--socket", str(long), env=env)
        try:
            assert runtime / "twolane" == daemon.socket.parent
            assert f"unix:{daemon.socket}" == read_holder(daemon.data).endpoint
            assert SERVING == await health(daemon.channel)
        finally:
            assert 0 == await daemon.stop()


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_tcp_is_there_when_asked_for_and_asks_for_the_token() -> None:
    """The token lies in the data folder, for the user alone; the socket stays as it is."""
    port = free_port()
    async with running(config=f'[server]\ntcp = "127.0.0.1:{port}"') as daemon:
        token = daemon.data / "token"
        shown = (("authorization", f"Bearer {token.read_text().strip()}"),)
        async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            status = admin_grpc.AdminServiceStub(channel).Status
            refused = await failure(status(admin.StatusRequest()))
            answered = await status(admin.StatusRequest(), metadata=shown)

        assert grpc.StatusCode.UNAUTHENTICATED == refused.code()
        assert daemon.pid == answered.pid
        assert 0o600 == stat.S_IMODE(token.stat().st_mode)
        assert SERVING == await health(daemon.channel)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        pytest.param("0.0.0.0:{port}", "other machines could reach it", id="open"),
        pytest.param("127.0.0.1:{port}", "cannot listen on", id="taken"),
    ],
)
async def test_tcp_that_cannot_be_is_refused(address: str, said: str) -> None:
    """Exit status 78, and nothing is left of the attempt."""
    with short_folder() as home, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        daemon = Daemon(home)
        where = address.format(port=taken.getsockname()[1])
        daemon.config.write_text(f'[server]\ntcp = "{where}"')

        process = await daemon.spawn()

        assert 78 == await asyncio.wait_for(process.wait(), 60)
        assert said in daemon.log_text()
        assert not daemon.socket.exists()
