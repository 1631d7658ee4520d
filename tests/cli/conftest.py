from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.client.fake import FakeDaemon
from tests.client.fixtures import daemon as daemon
from tests.client.fixtures import short as short
from twolane.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """The JSON objects on standard output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> dict[str, str]:
        """The JSON error on standard error."""
        body: dict[str, str] = json.loads(self.err)["error"]
        return body


Run = Callable[..., Ended]


@pytest.fixture
def run(
    short: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Run the command line in this process; nothing is started, and nothing is coloured."""
    monkeypatch.setenv("TWOLANE_SOCKET", str(short / "t.sock"))
    monkeypatch.setenv("TWOLANE_DATA", str(short / "data"))
    monkeypatch.setenv("TWOLANE_CONFIG", str(short / "config.toml"))
    monkeypatch.setenv("TWOLANE_NO_AUTOSTART", "1")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments: str | os.PathLike[str]) -> Ended:
        capsysbinary.readouterr()
        code = main([os.fspath(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Ended(code, out.decode(), err.decode())

    return command


@pytest.fixture
def served(run: Run, daemon: FakeDaemon) -> FakeDaemon:
    """The daemon that `run` talks to."""
    return daemon
