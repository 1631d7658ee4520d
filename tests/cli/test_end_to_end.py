"""The command line with the real daemon."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from twolane import control, launch
from twolane.client import Client

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home folder, short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="tl"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def twolane(home: Path) -> Iterator[Command]:
    """Runs commands as a person does, with a home of their own; stops the daemon at the end."""
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TWOLANE_DATA": str(home / "data"),
        "LANG": "C.UTF-8",
    }

    def command(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "twolane", *map(str, arguments)],
            env=env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    yield command
    stopped = command("daemon", "stop")
    assert 0 == stopped.returncode, stopped.stderr


@pytest.fixture(scope="module")
def saved(twolane: Command) -> str:
    """The id of a saved note."""
    done = twolane(
        "save", "--source", "notes", "--summary", "We keep the job queue in Postgres.",
        "--decision", "SKIP LOCKED, since the queue stays small", "-f", "-",
        stdin="You asked about the broker.\n\nA zebra crossed the road. 語\n",
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return done.stdout.strip()


def test_what_was_saved_is_found(twolane: Command, saved: str) -> None:
    """A note can be searched the moment that `save` returns, by its summary and its text."""
    for words in ("postgres queue", "zebra"):
        found = twolane("search", words)

        assert 0 == found.returncode, found.stderr
        assert saved in found.stdout


def test_what_was_found_can_be_opened(twolane: Command, saved: str) -> None:
    """The whole text comes back byte for byte, by id and by evidence key."""
    opened = json.loads(twolane("open", saved, "--json").stdout)
    raw = twolane("open", opened["evidence_key"], "--raw")

    assert saved == opened["id"]
    assert ["SKIP LOCKED, since the queue stays small"] == opened["decisions"]
    assert "A zebra crossed the road. 語" in raw.stdout
    assert opened["content"] == raw.stdout


def test_nothing_found_is_code_1(twolane: Command, saved: str) -> None:
    """A search without results says so."""
    assert 1 == twolane("search", "qwertzuiop").returncode


def test_sessions_are_imported_once(twolane: Command, home: Path) -> None:
    """A Claude Code session is imported; again, nothing changes; a growing one is replaced."""
    folder = home / "projects" / "-src-app"
    folder.mkdir(parents=True)
    record = {
        "type": "user",
        "sessionId": "3f2a9d1c-0000-4000-8000-1234567890ab",
        "uuid": "u1",
        "timestamp": "2026-05-12T08:00:00.000Z",
        "cwd": "/src/app",
        "message": {"role": "user", "content": "Why does the giraffe service deadlock?"},
    }
    session = folder / "3f2a9d1c-0000-4000-8000-1234567890ab.jsonl"
    session.write_text(json.dumps(record) + "\n", encoding="utf-8")

    first, again = (json.loads(twolane("import", "--json", folder).stdout.splitlines()[-1])
                    for _ in range(2))  # fmt: skip
    found = twolane("search", "giraffe", "--json")

    assert ("1", "0") == (first["totals"]["rows_new"], again["totals"]["rows_new"])
    assert "1" == again["totals"]["rows_unchanged"]
    assert "claude-code" == json.loads(found.stdout)["results"][0]["source"]


def test_an_uploaded_export_is_imported(twolane: Command, home: Path) -> None:
    """Bytes from standard input are imported as a file is."""
    chat = {
        "uuid": "c-1",
        "name": "Llamas",
        "created_at": "2026-05-12T08:00:00Z",
        "updated_at": "2026-05-12T08:01:00Z",
        "chat_messages": [
            {
                "uuid": "m-1",
                "sender": "human",
                "text": "Do llamas hum?",
                "content": [{"type": "text", "text": "Do llamas hum?"}],
                "created_at": "2026-05-12T08:00:00Z",
            }
        ],
    }
    done = twolane("import", "-", "--name", "conversations.json", stdin=json.dumps([chat]))

    assert 0 == done.returncode, done.stderr
    assert "1 new" in done.stdout
    assert 0 == twolane("search", "llamas").returncode


def test_a_folder_is_followed_and_left(twolane: Command, home: Path) -> None:
    """Documents are found while their folder is followed, and not afterwards."""
    folder = home / "notes"
    folder.mkdir()
    (folder / "plan.md").write_text("# Plan\n\nThe okapi moves on Monday.\n", encoding="utf-8")

    added = twolane("source", "add", folder, "--scope", "project")
    found = twolane("search", "okapi", "--scope", "documents")
    twice = twolane("source", "add", folder)
    listed = json.loads(twolane("source", "list", "--json").stdout)
    removed = twolane("source", "remove", folder)

    assert 0 == added.returncode, added.stderr
    assert "plan.md" in found.stdout
    assert 1 == twice.returncode
    assert ("project", "1") == (listed["scope"], listed["documents"])
    assert "1 document left the index" in removed.stdout
    assert 1 == twolane("search", "okapi").returncode


def test_importing_documents_says_how(twolane: Command, home: Path) -> None:
    """A folder of documents is not imported; the error says what to do instead."""
    folder = home / "manuals"
    folder.mkdir()
    (folder / "a.md").write_text("text\n", encoding="utf-8")

    done = twolane("import", folder)

    assert 1 == done.returncode
    assert f"twolane source add {folder}" in done.stderr


def test_the_doctor_is_content(twolane: Command, saved: str) -> None:
    """A fresh installation that works has no failed check."""
    done = twolane("doctor", "--json")

    assert 0 == done.returncode, done.stdout
    checks = {check["id"]: check["status"] for check in json.loads(done.stdout)["checks"]}
    assert {"ok"} == {
        checks[name] for name in ("data", "socket", "lock", "daemon", "health", "writer")
    }


def test_a_restart_keeps_everything(twolane: Command, saved: str) -> None:
    """After a restart another process serves the same rows."""
    before = json.loads(twolane("daemon", "status", "--json").stdout)
    restarted = json.loads(twolane("daemon", "restart", "--json").stdout)

    assert before["pid"] != restarted["pid"]
    assert not control.alive(int(before["pid"]))
    assert saved in twolane("search", "zebra").stdout


def test_up_can_be_run_at_any_time(twolane: Command, saved: str) -> None:
    """With an index that is filled, `up` shows the newest and what to do next."""
    done = twolane("up")

    assert 0 == done.returncode, done.stderr
    assert "The newest in your index:" in done.stdout
    assert "twolane search WORDS" in done.stdout


def test_wrong_input_is_told_by_the_daemon(
    twolane: Command, saved: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library gets the daemon's own words, fields and reason."""
    from twolane.errors import InvalidRequest, NotFound

    monkeypatch.setenv("TWOLANE_DATA", str(home / "data"))
    assert launch.log_path().exists()
    with Client() as client:
        with pytest.raises(InvalidRequest, match="source") as caught:
            client.save("", "x")
        with pytest.raises(NotFound):
            client.open("nothing:1")

    assert ["source"] == [violation.field for violation in caught.value.violations]
    assert caught.value.request_id


