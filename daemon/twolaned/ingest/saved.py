"""From what a caller saves to the row that is kept of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from twolaned.ingest.boundaries import Boundaries
from twolaned.ingest.drafts import encodable, hashed
from twolaned.ingest.passages import ByteOffsets, cut_passages
from twolaned.model.row import Passage, Quality, RowDraft, RowKind

THIN_SUMMARY = 40
"""Characters of a summary below which a caller is told that it says little."""
THIN_NOTE = 200
SUBSTANTIAL_NOTE = 1_500
"""Characters of a note's words that rate it low below, and high above with a decision."""
TITLE = 80
"""Characters of a title that is taken from the summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedNote:
    """What a caller saves: *source* and *summary* are there, the rest may be.

    Times are UTC milliseconds. Strings are within the API's limits.
    """

    source: str
    summary: str
    content: str = ""
    title: str = ""
    decisions: tuple[str, ...] = ()
    key_outputs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    domain: str | None = None
    intent: str | None = None
    client: str | None = None
    cwd: str | None = None
    occurred_at: int | None = None
    idempotency_key: str | None = None
    replace_idempotency_key: str | None = None
    quality: Quality = Quality.UNRATED


def draft_saved(note: SavedNote, row_id: str | None = None) -> tuple[RowDraft, tuple[str, ...]]:
    """The row of *note*, and a sentence for each thing that would make it easier to find or trust.

    *row_id* is the row that it replaces; without it the id follows from the key, or from all of
    the note where it has none, so that the same note saved twice is one row.
    """
    summary = encodable(note.summary)
    body = _body(note)
    key = note.replace_idempotency_key or note.idempotency_key
    draft = RowDraft(
        id=row_id or (saved_id(note.source, key) if key else _unkeyed_id(note)),
        kind=RowKind.CONVERSATION,
        source=note.source,
        title=encodable(note.title).strip() or _first_line(summary),
        body=body,
        passages=tuple(_passages(body)),
        content_hash=b"",
        text_hash=hashlib.blake2b(body.encode(), digest_size=32).digest(),
        summary=summary,
        project=_project(note.cwd),
        cwd=note.cwd,
        quality=_quality(note, body),
        occurred_at=note.occurred_at,
        created_at=note.occurred_at,
        domain=note.domain,
        intent=note.intent,
        client=note.client,
        topics=note.topics,
        decisions=note.decisions,
        key_outputs=note.key_outputs,
    )
    return hashed(draft), _warnings(note, summary)


def saved_id(source: str, key: str) -> str:
    """The id of what *source* saves first under the idempotency *key*."""
    return f"saved:{_digest(source, key)}"


def _unkeyed_id(note: SavedNote) -> str:
    return f"saved:{_digest(note.source, note.title, note.summary, note.content, *note.decisions)}"


def _digest(*parts: str) -> str:
    data = b"".join(
        len(part.encode("utf-8", "replace")).to_bytes(8, "little") + part.encode("utf-8", "replace")
        for part in parts
    )
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _body(note: SavedNote) -> str:
    """The words of *note* as a person reads them; every one of them can be found."""
    parts = [note.summary.strip()]
    if note.decisions:
        parts.append("## Decisions\n\n" + _list(note.decisions))
    if note.key_outputs:
        parts.append("## Key outputs\n\n" + _list(note.key_outputs))
    if note.topics:
        parts.append("Topics: " + ", ".join(note.topics))
    if note.content.strip():
        parts.append(note.content.strip("\n"))
    return encodable("\n\n".join(part for part in parts if part))


def _list(items: tuple[str, ...]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _passages(body: str) -> list[Passage]:
    offsets = ByteOffsets(body)
    passages = []
    for cut in cut_passages(body, 0, len(body), Boundaries(body)):
        start = offsets.of(cut.start)
        passages.append(Passage(start, offsets.of(cut.end) - start))
    return passages


def _first_line(summary: str) -> str:
    line = summary.strip().partition("\n")[0].strip()
    if len(line) <= TITLE:
        return line
    cut = line[: TITLE + 1].rpartition(" ")[0] or line[:TITLE]
    return f"{cut}…"


def _project(cwd: str | None) -> str | None:
    return (cwd.rstrip("/").rpartition("/")[2] or None) if cwd else None


def _quality(note: SavedNote, body: str) -> Quality:
    if note.quality is not Quality.UNRATED:
        return note.quality
    if len(body) < THIN_NOTE and not note.decisions:
        return Quality.LOW
    if note.decisions or note.key_outputs or len(body) >= SUBSTANTIAL_NOTE:
        return Quality.HIGH if len(body) >= THIN_NOTE else Quality.MEDIUM
    return Quality.MEDIUM


def _warnings(note: SavedNote, summary: str) -> tuple[str, ...]:
    found = []
    if len(summary.strip()) < THIN_SUMMARY:
        found.append(
            "The summary is very short. Say in a sentence or two what was worked out and why."
        )
    if not note.content.strip():
        found.append(
            "There is no `content`: only the summary can be found. Save the conversation's text."
        )
    if not note.decisions:
        found.append("There are no `decisions`. Name what was decided, a sentence each.")
    return tuple(found)
