from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon
from twolane import errors
from twolane.cli.exits import ExitCode, exit_code
from twolane.v1.search_service_pb2 import SearchResponse, SearchResult

FOUND = SearchResponse(final=True, results=[SearchResult(id="a:1", title="Found")])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(errors.InvalidRequest("x"), ExitCode.USAGE, id="wrong request"),
        pytest.param(errors.NothingImported("x"), ExitCode.NOTHING, id="nothing imported"),
        pytest.param(errors.NotFound("x"), ExitCode.NOTHING, id="not found"),
        pytest.param(errors.AlreadyExists("x"), ExitCode.NOTHING, id="exists"),
        pytest.param(errors.Refused("x"), ExitCode.NOTHING, id="refused"),
        pytest.param(
            errors.ConfigError("x", reason="CONFIG_INVALID"), ExitCode.CONFIG, id="configuration"
        ),
        pytest.param(errors.TryAgain("x"), ExitCode.TRY_AGAIN, id="busy"),
        pytest.param(errors.DeadlineExceeded("x"), ExitCode.TRY_AGAIN, id="time up"),
        pytest.param(errors.DaemonUnavailable("x"), ExitCode.UNAVAILABLE, id="no daemon"),
        pytest.param(errors.StartFailed("x", reason="y"), ExitCode.UNAVAILABLE, id="no start"),
        pytest.param(errors.IncompatibleDaemon("x"), ExitCode.UNAVAILABLE, id="protocol"),
        pytest.param(errors.Cancelled("x"), ExitCode.INTERRUPTED, id="cancelled"),
        pytest.param(errors.DaemonFailed("x"), ExitCode.FAILED, id="failed"),
        pytest.param(errors.StoreDamaged("x"), ExitCode.FAILED, id="damaged"),
    ],
)
def test_each_error_has_its_code(error: errors.TwolaneError, code: ExitCode) -> None:
    """The table of exit codes, error by error."""
    assert code is exit_code(error)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        pytest.param(Failure(code_pb2.INVALID_ARGUMENT, "Too long.", "TOO_LONG"), 2, id="invalid"),
        pytest.param(Failure(code_pb2.UNAVAILABLE, "Wait.", "STOPPING"), 75, id="unavailable"),
        pytest.param(Failure(code_pb2.RESOURCE_EXHAUSTED, "Full.", "DISK_FULL"), 75, id="full"),
        pytest.param(Failure(code_pb2.DATA_LOSS, "Broken.", "STORE_CORRUPT"), 70, id="damaged"),
        pytest.param(
            Failure(code_pb2.FAILED_PRECONDITION, "Bad key.", "CONFIG_INVALID"), 78, id="config"
        ),
    ],
)
def test_the_daemons_errors_end_the_command(
    run: Run, served: FakeDaemon, failure: Failure, code: int
) -> None:
    """The message is shown, the code is that of the table, and nothing is on standard output."""
    served.failures["Search"] = failure

    ended = run("search", "x")

    assert code == ended.code
    assert f"error: {failure.message}" in ended.err
    assert "" == ended.out


