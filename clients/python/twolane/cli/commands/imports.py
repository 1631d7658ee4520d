"""``twolane import``."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twolane.cli import phrases, progress, terminal, totals
from twolane.cli.exits import ExitCode, exit_code
from twolane.cli.options import common, settings
from twolane.cli.session import session
from twolane.errors import NotFound, NothingImported, Refused, TwolaneError

if TYPE_CHECKING:
    from twolane.client import Client
    from twolane.v1.archive_service_pb2 import ImportResponse

STDIN = "-"

DOCUMENTS = {".adoc", ".md", ".mdx", ".org", ".py", ".rst", ".tex", ".txt"}
"""Endings of files that make a folder look like one of documents."""

LOOKED_AT = 2000
"""Files that are counted, at the most, to see what a folder holds."""


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--upload", is_flag=True, help="Send the bytes; do not let the daemon read the path.")
@click.option("--name", metavar="NAME", help="What to call standard input. Default: stdin.")
@common
def command(paths: tuple[str, ...], upload: bool, name: str | None) -> int:
    """Bring in exports and session folders.

    PATH is an export of ChatGPT or Claude as you downloaded it (the .zip, or the .json inside it),
    a Claude Code session, or a folder of these, such as ~/.claude/projects. - reads standard input.

    Importing the same thing again changes nothing, and what has grown is brought up to date.
    Folders of documents are not imported but followed: see `twolane source add`.

    \b
    Examples:
      twolane import ~/Downloads/chatgpt-export.zip
      twolane import ~/.claude/projects
      ssh box cat export.zip | twolane import - --name export.zip
    """
    code = ExitCode.OK
    for path in paths:
        if path != STDIN and not Path(path).expanduser().exists():
            raise click.BadParameter(f"There is no file or folder {path}.", param_hint="PATH")
    with session() as (client, _):
        for number, path in enumerate(paths):
            if number and not settings().json:
                terminal.out()
            try:
                done = progress.follow(
                    _messages(client, path, name=name, upload=upload), _title(path, name)
                )
                _require_rows(done, _title(path, name))
            except TwolaneError as error:
                # With several paths, one that fails must not keep the others out.
                if len(paths) == 1 or exit_code(error) not in (ExitCode.NOTHING, ExitCode.USAGE):
                    raise _with_advice(error, path) from error
                report(_with_advice(error, path), path)
                code = exit_code(error)
                continue
            if not settings().json:
                for line in totals.summary(done.totals, _title(path, name)):
                    terminal.out(line)
    return code


def _messages(
    client: Client, path: str, *, name: str | None, upload: bool
) -> Iterator[ImportResponse]:
    if path == STDIN:
        yield from client.import_bytes(sys.stdin.buffer, name=name or "stdin")
        return
    file = Path(path).expanduser()
    # A pipe's or a descriptor's name means nothing to another process, and a name that is not
    # UTF-8 cannot be sent.
    if upload or not (file.is_dir() or file.is_file()) or _is_descriptor(file) or _odd(path):
        yield from client.import_file(file)
        return
    try:
        yield from client.import_path(file)
    except (NotFound, Refused):
        # It is there for this process: the daemon has another view of the disk or fewer rights.
        if not file.is_file():
            raise
        yield from client.import_file(file)


def _require_rows(done: ImportResponse, title: str) -> None:
    if not totals.rows_taken(done.totals):
        seen = phrases.count(done.totals.files_seen, "file")
        raise NothingImported(
            f"Nothing was imported from {title}: {seen} seen, no conversation among them.",
            reason="NOTHING_IMPORTED",
        )


def _is_descriptor(file: Path) -> bool:
    return str(file).startswith(("/dev/", "/proc/")) or stat.S_ISFIFO(file.stat().st_mode)


def _odd(path: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in path)


def _title(path: str, name: str | None) -> str:
    return name or "standard input" if path == STDIN else path


def _with_advice(error: TwolaneError, path: str) -> TwolaneError:
    """Say what to do if *path* turns out to be a folder of documents."""
    folder = Path(path).expanduser()
    if not isinstance(error, NothingImported) or not folder.is_dir():
        return error
    documents = count_documents(folder)
    if not documents:
        return error
    found = phrases.count(documents, "document")
    more = "or more " if documents >= LOOKED_AT else ""
    return NothingImported(
        f"{error.message}\nThis looks like a folder of documents ({found} {more}seen)."
        f" Follow it with `twolane source add {path}`.",
        reason=error.reason,
    )


def count_documents(folder: Path) -> int:
    """Return how many of the first `LOOKED_AT` files below *folder* look like documents."""
    files = (name for _, _, names in os.walk(folder) for name in names)
    return sum(Path(name).suffix.lower() in DOCUMENTS for name in islice(files, LOOKED_AT))


def report(error: TwolaneError, path: str) -> None:
    """Say on standard error that *path* could not be imported, and go on."""
    if settings().json:
        from twolane.render import dump

        body = {"code": error.code, "reason": error.reason, "message": error.message}
        terminal.note(dump({"error": body}))
    else:
        terminal.note(f"{terminal.red('error:')} {path}: {error.message}")
