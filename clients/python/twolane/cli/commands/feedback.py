"""``twolane feedback``."""

from __future__ import annotations

import click

from twolane.cli import phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.options import Number, OrderedGroup, common, settings
from twolane.cli.session import session
from twolane.words import word


@click.group("feedback", cls=OrderedGroup)
def command() -> None:
    """Keep a log of which evidence helped. It stays on this machine and changes no ranking."""


@command.command("log")
@click.argument("session_id", metavar="SESSION")
@click.option("--task", default="", metavar="TEXT", help="What the session was about.")
@click.option(
    "--outcome", type=click.Choice(("unknown", "helped", "partly", "failed")), default="unknown",
    help="How it went.",
)  # fmt: skip
@click.option(
    "--opened", multiple=True, metavar="KEY", help="Evidence that was opened; may be repeated."
)
@click.option(
    "--cited", multiple=True, metavar="KEY",
    help="Evidence that the result rests on; may be repeated.",
)  # fmt: skip
@click.option("--note", default="", metavar="TEXT", help="Anything to remember.")
@common
def log(
    session_id: str,
    task: str,
    outcome: str,
    opened: tuple[str, ...],
    cited: tuple[str, ...],
    note: str,
) -> int:
    """Record which evidence a session used and how it went."""
    with session() as (client, _):
        entries = client.log_outcome(
            session_id, task=task, outcome=outcome, opened=opened, cited=cited, note=note
        )
    if settings().json:
        from twolane.render import to_json
        from twolane.v1.feedback_service_pb2 import LogOutcomeResponse

        terminal.out(to_json(LogOutcomeResponse(entries=entries)))
    else:
        terminal.note(f"{phrases.count(entries, 'entry', 'entries')} recorded.")
    return ExitCode.OK


@command.command("why")
@click.argument("evidence_key", required=False, default="", metavar="[KEY]")
@click.option("--session", "session_id", default="", metavar="SESSION", help="Of this session.")
@click.option(
    "-n", "--limit", type=Number(1, 500), default=50, show_default=True,
    metavar="N", help="How many entries to show, at most 500.",
)  # fmt: skip
@common
def why(evidence_key: str, session_id: str, limit: int) -> int:
    """Show what the log holds on a piece of evidence, or of a session, newest first."""
    if not evidence_key and not session_id:
        raise click.UsageError("Give an evidence key or --session.")
    with session() as (client, _):
        entries = client.why_evidence(evidence_key=evidence_key, session_id=session_id, limit=limit)
    if settings().json:
        from twolane.render import to_json
        from twolane.v1.feedback_service_pb2 import WhyEvidenceResponse

        terminal.out(to_json(WhyEvidenceResponse(entries=entries)))
        return ExitCode.OK if entries else ExitCode.NOTHING
    from twolane.v1.feedback_service_pb2 import FeedbackKind, Outcome

    for entry in entries:
        at = entry.at.ToDatetime().isoformat(sep=" ", timespec="minutes")
        told = (
            at,
            word(FeedbackKind.DESCRIPTOR, entry.kind),
            word(Outcome.DESCRIPTOR, entry.outcome) if entry.outcome else "",
            text.line(entry.evidence_key),
            text.line(entry.session_id),
            text.line(entry.note or entry.task),
        )
        terminal.out("  ".join(part for part in told if part))
    return ExitCode.OK if entries else ExitCode.NOTHING


@command.command("forget")
@click.argument("evidence_keys", nargs=-1, metavar="[KEY]...")
@click.option(
    "--session", "session_ids", multiple=True, metavar="SESSION",
    help="All entries of this session; may be repeated.",
)  # fmt: skip
@common
def forget(evidence_keys: tuple[str, ...], session_ids: tuple[str, ...]) -> int:
    """Remove entries from the log. Conversations and documents stay as they are."""
    if not evidence_keys and not session_ids:
        raise click.UsageError("Give evidence keys or --session.")
    with session() as (client, _):
        gone = client.forget_evidence(evidence_keys=evidence_keys, session_ids=session_ids)
    if settings().json:
        from twolane.render import to_json
        from twolane.v1.feedback_service_pb2 import ForgetEvidenceResponse

        terminal.out(to_json(ForgetEvidenceResponse(entries=gone)))
    else:
        terminal.note(f"{phrases.count(gone, 'entry', 'entries')} forgotten.")
    return ExitCode.OK if gone else ExitCode.NOTHING
