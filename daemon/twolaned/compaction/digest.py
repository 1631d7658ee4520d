"""The digest of a week, as a row of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from twolaned.compaction.plan import Period
from twolaned.compaction.statements import Statement
from twolaned.compaction.weeks import day_of, week_in_words
from twolaned.ingest.boundaries import Boundaries
from twolaned.ingest.drafts import EXTRACTION, encodable, hashed
from twolaned.ingest.passages import ByteOffsets, cut_passages
from twolaned.model.conversation import MessageKind, Role
from twolaned.model.row import MessageSpan, Passage, Quality, Row, RowDraft, RowKind
from twolaned.model.source import Extraction

STATEMENTS = 12
"""Statements of a digest at the most."""
SOURCE = "digest"
CONVERSATIONS = "conversations"
PROVIDER = "provider"
"""Keys of a digest's extra facts."""
_LONGEST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Line:
    """One statement of a digest and the conversations that it stands on, at least one."""

    text: str
    sources: tuple[Statement, ...]


def extractive_lines(chosen: Sequence[Statement]) -> list[Line]:
    """Each of the *chosen* statements word for word, in order of time."""
    return [Line(s.text, (s,)) for s in sorted(chosen, key=lambda s: (s.at, s.key, s.text))]


def draft_digest(
    period: Period, lines: Sequence[Line], *, provider: str, occurred_at: int
) -> RowDraft:
    """The digest of *period* that says *lines*; *occurred_at* is its latest conversation's time.

    A span for every conversation that a line stands on says so: its `native_id` is the evidence
    key, and its place is that of the line.
    """
    body = f"{week_in_words(period.week)}. What its archived conversations said most:"
    spans: list[MessageSpan] = []
    for line in lines:
        text = encodable(_line_text(line))
        offset = len(body.encode()) + 2
        body += f"\n\n{text}"
        spans += [
            MessageSpan(
                offset, len(text.encode()), source.role, MessageKind.SUMMARY, source.key, source.at
            )
            for source in line.sources
        ]
    extra = {CONVERSATIONS: str(len(period.numbers)), PROVIDER: provider}
    if period.local:
        extra[EXTRACTION] = str(Extraction.LOCAL)
    return _draft(
        RowDraft(
            id=period.id,
            kind=RowKind.DIGEST,
            source=SOURCE,
            title=f"Digest: {week_in_words(period.week)}" + (", local" if period.local else ""),
            body=body,
            passages=(),
            content_hash=b"",
            text_hash=b"",
            messages=tuple(spans),
            quality=Quality.HIGH,
            occurred_at=occurred_at,
            extra=extra,
        )
    )


def without(draft: RowDraft, keys: Collection[str]) -> RowDraft | None:
    """*draft* without the lines that stand on one of *keys*; None where no line is left.

    Returns *draft* itself where no line does.
    """
    gone = {span.offset for span in draft.messages if span.native_id in keys}
    if not gone:
        return draft
    body = draft.body.encode()
    first = min(span.offset for span in draft.messages)
    text, spans = body[:first].rstrip(), []
    moved: dict[int, int] = {}
    for span in draft.messages:
        if span.offset in gone:
            continue
        if span.offset not in moved:
            moved[span.offset] = len(text) + 2
            text += b"\n\n" + body[span.offset : span.offset + span.length]
        spans.append(replace(span, offset=moved[span.offset]))
    if not spans:
        return None
    return _draft(replace(draft, body=text.decode(), messages=tuple(spans)))


def restore_digest(row: Row, body: str, spans: Sequence[MessageSpan]) -> RowDraft:
    """The draft that the digest *row* was made of."""
    return RowDraft(
        id=row.id,
        kind=row.kind,
        source=row.source,
        title=row.title,
        body=body,
        passages=row.passages,
        content_hash=row.content_hash,
        text_hash=row.text_hash,
        messages=tuple(spans),
        quality=row.quality,
        occurred_at=row.occurred_at,
        extra=row.extra,
    )


def _draft(draft: RowDraft) -> RowDraft:
    """*draft* with the passages and hashes of its body."""
    body = draft.body
    places: dict[int, None] = {}
    data = body.encode()
    for span in draft.messages:
        places[len(data[: span.offset].decode())] = None
    offsets = ByteOffsets(body)
    passages = []
    for cut in cut_passages(body, 0, len(body), Boundaries(body, turns=tuple(places))):
        start = offsets.of(cut.start)
        passages.append(Passage(start, offsets.of(cut.end) - start))
    text_hash = hashlib.blake2b(data, digest_size=32).digest()
    return hashed(replace(draft, passages=tuple(passages), text_hash=text_hash))


def _line_text(line: Line) -> str:
    named = dict.fromkeys((s.key, _short(s.title)) for s in line.sources)
    links = "; ".join(f"{title}, {key}" if title else key for key, title in named)
    day = day_of(min(s.at for s in line.sources))
    quoted = line.sources[0].role is Role.USER
    said = f"“{line.text}”" if quoted else line.text
    return f"{day}: {said} [{links}]"


def _short(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"
