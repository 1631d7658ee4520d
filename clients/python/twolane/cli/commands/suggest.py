"""``twolane suggest``."""

from __future__ import annotations

import click

from twolane.cli import terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import Number, common, settings
from twolane.cli.session import session


@click.command("suggest")
@click.argument("prefix")
@click.option(
    "-n", "--limit", type=Number(1, 50), default=8, show_default=True,
    metavar="N", help="How many to print, at most 50.",
)  # fmt: skip
@common
def command(prefix: str, limit: int) -> int:
    """Complete a query, for editors and scripts.

    Prints whole queries, one a line: first those with the last word completed, then titles. A space
    at the end of PREFIX begins a new word.

    \b
    Examples:
      twolane suggest "queue re"
      twolane search "$(twolane suggest post | fzf)"
    """
    with session() as (client, _):
        found = client.suggest(prefix, limit=limit)
    if settings().json:
        from twolane.render import to_json
        from twolane.v1.search_service_pb2 import SuggestResponse

        terminal.out(to_json(SuggestResponse(suggestions=found)))
    else:
        for suggestion in found:
            terminal.out(text.line(suggestion.text))
    return ExitCode.OK if found else ExitCode.NOTHING
