from __future__ import annotations

import socket as sockets
import stat
from pathlib import Path

import pytest
from google.rpc import code_pb2

from tests.client.fake import Failure, FakeDaemon
from twolane import errors
from twolane.client import Client
from twolane.connection import (
    PROTOCOL,
    NeedsRestart,
    Ready,
    Unreachable,
    health,
    probe,
    require_compatible,
    serving,
    version,
)
from twolane.endpoint import socket_path


def test_a_daemon_of_this_version_is_ready(daemon: FakeDaemon) -> None:
    """The probe hands on the daemon's state."""
    assert Ready(daemon.status) == probe(daemon.socket)


def test_another_version_needs_a_restart_and_works(daemon: FakeDaemon) -> None:
    """With the same protocol, calls work all the same; the reason names both sides."""
    daemon.status.version = "0.0.1"

    found = probe(daemon.socket)

    assert isinstance(found, NeedsRestart)
    assert found.compatible
    assert "0.0.1" in found.reason
    assert version() in found.reason
    assert found is require_compatible(found)


def test_another_protocol_is_refused(daemon: FakeDaemon) -> None:
    """With another protocol nothing is called, and the error says what to do."""
    daemon.status.protocol = PROTOCOL + 1

    found = probe(daemon.socket)

    assert isinstance(found, NeedsRestart)
    assert not found.compatible
    with pytest.raises(errors.IncompatibleDaemon, match="twolane daemon restart") as caught:
        require_compatible(found)
    assert "PROTOCOL_MISMATCH" == caught.value.reason


def test_nobody_there_is_absent(short: Path) -> None:
    """Where nobody listens, starting one may help."""
    found = probe(short / "none.sock")

    assert isinstance(found, Unreachable)
    assert found.absent
    assert "DAEMON_NOT_RUNNING" == found.error.reason


def test_a_left_over_socket_is_absent(short: Path) -> None:
    """A socket file that nobody listens on is as good as none."""
    with sockets.socket(sockets.AF_UNIX) as stale:
        stale.bind(str(short / "stale.sock"))

    found = probe(short / "stale.sock")

    assert isinstance(found, Unreachable)
    assert found.absent


def test_a_failing_daemon_is_not_absent(daemon: FakeDaemon) -> None:
    """A daemon that answers with an error must not be doubled."""
    daemon.failures["Status"] = Failure(code_pb2.INTERNAL, "No.", reason="INTERNAL")

    found = probe(daemon.socket)

    assert isinstance(found, Unreachable)
    assert not found.absent
    assert isinstance(found.error, errors.DaemonFailed)


def test_a_mute_listener_is_not_absent(short: Path) -> None:
    """Something that accepts and says nothing ends in a deadline, not in a wait without end."""
    with sockets.socket(sockets.AF_UNIX) as mute:
        mute.bind(str(short / "mute.sock"))
        mute.listen()
        found = probe(short / "mute.sock", timeout=0.3)

    assert isinstance(found, Unreachable)
    assert not found.absent


def test_a_folder_open_to_others_is_not_trusted(daemon: FakeDaemon) -> None:
    """Where others may put a socket, nothing is sent."""
    daemon.socket.parent.chmod(0o777)

    found = probe(daemon.socket)

    assert isinstance(found, Unreachable)
    assert not found.absent
    assert "SOCKET_NOT_PRIVATE" == found.error.reason
    assert [] == daemon.calls
    with pytest.raises(errors.DaemonUnavailable, match="not trusted"):
        Client(daemon.socket)


def test_a_link_of_the_users_own_is_followed(daemon: FakeDaemon, short: Path) -> None:
    """Who keeps the folder elsewhere and links to it is served."""
    (short / "link").symlink_to(short)

    assert isinstance(probe(short / "link" / daemon.socket.name), Ready)


def test_health_is_asked(daemon: FakeDaemon) -> None:
    """Serving means that the daemon says so, not that it lives."""
    assert serving(daemon.socket)
    daemon.serve(healthy=False)

    assert not serving(daemon.socket)
    assert "not_serving" == health(daemon.socket)
    assert "not_found" == health(daemon.socket, "no.such.Service")


def test_a_long_path_is_replaced(tmp_path: Path) -> None:
    """A path that no socket may have leads to the short one that the daemon uses."""
    long = tmp_path / ("x" * 120) / "twolane.sock"

    assert len(str(socket_path(long))) <= 103
    assert socket_path(long) == socket_path(str(long))


def test_the_default_is_the_environments(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path the environment decides."""
    monkeypatch.setenv("TWOLANE_SOCKET", str(short / "mine.sock"))

    assert short / "mine.sock" == socket_path()
    assert stat.S_IMODE(short.stat().st_mode) == 0o700
