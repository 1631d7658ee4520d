"""The reference of every command, made from the commands: ``python -m twolane.cli.reference``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from twolane.cli.app import PROGRAM, root
from twolane.cli.exits import MEANINGS

HEAD = """# The command line

<!-- Made by `python -m twolane.cli.reference > docs/cli.md`; a test keeps it current. -->

Data goes to standard output, everything else to standard error. Colour and progress are for
terminals only; `NO_COLOR` turns colour off, and `FORCE_COLOR` asks for it elsewhere.

Commands talk to a daemon over a Unix socket and start it if none runs.
"""

JSON = """## JSON

With `--json` every command prints one JSON object a line. It is protobuf's JSON mapping of the
messages in [`proto/twolane/v1`](../proto/twolane/v1): fields have the names of the proto files,
fields without presence are printed even where they hold their default, 64-bit integers are strings,
times are RFC 3339 in UTC, durations are seconds with an `s`. Enum values are words: `"lexical"` for
`SEARCH_MODE_LEXICAL`. Streams, such as `search --partial` and `import`, print a line for each
message; the last has `"final":true` or `"done":true`.

An error is one line on standard error:

```json
{"error":{"code":"NOT_FOUND","reason":"NOT_FOUND","message":"There is no row x."}}
```

`code` is the gRPC status, `reason` a stable word, and `message` may change.
"""

ENVIRONMENT = """## Environment

| Variable | Meaning |
|---|---|
| `TWOLANE_SOCKET` | The daemon's socket. |
| `TWOLANE_DATA` | The data folder. |
| `TWOLANE_CONFIG` | The configuration file. |
| `TWOLANE_NO_AUTOSTART` | Set to `1`, no command starts the daemon but `daemon start` and `daemon restart`. |
| `NO_COLOR`, `FORCE_COLOR` | Colour never, or always. |
| `PAGER` | What `open` pages with. |
"""  # noqa: E501  a table's row is one line

COMMON = ("--json", "--timeout", "--socket", "--help")
"""Options that every command has; the reference shows them once."""


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield every command with its full name, groups before what is in them."""
    yield from _below(root, _context())


def reference() -> str:
    """Return the reference as Markdown."""
    parts = [HEAD, "## Exit codes", ""]
    parts += ["| Code | Meaning |", "|---|---|"]
    parts += [f"| {int(code)} | {meaning} |" for code, meaning in MEANINGS.items()]
    parts += ["", JSON, ENVIRONMENT, "## Options of every command", ""]
    parts += [*_options(root, _context(), common=True), "## Commands", ""]
    for name, command, context in commands():
        if command is not root:
            parts += [f"### `{name}`", "", *_section(command, context)]
    return "\n".join(parts).rstrip() + "\n"


def _context() -> click.Context:
    return root.make_context(PROGRAM, ["--no-args"], resilient_parsing=True)


def _below(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, f"{name} is listed"
            yield from _below(inner, click.Context(inner, info_name=name, parent=context))


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from ("```", usage, "```", "")
    yield from _help(command)
    yield from _options(command, context, common=False)


def _help(command: click.Command) -> Iterator[str]:
    """Yield the help text; paragraphs that are not to be wrapped become a code block."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if not paragraph.startswith("\b"):
            yield from (paragraph, "")
            continue
        title, *lines = paragraph.removeprefix("\b\n").splitlines()
        yield from (title, "", "```sh", *inspect.cleandoc("\n".join(lines)).splitlines(), "```", "")


def _options(command: click.Command, context: click.Context, *, common: bool) -> Iterator[str]:
    rows = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        and any(option in COMMON for option in parameter.opts) == common
        and (record := parameter.get_help_record(context)) is not None
    ]
    if rows:
        yield from ("| Option | Meaning |", "|---|---|")
        yield from (f"| `{_cell(names)}` | {_cell(meaning)} |" for names, meaning in rows)
        yield ""


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    print(reference(), end="")
