"""``twolane pack``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from twolane.cli import packs, terminal
from twolane.cli.dates import When
from twolane.cli.exits import ExitCode
from twolane.cli.options import Number, common, settings
from twolane.cli.session import session


@click.command("pack")
@click.argument("words", nargs=-1, required=True, metavar="TASK...")
@click.option(
    "--cwd", type=click.Path(file_okay=False), metavar="FOLDER",
    help="The project in that folder comes first. Default: this folder.",
)  # fmt: skip
@click.option("--anywhere", is_flag=True, help="Prefer no project.")
@click.option(
    "--max-bytes", type=Number(1, 16_384), default=6_144, show_default=True, metavar="N",
    help="The size of the pack as JSON, at most 16384.",
)  # fmt: skip
@click.option(
    "--max-per-bucket", type=Number(1, 10), default=3, show_default=True, metavar="N",
    help="How many items to show of each kind, at most 10.",
)  # fmt: skip
@click.option(
    "--since", type=When(), metavar="WHEN",
    help="Quote nothing older than this: 2024-05-12, 2024-05, yesterday, or a span back such as"
    " 7d, 3w, 6m.",
)  # fmt: skip
@click.option("--as-of", type=When(), metavar="WHEN", help="Quote only what is older than this.")
@click.option("--strict-project", is_flag=True, help="Show nothing at all of other projects.")
@click.option(
    "--partial", is_flag=True,
    help="With --json, print the pack by keyword the moment it is there, then the merged one.",
)  # fmt: skip
@common
def command(words: tuple[str, ...], cwd: str | None, anywhere: bool, **options: Any) -> int:
    """Collect what an agent needs to know for a task.

    The pack quotes files and conversations on TASK word for word, sorted by what each source can be
    trusted for: what is true now, decisions, constraints, rules, examples, past reasoning. It is
    printed as Markdown; --json prints the message, whose size is what --max-bytes bounds.

    \b
    Examples:
      twolane pack add retries to the webhook sender
      twolane pack why did we move the queue to Postgres --since 6m
      twolane pack --json --max-bytes 4000 fix the flaky login test | jq .buckets
    """
    if anywhere and cwd:
        raise click.UsageError("Give either --anywhere or --cwd.")
    if anywhere and options["strict_project"]:
        raise click.UsageError("--strict-project needs a project: leave out --anywhere.")
    folder: Path | str = "" if anywhere else Path(cwd or ".").expanduser().absolute()
    as_json = settings().json
    options["partial"] = options["partial"] and as_json
    found = False
    with session() as (client, _):
        for pack in client.pack(" ".join(words), cwd=folder, **options):
            if as_json:
                from twolane.render import to_json

                terminal.out(to_json(pack))
            else:
                for line in packs.markdown(pack):
                    terminal.out(line)
            found = bool(pack.buckets)
    if not found and not as_json:
        terminal.note("Nothing in the index is on this task.")
    return ExitCode.OK if found else ExitCode.NOTHING
