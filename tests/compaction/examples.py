"""Rows and statements to compact."""

from __future__ import annotations

from typing import Any

from twolaned.compaction.statements import Statement
from twolaned.ingest.drafts import draft_conversation
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.row import Row, RowDraft, RowKind, Tier

DAY = 86_400_000
MARCH = 1_774_396_800_000
"""2026-03-25T00:00Z, a Wednesday in week 13."""


def row(number: int, **fields: Any) -> Row:
    """A hot conversation that was indexed at 0 and took place in week 13."""
    known: dict[str, Any] = {
        "id": f"claude:{number}",
        "kind": RowKind.CONVERSATION,
        "tier": Tier.HOT,
        "source": "claude",
        "title": f"Title {number}",
        "passages": (),
        "content_hash": b"c",
        "text_hash": b"t",
        "content_bytes": 10,
        "indexed_at": 0,
        "occurred_at": MARCH,
    }
    return Row(number=number, **known | fields)


def talk(*texts: str, row_id: str = "claude:1", at: int = MARCH) -> RowDraft:
    """A conversation of human and assistant in turn."""
    kinds = (MessageKind.HUMAN, MessageKind.ASSISTANT)
    roles = (Role.USER, Role.ASSISTANT)
    messages = tuple(
        Message(role=roles[n % 2], kind=kinds[n % 2], text=text, at=at + n, native_id=f"m{n}")
        for n, text in enumerate(texts)
    )
    return draft_conversation(
        Conversation(
            id=row_id,
            provider="claude",
            title="Ferry timetable",
            title_from=TitleFrom.PROVIDER,
            messages=messages,
        )
    )


def said(text: str, of: int = 1, at: int = MARCH, role: Role = Role.ASSISTANT) -> Statement:
    """A statement of the conversation *of*."""
    return Statement(text, f"conversation:claude:{of}", f"Title {of}", at, role)
