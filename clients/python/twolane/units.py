"""What the system's service manager is told: systemd's user units and launchd's agents.

The files below ``systemd/`` and ``launchd/`` are complete as they are; rendering puts in the
commands, places and environment of this machine.
"""

from __future__ import annotations

import os
import plistlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from twolane import launch, paths

SERVICE = "twolane.service"
COMPACT = "twolane-compact.service"
TIMER = "twolane-compact.timer"
DAEMON_AGENT = "dev.twolane.daemon"
COMPACT_AGENT = "dev.twolane.compact"

SYSTEMD = "systemd"
LAUNCHD = "launchd"

_PASSED_ON = ("TWOLANE_DATA", "TWOLANE_CONFIG", "TWOLANE_SOCKET", "OLLAMA_HOST")
"""What the manager's environment would not have. Keys are not among them: they stay in files."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A file for the service manager."""

    name: str
    text: bytes


def manager(platform: str = sys.platform) -> str:
    """Return the service manager of this kind of system."""
    return LAUNCHD if platform == "darwin" else SYSTEMD


def folder(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return where the service manager looks for the files of this user. It may not exist."""
    home = Path(env.get("HOME") or Path.home())
    if manager(platform) == LAUNCHD:
        return home / "Library" / "LaunchAgents"
    given = env.get("XDG_CONFIG_HOME", "")
    return (Path(given) if given.startswith("/") else home / ".config") / "systemd" / "user"


def commands() -> dict[str, list[str]]:
    """Return what each service runs, with this Python and these packages."""
    # -P: a folder that happens to be the current one must not provide modules.
    compact = [sys.executable, "-P", "-m", "twolane", "compact"]
    return {"daemon": launch.command(), "compact": compact}


def environment(env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what of *env* a service must have to find the same daemon; paths are absolute."""
    places = {"TWOLANE_DATA": paths.data_dir, "TWOLANE_CONFIG": paths.config_path}
    found = {}
    for name in _PASSED_ON:
        if env.get(name):
            place = places.get(name)
            found[name] = env[name] if place is None else str(place(env).absolute())
    if "TWOLANE_SOCKET" in found:
        found["TWOLANE_SOCKET"] = str(paths.socket_path(env).absolute())
    return found


def systemd_units(env: Mapping[str, str] = os.environ) -> list[Unit]:
    """Return systemd's units: the daemon, the compaction and its timer."""
    run, variables = commands(), environment(env)
    return [
        Unit(SERVICE, _unit(SERVICE, run["daemon"], variables)),
        Unit(COMPACT, _unit(COMPACT, run["compact"], variables)),
        Unit(TIMER, template(SYSTEMD, TIMER)),
    ]


def launchd_agents(env: Mapping[str, str] = os.environ) -> list[Unit]:
    """Return launchd's agents: the daemon and the compaction."""
    run, variables = commands(), environment(env)
    log = str(paths.data_dir(env).absolute() / "daemon.log")
    return [
        Unit(f"{DAEMON_AGENT}.plist", _agent(DAEMON_AGENT, run["daemon"], variables, log)),
        Unit(f"{COMPACT_AGENT}.plist", _agent(COMPACT_AGENT, run["compact"], variables, log)),
    ]


def template(kind: str, name: str) -> bytes:
    """Return the file *name* as it is shipped: beside this module, or in the checkout's root."""
    package = Path(__file__).resolve().parent
    shipped = package / "_units" / kind / name
    return (shipped if shipped.is_file() else package.parents[2] / kind / name).read_bytes()


def _unit(name: str, command: Sequence[str], variables: Mapping[str, str]) -> bytes:
    lines = []
    for line in template(SYSTEMD, name).decode().splitlines():
        if line.startswith("ExecStart="):
            lines.append("ExecStart=" + " ".join(_quoted(word, "$") for word in command))
            lines += [f"Environment={_quoted(f'{k}={v}')}" for k, v in variables.items()]
        else:
            lines.append(line)
    return ("\n".join(lines) + "\n").encode()


def _quoted(word: str, doubled: str = "") -> str:
    """*word* for a line of a unit file, where ``%`` and sometimes ``$`` stand for something."""
    for character in "%" + doubled:
        word = word.replace(character, 2 * character)
    if word and not set(word) & set(" \t\n\"'\\;"):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _agent(name: str, command: Sequence[str], variables: Mapping[str, str], log: str) -> bytes:
    agent = plistlib.loads(template(LAUNCHD, f"{name}.plist"))
    agent["ProgramArguments"] = list(command)
    agent["StandardErrorPath"] = log
    merged = agent.get("EnvironmentVariables", {}) | dict(variables)
    if merged:
        agent["EnvironmentVariables"] = merged
    return plistlib.dumps(agent)