def test_errors_as_json(run: Run, served: FakeDaemon) -> None:
    """With --json an error is one object on standard error."""
    served.failures["Search"] = Failure(code_pb2.INVALID_ARGUMENT, "Größe?", "TOO_LONG")

    for arguments in (["--json", "search", "x"], ["search", "x", "--json"]):
        ended = run(*arguments)

        expected = {"code": "INVALID_ARGUMENT", "reason": "TOO_LONG", "message": "Größe?"}
        assert expected == ended.error
        assert "" == ended.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "--nonsense", "x"],
        ["search", "x", "--top-k", "0"],
        ["search", "x", "--since", "never"],
        ["search", "x", "--strict-project"],
        ["open", "a", "--middle", "--offset", "3"],
        ["save", "--source", "notes"],
        ["import", "/no/such/file"],
        ["nonsense"],
        ["--timeout", "soon", "status"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_code_2(run: Run, served: FakeDaemon, arguments: list[str]) -> None:
    """A command line that cannot be carried out says so, as JSON where it was asked for."""
    ended = run(*arguments)
    asked = run(*arguments, "--json")

    assert 2 == ended.code == asked.code
    assert ended.err.startswith("error: ")
    assert "USAGE" == asked.error["reason"]
    assert [] == [call for call in served.calls if call.method != "Status"]


def test_no_daemon_is_code_69(run: Run) -> None:
    """Without a daemon, and with starting one turned off, the command says how to go on."""
    ended = run("status")

    assert 69 == ended.code
    assert "No daemon listens on" in ended.err
    assert "twolane daemon start" in ended.err


def test_another_protocol_is_code_69(run: Run, served: FakeDaemon) -> None:
    """A daemon that cannot be understood is not called."""
    served.status.protocol = 99

    ended = run("search", "x")

    assert 69 == ended.code
    assert "twolane daemon restart" in ended.err
    assert [] == served.named("Search")


def test_another_version_is_a_warning(run: Run, served: FakeDaemon) -> None:
    """A daemon of another version answers, and the command says that it is another."""
    served.status.version = "0.0.1"
    served.answers = [FOUND]

    ended = run("search", "x")

    assert 0 == ended.code
    assert "warning: The running daemon is twolane 0.0.1" in ended.err


def test_waiting_time_and_request_are_named(run: Run, served: FakeDaemon) -> None:
    """What helps to go on stands below the message."""
    served.failures["Save"] = Failure(
        code_pb2.UNAVAILABLE, "The writer restarts.", "WRITER", retry_after=2
    )
    busy = run("save", "--source", "notes", "--summary", "x")
    served.failures["Save"] = Failure(code_pb2.INTERNAL, "internal error", "INTERNAL")
    failed = run("save", "--source", "notes", "--summary", "x")

    assert "Try again in 2 s." in busy.err
    assert "request r-1" in failed.err


def test_fields_are_named(run: Run, served: FakeDaemon) -> None:
    """A violation that says more than the message is shown."""
    served.failures["Save"] = Failure(
        code_pb2.INVALID_ARGUMENT, "No.", "TOO_LONG", violations=(("summary", "at most 20,000"),)
    )

    assert "summary: at most 20,000" in run("save", "--source", "n", "--summary", "x").err


def test_the_timeout_is_the_calls_deadline(run: Run, served: FakeDaemon) -> None:
    """--timeout reaches the daemon, before and after the command's name."""
    served.answers = [FOUND]
    run("--timeout", "33", "search", "x")
    run("search", "x", "--timeout", "44")

    first, second = (call.seconds for call in served.named("Search"))
    assert first is not None
    assert second is not None
    assert 30 < first < 34
    assert 40 < second < 45


def test_a_late_answer_is_code_75(run: Run, served: FakeDaemon) -> None:
    """When the time is up, the same command may work later."""
    hold = threading.Event()
    served.on_search = lambda _: hold.wait(10)

    ended = run("search", "x", "--timeout", "0.05")
    hold.set()

    assert 75 == ended.code
    assert "time for the call was up" in ended.err


def environment(daemon: FakeDaemon) -> dict[str, str]:
    return {
        **os.environ,
        "TWOLANE_SOCKET": str(daemon.socket),
        "TWOLANE_DATA": str(daemon.socket.parent / "data"),
        "TWOLANE_NO_AUTOSTART": "1",
    }


def test_a_reader_that_leaves_is_no_error(served: FakeDaemon) -> None:
    """A pipe that closes early ends the command without a word."""
    served.answers = [
        SearchResponse(
            final=True, results=[SearchResult(id=f"a:{n}", title="x" * 90) for n in range(200)]
        )
    ] * 30
    read, write = os.pipe()
    command = subprocess.Popen(
        [sys.executable, "-m", "twolane", "search", "x", "--json"],
        stdout=write,
        stderr=subprocess.PIPE,
        env=environment(served),
    )
    os.close(write)
    os.read(read, 100)
    os.close(read)
    _, err = command.communicate(timeout=60)

    assert b"" == err
    assert 0 == command.returncode


def test_ctrl_c_cancels_the_call(served: FakeDaemon) -> None:
    """Ctrl-C ends the command with 130, and the daemon stops working on its search."""
    arrived, hold = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        arrived.set()
        hold.wait(20)

    served.on_search = wait
    command = subprocess.Popen(
        [sys.executable, "-m", "twolane", "search", "x"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(served),
    )
    assert arrived.wait(30)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=30)

    assert 130 == command.returncode
    assert b"" == out
    assert b"Stopped." in err
    assert b"Traceback" not in err
    assert served.cancelled.wait(5)
    hold.set()


def test_bytes_that_are_no_text_are_wrong_usage(run: Run, served: FakeDaemon) -> None:
    """A query that is not UTF-8 is refused with a sentence."""
    ended = run("search", os.fsdecode(b"caf\xe9"))

    assert 2 == ended.code
    assert "not UTF-8" in ended.err


def test_any_locale_gets_utf8(served: FakeDaemon) -> None:
    """Output is UTF-8, also where the locale is not; nothing that is found ends in a traceback."""
    served.answers = [SearchResponse(final=True, results=[SearchResult(id="a:1", title="語 é")])]
    done = subprocess.run(
        [sys.executable, "-m", "twolane", "search", "x"],
        env={**environment(served), "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert 0 == done.returncode, done.stderr
    assert "語 é" in done.stdout.decode()


def test_a_file_that_cannot_be_read_is_named(run: Run, served: FakeDaemon, tmp_path: Path) -> None:
    """An error of the system is a sentence with the file's name."""
    ended = run("save", "--source", "n", "--summary", "x", "-f", tmp_path / "missing.md")

    assert 1 == ended.code
    assert "missing.md: No such file or directory." in ended.err
