"""``twolane config``."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import click

from twolane import launch, paths
from twolane.cli import terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import OrderedGroup, common, settings


@click.group("config", cls=OrderedGroup)
def command() -> None:
    """Show the configuration and check it."""


@command.command("show")
@common
def show() -> int:
    """Print every setting in force, those that the file leaves out included."""
    found = _settings()
    if settings().json:
        terminal.out(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
        return ExitCode.OK
    for line in _lines("", found):
        terminal.out(text.line(line))
    return ExitCode.OK


@command.command("path")
@common
def path() -> int:
    """Print where the configuration file is, or would be."""
    place = paths.config_path(os.environ)
    if settings().json:
        told = {"path": str(place), "exists": place.exists()}
        terminal.out(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
    else:
        terminal.out(str(place))
    return ExitCode.OK


@command.command("check")
@common
def check() -> int:
    """Say whether the daemon could start with the configuration as it is."""
    _settings()
    place = paths.config_path(os.environ)
    said = f"{place} is fine." if place.exists() else f"There is no {place}: defaults hold."
    if settings().json:
        told = {"path": str(place), "exists": place.exists(), "valid": True}
        terminal.out(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
    else:
        terminal.out(said)
    return ExitCode.OK


def _settings() -> dict[str, Any]:
    """What the daemon makes of the configuration; only it knows the rules."""
    done = subprocess.run(
        [*launch.command(), "--print-config"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        message = done.stderr.strip().removeprefix("twolaned: ")
        raise click.UsageError(message or "The daemon could not read the configuration.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _lines(prefix: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [
            line
            for key, inner in value.items()
            for line in _lines(f"{prefix}.{key}" if prefix else key, inner)
        ]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [
            line
            for number, inner in enumerate(value)
            for line in _lines(f"{prefix}[{number}]", inner)
        ]
    return [f"{prefix} = {json.dumps(value, ensure_ascii=False)}"]
