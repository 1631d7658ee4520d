"""``twolane delete``."""

from __future__ import annotations

import sys
from typing import Any

import click

from twolane.cli import phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.filter_options import given, narrowing
from twolane.cli.options import common, settings
from twolane.cli.session import session

SHOWN = 10
"""Ids that are listed before a person is asked."""


@click.command("delete")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@narrowing
@click.option("--dry-run", is_flag=True, help="Say what would be deleted and delete nothing.")
@click.option(
    "--purge", is_flag=True,
    help="Make the bytes leave the disk too, which rewrites the index and takes a while.",
)  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common
def command(ids: tuple[str, ...], dry_run: bool, purge: bool, yes: bool, **options: Any) -> int:
    """Take rows out of the index for good.

    Names rows by id or evidence key, or all that pass the conditions, or those of the ids that do.
    Neither a scan nor an import brings them back; saving one again does. Files stay as they are.

    \b
    Examples:
      twolane delete chatgpt:6fb40674-2c43-449b-ad51-d26a76e665c8
      twolane delete --source chatgpt --before 2023 --dry-run
    """
    if not ids and not given(options):
        raise click.UsageError("Say what to delete: ids, or conditions such as --source.")
    with session() as (client, _):
        found = client.delete(*ids, dry_run=True, **options)
        if not dry_run and found.rows:
            if not yes:
                _ask(list(found.ids), found.rows)
            found = client.delete(*ids, purge=purge, **options)
    if settings().json:
        from twolane.render import to_json

        terminal.out(to_json(found))
    else:
        rows = phrases.count(found.rows, "row")
        if dry_run:
            for row_id in found.ids:
                terminal.out(text.line(row_id))
        terminal.note(f"{rows} would be deleted." if dry_run else f"{rows} deleted.")
    return ExitCode.OK if found.rows else ExitCode.NOTHING


def _ask(ids: list[str], rows: int) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"This deletes {phrases.count(rows, 'row')}."
            " Give --yes to do it, --dry-run to see them."
        )
    for row_id in ids[:SHOWN]:
        terminal.note(text.line(row_id))
    if rows > SHOWN:
        terminal.note(f"… and {phrases.count(rows - SHOWN, 'more row')}")
    click.confirm(f"Delete {phrases.count(rows, 'row')} for good?", abort=True, err=True)
