"""Rows and passages: what is kept, searched and returned."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from twolaned.model.conversation import MessageKind, Role


class RowKind(StrEnum):
    """The three kinds of things that are searched."""

    CONVERSATION = "conversation"
    DOCUMENT = "document"
    DIGEST = "digest"


class Tier(StrEnum):
    """Where a row lives; a conversation is hot until compaction moves it to cold."""

    HOT = "hot"
    COLD = "cold"
    DOCUMENT = "document"
    DIGEST = "digest"


class Quality(StrEnum):
    """How much a conversation is worth, as rated when it was saved or imported."""

    UNRATED = "unrated"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class PassageKind(StrEnum):
    """Which part of a row a passage was cut from."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    """Attachments and what subagents reported."""
    OFF_BRANCH = "off_branch"
    """Words that the person abandoned: findable, and marked."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A cut of a row's body, about 700 to 1,400 characters, never inside a character.

    *offset* and *length* are bytes of the body's UTF-8. *context* holds the words that are
    searchable together with the passage but are not in it: heading path and speakers.
    """

    offset: int
    length: int
    context: str = ""
    kind: PassageKind = PassageKind.PRIMARY


@dataclass(frozen=True, slots=True)
class MessageSpan:
    """Where one message stands in a conversation's body (bytes of UTF-8), and what it is."""

    offset: int
    length: int
    role: Role
    kind: MessageKind
    native_id: str | None = None
    at: int | None = None
    on_main_line: bool = True
    speaker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDraft:
    """A row before the store has numbered it: what ingest makes of a conversation or a document.

    *content_hash* covers body, messages, title and every field a person can see, so that importing
    the same thing again is known to change nothing. *text_hash* covers only the human and
    assistant text: when it changes, ``indexed_at`` is set anew.
    """

    id: str
    kind: RowKind
    source: str
    title: str
    body: str
    passages: tuple[Passage, ...]
    content_hash: bytes
    text_hash: bytes
    messages: tuple[MessageSpan, ...] = ()
    summary: str = ""
    """What the person or tool wrote as a summary; empty where there is none."""
    project: str | None = None
    cwd: str | None = None
    path: str | None = None
    """A document's absolute path on this machine."""
    quality: Quality = Quality.UNRATED
    occurred_at: int | None = None
    """The source's own time (a conversation's last message, a file's modification)."""
    created_at: int | None = None
    domain: str | None = None
    intent: str | None = None
    client: str | None = None
    topics: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    key_outputs: tuple[str, ...] = ()
    generated: bool = False
    parent: str | None = None
    forked_from: str | None = None
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stored row without its body.

    *number* is the version's own: a grown conversation keeps its *id* and gets a new number.
    Times are UTC milliseconds.
    """

    number: int
    id: str
    kind: RowKind
    tier: Tier
    source: str
    title: str
    passages: tuple[Passage, ...]
    content_hash: bytes
    text_hash: bytes
    content_bytes: int
    indexed_at: int
    summary: str = ""
    project: str | None = None
    cwd: str | None = None
    path: str | None = None
    quality: Quality = Quality.UNRATED
    occurred_at: int | None = None
    created_at: int | None = None
    domain: str | None = None
    intent: str | None = None
    client: str | None = None
    topics: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    key_outputs: tuple[str, ...] = ()
    generated: bool = False
    parent: str | None = None
    forked_from: str | None = None
    message_count: int = 0
    copy_of: str | None = None
    """The id of the row that this one is a near-identical copy of, where that is known."""
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def evidence_key(self) -> str:
        """The key that stays the same across re-import, re-index and compaction."""
        return evidence_key(self.kind, self.id)


def evidence_key(kind: RowKind, row_id: str) -> str:
    """The key of the row *row_id* that stays the same across re-import and compaction."""
    return f"{kind.value}:{row_id}"
