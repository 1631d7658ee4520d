"""``twolane up``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twolane.cli import builtin_model, discovery, phrases, progress, terminal, text, totals
from twolane.cli.commands.search import show_results
from twolane.cli.commands.status import rows
from twolane.cli.exits import ExitCode, exit_code
from twolane.cli.options import common, settings
from twolane.cli.session import session
from twolane.errors import TwolaneError
from twolane.paths import config_path

if TYPE_CHECKING:
    from twolane.cli.discovery import SessionFolder
    from twolane.client import Client
    from twolane.v1.admin_service_pb2 import StatusResponse

NEWEST = "after:1970-01-02"
"""A query of a filter only: it finds the newest rows."""

SHOWN = 3
"""Results of the first search."""


@click.command("up")
@click.option("-y", "--yes", is_flag=True, help="Import the session folders that are found.")
@common
def command(yes: bool) -> int:
    """Set up twolane on this machine: start it, import, try it.

    Looks for the session folders of your agents and offers to import them; without your yes
    nothing is read. It can be run again at any time: what is in the index already stays as it is.
    """
    folders = list(discovery.session_folders(os.environ, Path.home()))
    with session() as (client, status):
        _say_where(status)
        code, imported = _bring_in(client, folders, yes=yes)
        if next(client.sources(), None) is not None:
            _scan(client)
        after = client.status()
        if settings().json:
            _print_json(after, folders, imported)
        elif rows(after):
            _offer_meaning(after, ask=not yes and terminal.interactive())
            _first_search(client, ask=not yes and terminal.interactive())
            _say_next(after)
        else:
            _say_how_to_begin(folders)
    return code


def _say_where(status: StatusResponse) -> None:
    if settings().json:
        return
    terminal.out(f"{terminal.green('✓')} twolane {status.version} runs (process {status.pid}).")
    terminal.out(f"{terminal.green('✓')} Your index is in {text.line(status.data_path)}.")
    if rows(status):
        terminal.out(f"{terminal.green('✓')} {phrases.count(rows(status), 'row')} in it already.")


def _bring_in(
    client: Client, folders: list[SessionFolder], *, yes: bool
) -> tuple[ExitCode, set[Path]]:
    """Offer the *folders* and import those that are wanted; return the code and what was."""
    code, imported = ExitCode.OK, set()
    for folder in folders:
        if not settings().json:
            found = phrases.count(folder.files, "session file")
            where = f"{phrases.size(folder.size)} in {folder.path}"
            terminal.out()
            terminal.out(f"{terminal.bold(folder.tool)}: {found}, {where}")
        if not (yes or _wanted(folder)):
            continue
        try:
            done = progress.follow(client.import_path(folder.path), folder.tool)
        except TwolaneError as error:
            if exit_code(error) not in (ExitCode.NOTHING, ExitCode.USAGE):
                raise
            terminal.warn(error.message)
            code = ExitCode.NOTHING
            continue
        imported.add(folder.path)
        if not settings().json:
            terminal.out(f"{terminal.green('✓')} {totals.changes(done.totals)}")
            for line in totals.skipped(done.totals.skips):
                terminal.out(line)
    return code, imported


def _wanted(folder: SessionFolder) -> bool:
    if settings().json or not terminal.interactive():
        return False
    return click.confirm(f"Import {folder.tool} sessions?", default=True, err=True)


def _scan(client: Client) -> None:
    done = progress.follow(client.scan(), "Followed folders")
    if not settings().json:
        terminal.out()
        terminal.out(f"{terminal.bold('Followed folders')}: {totals.changes(done.totals)}")


def _offer_meaning(status: StatusResponse, *, ask: bool) -> None:
    """Offer search by meaning where it is off and nobody has set it up."""
    from twolane.v1.search_service_pb2 import SEARCH_MODE_LEXICAL

    path = Path(status.config_path) if status.config_path else config_path(os.environ)
    if not ask or status.mode != SEARCH_MODE_LEXICAL:
        return
    with_model = builtin_model.chosen(builtin_model.read(path))
    if with_model is None:
        return
    terminal.out()
    if not builtin_model.installed():
        terminal.out(
            f"Search finds words. To find by meaning too, with a model on this machine:"
            f" {builtin_model.INSTALL}, then `twolane up` again."
        )
        return
    terminal.out(
        "Search finds words. A small model can find by meaning too: it runs in the daemon, nothing"
        " is sent anywhere, and reading your archive takes it about a minute for 3,000 passages."
    )
    if not click.confirm("Search by meaning with the built-in model?", default=True, err=True):
        return
    builtin_model.write(path, with_model)
    terminal.out(
        f"{terminal.green('✓')} Written to {text.line(str(path))}: the built-in model, and"
    )
    terminal.out(
        '  similarity = "blend", unless you had set it: with the default, "max", so small a model'
        " ranks below words alone."
    )
    terminal.out("  `twolane daemon restart` begins it.")


def _first_search(client: Client, *, ask: bool) -> None:
    terminal.out()
    query = ""
    if ask:
        query = click.prompt(
            "What would you like to find? (Enter shows the newest)",
            default="", show_default=False, err=True,
        )  # fmt: skip
        terminal.out()
    answer = client.search_final(query.strip() or NEWEST, top_k=SHOWN)
    if not answer.results and query:
        terminal.note(f"Nothing found for {query!r}; here is the newest in your index.")
        answer = client.search_final(NEWEST, top_k=SHOWN)
    elif not query:
        terminal.out(terminal.dim("The newest in your index:"))
    show_results(answer, explain=False)


def _say_next(status: StatusResponse) -> None:
    terminal.out(terminal.bold("What next"))
    for line in terminal.table(
        [
            ("twolane search WORDS", "find something"),
            ("twolane open ID", "read what was found"),
            ("twolane import PATH", "bring in an export of ChatGPT or Claude"),
            ("twolane source add FOLDER", "keep a folder of documents in the index"),
        ],
        indent="  ",
    ):
        terminal.out(line)
    if status.next_action:
        terminal.out(f"  {text.line(status.next_action)}")


def _say_how_to_begin(folders: list[SessionFolder]) -> None:
    terminal.out()
    terminal.out("The index is empty." + (" Nothing was read without your yes." if folders else ""))
    lines = [
        (f"twolane import {folder.path}", f"your {folder.tool} sessions") for folder in folders
    ]
    if folders:
        lines.insert(0, ("twolane up --yes", "all that was found"))
    lines += [
        ("twolane import EXPORT.zip", "an export of ChatGPT or Claude"),
        ("twolane source add FOLDER", "a folder of documents"),
    ]
    terminal.out("Bring something in:")
    for line in terminal.table(lines, indent="  "):
        terminal.out(line)


def _print_json(status: StatusResponse, folders: list[SessionFolder], imported: set[Path]) -> None:
    from twolane.render import dump

    found = [
        {
            "tool": folder.tool,
            "path": str(folder.path),
            "files": folder.files,
            "bytes": folder.size,
            "imported": folder.path in imported,
        }
        for folder in folders
    ]
    terminal.out(
        dump(
            {
                "version": status.version,
                "data_path": status.data_path,
                "rows": rows(status),
                "session_folders": found,
            }
        )
    )
