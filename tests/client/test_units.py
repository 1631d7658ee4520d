"""The files for systemd and launchd: valid as they are shipped, and for this machine."""

from __future__ import annotations

import os
import plistlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT
from twolane import units

ODD = '/srv/odd %h $HOME "quoted" folder'


def directives(text: bytes, name: str) -> list[str]:
    return [
        line.partition("=")[2] for line in text.decode().splitlines() if line.startswith(f"{name}=")
    ]


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("data", ["/srv/twolane", ODD])
def test_systemd_has_nothing_to_say(tmp_path: Path, data: str) -> None:
    """Its own check of the three units ends well and without a word."""
    rendered = units.systemd_units({"TWOLANE_DATA": data})
    for unit in rendered:
        (tmp_path / unit.name).write_bytes(unit.text)

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", *(unit.name for unit in rendered)],
        cwd=tmp_path,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (0, "") == (done.returncode, done.stderr)


def test_the_units_run_this_python() -> None:
    """The daemon tells systemd itself when it is ready; a compaction starts no daemon."""
    daemon, compact, timer = units.systemd_units({})

    assert [f"{sys.executable} -P -m twolaned.server"] == directives(daemon.text, "ExecStart")
    assert ["notify"] == directives(daemon.text, "Type")
    assert ["60"] == directives(daemon.text, "WatchdogSec")
    assert [f"{sys.executable} -P -m twolane compact"] == directives(compact.text, "ExecStart")
    assert ["TWOLANE_NO_AUTOSTART=1"] == directives(compact.text, "Environment")
    assert ["timers.target"] == directives(timer.text, "WantedBy")


def test_places_and_odd_names_are_passed_on() -> None:
    """systemd reads per cent signs and quotes; keys are not written into a file."""
    daemon, compact, _ = units.systemd_units({"TWOLANE_DATA": ODD, "VOYAGE_API_KEY": "secret"})

    expected = '"TWOLANE_DATA=/srv/odd %%h $HOME \\"quoted\\" folder"'
    assert [expected] == directives(daemon.text, "Environment")
    assert expected in directives(compact.text, "Environment")
    assert b"secret" not in daemon.text + compact.text


@pytest.mark.parametrize("name", ["dev.twolane.daemon", "dev.twolane.compact"])
def test_the_shipped_agents_are_property_lists(name: str) -> None:
    """Their label is their file's name, as launchd wants it."""
    agent = plistlib.loads((ROOT / "launchd" / f"{name}.plist").read_bytes())

    assert name == agent["Label"]
    assert all(isinstance(word, str) for word in agent["ProgramArguments"])


def test_the_agents_run_this_python(tmp_path: Path) -> None:
    """The daemon at login and after a crash, the compaction once a week."""
    env = {"HOME": str(tmp_path), "TWOLANE_DATA": ODD}
    daemon, compact = (plistlib.loads(unit.text) for unit in units.launchd_agents(env))

    assert [sys.executable, "-P", "-m", "twolaned.server"] == daemon["ProgramArguments"]
    assert {"SuccessfulExit": False} == daemon["KeepAlive"]
    assert {"TWOLANE_DATA": ODD} == daemon["EnvironmentVariables"]
    assert f"{ODD}/daemon.log" == daemon["StandardErrorPath"]
    assert [sys.executable, "-P", "-m", "twolane", "compact"] == compact["ProgramArguments"]
    assert {"TWOLANE_NO_AUTOSTART": "1", "TWOLANE_DATA": ODD} == compact["EnvironmentVariables"]
    assert {"Weekday": 1, "Hour": 4, "Minute": 0} == compact["StartCalendarInterval"]
    assert "RunAtLoad" not in compact


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", "home/.config/systemd/user"),
        ("darwin", "home/Library/LaunchAgents"),
    ],
)
def test_the_files_lie_where_the_manager_looks(
    tmp_path: Path, platform: str, expected: str
) -> None:
    """In the user's own folders."""
    env = {"HOME": str(tmp_path / "home")}

    assert tmp_path / expected == units.folder(env, platform)


def test_a_configuration_folder_of_ones_own_counts() -> None:
    """A relative one is to be ignored, says the standard."""
    assert Path("/c/systemd/user") == units.folder({"HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "linux")
    assert Path("/h/.config/systemd/user") == units.folder(
        {"HOME": "/h", "XDG_CONFIG_HOME": "c"}, "linux"
    )
