"""``twolane restore``."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twolane import launch
from twolane.cli import phrases, terminal, text
from twolane.cli.commands.backup import follow
from twolane.cli.exits import ExitCode
from twolane.cli.options import common, settings
from twolane.errors import DaemonFailed, TwolaneError

if TYPE_CHECKING:
    from twolane.v1.admin_service_pb2 import BackupResponse


@click.command("restore")
@click.argument("backup", metavar="BACKUP")
@click.option(
    "--into", required=True, metavar="FOLDER",
    help="The data folder to make. It must be empty, or not exist.",
)  # fmt: skip
@common
def command(backup: str, into: str) -> int:
    """Make a data folder from a backup.

    BACKUP is a folder that `twolane backup` made. Every checksum is verified, and the result
    opened, before it counts; a backup that is damaged restores nothing and says what is damaged.
    The archive in use is left alone: look at the restored one first, then put it in its place.

    \b
    Examples:
      twolane restore /mnt/backups/twolane-2026-03-01 --into ~/restored
      TWOLANE_DATA=~/restored twolane status
    """
    source, target = _absolute(backup), _absolute(into)
    done = follow(_messages(source, target), "Restoring").backup
    if not settings().json:
        rows = phrases.count(done.rows, "row")
        at = phrases.moment(done.created_at)
        when = f" of {phrases.minute(at)}" if at else ""
        terminal.out(f"Restored {rows}{when} to {text.line(str(target))}")
        terminal.out(f"Look at it: TWOLANE_DATA={shlex.quote(str(target))} twolane status")
        if (source / "config.toml").exists():
            terminal.out(f"Its configuration was {text.line(str(source / 'config.toml'))}")
    return ExitCode.OK


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111  keeps ".."


def _messages(backup: Path, into: Path) -> Iterator[BackupResponse]:
    """What the daemon's program tells while it restores; it runs for this alone."""
    from google.protobuf.json_format import Parse

    from twolane.v1.admin_service_pb2 import BackupResponse

    command = [*launch.command(), "--restore", str(backup), "--data", str(into)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            error = json.loads(line).get("error")
            if error is not None:
                raise TwolaneError(error["message"], code=error["code"], reason=error["reason"])
            yield Parse(line, BackupResponse())
    if process.returncode:
        raise DaemonFailed("The restore ended early. Nothing was restored.")
