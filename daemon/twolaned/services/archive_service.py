"""`twolane.v1.ArchiveService`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import Any, ParamSpec, TypeVar

from grpc import aio

from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import archive_service_pb2_grpc as archive_grpc
from twolaned.model.errors import InvalidInput
from twolaned.search.selection import selected
from twolaned.search.snapshot import IndexSnapshot
from twolaned.services import checks
from twolaned.services.convert_query import filters_from_proto
from twolaned.services.convert_report import report_to_proto
from twolaned.services.convert_save import save_from_proto, saved_to_proto
from twolaned.services.deletion import MAX_NAMED, doomed
from twolaned.services.export_parts import export_parts
from twolaned.services.pace import Pace
from twolaned.services.ports import Spool, Writer
from twolaned.writer.protocol import (
    Delete,
    Deleted,
    Done,
    Imported,
    ImportPath,
    Progress,
    Saved,
)

Context = aio.ServicerContext[Any, Any]
P = ParamSpec("P")
R = TypeVar("R")

MAX_CHUNK = 1_048_576
"""Bytes of one chunk."""
MAX_PATH = 4_096
"""Bytes of a path, as the system has it."""
MAX_NAME = 1_024
"""Characters of a file's name."""


class ArchiveService(archive_grpc.ArchiveServiceServicer):
    """Takes in what is to be remembered."""

    def __init__(
        self,
        writer: Writer,
        spool: Spool,
        snapshot: Callable[[], IndexSnapshot],
        executor: Executor,
    ) -> None:
        """Long reading is done in *executor*, which no search waits for."""
        self._executor = executor
        self._writer = writer
        self._spool = spool
        self._snapshot = snapshot

    async def Save(  # noqa: N802
        self, request: archive.SaveRequest, _: Context
    ) -> archive.SaveResponse:
        """Keep one conversation or note."""
        done = await self._writer.call(save_from_proto(request))
        assert isinstance(done.result, Saved)
        return saved_to_proto(done.result, done.generation)

    async def Import(  # noqa: N802
        self, request_iterator: AsyncIterator[archive.ImportRequest], _: Context
    ) -> AsyncIterator[archive.ImportResponse]:
        """Import from a path, or from bytes that follow."""
        pace = Pace()
        async with (
            self._received(request_iterator) as command,
            aclosing(self._writer.stream(command)) as events,
        ):
            async for event in events:
                if pace.allows(event):
                    yield _response(event)

    async def Delete(  # noqa: N802
        self, request: archive.DeleteRequest, _: Context
    ) -> archive.DeleteResponse:
        """Take rows out of the index for good."""
        snapshot = self._snapshot()
        ids = await self._read(doomed, snapshot, request)
        generation = snapshot.generation
        if not request.dry_run:
            done = await self._writer.call(Delete(tuple(ids), request.purge))
            assert isinstance(done.result, Deleted)
            generation = done.generation
        return archive.DeleteResponse(
            rows=len(ids), ids=ids[:MAX_NAMED], index_generation=generation
        )

    async def Export(  # noqa: N802
        self, request: archive.ExportRequest, _: Context
    ) -> AsyncIterator[archive.ExportResponse]:
        """Stream rows as lines that come back as they were."""
        snapshot = self._snapshot()
        filters = filters_from_proto(request.filters)
        ids = await self._read(selected, snapshot, filters)
        parts = export_parts(snapshot, ids)
        while (part := await self._read(next, parts, None)) is not None:
            yield part

    async def _read(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(work, *args, **kwargs))

    @asynccontextmanager
    async def _received(
        self, requests: AsyncIterator[archive.ImportRequest]
    ) -> AsyncIterator[ImportPath]:
        """The command for what *requests* name or bring; what they bring is removed at the end."""
        header = await _header(requests)
        if header.path:
            yield ImportPath(path=header.path, name=header.path)
            return
        async with self._spool.receive(header.size) as upload:
            async for chunk in _chunks(requests):
                await upload.write(chunk)
            await upload.finish()
            yield ImportPath(path=str(upload.path), name=_name(header), spooled=True)


def _response(event: Progress | Done) -> archive.ImportResponse:
    if isinstance(event, Progress):
        return archive.ImportResponse(totals=report_to_proto(event.report))
    assert isinstance(event.result, Imported)
    return archive.ImportResponse(
        done=True,
        totals=report_to_proto(event.result.report),
        index_generation=event.generation,
    )


async def _header(requests: AsyncIterator[archive.ImportRequest]) -> archive.ImportHeader:
    first = await anext(requests, None)
    if first is None or not first.HasField("header"):
        raise InvalidInput(
            "header", "The first message of an import must be its header.", reason="REQUIRED"
        )
    header = first.header
    if header.path:
        checks.at_most_bytes("header.path", header.path, MAX_PATH)
        checks.absolute_path("header.path", header.path)
    checks.at_most_characters("header.name", header.name, MAX_NAME)
    checks.not_negative("header.size", header.size)
    return header


async def _chunks(requests: AsyncIterator[archive.ImportRequest]) -> AsyncIterator[bytes]:
    async for request in requests:
        if not request.HasField("chunk"):
            raise InvalidInput(
                "chunk", "Behind the header there may only be chunks.", reason="REQUIRED"
            )
        checks.at_most_bytes("chunk", request.chunk, MAX_CHUNK)
        yield request.chunk


def _name(header: archive.ImportHeader) -> str:
    return PurePosixPath(header.name).name or "the uploaded file"
