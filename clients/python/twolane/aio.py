"""The client for asyncio: the methods of `twolane.client`, awaited.

Make and use it in one event loop; gRPC's asyncio is at home in one loop a process.
"""

# ruff: noqa: ASYNC109  a call's timeout is its deadline, and the daemon is told of it

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeVar, Unpack

from grpc import aio

from twolane import calls, errors, requests
from twolane.administration import AsyncAdministration
from twolane.connection import OPTIONS, require_private
from twolane.endpoint import endpoint
from twolane.launch import ensure_daemon
from twolane.requests import FilterOptions, PackOptions, SaveOptions, SearchOptions, SourceOptions
from twolane.v1 import (
    admin_service_pb2_grpc,
    archive_service_pb2,
    archive_service_pb2_grpc,
    compaction_service_pb2,
    compaction_service_pb2_grpc,
    context_service_pb2,
    context_service_pb2_grpc,
    feedback_service_pb2,
    feedback_service_pb2_grpc,
    search_service_pb2,
    search_service_pb2_grpc,
    source_service_pb2,
    source_service_pb2_grpc,
)

_Q = TypeVar("_Q")
_A = TypeVar("_A")


async def connect_async(
    socket: str | os.PathLike[str] | None = None,
    *,
    tcp: str | None = None,
    token: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    autostart: bool = True,
    timeout: float | None = None,
    name: str = calls.LIBRARY,
    on_start: Callable[[], None] | None = None,
) -> AsyncClient:
    """Return a client of a daemon that answers; start the daemon if nobody does.

    As `twolane.connect`; *on_start* is called in another thread.
    """
    way = endpoint(socket, tcp=tcp, token=token, token_file=token_file)
    place = socket if tcp is None else way
    await asyncio.to_thread(ensure_daemon, place, autostart=autostart, on_start=on_start)
    return AsyncClient(
        socket, tcp=tcp, token=token, token_file=token_file, timeout=timeout, name=name
    )


