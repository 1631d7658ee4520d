"""Private folders and the socket in one of them."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sockets import short_folder
from twolaned.model.errors import ConfigError, StoreLocked
from twolaned.server.folders import (
    address_of,
    clear_socket,
    close_off,
    private_folder,
    remove_socket,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_a_missing_folder_is_made_private(folder: Path) -> None:
    """Whatever the umask, nobody else may look in."""
    made = private_folder(folder / "a" / "b", "The data folder")

    assert 0o700 == made.stat().st_mode & 0o777


def test_a_folder_that_is_open_to_others_is_refused(folder: Path) -> None:
    """The sentence says what to run."""
    (folder / "open").mkdir()
    (folder / "open").chmod(0o755)

    with pytest.raises(ConfigError, match=r"open to other users.*chmod 700"):
        private_folder(folder / "open", "The data folder")


def test_a_link_to_a_private_folder_is_fine(folder: Path) -> None:
    """A person may keep the data on another disk."""
    (folder / "real").mkdir(mode=0o700)
    (folder / "link").symlink_to("real")

    assert folder / "link" == private_folder(folder / "link", "The data folder")


def test_a_file_in_the_folders_place_is_refused(folder: Path) -> None:
    """There is nothing to be made there."""
    (folder / "file").touch()

    with pytest.raises(ConfigError, match="cannot be made"):
        private_folder(folder / "file", "The data folder")


def test_a_stale_socket_is_removed(folder: Path) -> None:
    """What a killed daemon left must not keep the next one from starting."""
    listen(folder / "s").close()
    assert (folder / "s").exists()

    clear_socket(folder / "s")

    assert not (folder / "s").exists()
    clear_socket(folder / "s")


def test_a_socket_that_somebody_listens_on_is_left_alone(folder: Path) -> None:
    """The daemon of another data folder keeps its clients."""
    with listen(folder / "s"), pytest.raises(StoreLocked) as caught:
        clear_socket(folder / "s")

    assert "SOCKET_IN_USE" == caught.value.reason
    assert (folder / "s").exists()


def test_a_file_in_the_sockets_place_is_left_alone(folder: Path) -> None:
    """It is not ours to remove."""
    (folder / "s").write_text("precious")

    with pytest.raises(ConfigError, match="something else is there"):
        clear_socket(folder / "s")

    assert "precious" == (folder / "s").read_text()


def test_only_the_own_socket_is_removed_at_the_end(folder: Path) -> None:
    """If another daemon has taken the path meanwhile, its socket stays."""
    with listen(folder / "s"):
        mine = close_off(folder / "s")
        assert 0o600 == (folder / "s").stat().st_mode & 0o777
        (folder / "s").rename(folder / "old")
        with listen(folder / "s"):
            remove_socket(folder / "s", mine)
            assert (folder / "s").exists()
            remove_socket(folder / "old", mine)
            assert not (folder / "old").exists()
            remove_socket(folder / "old", mine)


def test_an_address_is_a_uri() -> None:
    """Spaces and letters beyond ASCII are percent-encoded."""
    assert "unix:/a%20b/%C3%A9.sock" == address_of(Path("/a b/é.sock"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(folder: Path) -> None:
    """Whoever made it could replace what lies in it."""
    (folder / "theirs").mkdir(mode=0o700)
    os.chown(folder / "theirs", 12345, -1)

    with pytest.raises(ConfigError, match="belongs to another user"):
        private_folder(folder / "theirs", "The socket's folder")
