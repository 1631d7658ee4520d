"""``twolane status``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from twolane.cli import phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.hits import made_with
from twolane.cli.options import common, settings
from twolane.cli.session import session
from twolane.words import word

if TYPE_CHECKING:
    from twolane.v1.admin_service_pb2 import StatusResponse

MAX_SOURCES = 12
"""Sources shown: an archive has a handful, and the rest is in ``--json``."""


@click.command("status")
@common
def command() -> int:
    """Show what is in the index and how the daemon is."""
    with session() as (client, _):
        status = client.status()
    if settings().json:
        from twolane.render import to_json

        terminal.out(to_json(status))
    else:
        for line in lines(status, datetime.now(tz=UTC)):
            terminal.out(line)
    return ExitCode.OK


def lines(status: StatusResponse, now: datetime) -> Iterator[str]:
    """Yield *status* for a person."""
    yield terminal.bold(f"twolane {status.version}") + terminal.dim(
        f"  up {phrases.span(phrases.seconds(status.uptime))}, process {status.pid}"
    )
    yield from _facts("Index", _index(status))
    yield from _sources(status)
    yield from _facts("Search", _search(status))
    yield from _facts("Places", _places(status))
    if status.recent_errors:
        yield ""
        yield terminal.yellow("Recent errors")
        for error in status.recent_errors:
            at = phrases.moment_of(error, "at")
            when = phrases.ago(at, now) if at else ""
            yield "  " + phrases.joined((when, text.line(error.where), text.line(error.message)))
    if status.next_action:
        yield ""
        yield f"{terminal.bold('Next:')} {text.line(status.next_action)}"


def rows(status: StatusResponse) -> int:
    """Return how many rows there are in all."""
    return sum(tier.rows for tier in status.tiers)


def _facts(title: str, facts: list[tuple[str, str]]) -> Iterator[str]:
    yield ""
    yield terminal.bold(title)
    yield from terminal.table(facts, indent="  ", flexible=1)


def _index(status: StatusResponse) -> list[tuple[str, str]]:
    from twolane.v1 import common_pb2

    facts = [("rows", f"{rows(status):,}")]
    for tier in status.tiers:
        kind = word(common_pb2.RowKind.DESCRIPTOR, tier.kind) + "s"
        archived = word(common_pb2.Tier.DESCRIPTOR, tier.tier) == "cold"
        facts.append((f"  {kind}{' in the archive' if archived else ''}", f"{tier.rows:,}"))
    waiting = status.memtable_passages
    segments = phrases.count(status.segments, "segment")
    facts += [
        (
            "passages",
            f"{status.passages:,} in {segments}"
            + (f", {waiting:,} not sealed yet" if waiting else ""),
        ),
        ("terms", f"{status.terms:,}"),
        (
            "disk",
            f"{phrases.size(status.disk_bytes)} used, {phrases.size(status.disk_free_bytes)} free",
        ),
    ]
    return facts


def _sources(status: StatusResponse) -> Iterator[str]:
    if not status.sources:
        return
    yield ""
    yield terminal.bold("Sources")
    table = []
    every = sorted(status.sources, key=lambda source: -source.rows)
    for source in every[:MAX_SOURCES]:
        newest = phrases.moment_of(source, "newest_at")
        name = text.fit(text.line(source.source), 32)
        table.append((name, f"{source.rows:,}", f"newest {phrases.day(newest)}" if newest else ""))
    yield from terminal.table(table, right=(1,), indent="  ")
    if len(every) > MAX_SOURCES:
        yield terminal.dim(f"  and {phrases.count(len(every) - MAX_SOURCES, 'more', 'more')}")


def _search(status: StatusResponse) -> list[tuple[str, str]]:
    facts = [("mode", made_with(status))]
    facts += [
        (text.line(lane.lane), phrases.joined((lane.state, text.line(lane.message))))
        for lane in status.lanes
    ]
    facts.append(("answered", f"{status.searches:,} since the start"))
    writer = phrases.joined((status.writer_state, text.line(status.writer_activity) or "idle"))
    facts.append(("writer", writer))
    return facts


def _places(status: StatusResponse) -> list[tuple[str, str]]:
    facts = [
        ("data", text.line(status.data_path)),
        ("socket", text.line(status.endpoint)),
        ("config", text.line(status.config_path)),
    ]
    if status.memory_bytes:
        facts.append(("memory", phrases.size(status.memory_bytes)))
    if status.HasField("start_up"):
        facts.append(("start-up", phrases.span(phrases.seconds(status.start_up))))
    return [fact for fact in facts if fact[1]]
