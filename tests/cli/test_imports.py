from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon
from twolane.cli import progress, totals
from twolane.v1.archive_service_pb2 import ImportResponse
from twolane.v1.common_pb2 import ImportTotals

NOTHING = Failure(
    code_pb2.INVALID_ARGUMENT, "Nothing was imported: 3 × binary.", "NOTHING_IMPORTED"
)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "export.zip"
    file.write_bytes(b"PK")
    return file


def done() -> ImportTotals:
    made = ImportTotals(
        provider="chatgpt",
        bytes_seen=41_000_000,
        bytes_total=41_000_000,
        rows_new=1180,
        rows_replaced=4,
        rows_unchanged=20,
        conversations=1204,
        messages=18332,
    )
    made.skips.add(reason="empty_conversation", count=12, examples=["conversations.json#77"])
    made.skips.add(reason="binary", count=312, size=900_000_000, examples=["a.png", "b.png"])
    made.skips.add(reason="brand_new", detail="thoughts", count=1)
    return made


def test_the_summary_tells_all(run: Run, served: FakeDaemon, export: Path) -> None:
    """What was read, what changed, and a table of everything that was not taken."""
    served.imports = [done()]

    ended = run("import", export)

    assert 0 == ended.code
    lines = ended.out.splitlines()
    assert [
        "  chatgpt · 1,204 conversations · 18,332 messages · 41 MB",
        "  1,180 new, 4 replaced, 20 unchanged",
        "",
        "  Not taken:",
        "  count    size  why                   for example",
        "    312  900 MB  not text              a.png",
        "     12          no words in it        conversations.json#77",
        "      1          brand new (thoughts)",
    ] == lines[1:]
    assert "" == ended.err


def test_the_daemon_reads_the_path(run: Run, served: FakeDaemon, export: Path) -> None:
    """A file on this machine is named, not sent."""
    run("import", export)

    assert str(export) == served.last("Import by path").path
    assert [] == served.named("Import by bytes")


def test_a_relative_path_is_made_absolute(
    run: Run, served: FakeDaemon, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon runs in another folder."""
    monkeypatch.chdir(export.parent)
    run("import", "export.zip")

    assert str(export) == served.last("Import").path


def test_upload_sends_the_bytes(run: Run, served: FakeDaemon, export: Path) -> None:
    """--upload sends what the daemon is not to read itself."""
    run("import", "--upload", export)

    assert b"PK" == served.received
    assert ("export.zip", 2) == (served.last("Import").name, served.last("Import").size)


def test_a_path_that_the_daemon_does_not_see_is_sent(
    run: Run, served: FakeDaemon, export: Path
) -> None:
    """A daemon with another view of the disk gets the bytes instead."""
    served.failures["Import by path"] = Failure(code_pb2.NOT_FOUND, "No such file.", "NOT_FOUND")

    assert 0 == run("import", export).code
    assert b"PK" == served.received


def test_standard_input_is_sent(
    run: Run, served: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """- reads standard input, under the name that it is given."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x00\xffzip")))

    ended = run("import", "-", "--name", "chats.zip")

    assert b"\x00\xffzip" == served.received
    assert "chats.zip" == served.last("Import").name
    assert ended.out.startswith("chats.zip\n")


def test_a_pipe_is_sent(run: Run, served: FakeDaemon, short: Path) -> None:
    """A named pipe means nothing to another process, so its bytes are sent."""
    pipe = short / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"from a pipe",))
    writer.start()
    run("import", pipe)
    writer.join(10)

    assert b"from a pipe" == served.received


def test_a_name_that_is_not_utf8_is_sent(run: Run, served: FakeDaemon, tmp_path: Path) -> None:
    """A file is imported whatever its name."""
    file = tmp_path / os.fsdecode(b"caf\xe9.zip")
    file.write_bytes(b"PK")

    ended = run("import", file)

    assert 0 == ended.code
    assert "caf\ufffd.zip" == served.last("Import").name
    assert b"PK" == served.received


