"""`twolane.v1.SourceService`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from grpc import aio

from twolane.v1 import source_service_pb2 as sources
from twolane.v1 import source_service_pb2_grpc as sources_grpc
from twolaned.model.source import Source
from twolaned.services import checks
from twolaned.services.convert_report import report_to_proto
from twolaned.services.convert_source import MAX_PATH, folder_path, new_source, source_to_proto
from twolaned.services.pace import Pace
from twolaned.services.pages import page
from twolaned.services.ports import Writer
from twolaned.writer.protocol import (
    AddSource,
    Done,
    Imported,
    Progress,
    RemoveSource,
    ScanSources,
    SourceAdded,
    SourceRemoved,
)

Context = aio.ServicerContext[Any, Any]

MAX_IDS = 1_000


class SourceService(sources_grpc.SourceServiceServicer):
    """Manages followed folders. *current* returns those of the current index."""

    def __init__(self, writer: Writer, current: Callable[[], tuple[Source, ...]]) -> None:
        self._writer = writer
        self._current = current

    async def AddSource(  # noqa: N802
        self, request: sources.AddSourceRequest, _: Context
    ) -> sources.AddSourceResponse:
        """Start to follow a folder."""
        done = await self._writer.call(AddSource(new_source(request.source)))
        assert isinstance(done.result, SourceAdded)
        return sources.AddSourceResponse(source=source_to_proto(done.result.source))

    async def RemoveSource(  # noqa: N802
        self, request: sources.RemoveSourceRequest, _: Context
    ) -> sources.RemoveSourceResponse:
        """Stop following a folder."""
        done = await self._writer.call(RemoveSource(_named("id", request.id)))
        assert isinstance(done.result, SourceRemoved)
        return sources.RemoveSourceResponse(documents_removed=done.result.documents_removed)

    async def ListSources(  # noqa: N802
        self, request: sources.ListSourcesRequest, _: Context
    ) -> sources.ListSourcesResponse:
        """Return a page of the followed folders."""
        found, token = page(
            self._current(),
            lambda source: source.id,
            of="ListSources",
            size=request.page_size,
            token=request.page_token,
        )
        return sources.ListSourcesResponse(
            sources=[source_to_proto(source) for source in found], next_page_token=token
        )

    async def ScanSources(  # noqa: N802
        self, request: sources.ScanSourcesRequest, _: Context
    ) -> AsyncIterator[sources.ScanSourcesResponse]:
        """Read what changed."""
        checks.at_most_items("ids", request.ids, MAX_IDS)
        ids = tuple(_named(f"ids[{number}]", name) for number, name in enumerate(request.ids))
        pace = Pace()
        async with aclosing(self._writer.stream(ScanSources(ids))) as events:
            async for event in events:
                if pace.allows(event):
                    yield _response(event)


def _named(field: str, name: str) -> str:
    """*name*, an id or a path, as the store spells it."""
    checks.required(field, name)
    checks.at_most_bytes(field, name, MAX_PATH)
    return folder_path(name) if name.startswith("/") else name


def _response(event: Progress | Done) -> sources.ScanSourcesResponse:
    if isinstance(event, Progress):
        return sources.ScanSourcesResponse(
            source_id=event.source_id, totals=report_to_proto(event.report)
        )
    assert isinstance(event.result, Imported)
    return sources.ScanSourcesResponse(
        done=True,
        totals=report_to_proto(event.result.report),
        index_generation=event.generation,
    )
