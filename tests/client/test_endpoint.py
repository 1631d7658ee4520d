"""The way to the daemon: what is accepted, what is refused, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from twolane import errors
from twolane.endpoint import endpoint

TOKEN = "t" * 40


def token_file(folder: Path, content: bytes = TOKEN.encode() + b"\n", mode: int = 0o600) -> Path:
    file = folder / "token"
    file.write_bytes(content)
    file.chmod(mode)
    return file


@pytest.mark.parametrize(
    ("tcp", "target"),
    [
        ("127.0.0.1:7777", "ipv4:127.0.0.1:7777"),
        ("localhost:7777", "ipv4:127.0.0.1:7777"),
        ("[::1]:7777", "ipv6:[::1]:7777"),
    ],
)
def test_tcp_needs_no_name_service(tcp: str, target: str) -> None:
    """The target is an address; every call shows the token, and no text shows it."""
    place = endpoint(tcp=tcp, token=TOKEN)

    assert target == place.target
    assert place.socket is None
    assert (("authorization", f"Bearer {TOKEN}"),) == place.metadata
    assert TOKEN not in repr(place)


def test_a_socket_needs_no_token(tmp_path: Path) -> None:
    """Its folder is the protection."""
    place = endpoint(tmp_path / "s")

    assert tmp_path / "s" == place.socket
    assert () == place.metadata


@pytest.mark.parametrize(
    ("given", "field"),
    [
        pytest.param({"tcp": "192.168.1.2:7777", "token": TOKEN}, "tcp", id="elsewhere"),
        pytest.param({"tcp": "example.org:7777", "token": TOKEN}, "tcp", id="name"),
        pytest.param({"tcp": "127.0.0.1", "token": TOKEN}, "tcp", id="no port"),
        pytest.param({"tcp": "127.0.0.1:0", "token": TOKEN}, "tcp", id="port"),
        pytest.param({"tcp": "127.0.0.1:1", "socket": "/tmp/s", "token": TOKEN}, "tcp", id="both"),
        pytest.param({"tcp": "127.0.0.1:1", "token": "a\nb"}, "token", id="line"),
        pytest.param({"tcp": "127.0.0.1:1", "token": ""}, "token", id="empty"),
        pytest.param({"tcp": "127.0.0.1:1", "token": "a", "token_file": "b"}, "token", id="two"),
        pytest.param({"token": TOKEN}, "token", id="token alone"),
        pytest.param({"token_file": "t"}, "token_file", id="file alone"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], field: str) -> None:
    """Before anything is sent, naming the argument, and without the token."""
    with pytest.raises(errors.InvalidRequest) as caught:
        endpoint(**given)

    assert [field] == [violation.field for violation in caught.value.violations]
    assert TOKEN not in str(caught.value)


def test_the_token_is_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is named, else the one in the data folder."""
    file = token_file(tmp_path)
    monkeypatch.setenv("TWOLANE_DATA", str(tmp_path))

    assert TOKEN == endpoint(tcp="127.0.0.1:7777", token_file=file).token
    assert TOKEN == endpoint(tcp="127.0.0.1:7777").token


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        pytest.param(TOKEN.encode(), 0o640, "open to other users", id="mode"),
        pytest.param(b"\n", 0o600, "is empty", id="empty"),
        pytest.param(b"\xff\xfe", 0o600, "not text", id="bytes"),
    ],
)
def test_a_bad_token_file_is_refused(tmp_path: Path, content: bytes, mode: int, said: str) -> None:
    """It says which file, and what to do."""
    file = token_file(tmp_path, content, mode)

    with pytest.raises(errors.DaemonUnavailable, match=said) as caught:
        endpoint(tcp="127.0.0.1:7777", token_file=file)
    assert str(file) in caught.value.message


def test_a_token_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """It says who makes it."""
    with pytest.raises(errors.DaemonUnavailable, match="daemon makes it"):
        endpoint(tcp="127.0.0.1:7777", token_file=tmp_path / "token")
