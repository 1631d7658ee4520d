"""``twolane save``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from twolane.cli import terminal, text
from twolane.cli.dates import When
from twolane.cli.exits import ExitCode
from twolane.cli.options import common, settings
from twolane.cli.session import session
from twolane.words import word

STDIN = "-"


@click.command("save")
@click.option(
    "--source", required=True, metavar="NAME",
    help="The tool or place it comes from, such as claude-code or notes; no spaces.",
)  # fmt: skip
@click.option(
    "--summary", required=True, metavar="TEXT",
    help="What it says, in a few sentences; - reads standard input.",
)  # fmt: skip
@click.option("--title", default="", metavar="TEXT", help="Default: the summary's first line.")
@click.option("--content", default="", metavar="TEXT", help="The full text.")
@click.option(
    "-f", "--file", metavar="FILE", help="Read the full text from this file; - is standard input."
)
@click.option(
    "--decision", "decisions", multiple=True, metavar="TEXT",
    help="What was decided, with the reason; may be repeated.",
)  # fmt: skip
@click.option(
    "--key-output", "key_outputs", multiple=True, metavar="TEXT",
    help="What came out of it: a file, a command, an answer; may be repeated.",
)  # fmt: skip
@click.option(
    "--topic", "topics", multiple=True, metavar="TEXT", help="What it is about; may be repeated."
)
@click.option("--domain", default="", metavar="TEXT", help="The field it belongs to, such as work.")
@click.option("--intent", default="", metavar="TEXT", help="What you were trying to do.")
@click.option("--client", default="", metavar="NAME", help="The client it was done for.")
@click.option(
    "--cwd", type=click.Path(file_okay=False), default="", metavar="FOLDER",
    help="The working directory; its project is the row's project.",
)  # fmt: skip
@click.option("--here", is_flag=True, help="The same as --cwd with the current folder.")
@click.option("--at", "occurred_at", type=When(), metavar="WHEN", help="When it was. Default: now.")
@click.option(
    "--quality", type=click.Choice(("low", "medium", "high")),
    help="How you rate it. Default: rated by its length and what it holds.",
)  # fmt: skip
@click.option(
    "--idempotency-key", default="", metavar="KEY",
    help="Saving again with the same key changes nothing.",
)  # fmt: skip
@click.option(
    "--replace-idempotency-key", default="", metavar="KEY",
    help="Replace what was saved under this key; its id stays.",
)  # fmt: skip
@common
def command(
    source: str, summary: str, content: str, file: str | None, here: bool, **options: Any
) -> int:
    """Keep a conversation or a note. It can be found when this command returns.

    \b
    Examples:
      twolane save --source notes --summary "Retries: 3, with jitter" \\
          --decision "No retries on writes, since they are not idempotent"
      twolane save --source pairing --summary "Queue design" -f transcript.md --topic queue
    """
    if content and file is not None:
        raise click.UsageError("Give either --content or --file.")
    if summary == STDIN and file == STDIN:
        raise click.UsageError("Only one of --summary and --file can read standard input.")
    if here and options["cwd"]:
        raise click.UsageError("Give either --here or --cwd.")
    if here:
        options["cwd"] = str(Path.cwd())
    elif options["cwd"]:
        options["cwd"] = str(Path(options["cwd"]).expanduser().absolute())
    options["quality"] = options["quality"] or ""
    if summary == STDIN:
        summary = _read(STDIN, "--summary")
    if file is not None:
        content = _read(file, "--file")
    with session() as (client, _):
        saved = client.save(source, summary, content=content, **options)
    if settings().json:
        from twolane.render import to_json

        terminal.out(to_json(saved))
        return ExitCode.OK
    from twolane.v1.archive_service_pb2 import SaveOutcome

    outcome = word(SaveOutcome.DESCRIPTOR, saved.outcome)
    terminal.out(text.line(saved.id))
    said = {"created": "Saved.", "replaced": "Replaced.", "unchanged": "It was there already."}
    terminal.note(said.get(outcome, outcome))
    for warning in saved.warnings:
        terminal.warn(text.line(warning))
    return ExitCode.OK


def _read(name: str, option: str) -> str:
    data = sys.stdin.buffer.read() if name == STDIN else Path(name).expanduser().read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise click.BadParameter(
            f"It is not UTF-8 text (byte {error.start}).", param_hint=option
        ) from None
