"""``twolane service``, with a stand-in for the service manager's own tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from twolane import units

TOOL = """#!/bin/sh
echo "$@" >> "$TOOL_LOG"
case "$*" in
  $TOOL_FAILS) echo "It went wrong." >&2; exit 1;;
  *is-active*) echo active;;
  *is-enabled*) echo "${TOOL_TIMER:-disabled}";;
  *print*twolane.compact) test "$TOOL_TIMER" = enabled;;
  print*) echo "state = running";;
esac
"""


class Manager:
    """What the tool was asked, and where the files go."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, tool: str) -> None:
        self._log = folder / "asked"
        self._log.touch()
        self._set = monkeypatch.setenv
        home = folder / "home"
        home.mkdir()
        script = folder / "bin" / tool
        script.parent.mkdir()
        script.write_text(TOOL, encoding="utf-8")
        script.chmod(0o755)
        monkeypatch.setattr(units, "manager", lambda _platform="": kind)
        for name, value in {
            "PATH": f"{script.parent}:/usr/bin:/bin",
            "HOME": str(home),
            "TOOL_LOG": str(self._log),
            "TOOL_FAILS": "nothing",
        }.items():
            self._set(name, value)
        self.units = units.folder()

    def set(self, name: str, value: str) -> None:
        self._set(name, value)

    @property
    def asked(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines()

    @property
    def files(self) -> list[str]:
        return sorted(file.name for file in self.units.iterdir()) if self.units.exists() else []


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    return Manager(tmp_path, monkeypatch, units.SYSTEMD, "systemctl")


@pytest.fixture
def launchd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    return Manager(tmp_path, monkeypatch, units.LAUNCHD, "launchctl")


def test_install_starts_the_daemon_and_no_timer(run: Run, systemd: Manager) -> None:
    """Compaction runs by itself only if it was asked for."""
    ended = run("service", "install")

    assert 0 == ended.code
    assert [units.COMPACT, units.TIMER, units.SERVICE] == systemd.files
    assert [
        "--user daemon-reload",
        "--user enable twolane.service",
        "--user restart twolane.service",
        "--user is-enabled twolane-compact.timer",
    ] == systemd.asked
    assert "Compaction runs only when you call it." in ended.out


def test_the_timer_is_installed_when_asked_for(run: Run, systemd: Manager) -> None:
    """With the service that it needs."""
    ended = run("service", "install", "--with-timer", "--json")

    assert "--user enable --now twolane-compact.timer" == systemd.asked[-1]
    (told,) = ended.objects
    assert ("installed", True, 3) == (told["state"], told["timer"], len(told["files"]))


def test_uninstall_leaves_nothing(run: Run, systemd: Manager) -> None:
    """Neither a file nor an enabled unit; a second time there is nothing to do."""
    run("service", "install", "--with-timer")
    ended = run("service", "uninstall")

    assert 0 == ended.code
    assert [] == systemd.files
    assert [
        "--user disable --now twolane-compact.timer twolane.service",
        "--user daemon-reload",
    ] == systemd.asked[-2:]
    assert "not installed" in run("service", "uninstall").out


def test_status_says_what_runs(run: Run, systemd: Manager) -> None:
    """Code 1 if it does not."""
    assert (1, "not_installed") == (
        (ended := run("service", "status", "--json")).code,
        ended.objects[0]["state"],
    )
    run("service", "install")
    systemd.set("TOOL_TIMER", "enabled")
    ended = run("service", "status")
    assert (0, "The service runs.\nCompaction runs every week.\n") == (ended.code, ended.out)


def test_a_manager_that_fails_is_quoted(run: Run, systemd: Manager) -> None:
    """A session without a user manager is the usual case."""
    systemd.set("TOOL_FAILS", "*daemon-reload*")
    ended = run("service", "install")

    assert 1 == ended.code
    assert "`systemctl --user daemon-reload` failed: It went wrong." in ended.err


def test_without_a_manager_it_says_what_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Cron is there almost everywhere."""
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = run("service", "install")

    assert 1 == ended.code
    assert "cron" in ended.err


def test_launchd_loads_the_agents(run: Run, launchd: Manager) -> None:
    """And forgets them again."""
    run("service", "install", "--with-timer")
    assert ["dev.twolane.compact.plist", "dev.twolane.daemon.plist"] == launchd.files
    loaded = [line.split()[-1] for line in launchd.asked if line.startswith("bootstrap gui/")]
    assert [str(launchd.units / f"dev.twolane.{n}.plist") for n in ("daemon", "compact")] == loaded
    assert 0 == run("service", "status").code

    run("service", "uninstall")
    assert [] == launchd.files
