"""From a conversation or a document to the row that is kept of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from twolaned.ingest.boundaries import Boundaries
from twolaned.ingest.headings import HeadingPaths
from twolaned.ingest.passages import EVEN_TALK, ByteOffsets, cut_passages
from twolaned.ingest.rating import rate
from twolaned.model.conversation import Conversation, Message, MessageKind
from twolaned.model.document import Document
from twolaned.model.row import (
    MessageSpan,
    Passage,
    PassageKind,
    Quality,
    RowDraft,
    RowKind,
)
from twolaned.model.source import Extraction, Source, SourceScope

BETWEEN = "\n\n"
"""Stands between two messages in a conversation's body."""

TITLE_FROM = "title_from"
UPDATED_AT = "updated_at"
GIT_BRANCH = "git_branch"
EXTRACTION = "extraction"
"""Keys of a row's extra facts."""

_TALK = (MessageKind.HUMAN, MessageKind.ASSISTANT)
_encoder = msgspec.msgpack.Encoder()


def draft_conversation(conversation: Conversation) -> RowDraft:
    """The row of *conversation*. Messages without words leave no trace in it."""
    messages = [
        message if _is_encodable(message.text) else replace(message, text=encodable(message.text))
        for message in conversation.messages
        if message.text.strip()
    ]
    body = BETWEEN.join(message.text for message in messages)
    spans, places = _spans(messages)
    extra = dict(conversation.extra)
    extra[TITLE_FROM] = str(conversation.title_from)
    if conversation.updated_at is not None:
        extra[UPDATED_AT] = str(conversation.updated_at)
    if conversation.git_branch:
        extra[GIT_BRANCH] = conversation.git_branch
    draft = RowDraft(
        id=conversation.id,
        kind=RowKind.CONVERSATION,
        source=conversation.provider,
        title=encodable(conversation.title),
        body=body,
        passages=tuple(_conversation_passages(body, messages, places)),
        content_hash=b"",
        text_hash=_text_hash(messages),
        messages=spans,
        project=conversation.project,
        cwd=conversation.cwd,
        quality=rate(messages),
        occurred_at=_occurred_at(conversation, messages),
        created_at=conversation.created_at,
        parent=conversation.parent,
        forked_from=conversation.forked_from,
        extra=extra,
    )
    return hashed(draft)


def draft_document(document: Document, source: Source | None) -> RowDraft:
    """The row of *document*, which was found in *source* or came inside an export."""
    body = encodable(document.text)
    extra = {"syntax": document.syntax}
    if source is not None and source.extraction is Extraction.LOCAL:
        extra[EXTRACTION] = str(Extraction.LOCAL)
    on_disk = document.root.startswith("/")
    draft = RowDraft(
        id=document.id,
        kind=RowKind.DOCUMENT,
        source=document.source,
        title=encodable(document.title),
        body=body,
        passages=tuple(_document_passages(body, document)),
        content_hash=b"",
        text_hash=hashlib.blake2b(body.encode(), digest_size=32).digest(),
        project=document.project,
        path=f"{document.root.rstrip('/')}/{document.path}" if on_disk else None,
        quality=Quality.HIGH,
        occurred_at=document.modified_at,
        client=_client_of(source),
        generated=document.generated,
        extra=extra,
    )
    return hashed(draft)


def hashed(draft: RowDraft) -> RowDraft:
    """*draft* with the hash of everything that a person can see of it."""
    unhashed = replace(draft, content_hash=b"")
    digest = hashlib.blake2b(_encoder.encode(unhashed), digest_size=32).digest()
    return replace(draft, content_hash=digest)


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encodable(text: str) -> str:
    """*text* with half surrogate pairs replaced, so that it has a form in UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _spans(messages: list[Message]) -> tuple[tuple[MessageSpan, ...], list[int]]:
    """Where each message stands in the body: in bytes, and its start in characters."""
    spans = []
    places = []
    offset = place = 0
    for message in messages:
        length = len(message.text.encode())
        spans.append(
            MessageSpan(
                offset,
                length,
                message.role,
                message.kind,
                message.native_id,
                message.at,
                message.on_main_line,
                message.speaker,
            )
        )
        places.append(place)
        offset += length + len(BETWEEN)
        place += len(message.text) + len(BETWEEN)
    return tuple(spans), places


def _conversation_passages(
    body: str, messages: list[Message], places: list[int]
) -> Iterable[Passage]:
    boundaries = Boundaries(body, turns=tuple(places[1:]))
    offsets = ByteOffsets(body)
    first = 0
    while first < len(messages):
        kind, last = passage_kind(messages[first]), first + 1
        while last < len(messages) and passage_kind(messages[last]) is kind:
            last += 1
        end = places[last] - len(BETWEEN) if last < len(messages) else len(body)
        speaker = first
        for cut in cut_passages(body, places[first], end, boundaries, EVEN_TALK):
            while speaker + 1 < last and places[speaker + 1] <= cut.start:
                speaker += 1
            names: dict[str, None] = {}
            named = speaker
            while named < last and places[named] < cut.end:
                if messages[named].speaker:
                    names[str(messages[named].speaker)] = None
                named += 1
            start = offsets.of(cut.start)
            yield Passage(start, offsets.of(cut.end) - start, ", ".join(names), kind)
        first = last


def passage_kind(message: Message) -> PassageKind:
    """Which part of its conversation *message* belongs to."""
    if not message.on_main_line:
        return PassageKind.OFF_BRANCH
    return PassageKind.PRIMARY if message.kind in _TALK else PassageKind.SECONDARY


def _document_passages(body: str, document: Document) -> Iterable[Passage]:
    markdown = document.syntax == "markdown"
    prose = markdown or document.syntax == "text"
    headings = HeadingPaths(body, document.title) if markdown else None
    offsets = ByteOffsets(body)
    for cut in cut_passages(body, 0, len(body), Boundaries(body, headings=prose)):
        under = headings.at(cut.start) if headings else ""
        start = offsets.of(cut.start)
        yield Passage(
            start,
            offsets.of(cut.end) - start,
            " > ".join(part for part in (encodable(document.path), under) if part),
        )


def _text_hash(messages: list[Message]) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for message in messages:
        if message.kind in _TALK:
            digest.update(_encoder.encode((message.role, message.text)))
    return digest.digest()


def _occurred_at(conversation: Conversation, messages: list[Message]) -> int | None:
    times = [m.at for m in messages if m.at is not None and m.on_main_line]
    times = times or [m.at for m in messages if m.at is not None]
    if times:
        return max(times)
    return conversation.updated_at or conversation.created_at


def _client_of(source: Source | None) -> str | None:
    if source is None or source.scope is not SourceScope.CLIENT:
        return None
    return source.client_name or None
