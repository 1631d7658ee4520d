"""What a tool answers with: as little as a model needs to choose and to go on.

Agents cap what a tool may say, and every word of it is paid for with each later turn. Fields that
are empty are left out, snippets are cut around the words that were searched for, and whatever can
be read on says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from twolane.words import word

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from twolane.v1.admin_service_pb2 import StatusResponse
    from twolane.v1.archive_service_pb2 import SaveResponse
    from twolane.v1.feedback_service_pb2 import FeedbackEntry
    from twolane.v1.search_service_pb2 import (
        OpenEvidenceResponse,
        SearchResponse,
        SearchResult,
        Snippet,
    )

SNIPPET = 280
"""Characters of a snippet: enough to judge whether to open the row."""

LEAD = 80
"""Characters of a snippet before its first match."""

TITLE = 120
"""Characters of a title."""

ELLIPSIS = "…"


def answer(found: SearchResponse, *, said: str) -> dict[str, Any]:
    """Return the results of a search for *said*, and a note where the model should know more."""
    notes = [f"{part} is no filter and was searched for as words." for part in found.read_as_text]
    if found.degraded:
        why = found.receipt.degraded_message or found.degraded_reason
        notes.append(f"Matches by keyword only: {why}")
    if not found.results:
        notes.append(_nothing(said, in_reach=found.receipt.rows_in_reach))
    results = [hit(result) for result in found.results]
    return _told({"results": results, "note": " ".join(notes)}, keep=("results",))


def hit(result: SearchResult) -> dict[str, Any]:
    """Return one result; ``id`` and ``offset`` are what ``open_evidence`` takes."""
    from twolane.v1 import common_pb2, search_service_pb2

    passage = word(search_service_pb2.PassageKind.DESCRIPTOR, result.passage_kind)
    tier = word(common_pb2.Tier.DESCRIPTOR, result.tier)
    return _told(
        {
            "id": result.expand.id or result.id,
            "title": cut(result.title or result.summary, TITLE),
            "source": result.source,
            "kind": word(common_pb2.RowKind.DESCRIPTOR, result.kind),
            "date": date(result, "occurred_at", "indexed_at"),
            "project": result.project,
            "path": result.path,
            "archived": tier == "cold",
            "generated": result.generated,
            "abandoned": passage == "off_branch",
            "copies": result.duplicate_count,
            "score": round(result.score, 3),
            "snippet": snippet(result.snippet),
            "offset": result.expand.offset,
        }
    )


def snippet(given: Snippet) -> str:
    """Return at most `SNIPPET` characters of *given* around its first match, in one line."""
    text = given.text
    first = given.matches[0].start if given.matches else 0
    start = 0 if len(text) <= SNIPPET else max(0, min(first - LEAD, len(text) - SNIPPET))
    shown = " ".join(text[start : start + SNIPPET].split())
    lead = ELLIPSIS if start > 0 else ""
    return lead + shown + (ELLIPSIS if start + SNIPPET < len(text) else "")


def page(row: OpenEvidenceResponse) -> dict[str, Any]:
    """Return a page of a row, and how to read on."""
    more = ""
    if row.next_offset:
        more = f"Call open_evidence with offset={row.next_offset} for what follows."
    elif row.omitted_bytes:
        more = f"{row.omitted_bytes} bytes between start and end are left out."
    return _told(
        {
            "id": row.id,
            "evidence_key": row.evidence_key,
            "title": cut(row.title, TITLE),
            "source": row.source,
            "date": date(row, "occurred_at", "indexed_at"),
            "project": row.project,
            "path": row.path,
            "content_bytes": row.content_bytes,
            "offset": row.offset,
            "content": row.content,
            "more": more,
        },
        keep=("content", "offset"),
    )


def saved(kept: SaveResponse) -> dict[str, Any]:
    """Return what became of what was saved."""
    from twolane.v1 import archive_service_pb2, common_pb2

    return _told(
        {
            "id": kept.id,
            "evidence_key": kept.evidence_key,
            "outcome": word(archive_service_pb2.SaveOutcome.DESCRIPTOR, kept.outcome),
            "quality": word(common_pb2.Quality.DESCRIPTOR, kept.quality),
            "warnings": list(kept.warnings),
        }
    )


def entries(log: Sequence[FeedbackEntry], *, asked: str) -> dict[str, Any]:
    """Return what the log of evidence holds, and say so where it holds nothing on *asked*."""
    from twolane.v1 import feedback_service_pb2 as pb

    told = [
        _told(
            {
                "at": date(entry, "at"),
                "kind": word(pb.FeedbackKind.DESCRIPTOR, entry.kind),
                "session_id": entry.session_id,
                "evidence_key": entry.evidence_key,
                "task": entry.task,
                "outcome": word(pb.Outcome.DESCRIPTOR, entry.outcome) if entry.outcome else "",
                "note": entry.note,
            }
        )
        for entry in log
    ]
    note = "" if told else f"The log holds nothing on {asked}."
    return _told({"entries": told, "note": note}, keep=("entries",))


def state(status: StatusResponse) -> dict[str, Any]:
    """Return what is in the index and whether anything needs a person."""
    from twolane.v1 import search_service_pb2 as pb

    sources = sorted(status.sources, key=lambda source: -source.rows)
    return _told(
        {
            "version": status.version,
            "rows": sum(tier.rows for tier in status.tiers),
            "sources": {
                source.source: _told({"rows": source.rows, "newest": date(source, "newest_at")})
                for source in sources
            },
            "search": word(pb.SearchMode.DESCRIPTOR, status.mode),
            "lanes": {
                lane.lane: f"{lane.state}: {lane.message}" if lane.message else lane.state
                for lane in status.lanes
            },
            "writer": status.writer_activity or status.writer_state,
            "recent_errors": [f"{error.where}: {error.message}" for error in status.recent_errors],
            "next_action": status.next_action,
        },
        keep=("rows", "sources"),
    )


def date(message: Message, *fields: str) -> str:
    """Return the day of the first of the timestamp *fields* that is set, in UTC."""
    for field in fields:
        if message.HasField(field):
            try:
                return str(getattr(message, field).ToDatetime(tzinfo=UTC).date())
            except (OverflowError, ValueError):
                return ""
    return ""


def cut(text: str, characters: int) -> str:
    """Return *text* in one line of at most that many *characters*."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + ELLIPSIS


def _nothing(said: str, *, in_reach: int) -> str:
    if in_reach == 0:
        return "Nothing in the index passes the filters. Leave some out, or call status."
    if '"' in said:
        return "Nothing found. Quoted words must occur just so: try without quotes."
    return "Nothing found. Try other words, or `word*` for all its endings."


def _told(fields: dict[str, Any], *, keep: Sequence[str] = ()) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or name in keep}
