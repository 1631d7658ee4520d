"""``twolane service``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twolane.cli import terminal
from twolane.cli.exits import ExitCode
from twolane.cli.options import OrderedGroup, common, settings
from twolane.errors import DeadlineExceeded, Refused

if TYPE_CHECKING:
    from twolane.units import Unit

SECONDS = 150
"""How long the service manager may take; starting the daemon is part of it."""


@click.group("service", cls=OrderedGroup)
def command() -> None:
    """Let the system start the daemon, and compact now and then.

    On Linux these are systemd's user units, on macOS launchd's agents, started as you log in.
    """


@command.command("install")
@click.option(
    "--with-timer", is_flag=True, help="Also run `twolane compact` every week, Monday at 4."
)
@common
def install(with_timer: bool) -> int:
    """Write the service for this machine, enable it and start it.

    A daemon that runs already is stopped first. Installing again brings the service up to date.
    """
    from twolane import control, units

    manager = _Manager()
    files = manager.write()
    control.stop(settings().socket)
    if manager.kind == units.SYSTEMD:
        manager.systemctl("daemon-reload")
        manager.systemctl("enable", units.SERVICE)
        manager.systemctl("restart", units.SERVICE)
        if with_timer:
            manager.systemctl("enable", "--now", units.TIMER)
    else:
        manager.load(units.DAEMON_AGENT)
        if with_timer:
            manager.load(units.COMPACT_AGENT)
    _say("installed", files, timer=with_timer or manager.timer_is_on())
    return ExitCode.OK


@command.command("uninstall")
@common
def uninstall() -> int:
    """Stop and disable the service and its timer, and remove their files. Your data stays."""
    from twolane import units

    manager = _Manager()
    files = [file for file in manager.files() if file.exists()]
    if not files:
        _say("not_installed", [], timer=False)
        return ExitCode.OK
    if manager.kind == units.SYSTEMD:
        manager.systemctl("disable", "--now", units.TIMER, units.SERVICE)
    else:
        for agent in (units.COMPACT_AGENT, units.DAEMON_AGENT):
            manager.unload(agent)
    for file in files:
        file.unlink(missing_ok=True)
    if manager.kind == units.SYSTEMD:
        manager.systemctl("daemon-reload")
    _say("uninstalled", files, timer=False)
    return ExitCode.OK


@command.command("status")
@common
def status() -> int:
    """Say whether the service is installed and runs. Exit code 1 if it does not."""
    manager = _Manager()
    files = [file for file in manager.files() if file.exists()]
    state = manager.state() if files else "not_installed"
    _say(state, files, timer=bool(files) and manager.timer_is_on())
    return ExitCode.OK if state == "running" else ExitCode.NOTHING


class _Manager:
    """The service manager of this machine."""

    def __init__(self) -> None:
        from twolane import units

        self._units = units
        self.kind = units.manager()
        self._folder = units.folder()
        self._tool = "systemctl" if self.kind == units.SYSTEMD else "launchctl"
        if shutil.which(self._tool) is None:
            raise Refused(
                f"There is no {self._tool} on this machine. Start the daemon with `twolane daemon"
                " start`, and `twolane compact` from cron.",
                reason="NO_SERVICE_MANAGER",
            )

    def files(self) -> list[Path]:
        """Where the service's files lie once they are written."""
        return [self._folder / unit.name for unit in self._rendered()]

    def write(self) -> list[Path]:
        """Write the service's files."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for unit in self._rendered():
            file = self._folder / unit.name
            new = file.with_name(f".{file.name}.new")
            new.write_bytes(unit.text)
            new.replace(file)
        return self.files()

    def systemctl(self, *words: str) -> str:
        """Ask systemd's manager of this user. Raises Refused."""
        return self._ask("--user", *words)

    def load(self, agent: str) -> None:
        """Make launchd run *agent* as its file says now."""
        self.unload(agent)
        self._ask("bootstrap", self._domain(), str(self._folder / f"{agent}.plist"))

    def unload(self, agent: str) -> None:
        """Make launchd forget *agent*, if it knows it."""
        self._run("bootout", f"{self._domain()}/{agent}")

    def state(self) -> str:
        """``running`` or ``stopped``."""
        if self.kind == self._units.SYSTEMD:
            done = self._run("--user", "is-active", self._units.SERVICE)
            return "running" if done.stdout.strip() == "active" else "stopped"
        done = self._run("print", f"{self._domain()}/{self._units.DAEMON_AGENT}")
        return "running" if "state = running" in done.stdout else "stopped"

    def timer_is_on(self) -> bool:
        """Whether compaction runs by itself."""
        if self.kind == self._units.SYSTEMD:
            done = self._run("--user", "is-enabled", self._units.TIMER)
            return done.stdout.strip() == "enabled"
        return not self._run("print", f"{self._domain()}/{self._units.COMPACT_AGENT}").returncode

    def _rendered(self) -> list[Unit]:
        if self.kind == self._units.SYSTEMD:
            return list(self._units.systemd_units())
        return list(self._units.launchd_agents())

    @staticmethod
    def _domain() -> str:
        return f"gui/{os.getuid()}"

    def _ask(self, *words: str) -> str:
        done = self._run(*words)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            why = said[0] if said else "no reason given"
            raise Refused(
                f"`{self._tool} {' '.join(words)}` failed: {why}",
                reason="SERVICE_MANAGER",
            )
        return done.stdout

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self._tool, *words],
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise DeadlineExceeded(
                f"{self._tool} did not answer within {SECONDS} s.",
                reason="SERVICE_MANAGER",
            ) from None


def _say(state: str, files: list[Path], *, timer: bool) -> None:
    if settings().json:
        from twolane.render import dump

        terminal.out(dump({"state": state, "timer": timer, "files": [str(f) for f in files]}))
        return
    words = {
        "installed": "The service is installed and runs.",
        "uninstalled": "The service is gone. Your data is where it was.",
        "not_installed": "The service is not installed. `twolane service install` does that.",
        "running": "The service runs.",
        "stopped": "The service is installed and does not run.",
    }
    terminal.out(words[state])
    if state in ("installed", "running", "stopped"):
        terminal.out(f"Compaction runs {'every week' if timer else 'only when you call it'}.")
