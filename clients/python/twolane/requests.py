"""Requests from plain Python values: words for enums, aware datetimes for times.

What a field means, its default and its limit stand in the proto files; nothing is checked here
that the daemon checks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from twolane import words
from twolane.errors import InvalidRequest, Violation
from twolane.v1 import (
    archive_service_pb2,
    common_pb2,
    compaction_service_pb2,
    context_service_pb2,
    feedback_service_pb2,
    search_service_pb2,
    source_service_pb2,
)

CHUNK_BYTES = 256 << 10
"""The size of an import's chunks: a quarter of the limit, so that progress moves."""


class FilterOptions(TypedDict, total=False):
    """Conditions on rows; see ``Filters``."""

    scope: str
    sources: Sequence[str]
    domain: str
    intent: str
    qualities: Sequence[str]
    topic: str
    decision: str
    client: str
    since: datetime | None
    before: datetime | None


class SearchOptions(FilterOptions, total=False):
    """What `Client.search` takes beside the query; see ``SearchRequest``."""

    top_k: int
    partial: bool
    explain: bool
    cwd: str | os.PathLike[str]
    strict_project: bool
    detail: str
    similarity: str


class PackOptions(TypedDict, total=False):
    """What `Client.pack` takes beside the task; see ``ContextPackRequest``."""

    cwd: str | os.PathLike[str]
    max_bytes: int
    max_per_bucket: int
    since: datetime | None
    as_of: datetime | None
    strict_project: bool
    partial: bool


class SaveOptions(TypedDict, total=False):
    """What `Client.save` takes beside source and summary; see ``SaveRequest``."""

    content: str
    title: str
    decisions: Sequence[str]
    key_outputs: Sequence[str]
    topics: Sequence[str]
    domain: str
    intent: str
    client: str
    cwd: str | os.PathLike[str]
    occurred_at: datetime | None
    idempotency_key: str
    replace_idempotency_key: str
    quality: str


class SourceOptions(TypedDict, total=False):
    """What `Client.add_source` takes beside the path; see ``Source``."""

    scope: str
    client_name: str
    extraction: str
    exclude: Sequence[str]


def filters(options: FilterOptions) -> search_service_pb2.Filters:
    """Return the conditions that *options* name."""
    quality = common_pb2.Quality.DESCRIPTOR
    scope = search_service_pb2.Scope.DESCRIPTOR
    return search_service_pb2.Filters(
        scope=_enum(scope, options.get("scope", ""), "scope"),
        sources=options.get("sources", ()),
        domain=options.get("domain", ""),
        intent=options.get("intent", ""),
        qualities=[_enum(quality, said, "qualities") for said in options.get("qualities", ())],
        topic=options.get("topic", ""),
        decision=options.get("decision", ""),
        client=options.get("client", ""),
        since=_time(options.get("since"), "since"),
        before=_time(options.get("before"), "before"),
    )


def search(query: str, options: SearchOptions) -> search_service_pb2.SearchRequest:
    """Return the request for a search."""
    pb = search_service_pb2
    return pb.SearchRequest(
        query=query,
        top_k=options.get("top_k", 0),
        partial=options.get("partial", False),
        explain=options.get("explain", False),
        filters=filters(options),
        cwd=os.fspath(options.get("cwd", "")),
        strict_project=options.get("strict_project", False),
        detail=_enum(pb.Detail.DESCRIPTOR, options.get("detail", ""), "detail"),
        similarity=_enum(pb.Similarity.DESCRIPTOR, options.get("similarity", ""), "similarity"),
    )


def context_pack(task: str, options: PackOptions) -> context_service_pb2.ContextPackRequest:
    """Return the request for a context pack."""
    return context_service_pb2.ContextPackRequest(
        task=task,
        cwd=os.fspath(options.get("cwd", "")),
        max_bytes=options.get("max_bytes", 0),
        max_per_bucket=options.get("max_per_bucket", 0),
        since=_time(options.get("since"), "since"),
        as_of=_time(options.get("as_of"), "as_of"),
        strict_project=options.get("strict_project", False),
        partial=options.get("partial", False),
    )


def open_evidence(
    id: str,  # noqa: A002  the proto's name
    form: str,
    offset: int,
    max_bytes: int,
    session_id: str = "",
) -> search_service_pb2.OpenEvidenceRequest:
    """Return the request to open a row."""
    pb = search_service_pb2
    return pb.OpenEvidenceRequest(
        id=id,
        form=_enum(pb.EvidenceForm.DESCRIPTOR, form, "form"),
        offset=offset,
        max_bytes=max_bytes,
        session_id=session_id,
    )


