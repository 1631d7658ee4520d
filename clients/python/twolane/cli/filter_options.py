"""The options that narrow rows, the same for every command that takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from twolane.cli.dates import When

_F = TypeVar("_F", bound=Callable[..., Any])

SCOPES = ("all", "conversations", "documents", "projects", "clients")
QUALITIES = ("unrated", "low", "medium", "high")

NAMES = {
    "sources": "--source",
    "since": "--since",
    "before": "--before",
    "qualities": "--quality",
    "topic": "--topic",
    "domain": "--domain",
    "intent": "--intent",
    "decision": "--decision",
    "client": "--client",
}
"""The parameters and the options that set them; ``scope`` stands apart, since it has a default."""


def narrowing(command: _F) -> _F:
    """Give *command* the options that narrow rows."""
    options = (
        click.option(
            "-s", "--source", "sources", multiple=True, metavar="NAME",
            help="Only this source, such as chatgpt or claude-code; may be repeated.",
        ),
        click.option("--scope", type=click.Choice(SCOPES), default="all", help="What to cover."),
        click.option(
            "--since", type=When(), metavar="WHEN",
            help="Not older than this: 2024-05-12, 2024-05, yesterday, or a span back such as 7d,"
            " 3w, 6m.",
        ),
        click.option("--before", type=When(), metavar="WHEN", help="Older than this."),
        click.option(
            "--quality", "qualities", multiple=True, type=click.Choice(QUALITIES),
            help="Only conversations of this rating; may be repeated.",
        ),
        click.option(
            "--topic", default="", metavar="TEXT", help="Only what was saved with this topic."
        ),
        click.option(
            "--domain", default="", metavar="TEXT", help="Only what was saved with this domain."
        ),
        click.option(
            "--intent", default="", metavar="TEXT", help="Only what was saved with this intent."
        ),
        click.option(
            "--decision", default="", metavar="TEXT",
            help="Only what was saved with a decision that holds these words.",
        ),
        click.option(
            "--client", default="", metavar="NAME", help="Only what belongs to this client."
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def given(options: dict[str, Any]) -> list[str]:
    """The options among *options* that narrow, as they are written."""
    scope = [] if options["scope"] == "all" else ["--scope"]
    return [*scope, *(option for name, option in NAMES.items() if options[name])]
