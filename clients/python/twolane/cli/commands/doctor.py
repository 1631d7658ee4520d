"""``twolane doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from twolane.cli import phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import common, settings

if TYPE_CHECKING:
    from twolane.cli.checks import Check


@click.command("doctor")
@common
def command() -> int:
    """Check the installation and say what to repair.

    Changes nothing, and works whether or not the daemon runs. The exit code is 1 if a check
    failed; warnings leave it at 0.
    """
    from twolane.cli import checks
    from twolane.endpoint import socket_path

    done = []
    for check in checks.run(socket_path(settings().socket)):
        done.append(check)
        if not settings().json:
            for line in lines(check):
                terminal.out(line)
    failed = sum(check.verdict is checks.Verdict.FAIL for check in done)
    warned = sum(check.verdict is checks.Verdict.WARN for check in done)
    if settings().json:
        _print_json(done, failed=failed, warned=warned)
    else:
        terminal.out()
        terminal.out(verdict(failed, warned))
    return ExitCode.NOTHING if failed else ExitCode.OK


def lines(check: Check) -> Iterator[str]:
    """Yield the lines for *check*: its sign, its name, what was seen, and the hint below."""
    sign = {
        "ok": terminal.green("✓"),
        "warn": terminal.yellow("!"),
        "fail": terminal.red("✗"),
    }[check.verdict]
    indent = " " * 15
    cells = terminal.columns() - len(indent)
    head = f"{sign} {text.pad(check.id, 12)} "
    for words, first in ((check.message, head), (check.hint, indent)):
        shown = text.line(words)
        for start, end in text.wrap(shown, cells):
            yield first + shown[start:end]
            first = indent  # noqa: PLW2901  the lines after the first are indented


def verdict(failed: int, warned: int) -> str:
    """Return the sentence that sums it up."""
    if failed:
        return terminal.red(f"{phrases.count(failed, 'check')} failed.")
    if warned:
        return terminal.yellow(f"No check failed; {phrases.count(warned, 'warning')}.")
    return terminal.green("All is well.")


def _print_json(done: list[Check], *, failed: int, warned: int) -> None:
    from twolane.render import dump

    listed = [
        {"id": c.id, "status": str(c.verdict), "message": c.message, "hint": c.hint} for c in done
    ]
    terminal.out(dump({"ok": not failed, "failed": failed, "warned": warned, "checks": listed}))