def log_outcome(
    session_id: str,
    task: str,
    outcome: str,
    opened: Sequence[str],
    cited: Sequence[str],
    note: str,
) -> feedback_service_pb2.LogOutcomeRequest:
    """Return the request to record how a task went."""
    return feedback_service_pb2.LogOutcomeRequest(
        session_id=session_id,
        task=task,
        outcome=_enum(feedback_service_pb2.Outcome.DESCRIPTOR, outcome, "outcome"),
        opened=opened,
        cited=cited,
        note=note,
    )


def save(source: str, summary: str, options: SaveOptions) -> archive_service_pb2.SaveRequest:
    """Return the request to keep a conversation or a note."""
    return archive_service_pb2.SaveRequest(
        source=source,
        summary=summary,
        content=options.get("content", ""),
        title=options.get("title", ""),
        decisions=options.get("decisions", ()),
        key_outputs=options.get("key_outputs", ()),
        topics=options.get("topics", ()),
        domain=options.get("domain", ""),
        intent=options.get("intent", ""),
        client=options.get("client", ""),
        cwd=os.fspath(options.get("cwd", "")),
        occurred_at=_time(options.get("occurred_at"), "occurred_at"),
        idempotency_key=options.get("idempotency_key", ""),
        replace_idempotency_key=options.get("replace_idempotency_key", ""),
        quality=_enum(common_pb2.Quality.DESCRIPTOR, options.get("quality", ""), "quality"),
    )


def delete(
    ids: Iterable[str], options: FilterOptions, *, dry_run: bool, purge: bool
) -> archive_service_pb2.DeleteRequest:
    """Return the request to delete rows."""
    return archive_service_pb2.DeleteRequest(
        ids=ids, filters=filters(options), dry_run=dry_run, purge=purge
    )


def add_source(
    path: str | os.PathLike[str], options: SourceOptions
) -> source_service_pb2.AddSourceRequest:
    """Return the request to follow the folder *path*, which is made absolute."""
    pb = source_service_pb2
    return pb.AddSourceRequest(
        source=pb.Source(
            path=absolute(path),
            scope=_enum(pb.SourceScope.DESCRIPTOR, options.get("scope", ""), "scope"),
            client_name=options.get("client_name", ""),
            extraction=_enum(pb.Extraction.DESCRIPTOR, options.get("extraction", ""), "extraction"),
            exclude=options.get("exclude", ()),
        )
    )


def compact(
    older_than: timedelta | None, idempotency_key: str, *, dry_run: bool
) -> compaction_service_pb2.CompactRequest:
    """Return the request to move conversations to the archive."""
    request = compaction_service_pb2.CompactRequest(
        dry_run=dry_run, idempotency_key=idempotency_key
    )
    if older_than is not None:
        request.older_than.FromTimedelta(older_than)
    return request


def import_path(
    path: str | os.PathLike[str],
) -> Iterator[archive_service_pb2.ImportRequest]:
    """Yield the one message that imports a path on this machine, which is made absolute."""
    header = archive_service_pb2.ImportHeader(path=absolute(path))
    yield archive_service_pb2.ImportRequest(header=header)


def import_bytes(
    data: bytes | Iterable[bytes] | BinaryIO, name: str, size: int
) -> Iterator[archive_service_pb2.ImportRequest]:
    """Yield the messages that import *data*, in chunks of at most `CHUNK_BYTES`.

    *size* is 0 where it is not known, as for a pipe; for bytes it is taken from them.
    """
    if isinstance(data, bytes):
        size = size or len(data)
    header = archive_service_pb2.ImportHeader(name=name, size=size)
    yield archive_service_pb2.ImportRequest(header=header)
    for chunk in chunks(data):
        yield archive_service_pb2.ImportRequest(chunk=chunk)


def chunks(data: bytes | Iterable[bytes] | BinaryIO) -> Iterator[bytes]:
    """Yield *data* in pieces of at most `CHUNK_BYTES`; empty pieces are left out."""
    if isinstance(data, bytes):
        pieces: Iterable[bytes] = (data,)
    elif hasattr(data, "read"):
        pieces = iter(lambda: data.read(CHUNK_BYTES), b"")
    else:
        pieces = data
    for piece in pieces:
        for start in range(0, len(piece), CHUNK_BYTES):
            yield piece[start : start + CHUNK_BYTES]


def sayable(name: str) -> str:
    """Return *name* with a mark for each byte that is not UTF-8, as file names may hold."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def absolute(path: str | os.PathLike[str]) -> str:
    """Return *path* absolute, ``~`` expanded, links kept: the daemon runs in another folder."""
    return str(Path(path).expanduser().absolute())


def _enum(descriptor: EnumDescriptor, said: str, field: str) -> Any:
    # The generated code has a type of its own for each enum's numbers.
    return words.number(descriptor, said, field=field) if said else 0


def _time(moment: datetime | None, field: str) -> Timestamp | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        why = f"{field} must carry a time zone, such as datetime.now(tz=UTC)."
        raise InvalidRequest(why, reason="INVALID_FIELD", violations=[Violation(field, why)])
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
