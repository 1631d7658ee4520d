"""Choosing the built-in model: what is written, and what is left alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Run
from tests.client.fake import FakeDaemon
from twolane.cli import builtin_model, terminal
from twolane.v1.search_service_pb2 import SEARCH_MODE_HYBRID, SEARCH_MODE_LEXICAL

CHOSEN = {"ranking": {"similarity": "blend"}, "embedding": {"provider": "builtin"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", CHOSEN),
        ("# mine\n[limits]\nbulk_calls = 2", {**CHOSEN, "limits": {"bulk_calls": 2}}),
        (
            '[ranking] # rank\ndate = "occurred"\n[limits]\nbulk_calls = 2\n',
            {
                "ranking": {"similarity": "blend", "date": "occurred"},
                "limits": {"bulk_calls": 2},
                "embedding": {"provider": "builtin"},
            },
        ),
        ('[ranking]\nsimilarity = "max"\n', {**CHOSEN, "ranking": {"similarity": "max"}}),
    ],
    ids=["empty", "other", "ranking", "decided"],
)
def test_what_stands_there_stays(text: str, expected: dict[str, object]) -> None:
    """Every line of it, comments too; who chose a similarity keeps it."""
    written = builtin_model.chosen(text)

    assert written is not None
    assert expected == tomllib.loads(written)
    assert set(text.splitlines()) <= set(written.splitlines())


@pytest.mark.parametrize(
    "text",
    ['[embedding]\nprovider = "off"\n', "[broken", 'ranking = {date = "indexed"}\n'],
    ids=["set", "broken", "inline"],
)
def test_what_cannot_be_added_to_is_left_alone(text: str) -> None:
    """Such a file is the person's to change."""
    assert builtin_model.chosen(text) is None


def at_the_terminal(
    monkeypatch: pytest.MonkeyPatch, *, takes: bool, installed: bool = True
) -> list[str]:
    """Have a person there; returns what they are asked to confirm."""
    asked: list[str] = []

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return takes

    monkeypatch.setattr(terminal, "interactive", lambda: True)
    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "")
    monkeypatch.setattr(builtin_model, "installed", lambda: installed)
    return asked


@pytest.fixture
def config(short: Path, served: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration file, not there yet, of a daemon with rows that searches by words."""
    monkeypatch.setenv("HOME", str(short / "home"))
    path = short / "folder" / "config.toml"
    served.status.tiers.add(rows=2)
    served.status.mode = SEARCH_MODE_LEXICAL
    served.status.config_path = str(path)
    return path


def test_a_yes_writes_both_and_says_so(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is for the person alone."""
    at_the_terminal(monkeypatch, takes=True)
    ended = run("up")

    assert CHOSEN == tomllib.loads(config.read_text(encoding="utf-8"))
    assert 0o600 == config.stat().st_mode & 0o777
    assert str(config) in ended.out
    assert 'similarity = "blend"' in ended.out
    assert "twolane daemon restart" in ended.out


def test_a_no_writes_nothing(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without the packages there is nothing to say yes to."""
    at_the_terminal(monkeypatch, takes=False)
    run("up")
    asked = at_the_terminal(monkeypatch, takes=True, installed=False)
    ended = run("up")

    assert not config.exists()
    assert [] == asked
    assert builtin_model.INSTALL in ended.out


def test_nobody_is_asked_where_it_is_set_up(
    run: Run, served: FakeDaemon, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another provider, or switched off."""
    asked = at_the_terminal(monkeypatch, takes=True)
    served.status.mode = SEARCH_MODE_HYBRID
    run("up")
    served.status.mode = SEARCH_MODE_LEXICAL
    config.parent.mkdir()
    config.write_text('[embedding]\nprovider = "off"\n', encoding="utf-8")
    run("up")

    assert [] == asked


def test_yes_for_all_does_not_choose_a_model(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a yes to the session folders."""
    at_the_terminal(monkeypatch, takes=True)
    run("up", "--yes")

    assert not config.exists()
