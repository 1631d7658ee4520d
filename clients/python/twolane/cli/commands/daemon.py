"""``twolane daemon``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from twolane.cli import terminal
from twolane.cli.exits import ExitCode
from twolane.cli.options import Number, OrderedGroup, common, settings

if TYPE_CHECKING:
    from twolane.connection import NeedsRestart, Ready
    from twolane.v1.admin_service_pb2 import StatusResponse

_GRACE = click.option(
    "--grace", type=Number(0, 60, whole=False), default=5.0, show_default=True, metavar="SECONDS",
    help="How long running calls may take to finish.",
)  # fmt: skip
_FORCE = click.option("--force", is_flag=True, help="End a daemon that does not answer.")


@click.group("daemon", cls=OrderedGroup)
def command() -> None:
    """Start, stop and look at the daemon that keeps the index warm.

    Other commands start it by themselves, unless TWOLANE_NO_AUTOSTART=1 is set.
    """


@command.command("run")
@common
def run() -> int:
    """Run the daemon in this terminal, until Ctrl-C. Its log goes to standard error."""
    from twolane import launch

    launch.data_folder()
    command = launch.command()
    sys.stdout.flush()
    os.execve(command[0], command, launch.environment(settings().socket))  # noqa: S606


@command.command("start")
@common
def start() -> int:
    """Start the daemon in the background, if it does not run."""
    from twolane.launch import ensure_daemon, start_daemon

    started: list[bool] = []
    if os.environ.get("TWOLANE_NO_AUTOSTART") == "1":
        # The variable keeps other commands from starting it; this one was asked to.
        found = start_daemon(settings().socket, on_start=lambda: started.append(True))
    else:
        found = ensure_daemon(settings().socket, on_start=lambda: started.append(True))
    _say("Started" if started else "Already running", found)
    return ExitCode.OK


@command.command("stop")
@_GRACE
@_FORCE
@common
def stop(grace: float, force: bool) -> int:
    """Stop the daemon and wait until it is gone. Nothing is lost."""
    from twolane import control

    pid = control.stop(settings().socket, grace=grace, force=force)
    _stopped(pid)
    return ExitCode.OK


@command.command("restart")
@_GRACE
@_FORCE
@common
def restart(grace: float, force: bool) -> int:
    """Stop the daemon, wait until it is gone, and start this version's."""
    from twolane import control
    from twolane.launch import start_daemon

    pid = control.stop(settings().socket, grace=grace, force=force)
    if pid is not None and not settings().json:
        terminal.note(f"Stopped process {pid}.")
    _say("Started", start_daemon(settings().socket))
    return ExitCode.OK


@command.command("status")
@common
def status() -> int:
    """Say whether the daemon runs, and which; starts nothing. Exit code 69 if it does not."""
    from twolane.connection import NeedsRestart, Unreachable, probe
    from twolane.endpoint import socket_path

    found = probe(socket_path(settings().socket))
    if isinstance(found, Unreachable):
        raise found.error
    _say("Running", found)
    if isinstance(found, NeedsRestart):
        terminal.warn(f"{found.reason} Run `twolane daemon restart`.")
    return ExitCode.OK


def _say(what: str, found: Ready | NeedsRestart) -> None:
    state: StatusResponse = found.status
    if settings().json:
        from twolane.render import dump

        terminal.out(
            dump(
                {
                    "state": what.lower().replace(" ", "_"),
                    "pid": str(state.pid),
                    "version": state.version,
                    "protocol": state.protocol,
                    "endpoint": state.endpoint,
                }
            )
        )
    else:
        terminal.out(f"{what}: twolane {state.version}, process {state.pid}, {state.endpoint}")


def _stopped(pid: int | None) -> None:
    if settings().json:
        from twolane.render import dump

        state = "not_running" if pid is None else "stopped"
        terminal.out(dump({"state": state, "pid": "" if pid is None else str(pid)}))
    else:
        terminal.out("No daemon was running." if pid is None else f"Stopped process {pid}.")
