"""``twolane backup``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twolane.cli import phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import common, settings
from twolane.cli.session import session

if TYPE_CHECKING:
    from twolane.v1.admin_service_pb2 import BackupResponse


@click.command("backup")
@click.argument("folder", metavar="FOLDER")
@common
def command(folder: str) -> int:
    """Copy the whole archive to a folder, while it is in use.

    FOLDER must not exist; the folder that it lies in must. It holds all that is kept, as of one
    moment: texts, index, vectors, what was deleted, the log of evidence and your configuration.
    `sha256sum -c SHA256SUMS` checks it; `twolane restore` makes a data folder of it.

    A backup that ends early leaves nothing behind.

    \b
    Examples:
      twolane backup /mnt/backups/twolane-$(date +%F)
    """
    place = Path(os.path.abspath(os.path.expanduser(folder)))  # noqa: PTH100, PTH111  keeps ".."
    with session() as (client, _):
        done = follow(client.backup(place), "Copying")
    if not settings().json:
        backup = done.backup
        rows = phrases.count(backup.rows, "row")
        terminal.out(f"Copied {rows} ({phrases.size(backup.bytes)}) to {text.line(backup.path)}")
    return ExitCode.OK


def follow(messages: Iterable[BackupResponse], doing: str) -> BackupResponse:
    """Show progress on a terminal, or all *messages* as JSON; return the last."""
    from twolane.calls import last
    from twolane.render import to_json

    seen: list[BackupResponse] = []
    live = sys.stderr.isatty() and not settings().json
    for message in messages:
        if settings().json:
            terminal.out(to_json(message))
        elif live:
            sys.stderr.write("\r\x1b[K" + ("" if message.done else _so_far(message, doing)))
            sys.stderr.flush()
        seen[:] = [message]
    return last(seen, lambda message: message.done)


def _so_far(message: BackupResponse, doing: str) -> str:
    done, total = phrases.size(message.bytes_done), phrases.size(message.bytes_total)
    return f"{doing}: {done} of {total}"
