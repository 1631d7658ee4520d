"""How records are laid down: MessagePack behind a CRC-32, so that damage is seen and not served."""

from __future__ import annotations

import struct
import zlib
from typing import Generic, TypeVar

import msgspec

from twolaned.model.conversation import MessageKind, Role
from twolaned.model.feedback import Feedback
from twolaned.model.row import (
    MessageSpan,
    Passage,
    PassageKind,
    Quality,
    Row,
    RowDraft,
    RowKind,
    Tier,
)
from twolaned.model.source import Source
from twolaned.store.faults import corrupt

_CRC = struct.Struct("<I")
_encoder = msgspec.msgpack.Encoder()

T = TypeVar("T")


class RowRecord(msgspec.Struct, frozen=True, array_like=True):
    """A row as stored, without its passages, body and messages. New fields go to the end."""

    id: str
    kind: RowKind
    tier: Tier
    source: str
    title: str
    content_hash: bytes
    text_hash: bytes
    content_bytes: int
    body_crc: int
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
    extra: dict[str, str] = {}

    @classmethod
    def of(cls, draft: RowDraft, body: bytes, *, tier: Tier, indexed_at: int) -> RowRecord:
        """The record of *draft*, whose body is *body* in UTF-8."""
        return cls(
            id=draft.id,
            kind=draft.kind,
            tier=tier,
            source=draft.source,
            title=draft.title,
            content_hash=draft.content_hash,
            text_hash=draft.text_hash,
            content_bytes=len(body),
            body_crc=zlib.crc32(body),
            indexed_at=indexed_at,
            summary=draft.summary,
            project=draft.project,
            cwd=draft.cwd,
            path=draft.path,
            quality=draft.quality,
            occurred_at=draft.occurred_at,
            created_at=draft.created_at,
            domain=draft.domain,
            intent=draft.intent,
            client=draft.client,
            topics=draft.topics,
            decisions=draft.decisions,
            key_outputs=draft.key_outputs,
            generated=draft.generated,
            parent=draft.parent,
            forked_from=draft.forked_from,
            message_count=len(draft.messages),
            extra=draft.extra,
        )

    def row(self, number: int, passages: tuple[Passage, ...]) -> Row:
        """The row that this record and *passages* describe."""
        fields = {name: getattr(self, name) for name in _ROW_FIELDS}
        return Row(number=number, passages=passages, **fields)


_ROW_FIELDS = tuple(f for f in RowRecord.__struct_fields__ if f != "body_crc")


class PassageRecord(msgspec.Struct, frozen=True, array_like=True):
    """A passage as stored."""

    offset: int
    length: int
    context: str = ""
    kind: PassageKind = PassageKind.PRIMARY


class SpanRecord(msgspec.Struct, frozen=True, array_like=True):
    """A message's place as stored; the fields of `MessageSpan` in order."""

    offset: int
    length: int
    role: str
    kind: str
    native_id: str | None = None
    at: int | None = None
    on_main_line: bool = True
    speaker: str | None = None


class FileRecord(msgspec.Struct, frozen=True, array_like=True):
    """What a scan knew of one file when it last read it."""

    size: int
    mtime_ns: int
    inode: int
    digest: bytes
    scanned_at_ns: int
    row_id: str


class FormatRecord(msgspec.Struct, frozen=True):
    """Who can read this store."""

    format_version: int
    min_reader_version: int
    written_by: str


def seal(value: object) -> bytes:
    """*value* as MessagePack behind its checksum."""
    body = _encoder.encode(value)
    return _CRC.pack(zlib.crc32(body)) + body


class Unsealer(Generic[T]):
    """Reads back what `seal` wrote as one type, checking the checksum."""

    def __init__(self, kind: type[T]) -> None:
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._kind = kind

    def __call__(self, data: bytes | memoryview) -> T:
        """Decode *data*. Raises StoreCorrupt where it does not check out."""
        view = memoryview(data)
        if len(view) < _CRC.size or _CRC.unpack_from(view)[0] != zlib.crc32(view[_CRC.size :]):
            raise corrupt(f"checksum of a {self._kind}")
        try:
            return self._decoder.decode(view[_CRC.size :])
        except msgspec.DecodeError as e:
            raise corrupt(f"shape of a {self._kind}: {e}") from e


unseal_row = Unsealer(RowRecord)
unseal_passages: Unsealer[list[PassageRecord]] = Unsealer(list[PassageRecord])
unseal_spans: Unsealer[list[SpanRecord]] = Unsealer(list[SpanRecord])
unseal_feedback = Unsealer(Feedback)
unseal_file: Unsealer[tuple[str, FileRecord]] = Unsealer(tuple[str, FileRecord])
unseal_source = Unsealer(Source)
unseal_format = Unsealer(FormatRecord)


def seal_passages(passages: tuple[Passage, ...]) -> bytes:
    """*passages* as one sealed value."""
    return seal([PassageRecord(p.offset, p.length, p.context, p.kind) for p in passages])


def passages_of(data: bytes | memoryview) -> tuple[Passage, ...]:
    """The passages that `seal_passages` laid down in *data*."""
    return tuple(Passage(p.offset, p.length, p.context, p.kind) for p in unseal_passages(data))


def passage_of(data: bytes | memoryview, index: int) -> Passage | None:
    """The passage at *index* of those in *data*, or None where there are fewer."""
    found = unseal_passages(data)[index : index + 1]
    return (
        Passage(found[0].offset, found[0].length, found[0].context, found[0].kind)
        if found
        else None
    )


def seal_spans(spans: tuple[MessageSpan, ...]) -> bytes:
    """*spans* as one sealed value."""
    return seal(
        [
            SpanRecord(
                s.offset, s.length, s.role, s.kind, s.native_id, s.at, s.on_main_line, s.speaker
            )
            for s in spans
        ]
    )


def spans_of(data: bytes | memoryview) -> tuple[MessageSpan, ...]:
    """The message spans that `seal_spans` laid down in *data*."""
    return tuple(
        MessageSpan(
            s.offset,
            s.length,
            Role(s.role),
            MessageKind(s.kind),
            s.native_id,
            s.at,
            s.on_main_line,
            s.speaker,
        )
        for s in unseal_spans(data)
    )
