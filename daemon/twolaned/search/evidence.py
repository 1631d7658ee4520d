"""Opening a row: all of its text, a page at a time, or its start and end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from twolaned.model.errors import InvalidInput, NotFound
from twolaned.model.row import MessageSpan, Quality, Row, RowKind, Tier
from twolaned.search import words
from twolaned.search.ports import StoreView
from twolaned.search.snapshot import IndexSnapshot
from twolaned.search.tokens import estimate_tokens, token_weights

DEFAULT_PAGE = 1 << 20
"""Bytes of a page where the caller does not say."""
MAX_PAGE = 2 << 20
"""Bytes of the largest page."""
MIDDLE_WHOLE = 4_000
"""Tokens. A row of up to this size is not cut by the middle form."""
MIDDLE_HALF = 1_500
"""Tokens of the start, and of the end, in the middle form."""
GAP = "\n\n[…]\n\n"
"""Stands in the middle form for what was left out."""


class EvidenceForm(StrEnum):
    """How much of a row to open."""

    FULL = "full"
    MIDDLE = "middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedEvidence:
    """A row, or a page of it. Offsets and lengths are bytes of the full text's UTF-8.

    *next_offset* is 0 at the end. *omitted_bytes* were left out between start and end in the
    middle form, whose *content* holds `GAP` in their place.
    """

    id: str
    evidence_key: str
    kind: RowKind
    tier: Tier
    source: str
    title: str
    content: str
    offset: int
    next_offset: int
    content_bytes: int
    indexed_at: int
    omitted_bytes: int = 0
    messages: tuple[MessageSpan, ...] = ()
    """Those whose words begin inside *content*; empty for documents and in the middle form."""
    project: str | None = None
    cwd: str | None = None
    path: str | None = None
    quality: Quality = Quality.UNRATED
    summary: str = ""
    occurred_at: int | None = None
    created_at: int | None = None
    message_count: int = 0
    parent_id: str | None = None
    forked_from_id: str | None = None
    decisions: tuple[str, ...] = ()
    key_outputs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    git_branch: str | None = None


@dataclass(frozen=True, slots=True)
class _Page:
    content: str
    offset: int = 0
    next_offset: int = 0
    omitted: int = 0


def open_evidence(
    snapshot: IndexSnapshot,
    id_or_key: str,
    form: EvidenceForm = EvidenceForm.FULL,
    offset: int = 0,
    max_bytes: int = 0,
) -> OpenedEvidence:
    """Open the row *id_or_key*, an id or an evidence key.

    The full form returns at most *max_bytes* (0 means `DEFAULT_PAGE`) from *offset* on, which is
    moved back to the start of a character; a page holds at least one character, and none behind
    the end. The middle form returns the start and the end, together 2,000 to 4,000 tokens.

    Raises NotFound if there is no such row, InvalidInput for a negative or too large number.
    """
    if offset < 0:
        raise InvalidInput("offset", f"`offset` is {offset}. Give 0 or more.")
    if not 0 <= max_bytes <= MAX_PAGE:
        raise InvalidInput(
            "max_bytes", f"`max_bytes` is {max_bytes}. Give at most {MAX_PAGE:,}; 0 means 1 MiB."
        )
    with snapshot.view() as view:
        row = find_row(view, id_or_key)
        body = view.body_bytes(row.number)
        limit = max_bytes or DEFAULT_PAGE
        full = form is EvidenceForm.FULL
        page = _page(body, offset, limit) if full else _middle(body, limit)
        messages = view.messages(row.number) if full else ()
    end = page.next_offset or len(body)
    return OpenedEvidence(
        id=row.id,
        evidence_key=row.evidence_key,
        kind=row.kind,
        tier=row.tier,
        source=row.source,
        title=row.title,
        content=page.content,
        offset=page.offset,
        next_offset=page.next_offset,
        content_bytes=len(body),
        indexed_at=row.indexed_at,
        omitted_bytes=page.omitted,
        messages=tuple(m for m in messages if page.offset <= m.offset < end),
        project=row.project,
        cwd=row.cwd,
        path=row.path,
        quality=row.quality,
        summary=row.summary,
        occurred_at=row.occurred_at,
        created_at=row.created_at,
        message_count=row.message_count,
        parent_id=row.parent,
        forked_from_id=row.forked_from,
        decisions=row.decisions,
        key_outputs=row.key_outputs,
        topics=row.topics,
        git_branch=row.extra.get("git_branch"),
    )


def find_row(view: StoreView, id_or_key: str) -> Row:
    """The row's head. An id is tried before an evidence key: ids may hold colons too.

    Raises NotFound.
    """
    kind, _, row_id = id_or_key.partition(":")
    kinds = {str(k) for k in RowKind}
    for name, wanted in ((id_or_key, None), (row_id, kind if kind in kinds else "")):
        number = None if wanted == "" else view.number(name)
        row = None if number is None else view.head(number)
        if row is not None and wanted in (None, row.kind):
            return row
    raise NotFound(
        f"There is no row `{id_or_key}`. Take the `id` of a search result: it stays the same for as"
        " long as the conversation or document is in the index.",
        id=id_or_key,
    )


def _page(body: bytes, offset: int, limit: int) -> _Page:
    start = _character_start(body, min(offset, len(body)))
    end = _character_start(body, min(start + limit, len(body)))
    if end == start < len(body):
        end = _character_end(body, start)
    return _Page(body[start:end].decode(), start, end if end < len(body) else 0)


def _middle(body: bytes, limit: int) -> _Page:
    tokens = estimate_tokens(body[: 4 * MIDDLE_WHOLE + 4])
    if len(body) <= limit and tokens <= MIDDLE_WHOLE:
        return _Page(body.decode())
    # No byte is worth less than a quarter of a token, so this many hold half of what is shown.
    room = max(0, limit - len(GAP.encode()))
    ends = min(4 * MIDDLE_HALF, room // 2, len(body) // 2)
    head_end = _worth(token_weights(body[:ends]))
    tail_start = len(body) - _worth(token_weights(body[len(body) - ends :])[::-1])
    head = body[: _character_start(body, head_end)].decode()
    tail = body[_character_start(body, tail_start) :].decode()
    head = head[: _last_border(head)]
    tail = tail[_first_border(tail) :]
    omitted = len(body) - len(head.encode()) - len(tail.encode())
    return _Page(f"{head}{GAP}{tail}", omitted=omitted)


def _worth(weights: NDArray[np.float64]) -> int:
    """How many of the bytes *weights* make up half of the middle form."""
    return int(np.searchsorted(np.cumsum(weights), MIDDLE_HALF))


def _last_border(text: str) -> int:
    """Where to end *text*, whose last word may have been cut."""
    return words.cut_before(text, len(text) - 1) if len(text) > 1 else len(text)


def _first_border(text: str) -> int:
    """Where to begin *text*, whose first word may have been cut."""
    return words.cut_after(text, 1) if len(text) > 1 else 0


def _character_start(body: bytes, at: int) -> int:
    """The start of the character that the byte *at* is part of."""
    while 0 < at < len(body) and body[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _character_end(body: bytes, at: int) -> int:
    """The end of the character that begins at the byte *at*."""
    at += 1
    while at < len(body) and body[at] & 0xC0 == 0x80:
        at += 1
    return at
