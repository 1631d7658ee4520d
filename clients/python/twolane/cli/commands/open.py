"""``twolane open``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from twolane.cli import phrases, reading, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import Number, common, settings
from twolane.cli.session import session

if TYPE_CHECKING:
    from twolane.client import Client
    from twolane.v1.search_service_pb2 import OpenEvidenceResponse

MAX_OFFSET = (1 << 63) - 1
"""The largest number that a request's offset holds."""

MAX_PAGE = 2 << 20
"""Bytes that the daemon returns at once, at the most."""

BEFORE = 1500
"""Bytes that ``--at`` shows before the place: enough to see what it is about."""

AROUND = 6000
"""Bytes that ``--at`` shows in all: a screen or two."""


@click.command("open")
@click.argument("id", metavar="ID")
@click.option(
    "--at", type=Number(0, MAX_OFFSET), metavar="OFFSET",
    help="Show only the surroundings of this byte, as search prints it.",
)  # fmt: skip
@click.option(
    "--middle", is_flag=True,
    help="Show only the start and the end, about 2,000 to 4,000 tokens.",
)  # fmt: skip
@click.option("--offset", type=Number(0, MAX_OFFSET), metavar="BYTE", help="Begin at this byte.")
@click.option(
    "--max-bytes", type=Number(1, MAX_PAGE), metavar="N",
    help="Show at most this many bytes, up to 2097152.",
)  # fmt: skip
@click.option("--raw", is_flag=True, help="Write the stored text and nothing else, byte for byte.")
@click.option("--no-pager", is_flag=True, help="Do not page on a terminal.")
@common
def command(
    id: str,  # noqa: A002  the argument's name
    at: int | None,
    middle: bool,
    offset: int | None,
    max_bytes: int | None,
    raw: bool,
    no_pager: bool,
) -> int:
    """Read a conversation or document in full.

    ID is what search prints below a result; an evidence key does as well. Without other options
    the whole text is shown, through your pager on a terminal.

    \b
    Examples:
      twolane open claude-code:3f2a… --at 18432
      twolane open chatgpt:6a1c… --raw > chat.md
    """
    if sum((at is not None, middle, offset is not None or max_bytes is not None)) > 1:
        raise click.UsageError("Give only one of --at, --middle, and --offset with --max-bytes.")
    with session() as (client, _):
        if at is not None:
            offset, max_bytes = max(at - BEFORE, 0), AROUND
        pages = _pages(client, id, middle=middle, offset=offset or 0, max_bytes=max_bytes)
        if settings().json:
            _as_json(pages)
        elif raw:
            _as_stored(pages)
        elif at is not None:
            _place(next(pages))
        else:
            _paged(_reading(pages), pager=not no_pager)
    return ExitCode.OK


def _pages(
    client: Client,
    id: str,  # noqa: A002  the argument's name
    *,
    middle: bool,
    offset: int,
    max_bytes: int | None,
) -> Iterator[OpenEvidenceResponse]:
    if middle or max_bytes is not None:
        form = "middle" if middle else "full"
        yield client.open(id, form=form, offset=offset, max_bytes=max_bytes or 0)
    else:
        yield from client.pages(id, offset=offset)


def _as_json(pages: Iterator[OpenEvidenceResponse]) -> None:
    from twolane.render import to_json

    for page in pages:
        terminal.out(to_json(page))


def _as_stored(pages: Iterator[OpenEvidenceResponse]) -> None:
    for page in pages:
        sys.stdout.flush()
        sys.stdout.buffer.write(page.content.encode())
        sys.stdout.buffer.flush()


def _reading(pages: Iterator[OpenEvidenceResponse]) -> Iterator[str]:
    for number, page in enumerate(pages):
        if number == 0:
            yield "".join(f"{line}\n" for line in reading.head(page))
        if page.omitted_bytes:
            yield from _middle(page)
        else:
            yield from reading.body(page)
        last = page
    if last.next_offset:
        yield terminal.dim(f"\n{text.ELLIPSIS} {_left(last)}; go on with {_go_on(last)}\n")


def _middle(page: OpenEvidenceResponse) -> Iterator[str]:
    yield text.block(page.content).rstrip("\n") + "\n\n"
    yield terminal.dim(f"({phrases.size(page.omitted_bytes)} between start and end left out)\n")


def _left(page: OpenEvidenceResponse) -> str:
    return f"{phrases.size(page.content_bytes - page.next_offset)} left"


def _go_on(page: OpenEvidenceResponse) -> str:
    return f"--offset {page.next_offset}"


def _place(page: OpenEvidenceResponse) -> None:
    for line in reading.head(page, brief=True):
        terminal.out(line)
    if page.offset:
        terminal.out(terminal.dim(f"{text.ELLIPSIS} {phrases.size(page.offset)} before this"))
    terminal.out(reading.place(page))
    if page.next_offset:
        terminal.out(terminal.dim(f"{text.ELLIPSIS} {_left(page)}; leave out --at to read it all"))


def _paged(pieces: Iterator[str], *, pager: bool) -> None:
    if pager and sys.stdout.isatty():
        # What less does for git: quit if it fits on one screen, keep colours and the screen.
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager(pieces, color=terminal.colourful(sys.stdout))
        return
    for piece in pieces:
        terminal.write(piece)
