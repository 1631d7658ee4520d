"""``twolane compact``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from twolane.cli import phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import common, settings
from twolane.cli.session import session

if TYPE_CHECKING:
    from twolane.v1.compaction_service_pb2 import Compaction, CompactResponse

    _SpanType = click.ParamType[timedelta]
else:
    _SpanType = click.ParamType  # before click 8.5 it takes no type argument

_SPAN = re.compile(r"(\d{1,5})\s*([hdwy])")
_HOURS = {"h": 1, "d": 24, "w": 168, "y": 8_766}

SHOWN = 6
"""Digests that are named; a first run may write hundreds."""


class Span(_SpanType):
    """A span of time, such as ``36h``, ``30d``, ``6w`` or ``1y``."""

    name = "span"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Return *value* as a span."""
        if isinstance(value, timedelta):
            return value
        found = _SPAN.fullmatch(str(value).strip().lower())
        if found is None:
            self.fail(f"{value!r} is not a span. Use 30d, 36h, 6w or 1y.", param, ctx)
        return timedelta(hours=int(found[1]) * _HOURS[found[2]])


@click.command("compact")
@click.option(
    "--older-than", type=Span(), metavar="SPAN",
    help="How long ago a conversation was indexed, such as 30d. Default: as configured.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")
@click.option(
    "--idempotency-key", default="", metavar="KEY",
    help="The same key again changes nothing and shows the first answer.",
)  # fmt: skip
@click.option("--rollback", is_flag=True, help="Undo the most recent compaction.")
@click.option("--list", "list_", is_flag=True, help="Show the compactions that were.")
@common
def command(
    older_than: timedelta | None,
    dry_run: bool,
    idempotency_key: str,
    rollback: bool,
    list_: bool,
) -> int:
    """Move old conversations to the archive.

    They stay complete and can be found: by keyword always, otherwise where nothing newer answers.
    With enrichment configured, a digest of each of their weeks is written.

    It says nothing if there was nothing to do, so that cron has nothing to mail.

    \b
    Examples:
      twolane compact --dry-run
      twolane compact --older-than 90d
      twolane compact --rollback
    """
    asked = bool(older_than is not None or dry_run or idempotency_key)
    if rollback + list_ + asked > 1:
        raise click.UsageError("--rollback and --list go with no other option.")
    with session() as (client, _):
        if rollback:
            undone = client.rollback()
            _show(undone, _undone(undone.compaction, repeated=undone.repeated_answer))
        elif list_:
            for compaction in client.compactions():
                _show(compaction, _listed(compaction))
        else:
            done = _follow(
                client.compact(
                    older_than=older_than, dry_run=dry_run, idempotency_key=idempotency_key
                )
            )
            if not settings().json:
                _say(done)
    return ExitCode.OK


def _follow(messages: Iterable[CompactResponse]) -> CompactResponse:
    """Show progress on a terminal, or all messages as JSON; return the last."""
    from twolane.calls import last
    from twolane.render import to_json

    seen: list[CompactResponse] = []
    live = sys.stderr.isatty() and not settings().json
    for message in messages:
        if settings().json:
            terminal.out(to_json(message))
        elif live:
            sys.stderr.write("\r\x1b[K" + _progress(message))
            sys.stderr.flush()
        seen[:] = [message]
    return last(seen, lambda message: message.done)


def _progress(message: CompactResponse) -> str:
    if message.done or not message.phase_total:
        return ""
    return f"Compacting: {message.phase_done:,} of {message.phase_total:,}"


def _say(done: CompactResponse) -> None:
    compaction = done.compaction
    if done.repeated_answer:
        at = phrases.moment_of(compaction, "finished_at")
        when = f" {phrases.ago(at, datetime.now(tz=UTC))}" if at else ""
        back = ", and was rolled back since" if compaction.rolled_back else ""
        terminal.note(f"A compaction with this key ran{when}{back}. Nothing changed.")
        return
    if not (compaction.conversations or compaction.digests):
        if compaction.dry_run or sys.stderr.isatty():
            terminal.note("Nothing is old enough to move.")
        return
    for line in _did(compaction):
        terminal.out(line)


def _did(compaction: Compaction) -> Iterator[str]:
    moved = phrases.count(compaction.conversations, "conversation")
    verb = "Would move" if compaction.dry_run else "Moved"
    yield f"{verb} {moved} ({phrases.size(compaction.content_bytes)}) to the archive."
    digests = compaction.digests
    if digests:
        verb = "Would write" if compaction.dry_run else "Wrote"
        names = [text.line(digest.id) for digest in digests[:SHOWN]]
        more = f" and {len(digests) - SHOWN:,} more" if len(digests) > SHOWN else ""
        yield f"{verb} {phrases.count(len(digests), 'digest')}: {', '.join(names)}{more}."
    reasons = dict.fromkeys(digest.fell_back for digest in digests if digest.fell_back)
    for reason in reasons:
        terminal.warn(f"The model wrote no digest: {text.line(reason)}. Statements stand for it.")


def _undone(compaction: Compaction, *, repeated: bool) -> str:
    what = f"ompaction {compaction.number}"
    if repeated:
        return f"C{what} was rolled back already. Nothing changed."
    back = phrases.count(compaction.restored, "conversation")
    verb = "is" if compaction.restored == 1 else "are"
    return f"Rolled back c{what}: {back} {verb} current again."


def _listed(compaction: Compaction) -> str:
    at = phrases.moment_of(compaction, "finished_at")
    return phrases.joined(
        (
            f"{compaction.number}",
            phrases.minute(at) if at else "",
            phrases.count(compaction.conversations, "conversation"),
            phrases.count(len(compaction.digests), "digest"),
            text.line(compaction.idempotency_key),
            "rolled back" if compaction.rolled_back else "",
        )
    )


def _show(message: Any, line: str) -> None:
    from twolane.render import to_json

    terminal.out(to_json(message) if settings().json else line)
