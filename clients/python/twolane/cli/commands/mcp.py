"""``twolane mcp``."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twolane.cli import terminal
from twolane.cli.exits import ExitCode
from twolane.cli.options import OrderedGroup, common, settings
from twolane.errors import Refused

if TYPE_CHECKING:
    from twolane.mcp.install import Change

CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor")


@click.group("mcp", cls=OrderedGroup, invoke_without_command=True)
@common
@click.pass_context
def command(context: click.Context) -> int | None:
    """Serve agents over the Model Context Protocol.

    It speaks on standard input and output. An agent starts it by itself once `twolane mcp install`
    has named it in the agent's configuration. It needs the extra: pip install 'twolane[mcp]'.
    """
    if context.invoked_subcommand is not None:
        return None
    require_sdk()
    from twolane.mcp.server import serve

    serve(settings().socket, settings().timeout)
    return ExitCode.OK


def _client(command: Any) -> Any:
    for option in (
        click.option(
            "--dry-run", is_flag=True, help="Show what would change, and change nothing."
        ),
        click.option(
            "--client", "name", type=click.Choice(CLIENTS), required=True,
            help="The agent whose configuration is edited.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@command.command("install")
@_client
@common
def install(name: str, dry_run: bool) -> int:
    """Name the bridge in an agent's configuration.

    Everything else in the file stays as it is, a copy of it is kept beside it, and a file that
    cannot be read is left alone. Installing again brings the entry up to date.

    \b
    Examples:
      twolane mcp install --client claude-code
      twolane mcp install --client codex --dry-run
    """
    require_sdk()
    from twolane.mcp import agents
    from twolane.mcp import install as edits

    agent = agents.agent(name, os.environ)
    env = agents.environment(os.environ)
    if settings().socket:
        env["TWOLANE_SOCKET"] = str(Path(settings().socket or "").expanduser().absolute())
    change = edits.install(agent, agent.entry(agents.command(), env), dry_run=dry_run)
    _say("installed", f"{agent.title} has it already.", change, agent.after, dry_run=dry_run)
    return ExitCode.OK


@command.command("uninstall")
@_client
@common
def uninstall(name: str, dry_run: bool) -> int:
    """Take the bridge out of an agent's configuration again."""
    from twolane.mcp import agents
    from twolane.mcp import install as edits

    agent = agents.agent(name, os.environ)
    change = edits.uninstall(agent, dry_run=dry_run)
    _say("uninstalled", f"{agent.title} does not have it.", change, "", dry_run=dry_run)
    return ExitCode.OK


def require_sdk() -> None:
    """Raise Refused if this installation lacks the extra."""
    missing = [name for name in ("mcp", "tomlkit") if importlib.util.find_spec(name) is None]
    if missing:
        raise Refused(
            f"This installation has no {' and no '.join(missing)}."
            " Run `pip install 'twolane[mcp]'` with the Python that twolane runs in.",
            reason="EXTRA_MISSING",
        )


def _say(outcome: str, same: str, change: Change, after: str, *, dry_run: bool) -> None:
    if settings().json:
        from twolane.render import dump

        said = {
            "outcome": outcome if change.changed else "unchanged",
            "dry_run": dry_run,
            "file": str(change.file),
            "backup": str(change.backup or ""),
            "diff": change.diff,
        }
        terminal.out(dump(said))
    elif not change.changed:
        terminal.note(f"{same} Nothing changed.")
    elif dry_run:
        terminal.write(change.diff)
        terminal.note("Nothing was changed: leave out --dry-run for that.")
    else:
        terminal.out(str(change.file))
        terminal.note(f"{outcome.capitalize()}. {after}".rstrip())
        if change.backup is not None:
            terminal.note(f"A copy of what it was: {change.backup}")
