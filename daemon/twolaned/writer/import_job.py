"""Importing an export, a session file or a folder of them."""

from __future__ import annotations

from pathlib import Path

from twolaned.ingest.archived import FORMAT, ArchivedRow
from twolaned.ingest.drafts import draft_document
from twolaned.ingest.reader import ReadProgress, read
from twolaned.model.conversation import Conversation
from twolaned.model.document import Document
from twolaned.model.errors import NothingImported
from twolaned.model.report import ImportReport, Skip
from twolaned.writer.context import Job, JobContext, Tell
from twolaned.writer.gather import Gatherer
from twolaned.writer.protocol import Imported, ImportPath


def import_job(context: JobContext, command: ImportPath, tell: Tell) -> Job:
    """Import what *command* names. Raises NothingImported where it holds nothing to import."""
    report = ImportReport()
    gatherer = Gatherer(context, report)
    path = Path(command.path)
    try:
        for item in read(path, name=command.name, limits=context.limits):
            match item:
                case Conversation():
                    report.provider = _joined(report.provider, item.provider)
                    report.conversations += 1
                    report.messages += len(item.messages)
                    yield from gatherer.take_conversation(item)
                case Document():
                    report.documents += 1
                    yield from gatherer.take(draft_document(item, None))
                case ArchivedRow():
                    report.provider = _joined(report.provider, FORMAT)
                    yield from gatherer.take_archived(item)
                case Skip():
                    report.add_skip(item)
                case ReadProgress():
                    report.bytes_seen, report.bytes_total = item.bytes_done, item.bytes_total
                    report.files_seen = item.files_seen
                    report.current = item.current
                    yield None
            tell(report, "")
        yield from gatherer.publish()
    finally:
        gatherer.batch.discard()
        if command.spooled:
            path.unlink(missing_ok=True)
    report.current = ""
    if not report.rows:
        raise NothingImported(nothing_imported(command.name, report), name=command.name)
    return Imported(report)


def nothing_imported(name: str, report: ImportReport) -> str:
    """The sentence for an import that found nothing: what was seen, and what to do."""
    seen = ", ".join(
        f"{total.count} × {total.reason}{f' ({total.detail})' if total.detail else ''}"
        for total in sorted(report.skips.values(), key=lambda t: -t.count)[:5]
    )
    return (
        f"Nothing was imported from {name}: {seen or 'it holds no conversations'}."
        " twolane imports ChatGPT, Claude.ai and Grok exports (the zip, or the JSON inside it),"
        " Claude Code and Codex sessions, Aider's histories;"
        " for a folder of documents use `twolane source add`."
    )


def _joined(provider: str, other: str) -> str:
    return other if provider in ("", other) else "mixed"
