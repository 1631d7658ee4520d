from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT
from tests.client import fake
from tests.client.fake import FakeDaemon
from twolane import control, errors, launch
from twolane.client import connect
from twolane.connection import listening
from twolane.endpoint import socket_path

FAKE = [sys.executable, str(Path(fake.__file__))]


@pytest.fixture
def place(short: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder whose daemon is the fake one; it is stopped at the end."""
    monkeypatch.setenv("TWOLANE_DATA", str(short / "data"))
    monkeypatch.setenv("FAKE_STARTS", str(short / "starts"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(launch, "command", lambda: FAKE)
    yield short
    control.stop()


def starts(place: Path) -> int:
    file = place / "starts"
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0


def test_connect_starts_a_daemon(place: Path) -> None:
    """Where nobody listens, one is started, in a private folder and a session of its own."""
    said: list[str] = []
    with connect(on_start=lambda: said.append("starting")) as client:
        pid = client.status().pid

    assert ["starting"] == said
    assert pid != os.getpid()
    assert os.getsid(pid) != os.getsid(0)
    assert 0o700 == (place / "data").stat().st_mode & 0o777
    assert 0o600 == launch.log_path().stat().st_mode & 0o777


def test_connect_starts_none_if_one_runs(daemon: FakeDaemon, place: Path) -> None:
    """A running daemon is used."""
    launch.ensure_daemon(daemon.socket)

    assert 0 == starts(place)


@pytest.mark.slow
def test_many_at_once_start_one(place: Path) -> None:
    """However many clients come at the same moment, one daemon is started and all get it."""
    code = (
        "from twolane import launch; launch.command = lambda: " + repr(FAKE) + "\n"
        "print(launch.ensure_daemon().status.pid)"
    )
    clients = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    pids = {client.communicate(timeout=60)[0] for client in clients}

    assert 1 == len(pids)
    assert 1 == starts(place)


def test_autostart_can_be_turned_off(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With TWOLANE_NO_AUTOSTART=1 nothing is started."""
    monkeypatch.setenv("TWOLANE_NO_AUTOSTART", "1")

    with pytest.raises(errors.DaemonUnavailable, match="No daemon listens"):
        connect()
    assert 0 == starts(place)


def test_a_daemon_that_dies_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error holds how it ended and what it said, and nothing of earlier runs."""
    launch.data_folder()
    launch.log_path().write_text("an older complaint\n", encoding="utf-8")
    monkeypatch.setenv("FAKE_COMPLAINT", "config.toml: unknown key pagesize")

    with pytest.raises(errors.StartFailed, match="exit code 1") as caught:
        launch.start_daemon()

    assert ("config.toml: unknown key pagesize",) == caught.value.log


def test_a_configuration_that_stops_it_is_told_apart(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon's exit code says that its configuration is at fault."""
    code = "import sys; print('config.toml: no such key', file=sys.stderr); sys.exit(78)"
    monkeypatch.setattr(launch, "command", lambda: [sys.executable, "-c", code])

    with pytest.raises(errors.StartFailed, match="exit code 78") as caught:
        launch.start_daemon()

    assert "CONFIG_INVALID" == caught.value.reason


def test_a_daemon_that_hangs_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that takes too long ends with an error that names the log."""
    hang = [sys.executable, "-c", "import time; time.sleep(5)"]
    monkeypatch.setattr(launch, "command", lambda: hang)

    with pytest.raises(errors.StartFailed, match="does not serve yet"):
        launch.start_daemon(timeout=0.4)


def test_a_data_folder_that_cannot_be_made_is_reported(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the folder and the variable that moves it."""
    (place / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("TWOLANE_DATA", str(place / "file" / "data"))

    with pytest.raises(errors.StartFailed, match="TWOLANE_DATA") as caught:
        launch.start_daemon()
    assert "DATA_FOLDER" == caught.value.reason
    monkeypatch.setenv("TWOLANE_DATA", str(place / "data"))


def test_a_large_log_is_put_aside(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log does not grow without end: what is too large is kept once, under another name."""
    monkeypatch.setattr(launch, "LOG_LIMIT", 10)
    launch.data_folder()
    launch.log_path().write_text("x" * 20, encoding="utf-8")

    launch.start_daemon()

    assert "x" * 20 == launch.log_path().with_suffix(".log.1").read_text(encoding="utf-8")
    assert launch.log_path().stat().st_size < 20


def test_relative_paths_reach_the_daemon_absolute(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon runs in another folder than its client."""
    monkeypatch.chdir(short)
    monkeypatch.setenv("TWOLANE_DATA", "data")
    monkeypatch.setenv("TWOLANE_CONFIG", "~/own.toml")

    env = launch.environment("s.sock")

    assert str(short / "data") == env["TWOLANE_DATA"]
    assert str(Path.home() / "own.toml") == env["TWOLANE_CONFIG"]
    assert str(short / "s.sock") == env["TWOLANE_SOCKET"]


def test_the_daemon_runs_with_this_python() -> None:
    """The daemon is the one that is installed beside this client, whatever the folder holds."""
    assert [sys.executable, "-P", "-m", "twolaned.server"] == launch.command()


def test_stop_waits_until_it_is_gone(place: Path) -> None:
    """After `stop` the process has ended and nobody listens."""
    launch.start_daemon()

    pid = control.stop()

    assert pid is not None
    assert not control.alive(pid)
    assert not listening(socket_path())
    assert control.stop() is None


def test_a_held_lock_names_its_holder(short: Path) -> None:
    """The lock of a living process is seen, with the id in it; a free one is not."""
    import fcntl

    lock = short / "daemon.lock"
    assert control.lock_holder(lock) is None
    with lock.open("w+") as file:
        file.write("pid 4711\nversion 0.1.0\n")
        file.flush()
        assert control.lock_holder(lock) is None
        fcntl.flock(file, fcntl.LOCK_EX)
        assert control.Holder("pid 4711, version 0.1.0", 4711) == control.lock_holder(lock)


def test_alive_tells_processes_that_are_there() -> None:
    """A running process is alive; one that ended, reaped or not, is not."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    assert control.alive(os.getpid())
    assert control.alive(child.pid)
    child.communicate(b"\n")
    assert not control.alive(child.pid)
