from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon
from twolane import paths
from twolane.cli import checks
from twolane.v1.source_service_pb2 import Source


def by_id(run: Run) -> dict[str, dict[str, Any]]:
    return {check["id"]: check for check in run("doctor", "--json").objects[0]["checks"]}


@pytest.fixture
def data(run: Run, short: Path) -> Path:
    """The data folder, private and there."""
    (short / "data").mkdir(mode=0o700)
    return short / "data"


@pytest.fixture
def held(served: FakeDaemon, data: Path) -> Iterator[FakeDaemon]:
    """A daemon that holds its data folder, as the real one does."""
    with paths.daemon_lock_path(data).open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"pid {os.getpid()}\nversion 0.1.0\n")
        lock.flush()
        yield served


def test_all_is_well(run: Run, held: FakeDaemon) -> None:
    """A healthy installation passes every check, in order."""
    held.status.lanes.add(lane="keyword", state="ready")
    ended = run("doctor")

    assert (0, "") == (ended.code, ended.err)
    assert "All is well." == ended.out.splitlines()[-1]
    assert all(line.startswith(("✓", " ")) for line in ended.out.splitlines()[:-2])
    assert [
        "client", "config", "data", "disk", "socket", "lock", "daemon", "protocol", "health",
        "store", "store-disk", "lane-keyword", "writer", "errors", "sources",
    ] == list(by_id(run))  # fmt: skip


def test_without_a_daemon_it_works_and_starts_none(run: Run, data: Path) -> None:
    """No daemon is a warning with a way on, not a failure."""
    found = by_id(run)

    assert "warn" == found["daemon"]["status"]
    assert "twolane daemon start" in found["daemon"]["hint"]
    assert "health" not in found
    assert 0 == run("doctor").code
    assert [] == list(data.iterdir())


def test_the_end_of_the_log_helps(run: Run, data: Path) -> None:
    """Why the last daemon did not start is shown where it is missing."""
    (data / "daemon.log").write_text("config.toml: unknown key\n", encoding="utf-8")

    broken = by_id(run)["daemon"]
    (data / "daemon.log").write_text("INFO twolaned.server.run: stopped\n", encoding="utf-8")
    stopped = by_id(run)["daemon"]

    assert "config.toml: unknown key" in broken["hint"]
    assert "did not end in order" in broken["message"]
    assert "it does not run" == stopped["message"]


def test_a_folder_open_to_others_fails(run: Run, data: Path) -> None:
    """Others must not read the archive; the hint is the command that repairs it."""
    data.chmod(0o755)

    found = by_id(run)["data"]

    assert "fail" == found["status"]
    assert f"chmod 700 {data}" in found["hint"]
    assert 1 == run("doctor").code
    assert 0o755 == stat.S_IMODE(data.stat().st_mode)


def test_a_broken_configuration_fails(
    run: Run, data: Path, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place of the mistake is named."""
    config = short / "config.toml"
    monkeypatch.setenv("TWOLANE_CONFIG", str(config))
    config.write_text("[ranking\n", encoding="utf-8")

    found = by_id(run)["config"]

    assert "fail" == found["status"]
    assert "line 1" in found["message"]
    config.write_text("[ranking]\n[limits]\n", encoding="utf-8")
    assert "2 sections" in by_id(run)["config"]["message"]


def test_a_held_folder_without_an_answer_fails(run: Run, data: Path) -> None:
    """A daemon that holds the folder and does not answer is found, by name."""
    with paths.daemon_lock_path(data).open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("pid 4711\nversion 0.1.0\n")
        lock.flush()

        found = by_id(run)["lock"]

    assert "fail" == found["status"]
    assert "pid 4711" in found["message"]
    assert "--force" in found["hint"]


@pytest.mark.parametrize(("free", "verdict"), [(10 << 30, "ok"), (500 << 20, "warn"), (1, "fail")])
def test_little_space_is_noticed(run: Run, held: FakeDaemon, free: int, verdict: str) -> None:
    """A disk that fills up is noticed before it is full."""
    held.status.disk_free_bytes = free

    assert verdict == by_id(run)["store-disk"]["status"]


@pytest.mark.parametrize(
    ("change", "check", "verdict"),
    [
        pytest.param({"version": "0.0.1"}, "protocol", "warn", id="another version"),
        pytest.param({"protocol": 9}, "protocol", "fail", id="another protocol"),
        pytest.param({"writer_state": "restarting"}, "writer", "warn", id="writer restarts"),
        pytest.param({"writer_state": "stopped"}, "writer", "fail", id="no writer"),
        pytest.param({"next_action": "Scan."}, "next", "warn", id="something to do"),
    ],
)
def test_the_daemons_state_is_judged(
    run: Run, held: FakeDaemon, change: dict[str, Any], check: str, verdict: str
) -> None:
    """What the daemon says of itself counts."""
    for name, value in change.items():
        setattr(held.status, name, value)

    assert verdict == by_id(run)[check]["status"]


def test_health_errors_lanes_and_sources_are_judged(run: Run, held: FakeDaemon) -> None:
    """Every part that can fail has its check."""
    held.serve(healthy=False)
    held.status.lanes.add(lane="keyword", state="failing", message="The canary found nothing.")
    held.status.recent_errors.add(where="import", message="a.zip: bad")
    held.sources["s1"] = Source(id="s1", path="/gone", last_error="not there")

    found = by_id(run)

    assert "fail" == found["health"]["status"]
    assert "fail" == found["lane-keyword"]["status"]
    assert "1 error, the newest in import: a.zip: bad" == found["errors"]["message"]
    assert ("warn", "/gone: not there") == (found["sources"]["status"], found["sources"]["message"])


def test_a_call_that_fails_is_a_failed_check(run: Run, held: FakeDaemon) -> None:
    """An error in one check does not end the others."""
    held.failures["ListSources"] = Failure(code_pb2.INTERNAL, "No.", "INTERNAL")

    assert "fail" == by_id(run)["sources"]["status"]


def test_a_daemon_that_only_fails_is_found(run: Run, held: FakeDaemon) -> None:
    """Something that answers with errors is told from nothing at all."""
    held.failures["Status"] = Failure(code_pb2.INTERNAL, "internal error", "INTERNAL")

    found = by_id(run)["daemon"]

    assert ("fail", "internal error") == (found["status"], found["message"])


def test_two_sides_of_two_folders(run: Run, served: FakeDaemon, data: Path) -> None:
    """A socket of one daemon with the data folder of another is noticed."""
    found = by_id(run)["lock"]

    assert "warn" == found["status"]
    assert "TWOLANE_SOCKET" in found["hint"]


def test_lines_fit_and_are_harmless(run: Run, held: FakeDaemon) -> None:
    """Long messages wrap below themselves, and hold nothing that steers a terminal."""
    held.status.next_action = "word " * 60 + "\x1b[2J"

    out = run("doctor").out

    assert "\x1b" not in out
    assert all(len(line) <= 80 for line in out.splitlines() if "/" not in line)


def test_every_verdict_has_a_sign() -> None:
    """No check is shown without one."""
    from twolane.cli.commands import doctor

    for verdict in checks.Verdict:
        assert next(doctor.lines(checks.Check("x", verdict, "message")))[0] in "✓!✗\x1b"
