"""Where everything lies, in an environment made up for the test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolane import paths

HOME = {"HOME": "/home/ada"}


def test_the_places_on_linux() -> None:
    """Without any variable the places are those of the XDG standard's defaults."""
    data = Path("/home/ada/.local/share/twolane")

    assert data == paths.data_dir(HOME, platform="linux")
    assert Path("/home/ada/.config/twolane/config.toml") == paths.config_path(
        HOME, platform="linux"
    )
    assert data / "run/twolane.sock" == paths.socket_path(HOME, platform="linux")
    assert data / "daemon.lock" == paths.daemon_lock_path(data)


def test_the_places_on_a_mac() -> None:
    """There, everything lies in Application Support."""
    folder = Path("/home/ada/Library/Application Support/twolane")

    assert folder == paths.data_dir(HOME, platform="darwin")
    assert folder / "config.toml" == paths.config_path(HOME, platform="darwin")
    assert folder / "run/twolane.sock" == paths.socket_path(HOME, platform="darwin")


def test_the_standards_variables_count() -> None:
    """XDG folders are used where they are absolute."""
    env = HOME | {
        "XDG_DATA_HOME": "/d",
        "XDG_CONFIG_HOME": "/c",
        "XDG_RUNTIME_DIR": "/run/user/7",
    }

    assert Path("/d/twolane") == paths.data_dir(env, platform="linux")
    assert Path("/c/twolane/config.toml") == paths.config_path(env, platform="linux")
    assert Path("/run/user/7/twolane/twolane.sock") == paths.socket_path(env, platform="linux")
    relative = {name: value.lstrip("/") for name, value in env.items() if name != "HOME"} | HOME
    assert paths.data_dir(HOME, platform="linux") == paths.data_dir(relative, platform="linux")
    assert paths.socket_path(HOME, platform="linux") == paths.socket_path(
        relative, platform="linux"
    )


def test_twolanes_own_variables_win() -> None:
    """TWOLANE_DATA, TWOLANE_CONFIG and TWOLANE_SOCKET stand above all others."""
    env = HOME | {
        "TWOLANE_DATA": "~/archive",
        "TWOLANE_CONFIG": "/etc/../srv/t.toml",
        "TWOLANE_SOCKET": "/tmp/t.sock",
        "XDG_DATA_HOME": "/d",
        "XDG_RUNTIME_DIR": "/run/user/7",
    }

    assert Path("/home/ada/archive") == paths.data_dir(env)
    assert Path("/srv/t.toml") == paths.config_path(env)
    assert Path("/tmp/t.sock") == paths.socket_path(env)


def test_another_data_folder_has_a_socket_of_its_own() -> None:
    """Two daemons on two folders never meet on the one socket of the runtime folder."""
    env = HOME | {"XDG_RUNTIME_DIR": "/run/user/7"}
    other = env | {"TWOLANE_DATA": "/srv/other"}
    same = env | {"TWOLANE_DATA": "/home/ada/.local/share/twolane"}

    assert Path("/srv/other/run/twolane.sock") == paths.socket_path(other, platform="linux")
    assert paths.socket_path(env, platform="linux") == paths.socket_path(same, platform="linux")


def test_a_long_path_has_a_short_stand_in() -> None:
    """The stand-in is the same every time, of its own for each path, and short."""
    long = Path("/srv") / ("x" * 120) / "t.sock"
    longer = long.with_name("u.sock")
    mine = Path(f"/tmp/twolane-{os.getuid()}")

    assert mine == paths.fitting(long, HOME).parent
    assert paths.fitting(long, HOME) == paths.fitting(long, dict(HOME))
    assert paths.fitting(long, HOME) != paths.fitting(longer, HOME)
    runtime = HOME | {"XDG_RUNTIME_DIR": "/run/user/7"}
    assert Path("/run/user/7/twolane") == paths.fitting(long, runtime).parent
    assert mine == paths.fitting(long, HOME | {"XDG_RUNTIME_DIR": "/" + "r" * 90}).parent
    env = HOME | {"TWOLANE_SOCKET": str(long)}
    assert paths.fitting(long, env) == paths.socket_path(env)


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1))
def test_every_socket_path_fits(name: str) -> None:
    """Whatever the folder is called, in bytes the socket's path is not too long."""
    env = HOME | {"TWOLANE_DATA": f"/srv/{name * 5}"}

    assert len(os.fsencode(paths.socket_path(env))) <= paths.MAX_SOCKET_BYTES


def test_a_folder_is_private_only_if_it_is_ours_and_closed(tmp_path: Path) -> None:
    """A link, a file, an open mode or another owner is a fault with a name."""
    folder = tmp_path / "run"
    with pytest.raises(FileNotFoundError):
        paths.fault_of_folder(folder)
    folder.mkdir(mode=0o700)
    assert paths.fault_of_folder(folder) is None
    folder.chmod(0o750)
    assert "is open to other users" == paths.fault_of_folder(folder)
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert "is not a folder" == paths.fault_of_folder(link)
    if os.getuid() == 0:
        folder.chmod(0o700)
        os.chown(folder, 12345, -1)
        assert "belongs to another user" == paths.fault_of_folder(folder)
