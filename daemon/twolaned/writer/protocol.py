"""What the serving process and the writer process say to each other.

Both directions carry frames over a pipe: a little-endian uint32 length, then a MessagePack
`Request` (to the writer) or `Event` (from it). Every request ends with exactly one `Done` or
`Failed`; `Progress` may come before. `Committed` belongs to no request: it tells the serving
process that the store has a new generation to apply. End of file on its input ends the writer.
"""

from __future__ import annotations

import asyncio
import struct
from typing import BinaryIO

import msgspec

from twolaned.model.backup import BackupReport, CopyProgress
from twolaned.model.compaction import CompactionProgress, CompactionReport, Enrichment
from twolaned.model.feedback import Feedback
from twolaned.model.report import ImportReport
from twolaned.model.row import Quality
from twolaned.model.source import Source

MAX_FRAME = 64 << 20
"""Bytes; a frame above this is a broken stream, not a message."""

_LENGTH = struct.Struct("<I")


class Save(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Keep one conversation or note. Already checked against the API's limits."""

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


class ImportPath(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Import a file or a folder. *name* is what the person calls it, for messages.

    With *spooled* the path is a temporary copy of uploaded bytes: it is removed at the end and
    its place on disk never becomes part of an id.
    """

    path: str
    name: str
    spooled: bool = False


class AddSource(msgspec.Struct, frozen=True, tag=True):
    """Start to follow a folder."""

    source: Source


class RemoveSource(msgspec.Struct, frozen=True, tag=True):
    """Stop following a folder and remove its documents. *id* is an id or a path."""

    id: str


class ScanSources(msgspec.Struct, frozen=True, tag=True):
    """Read what changed in these sources (ids or paths); none means all."""

    ids: tuple[str, ...] = ()


class Delete(msgspec.Struct, frozen=True, tag=True):
    """Delete the rows with these ids and keep them from coming back.

    With *purge* their bytes leave the disk too before the request ends.
    """

    ids: tuple[str, ...]
    purge: bool = False


class Compact(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Move conversations to the archive that were indexed longer ago than *older_than_ms*.

    A second command with the same *idempotency_key* gets the first one's answer.
    """

    older_than_ms: int
    dry_run: bool = False
    idempotency_key: str | None = None
    enrichment: Enrichment = Enrichment.OFF
    model: str = ""
    """The language model for digests; empty for the default one."""


class Rollback(msgspec.Struct, frozen=True, tag=True):
    """Undo the most recent compaction that changed something."""


class LogFeedback(msgspec.Struct, frozen=True, tag=True):
    """Add to the log of evidence."""

    entries: tuple[Feedback, ...]


class ForgetFeedback(msgspec.Struct, frozen=True, tag=True):
    """Remove from the log of evidence all of these sessions, and all on this evidence."""

    sessions: tuple[str, ...] = ()
    evidence_keys: tuple[str, ...] = ()


class Backup(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Copy the store to the new folder *path*, with the file *config* as a note, beside the rest.

    Both are absolute; an empty *config* is none.
    """

    path: str
    config: str = ""


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """Stop the request *request* at its next step. What it has published stays."""

    request: int


class Request(msgspec.Struct, frozen=True):
    """A command with the number that its events will carry."""

    number: int
    command: (
        Save
        | ImportPath
        | AddSource
        | RemoveSource
        | ScanSources
        | Delete
        | Compact
        | Rollback
        | LogFeedback
        | ForgetFeedback
        | Backup
        | Cancel
    )


class Saved(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """The result of `Save`. *outcome* is ``created``, ``replaced`` or ``unchanged``."""

    id: str
    outcome: str
    quality: Quality
    warnings: tuple[str, ...] = ()


class Imported(msgspec.Struct, frozen=True, tag=True):
    """The result of `ImportPath` and `ScanSources`."""

    report: ImportReport


class SourceAdded(msgspec.Struct, frozen=True, tag=True):
    """The result of `AddSource`."""

    source: Source


class SourceRemoved(msgspec.Struct, frozen=True, tag=True):
    """The result of `RemoveSource`."""

    documents_removed: int


class Deleted(msgspec.Struct, frozen=True, tag=True):
    """The result of `Delete`: how many rows left the index."""

    rows: int


class Compacted(msgspec.Struct, frozen=True, tag=True):
    """The result of `Compact`. *repeated* says that this is the answer of an earlier one."""

    report: CompactionReport
    repeated: bool = False


class RolledBack(msgspec.Struct, frozen=True, tag=True):
    """The result of `Rollback`. *repeated* says that it was rolled back before."""

    report: CompactionReport
    repeated: bool = False


class FeedbackChanged(msgspec.Struct, frozen=True, tag=True):
    """The result of `LogFeedback` and `ForgetFeedback`: entries that were added or removed."""

    entries: int


class BackedUp(msgspec.Struct, frozen=True, tag=True):
    """The result of `Backup`."""

    report: BackupReport


class Cancelled(msgspec.Struct, frozen=True, tag=True):
    """The result of `Cancel`, and of a request that was cancelled."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The writer has opened the store; the first event it sends."""

    generation: int


class Committed(msgspec.Struct, frozen=True, tag=True):
    """The store has a new generation."""

    generation: int


class Progress(msgspec.Struct, frozen=True, tag=True):
    """The totals of a long request so far.

    *source_id* is set while scanning. A compaction or rollback has no totals but *compaction*, a
    backup has *copied*.
    """

    report: ImportReport
    source_id: str = ""
    compaction: CompactionProgress | None = None
    copied: CopyProgress | None = None


class Done(msgspec.Struct, frozen=True, tag=True):
    """A request succeeded; what it did is part of *generation*."""

    result: (
        Saved
        | Imported
        | SourceAdded
        | SourceRemoved
        | Deleted
        | Compacted
        | RolledBack
        | FeedbackChanged
        | BackedUp
        | Cancelled
    )
    generation: int


class Failed(msgspec.Struct, frozen=True, tag=True):
    """A request failed. *error* is the class name of a `TwolaneError`."""

    error: str
    reason: str
    message: str
    field: str = ""
    metadata: dict[str, str] = {}
    report: ImportReport | None = None


class Event(msgspec.Struct, frozen=True):
    """Something the writer says; *request* is 0 where it belongs to none."""

    request: int
    body: Ready | Committed | Progress | Done | Failed


_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_events = msgspec.msgpack.Decoder(Event)


def frame(message: Request | Event) -> bytes:
    """Return *message* as one frame."""
    body = _encoder.encode(message)
    return _LENGTH.pack(len(body)) + body


def read_request(stream: BinaryIO) -> Request | None:
    """Read one request, or None at the end of *stream*. Blocks."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return _requests.decode(body) if len(body) == length else None


async def read_event(stream: asyncio.StreamReader) -> Event | None:
    """Read one event, or None at the end of *stream*.

    Raises msgspec.DecodeError for bytes that are no event.
    """
    try:
        (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
        if length > MAX_FRAME:
            raise msgspec.DecodeError(f"a frame of {length} bytes")
        return _events.decode(await stream.readexactly(length))
    except asyncio.IncompleteReadError:
        return None
