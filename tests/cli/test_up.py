from __future__ import annotations

from pathlib import Path

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon
from twolane.cli import discovery, terminal
from twolane.v1.search_service_pb2 import SearchResponse, SearchResult
from twolane.v1.source_service_pb2 import Source


@pytest.fixture
def home(short: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which Claude Code keeps two sessions."""
    sessions = short / "home" / ".claude" / "projects" / "-src-app"
    sessions.mkdir(parents=True)
    for name in ("a.jsonl", "b.jsonl", "notes.txt"):
        (sessions / name).write_text("{}\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(short / "home"))
    return short / "home"


def answer(query: str, offered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a person at the terminal who takes or refuses the offer and searches for *query*."""
    import click

    monkeypatch.setattr(terminal, "interactive", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: offered)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: query)


def test_nothing_is_read_without_a_yes(run: Run, served: FakeDaemon, home: Path) -> None:
    """With nobody to ask, what was found is only said, with the commands that bring it in."""
    ended = run("up")

    assert 0 == ended.code
    assert [] == served.named("Import")
    assert f"Claude Code: 2 session files, 6 B in {home}/.claude/projects" in ended.out
    assert "Nothing was read without your yes." in ended.out
    assert "twolane up --yes" in ended.out
    assert f"twolane import {home}/.claude/projects" in ended.out


def test_a_refusal_is_kept(
    run: Run, served: FakeDaemon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A no is a no."""
    answer("", offered=False, monkeypatch=monkeypatch)
    run("up")

    assert [] == served.named("Import")


def test_yes_imports_and_shows(run: Run, served: FakeDaemon, home: Path) -> None:
    """With a yes the sessions are imported, folders scanned, and the newest rows shown."""
    served.status.tiers.add(rows=2)
    served.sources["s1"] = Source(id="s1", path="/notes")
    served.answers = [SearchResponse(final=True, results=[SearchResult(id="a:1", title="Newest")])]

    ended = run("up", "--yes")

    assert 0 == ended.code
    assert str(home / ".claude" / "projects") == served.last("Import").path
    assert 1 == len(served.named("ScanSources"))
    assert "after:1970-01-02" == served.last("Search").query
    assert "Newest" in ended.out
    assert "twolane search WORDS" in ended.out


def test_a_person_is_asked_what_to_find(
    run: Run, served: FakeDaemon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first search is the person's own."""
    answer("queue", offered=True, monkeypatch=monkeypatch)
    served.status.tiers.add(rows=2)
    served.answers = [SearchResponse(final=True, results=[SearchResult(id="a:1", title="Found")])]
    run("up")

    assert "queue" == served.last("Search").query
    assert 1 == len(served.named("Import"))


def test_a_failed_import_is_said(run: Run, served: FakeDaemon, home: Path) -> None:
    """One folder that cannot be imported does not end the rest, but the code says so."""
    served.failures["Import"] = Failure(code_pb2.INVALID_ARGUMENT, "Empty.", "NOTHING_IMPORTED")

    ended = run("up", "--yes")

    assert 1 == ended.code
    assert "warning: Empty." in ended.err
    assert "Bring something in:" in ended.out


def test_a_bare_machine_is_told_how_to_begin(
    run: Run, served: FakeDaemon, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is found, the ways to begin are shown."""
    monkeypatch.setenv("HOME", str(short))

    out = run("up").out

    assert "The index is empty.\n" in out
    assert "twolane import EXPORT.zip" in out


def test_json_ends_with_what_was_found(run: Run, served: FakeDaemon, home: Path) -> None:
    """A program sees the folders and whether they were imported."""
    for arguments, imported in ((["up", "--json"], False), (["up", "--yes", "--json"], True)):
        last = run(*arguments).objects[-1]

        assert [
            {
                "tool": "Claude Code",
                "path": str(home / ".claude" / "projects"),
                "files": 2,
                "bytes": 6,
                "imported": imported,
            }
        ] == last["session_folders"]


def test_the_tools_own_variable_counts(home: Path, short: Path) -> None:
    """A folder that was moved is found where it is, and none is found twice."""
    moved = short / "elsewhere" / "projects"
    moved.mkdir(parents=True)
    (moved / "c.jsonl").write_text("{}", encoding="utf-8")
    both = discovery.session_folders({"CLAUDE_CONFIG_DIR": str(moved.parent)}, home)
    same = discovery.session_folders({"CLAUDE_CONFIG_DIR": str(home / ".claude")}, home)

    assert [moved, home / ".claude" / "projects"] == [folder.path for folder in both]
    assert [home / ".claude" / "projects"] == [folder.path for folder in same]


def test_a_folder_without_sessions_is_not_offered(short: Path) -> None:
    """An empty folder is not worth a question."""
    (short / ".claude" / "projects").mkdir(parents=True)

    assert [] == list(discovery.session_folders({}, short))
