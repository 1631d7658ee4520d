"""``twolane export``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from twolane.cli import phrases, terminal
from twolane.cli.exits import ExitCode
from twolane.cli.filter_options import narrowing
from twolane.cli.options import common
from twolane.cli.session import session


@click.command("export")
@click.argument("file", metavar="FILE")
@narrowing
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@common
def command(file: str, force: bool, **options: Any) -> int:
    """Write the archive as lines of JSON, for backup and moving.

    With conditions only what passes them. `twolane import FILE` takes it back as it was. FILE is
    written whole or not at all and only you can read it; - is standard output.

    \b
    Examples:
      twolane export archive.jsonl
      twolane export --source chatgpt - | gzip > chatgpt.jsonl.gz
    """
    rows = 0
    with session() as (client, _), _target(file, force) as out:
        for part in client.export(**options):
            out.write(part.chunk)
            rows = part.rows
    if file != "-":
        terminal.note(f"{phrases.count(rows, 'row')} in {file}.")
    return ExitCode.OK if rows else ExitCode.NOTHING


@contextlib.contextmanager
def _target(file: str, force: bool) -> Iterator[BinaryIO]:
    """Where to write to; what fails half-way leaves nothing behind."""
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file).expanduser()
    if path.exists() and not force:
        raise click.UsageError(f"{file} is there already. Give --force to replace it.")
    part = path.with_name(f"{path.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