def test_json_is_the_progress(run: Run, served: FakeDaemon, export: Path) -> None:
    """With --json every message is a line, and the last one is done."""
    served.imports = [ImportTotals(bytes_seen=5), done()]

    first, last = run("import", "--json", export).objects

    assert (False, True) == (first["done"], last["done"])
    assert "5" == first["totals"]["bytes_seen"]
    assert "7" == last["index_generation"]
    assert "binary" == last["totals"]["skips"][1]["reason"]


@pytest.mark.parametrize("empty", [True, False], ids=["said by the daemon", "seen in the totals"])
def test_nothing_imported_is_an_error(
    run: Run, served: FakeDaemon, export: Path, empty: bool
) -> None:
    """An import of nothing is code 1, whoever notices."""
    served.imports = [ImportTotals(files_seen=3)]
    if empty:
        served.failures["Import"] = NOTHING

    ended = run("import", export)

    assert (1, "") == (ended.code, ended.out)
    assert "Nothing was imported" in ended.err


def test_a_folder_of_documents_is_recognised(run: Run, served: FakeDaemon, tmp_path: Path) -> None:
    """Who imports documents is told how to follow them."""
    served.failures["Import"] = NOTHING
    (tmp_path / "notes").mkdir()
    for name in ("a.md", "b.TXT", "c.png"):
        (tmp_path / "notes" / name).write_text("x", encoding="utf-8")

    ended = run("import", tmp_path / "notes")

    assert 1 == ended.code
    assert "a folder of documents (2 documents seen)" in ended.err
    assert f"twolane source add {tmp_path / 'notes'}" in ended.err


def test_one_bad_path_does_not_stop_the_others(run: Run, served: FakeDaemon, export: Path) -> None:
    """Every path is tried; the exit code says that one failed."""
    failure = Failure(code_pb2.INVALID_ARGUMENT, "Nothing here.", "NOTHING_IMPORTED", times=1)
    served.failures["Import"] = failure
    second = export.with_name("second.zip")
    second.write_bytes(b"PK")

    ended = run("import", export, second)

    assert 1 == ended.code
    assert f"error: {export}: Nothing here." in ended.err
    assert "1 new, 0 replaced, 0 unchanged" in ended.out


def test_a_failing_daemon_stops_the_others(run: Run, served: FakeDaemon, export: Path) -> None:
    """There is no point in going on when the disk is full."""
    served.failures["Import"] = Failure(code_pb2.RESOURCE_EXHAUSTED, "Full.", "DISK_FULL")

    ended = run("import", export, export)

    assert 75 == ended.code
    assert 1 == len(served.named("Import"))


def test_without_a_terminal_a_line_now_and_then(
    run: Run, served: FakeDaemon, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log gets lines instead of a bar."""
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    served.imports = [
        ImportTotals(bytes_seen=5_000_000, bytes_total=10_000_000, rows_new=3),
        done(),
    ]

    ended = run("import", export)

    assert f"{export}: 5.0 MB of 10 MB read, 3 rows\n" == ended.err


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the bar shows what is in hand, with names in brackets as they are."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress._bar("[bold]x.zip") as show:
        totals = ImportTotals(bytes_seen=5, bytes_total=10, rows_new=3, current="a[1].json\x1b[2J")
        show(ImportResponse(totals=totals))

    shown = terminal.getvalue()
    assert "[bold]x.zip" in shown
    assert "3 new rows" in shown
    assert "a[1].json␛[2J" in shown


def test_every_skip_is_in_the_table() -> None:
    """No reason is left out, known or not; names are made harmless."""
    made = ImportTotals()
    for number, reason in enumerate([*totals.REASONS, "unheard_of\x1b"]):
        made.skips.add(reason=reason, count=number + 1, examples=[f"f{number}\x1b[2J"])

    lines = list(totals.skipped(made.skips))

    assert len(made.skips) + 3 == len(lines)
    assert not any("\x1b[2J" in line for line in lines)
    assert any("unheard of␛" in line for line in lines)
