"""Progress of an import or a scan: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from twolane.cli import phrases, terminal, text
from twolane.cli.options import settings

if TYPE_CHECKING:
    from twolane.v1.common_pb2 import ImportTotals

LINE_EVERY = 5.0
"""Seconds between lines where there is no terminal for a bar."""

CURRENT_CELLS = 28
"""Cells for the file in hand."""


class _Message(Protocol):
    @property
    def done(self) -> bool: ...
    @property
    def totals(self) -> ImportTotals: ...


_M = TypeVar("_M", bound=_Message)


def follow(messages: Iterable[_M], title: str) -> _M:
    """Show the progress that *messages* tell until they end; return the last one.

    With ``--json`` each is printed instead. Raises DaemonFailed if they end before they are done.
    """
    from twolane.calls import last

    seen: list[_M] = []
    with _shower(title) as show:
        for message in messages:
            show(message)
            seen[:] = [message]
    return last(seen, lambda message: message.done)


@contextmanager
def _shower(title: str) -> Iterator[Callable[[_Message], None]]:
    if settings().json:
        yield _print_json
    elif sys.stderr.isatty():
        with _bar(title) as show:
            yield show
    else:
        yield _lines(title)


def _print_json(message: _Message) -> None:
    from google.protobuf.message import Message

    from twolane.render import to_json

    assert isinstance(message, Message)
    terminal.out(to_json(message))


def _lines(title: str) -> Callable[[_Message], None]:
    said = time.monotonic()

    def show(message: _Message) -> None:
        nonlocal said
        if not message.done and time.monotonic() - said >= LINE_EVERY:
            said = time.monotonic()
            terminal.note(f"{title}: {so_far(message.totals)}")

    return show


def so_far(totals: ImportTotals) -> str:
    """Return how far an import is, in one phrase."""
    read = phrases.size(totals.bytes_seen)
    if totals.bytes_total:
        read += f" of {phrases.size(totals.bytes_total)}"
    rows = totals.rows_new + totals.rows_replaced + totals.rows_unchanged
    return f"{read} read, {phrases.count(rows, 'row')}"


@contextmanager
def _bar(title: str) -> Iterator[Callable[[_Message], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    # Rich reads square brackets as its own mark-up: the columns that show names must not.
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[rows]}"),
        TextColumn("{task.fields[current]}", markup=False, style="dim"),
    )
    colour = terminal.colourful(sys.stderr)
    console = Console(file=sys.stderr, no_color=not colour, width=terminal.columns())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(text.fit(title, 24), total=None, rows="", current="")

        def show(message: _Message) -> None:
            totals = message.totals
            progress.update(
                task,
                completed=totals.bytes_seen,
                total=totals.bytes_total or None,
                rows=phrases.count(totals.rows_new + totals.rows_replaced, "new row"),
                current=text.fit_middle(text.line(totals.current), CURRENT_CELLS),
            )

        yield show