def test_what_is_deleted_is_gone_and_an_export_brings_back_the_rest(
    twolane: Command, home: Path
) -> None:
    """Deleting asks first; an export can be imported, and does not hold what was deleted."""
    kept, gone = (
        twolane(
            "save", "--source", "diary", "--summary", f"The {animal} was seen again."
        ).stdout.strip()
        for animal in ("axolotl", "quagga")
    )

    assert 2 == twolane("delete", gone).returncode
    assert gone in twolane("delete", gone, "--dry-run").stdout
    assert 0 == twolane("delete", gone, "--yes").returncode
    assert 1 == twolane("search", "quagga").returncode
    assert 1 == twolane("delete", "--source", "nobody", "--yes").returncode

    archive = home / "archive.jsonl"
    done = twolane("export", archive, "--source", "diary")
    assert 0 == done.returncode, done.stderr
    lines = archive.read_text(encoding="utf-8").splitlines()
    assert [kept] == [json.loads(line)["row"]["id"] for line in lines]
    assert 0o600 == archive.stat().st_mode & 0o777
    assert 2 == twolane("export", archive).returncode
    again = json.loads(twolane("import", archive, "--json").stdout.splitlines()[-1])
    assert "1" == again["totals"]["rows_unchanged"]


def test_a_query_is_completed(twolane: Command) -> None:
    """Suggestions are whole queries, one a line."""
    twolane("save", "--source", "notes", "--summary", "About xylophones in general.")
    found = twolane("suggest", "play xylo")
    assert ["play xylophones", "About xylophones in general."] == found.stdout.splitlines()
    assert 1 == twolane("suggest", "zzzzzz").returncode
    told = json.loads(twolane("suggest", "xylo", "--json").stdout)
    assert ["word", "title"] == [s["kind"] for s in told["suggestions"]]


def test_the_configuration_is_shown_and_checked(twolane: Command, home: Path) -> None:
    """Every setting has a value; a wrong key is named, and its file."""
    assert "ranking.similarity = " in twolane("config", "show").stdout
    assert 0 == twolane("config", "check").returncode
    place = Path(twolane("config", "path").stdout.strip())
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("[ranking]\nsimilarty = 'max'\n", encoding="utf-8")
    try:
        wrong = twolane("config", "check")
        assert 2 == wrong.returncode
        assert "similarity" in wrong.stderr
        assert str(place) in wrong.stderr
    finally:
        place.unlink()
