from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT
from tests.cli.conftest import Ended, Run
from tests.client import fake
from tests.client.fake import FakeDaemon
from twolane import control, launch
from twolane.connection import version


@pytest.fixture
def startable(run: Run, short: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A place where the fake daemon is what starts; it is stopped at the end."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(launch, "command", lambda: [sys.executable, str(Path(fake.__file__))])
    yield run
    control.stop()


def pid(ended: Ended) -> int:
    assert 0 == ended.code, ended.err
    return int(ended.objects[0]["pid"])


def test_a_daemons_life(startable: Run) -> None:
    """It is started once, seen, restarted as another process, and stopped for good."""
    first = startable("daemon", "start", "--json")
    again = startable("daemon", "start", "--json")
    seen = startable("daemon", "status", "--json")
    restarted = startable("daemon", "restart", "--json")
    stopped = startable("daemon", "stop", "--json")

    assert ["started", "already_running", "running", "started", "stopped"] == [
        ended.objects[0]["state"] for ended in (first, again, seen, restarted, stopped)
    ]
    assert pid(first) == pid(again) == pid(seen) != pid(restarted) == pid(stopped)
    assert not control.alive(pid(first))
    assert not control.alive(pid(restarted))
    assert 69 == startable("daemon", "status").code


def test_commands_start_it_by_themselves(startable: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first command starts the daemon and says so beside its answer."""
    monkeypatch.delenv("TWOLANE_NO_AUTOSTART")

    ended = startable("status")

    assert 0 == ended.code
    assert "Starting the daemon …\n" == ended.err


def test_status_starts_nothing(run: Run, short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking changes nothing, whatever may be started otherwise."""
    monkeypatch.delenv("TWOLANE_NO_AUTOSTART")

    ended = run("daemon", "status")

    assert 69 == ended.code
    assert not (short / "data").exists()


def test_status_names_both_sides(run: Run, served: FakeDaemon) -> None:
    """The version, the process and the socket are said; another version is a warning."""
    served.status.version = "0.0.1"

    ended = run("daemon", "status")

    assert f"Running: twolane 0.0.1, process {os.getpid()}, unix:{served.socket}\n" == ended.out
    assert f"this client {version()}" in ended.err


def test_a_failed_start_shows_the_log(startable: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why it did not come up stands in the error."""
    monkeypatch.setenv("FAKE_COMPLAINT", "config.toml: unknown key pagesize")

    ended = startable("daemon", "start")

    assert 69 == ended.code
    assert "exit code 1" in ended.err
    assert "  config.toml: unknown key pagesize" in ended.err
    assert "twolane doctor" in ended.err


def test_stopping_nothing_is_well(run: Run) -> None:
    """That no daemon runs is what was asked for."""
    assert "No daemon was running.\n" == run("daemon", "stop").out


def test_force_ends_one_that_does_not_answer(startable: Run, short: Path) -> None:
    """A process that holds the folder and is deaf is ended only when that is asked for."""
    (short / "data").mkdir(mode=0o700)
    lock = launch.log_path().with_name("daemon.lock")
    code = (
        "import fcntl, os, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX);"
        "f.write(f'pid {os.getpid()}'); f.flush(); print('held', flush=True);"
        "time.sleep(60)"
    )
    deaf = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    assert b"held" in deaf.stdout.readline()

    refused = startable("daemon", "stop")
    forced = startable("daemon", "stop", "--force", "--json")

    assert 69 == refused.code
    assert "--force" in refused.err
    assert deaf.pid == pid(forced)
    assert deaf.wait(10) < 0
    deaf.stdout.close()


def test_the_grace_is_passed_on(
    run: Run, served: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--grace is how long running calls may take."""
    monkeypatch.setattr(control, "_wait", lambda *_: None)
    run("daemon", "stop", "--grace", "0.5")

    assert 500 == served.last("Shutdown").grace.ToMilliseconds()


def test_run_becomes_the_daemon(run: Run, short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is replaced, so that a supervisor sees the daemon itself."""
    became: list[tuple[str, list[str], dict[str, str]]] = []

    def execve(path: str, command: list[str], env: dict[str, str]) -> None:
        became.append((path, command, env))
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", execve)
    with pytest.raises(SystemExit):
        run("daemon", "run", "--socket", short / "other.sock")

    (path, command, env) = became[0]
    assert [sys.executable, "-P", "-m", "twolaned.server"] == command
    assert path == sys.executable
    assert str(short / "other.sock") == env["TWOLANE_SOCKET"]
    assert 0o700 == (short / "data").stat().st_mode & 0o777
