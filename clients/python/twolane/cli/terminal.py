"""Where output goes and how it looks: colour only for people, notes only on standard error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import IO

import click

from twolane.cli import text

MAX_WIDTH = 100
"""Cells: longer lines are hard to read."""

MIN_WIDTH = 24
"""Cells: below this nothing useful fits, and lines are left to the terminal."""


def colourful(stream: IO[str]) -> bool:
    """Return whether *stream* takes colour: a terminal does, unless NO_COLOR says no.

    FORCE_COLOR asks for it where there is no terminal.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """Return whether a person can be asked something."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def columns() -> int:
    """Return the cells of a line: the terminal's, within reason."""
    return max(MIN_WIDTH, min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH))


def out(line: str = "") -> None:
    """Write a line of data to standard output."""
    click.echo(line, color=colourful(sys.stdout))


def write(data: str) -> None:
    """Write *data* to standard output as it stands."""
    click.echo(data, nl=False, color=colourful(sys.stdout))


def note(line: str = "") -> None:
    """Write a line to standard error: what is not data."""
    click.echo(line, err=True, color=colourful(sys.stderr))


def warn(sentence: str) -> None:
    """Write a warning to standard error."""
    note(f"{yellow('warning:')} {sentence}")


def bold(words: str) -> str:
    """Return *words* for a heading."""
    return click.style(words, bold=True)


def dim(words: str) -> str:
    """Return *words* for what matters less."""
    return click.style(words, dim=True)


def match(words: str) -> str:
    """Return *words* that were searched for."""
    return click.style(words, fg="yellow", bold=True)


def green(words: str) -> str:
    """Return *words* for what is well."""
    return click.style(words, fg="green")


def yellow(words: str) -> str:
    """Return *words* for what needs a look."""
    return click.style(words, fg="yellow")


def red(words: str) -> str:
    """Return *words* for what is wrong."""
    return click.style(words, fg="red", bold=True)


def table(
    rows: Sequence[Sequence[str]],
    *,
    head: Sequence[str] = (),
    right: Iterable[int] = (),
    flexible: int | None = None,
    indent: str = "",
    cells: int | None = None,
) -> list[str]:
    """Return the lines of a table; the columns *right* are right-aligned.

    The column *flexible* is cut so that lines fit into *cells*; cells must hold no styling.
    """
    every = [list(map(str, row)) for row in ([head, *rows] if head else rows)]
    if not every:
        return []
    widths = [max(text.width(row[at]) for row in every) for at in range(len(every[0]))]
    if flexible is not None:
        gaps = 2 * (len(widths) - 1) + len(indent)
        others = sum(widths) - widths[flexible]
        widths[flexible] = max(min(widths[flexible], (cells or columns()) - gaps - others), 8)
    aligned = set(right)
    lines = []
    for number, row in enumerate(every):
        parts = []
        for at, cell in enumerate(row):
            shown = text.fit_middle(cell, widths[at]) if at == flexible else cell
            parts.append(text.pad(shown, widths[at], right=at in aligned))
        line = indent + "  ".join(parts).rstrip()
        lines.append(dim(line) if head and number == 0 else line)
    return lines