class AsyncClient(AsyncAdministration):
    """Calls to the daemon on *socket* or over *tcp*; see `twolane.client.Client` for the arguments.

    A stream is cancelled when its iterator is closed: use `contextlib.aclosing` to leave one
    early. Every method raises a `TwolaneError`.
    """

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        *,
        tcp: str | None = None,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        name: str = calls.LIBRARY,
    ) -> None:
        self.endpoint = endpoint(socket, tcp=tcp, token=token, token_file=token_file)
        self._timeout = timeout
        self._metadata = (*calls.metadata(name), *self.endpoint.metadata)
        if self.endpoint.socket is not None:
            require_private(self.endpoint.socket)
        self._channel = aio.insecure_channel(self.endpoint.target, options=OPTIONS)
        self._searching = search_service_pb2_grpc.SearchServiceStub(self._channel)
        self._context = context_service_pb2_grpc.ContextServiceStub(self._channel)
        self._archive = archive_service_pb2_grpc.ArchiveServiceStub(self._channel)
        self._compaction = compaction_service_pb2_grpc.CompactionServiceStub(self._channel)
        self._sources = source_service_pb2_grpc.SourceServiceStub(self._channel)
        self._feedback = feedback_service_pb2_grpc.FeedbackServiceStub(self._channel)
        self._admin = admin_service_pb2_grpc.AdminServiceStub(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Cancel what is running and let the connection go."""
        await self._channel.close()

    def search(
        self, query: str, *, timeout: float | None = None, **options: Unpack[SearchOptions]
    ) -> AsyncIterator[search_service_pb2.SearchResponse]:
        """Yield the answers: with ``partial`` the keyword one first; the last is final."""
        request = requests.search(query, options)
        return self._stream(self._searching.Search, request, timeout, calls.SEARCH)

    async def search_final(
        self, query: str, *, timeout: float | None = None, **options: Unpack[SearchOptions]
    ) -> search_service_pb2.SearchResponse:
        """Return the final answer to *query*."""
        stream = self.search(query, timeout=timeout, **options)
        return calls.last([answer async for answer in stream], lambda answer: answer.final)

    def pack(
        self, task: str, *, timeout: float | None = None, **options: Unpack[PackOptions]
    ) -> AsyncIterator[context_service_pb2.ContextPackResponse]:
        """Yield the context packs on *task*: with ``partial`` the keyword one first; the last is
        final.
        """
        request = requests.context_pack(task, options)
        return self._stream(self._context.ContextPack, request, timeout, calls.SEARCH)

    async def pack_final(
        self, task: str, *, timeout: float | None = None, **options: Unpack[PackOptions]
    ) -> context_service_pb2.ContextPackResponse:
        """Return the final context pack on *task*."""
        stream = self.pack(task, timeout=timeout, **options)
        return calls.last([pack async for pack in stream], lambda pack: pack.final)

    async def open(
        self,
        id: str,  # noqa: A002  the proto's name
        *,
        form: str = "full",
        offset: int = 0,
        max_bytes: int = 0,
        session_id: str = "",
        timeout: float | None = None,
    ) -> search_service_pb2.OpenEvidenceResponse:
        """Return one row by its id or evidence key: a page of it, or its ``middle`` form."""
        request = requests.open_evidence(id, form, offset, max_bytes, session_id)
        return await self._unary(self._searching.OpenEvidence, request, timeout, calls.OPEN)

    async def pages(
        self,
        id: str,  # noqa: A002  the proto's name
        *,
        offset: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[search_service_pb2.OpenEvidenceResponse]:
        """Yield all of a row from *offset* on, page by page."""
        while True:
            page = await self.open(id, offset=offset, timeout=timeout)
            yield page
            offset = page.next_offset
            if offset == 0:
                return

    async def suggest(
        self, prefix: str, *, limit: int = 0, timeout: float | None = None
    ) -> list[search_service_pb2.Suggestion]:
        """Return completions of a query that is being typed, the likeliest first."""
        request = search_service_pb2.SuggestRequest(prefix=prefix, limit=limit)
        reply = await self._unary(self._searching.Suggest, request, timeout, calls.OPEN)
        return list(reply.suggestions)

    async def save(
        self,
        source: str,
        summary: str,
        *,
        timeout: float | None = None,
        **options: Unpack[SaveOptions],
    ) -> archive_service_pb2.SaveResponse:
        """Keep one conversation or note; it can be found when this returns."""
        request = requests.save(source, summary, options)
        return await self._unary(self._archive.Save, request, timeout, calls.SAVE)

    def import_path(
        self, path: str | os.PathLike[str], *, timeout: float | None = None
    ) -> AsyncIterator[archive_service_pb2.ImportResponse]:
        """Import a file or folder that the daemon can read; yield progress, last with ``done``."""
        return self._stream(self._archive.Import, requests.import_path(path), timeout, calls.IMPORT)

    async def import_bytes(
        self,
        data: bytes | Iterable[bytes] | BinaryIO,
        *,
        name: str,
        size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[archive_service_pb2.ImportResponse]:
        """Import an export's bytes, sent in chunks; yield progress, last with ``done``.

        *name* is for messages; *size* is the number of bytes, 0 where it is not known. *data* is
        read in another thread. An error that reading it raises is raised here.
        """
        guarded = calls.Guarded(requests.import_bytes(data, name, size))
        stream = self._stream(self._archive.Import, _threaded(guarded), timeout, calls.IMPORT)
        try:
            async for answer in stream:
                yield answer
        except (errors.TwolaneError, asyncio.CancelledError):
            # gRPC cancels a call whose requests fail, as if the caller had.
            guarded.reraise()
            raise

    async def import_file(
        self, path: str | os.PathLike[str], *, timeout: float | None = None
    ) -> AsyncIterator[archive_service_pb2.ImportResponse]:
        """Import a file that this process can read, by sending its bytes."""
        file = Path(path)
        data = await asyncio.to_thread(file.open, "rb")
        with data:
            size = os.fstat(data.fileno()).st_size
            name = requests.sayable(file.name)
            stream = self.import_bytes(data, name=name, size=size, timeout=timeout)
            async for answer in stream:
                yield answer

    async def delete(
        self,
        *ids: str,
        dry_run: bool = False,
        purge: bool = False,
        timeout: float | None = None,
        **filters: Unpack[FilterOptions],
    ) -> archive_service_pb2.DeleteResponse:
        """Delete rows for good: those with *ids*, or all that meet *filters*.

        With *dry_run* nothing is deleted; *purge* makes the bytes leave the disk too.
        """
        request = requests.delete(ids, filters, dry_run=dry_run, purge=purge)
        default = math.inf if purge else calls.REMOVE
        return await self._unary(self._archive.Delete, request, timeout, default)

    def export(
        self, *, timeout: float | None = None, **filters: Unpack[FilterOptions]
    ) -> AsyncIterator[archive_service_pb2.ExportResponse]:
        """Yield the archive, or what meets *filters*, as lines of JSON in pieces of bytes."""
        request = archive_service_pb2.ExportRequest(filters=requests.filters(filters))
        return self._stream(self._archive.Export, request, timeout, calls.IMPORT)

    async def add_source(
        self,
        path: str | os.PathLike[str],
        *,
        timeout: float | None = None,
        **options: Unpack[SourceOptions],
    ) -> source_service_pb2.Source:
        """Start to follow a folder; it is not scanned yet."""
        request = requests.add_source(path, options)
        reply = await self._unary(self._sources.AddSource, request, timeout, calls.SOURCE)
        return reply.source

    async def remove_source(self, id_or_path: str, *, timeout: float | None = None) -> int:
        """Stop following a folder; return how many of its documents left the index."""
        request = source_service_pb2.RemoveSourceRequest(id=id_or_path)
        reply = await self._unary(self._sources.RemoveSource, request, timeout, calls.REMOVE)
        return reply.documents_removed

    async def sources(
        self, *, timeout: float | None = None
    ) -> AsyncIterator[source_service_pb2.Source]:
        """Yield every followed folder, in order of their ids."""
        request = source_service_pb2.ListSourcesRequest()
        while True:
            page = await self._unary(self._sources.ListSources, request, timeout, calls.SOURCE)
            for source in page.sources:
                yield source
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def scan(
        self, *ids: str, timeout: float | None = None
    ) -> AsyncIterator[source_service_pb2.ScanSourcesResponse]:
        """Read what changed in these sources, ids or paths, or in all; the last has ``done``."""
        request = source_service_pb2.ScanSourcesRequest(ids=ids)
        return self._stream(self._sources.ScanSources, request, timeout, calls.IMPORT)

    def compact(
        self,
        *,
        older_than: timedelta | None = None,
        dry_run: bool = False,
        idempotency_key: str = "",
        timeout: float | None = None,
    ) -> AsyncIterator[compaction_service_pb2.CompactResponse]:
        """Move old conversations to the archive; yield progress, last with ``done``.

        Without *older_than* the daemon's configuration says how old.
        """
        request = requests.compact(older_than, idempotency_key, dry_run=dry_run)
        return self._stream(self._compaction.Compact, request, timeout, calls.COMPACT)

    async def rollback(
        self, *, timeout: float | None = None
    ) -> compaction_service_pb2.RollbackResponse:
        """Undo the most recent compaction."""
        request = compaction_service_pb2.RollbackRequest()
        return await self._unary(self._compaction.Rollback, request, timeout, calls.REMOVE)

    async def compactions(
        self, *, timeout: float | None = None
    ) -> AsyncIterator[compaction_service_pb2.Compaction]:
        """Yield the compactions, the latest first."""
        request = compaction_service_pb2.ListCompactionsRequest()
        method = self._compaction.ListCompactions
        while True:
            page = await self._unary(method, request, timeout, calls.SOURCE)
            for compaction in page.compactions:
                yield compaction
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def log_outcome(
        self,
        session_id: str,
        *,
        task: str = "",
        outcome: str = "",
        opened: Sequence[str] = (),
        cited: Sequence[str] = (),
        note: str = "",
        timeout: float | None = None,
    ) -> int:
        """Record which evidence a task used and how it went; return how many entries are new."""
        request = requests.log_outcome(session_id, task, outcome, opened, cited, note)
        reply = await self._unary(self._feedback.LogOutcome, request, timeout, calls.SAVE)
        return reply.entries

    async def why_evidence(
        self,
        *,
        evidence_key: str = "",
        session_id: str = "",
        limit: int = 0,
        timeout: float | None = None,
    ) -> list[feedback_service_pb2.FeedbackEntry]:
        """Return what the log holds on one piece of evidence, or of one session, newest first."""
        request = feedback_service_pb2.WhyEvidenceRequest(
            evidence_key=evidence_key, session_id=session_id, limit=limit
        )
        reply = await self._unary(self._feedback.WhyEvidence, request, timeout, calls.OPEN)
        return list(reply.entries)

    async def forget_evidence(
        self,
        *,
        evidence_keys: Sequence[str] = (),
        session_ids: Sequence[str] = (),
        timeout: float | None = None,
    ) -> int:
        """Remove entries from the log of evidence; return how many."""
        request = feedback_service_pb2.ForgetEvidenceRequest(
            evidence_keys=evidence_keys, session_ids=session_ids
        )
        return (
            await self._unary(self._feedback.ForgetEvidence, request, timeout, calls.SAVE)
        ).entries


async def _threaded(items: Iterator[_A]) -> AsyncIterator[_A]:
    """Yield *items*, each fetched in another thread, since reading a pipe may take its time."""
    end = object()
    while True:
        item = await asyncio.to_thread(next, items, end)
        if item is end:
            return
        yield item  # type: ignore[misc]  # everything but the end is an item
