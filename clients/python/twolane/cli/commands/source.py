"""``twolane source``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twolane.cli import phrases, progress, terminal, text, totals
from twolane.cli.exits import ExitCode
from twolane.cli.options import OrderedGroup, common, settings
from twolane.cli.session import session
from twolane.words import word

if TYPE_CHECKING:
    from twolane.client import Client
    from twolane.v1.source_service_pb2 import Source


@click.group("source", cls=OrderedGroup)
def command() -> None:
    """Manage the folders of documents that are kept in the index."""


@command.command("add")
@click.argument("path", type=click.Path(exists=True, file_okay=False), metavar="FOLDER")
@click.option(
    "--scope", type=click.Choice(("document", "project", "client")), default="document",
    help="What the folder is to you; search --scope can tell them apart.",
)  # fmt: skip
@click.option("--client-name", default="", metavar="NAME", help="Whose material it is.")
@click.option(
    "--extraction", type=click.Choice(("default", "local")), default="default",
    help="local: its text is embedded on this machine only and never sent anywhere.",
)  # fmt: skip
@click.option(
    "--exclude", multiple=True, metavar="PATTERN",
    help="What to leave out, as in a .gitignore; may be repeated.",
)  # fmt: skip
@click.option("--no-scan", is_flag=True, help="Do not read it yet.")
@common
def add(
    path: str,
    scope: str,
    client_name: str,
    extraction: str,
    exclude: tuple[str, ...],
    no_scan: bool,
) -> int:
    """Follow a folder of documents, and read it.

    Files that .gitignore names are left out. `twolane source scan` brings it up to date later.
    """
    with session() as (client, _):
        source = client.add_source(
            path, scope=scope, client_name=client_name, extraction=extraction, exclude=exclude
        )
        if no_scan:
            _print(source)
        else:
            if not settings().json:
                terminal.note(f"Following {text.line(source.path)}.")
            scan_sources(client, [source.id], text.line(source.path))
    return ExitCode.OK


@command.command("list")
@common
def list_() -> int:
    """Show the followed folders."""
    with session() as (client, _):
        sources = list(client.sources())
    if settings().json:
        for source in sources:
            _print(source)
    elif not sources:
        terminal.note("No folder is followed. Add one with `twolane source add FOLDER`.")
    else:
        _table(sources)
    return ExitCode.OK


@command.command("remove")
@click.argument("id", metavar="SOURCE")
@common
def remove(id: str) -> int:  # noqa: A002  the argument's name
    """Stop following a folder. Its documents leave the index; your files are not touched.

    SOURCE is the source's id or its folder.
    """
    with session() as (client, _):
        removed = client.remove_source(_name(id))
    if settings().json:
        from twolane.render import to_json
        from twolane.v1.source_service_pb2 import RemoveSourceResponse

        terminal.out(to_json(RemoveSourceResponse(documents_removed=removed)))
    else:
        left = phrases.count(removed, "document")
        terminal.out(f"{left} left the index. The files are where they were.")
    return ExitCode.OK


@command.command("scan")
@click.argument("ids", nargs=-1, metavar="[SOURCE]...")
@common
def scan(ids: tuple[str, ...]) -> int:
    """Read what changed in the followed folders, or in these of them.

    SOURCE is a source's id or its folder. Only what changed is read.
    """
    with session() as (client, _):
        scan_sources(client, [_name(said) for said in ids], ", ".join(ids) or "Sources")
    return ExitCode.OK


def scan_sources(client: Client, ids: Sequence[str], title: str) -> None:
    """Scan, with progress, and say what came of it."""
    done = progress.follow(client.scan(*ids), title)
    if not settings().json:
        for line in totals.summary(done.totals, title):
            terminal.out(line)


def _name(said: str) -> str:
    """Return *said* as the daemon knows it: a path is made absolute, an id stays."""
    path = Path(said).expanduser()
    return str(path.absolute()) if path.exists() or path.is_absolute() else said


def _print(source: Source) -> None:
    from twolane.render import to_json

    if settings().json:
        terminal.out(to_json(source))
    else:
        terminal.out(f"{text.line(source.id)}  {text.line(source.path)}")


def _table(sources: Sequence[Source]) -> None:
    from twolane.v1.source_service_pb2 import SourceScope

    now = datetime.now(tz=UTC)
    rows = []
    for source in sources:
        scanned = phrases.moment_of(source, "last_scanned_at")
        rows.append(
            (
                text.line(source.id),
                text.line(source.path),
                word(SourceScope.DESCRIPTOR, source.scope),
                f"{source.documents:,}",
                phrases.ago(scanned, now) if scanned else "never",
            )
        )
    head = ("id", "folder", "scope", "documents", "scanned")
    for line in terminal.table(rows, head=head, right=(3,), flexible=1):
        terminal.out(line)
    for source in sources:
        if source.last_error:
            terminal.warn(f"{text.line(source.path)}: {text.line(source.last_error)}")
