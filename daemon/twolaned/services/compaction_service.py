"""`twolane.v1.CompactionService`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from grpc import aio

from twolane.v1 import compaction_service_pb2 as compactions
from twolane.v1 import compaction_service_pb2_grpc as compactions_grpc
from twolaned.config import Settings
from twolaned.model.compaction import CompactionReport, Enrichment
from twolaned.model.errors import InvalidInput
from twolaned.services import checks
from twolaned.services.convert_compaction import compaction_to_proto, progress_to_proto
from twolaned.services.convert_time import microseconds
from twolaned.services.pace import Pace
from twolaned.services.pages import page
from twolaned.services.ports import Writer
from twolaned.store import Store
from twolaned.writer import protocol
from twolaned.writer.protocol import Compacted, Done, Progress, RolledBack

Context = aio.ServicerContext[Any, Any]

MAX_KEY = 200
"""Characters of an idempotency key."""
_DAY_MS = 86_400_000
_LAST = 10**10


@dataclass(frozen=True, slots=True)
class CompactionDefaults:
    """What holds where a request does not say."""

    older_than_ms: int
    enrichment: Enrichment
    model: str

    @classmethod
    def of(cls, settings: Settings) -> CompactionDefaults:
        """What *settings* say."""
        return cls(
            settings.compaction.age_threshold_days * _DAY_MS,
            Enrichment(settings.enrichment.provider),
            settings.enrichment.model,
        )


class CompactionService(compactions_grpc.CompactionServiceServicer):
    """Moves old conversations to the archive. *past* returns all compactions that were."""

    def __init__(
        self,
        writer: Writer,
        defaults: CompactionDefaults,
        past: Callable[[], Awaitable[Sequence[CompactionReport]]],
    ) -> None:
        self._writer = writer
        self._defaults = defaults
        self._past = past

    async def Compact(  # noqa: N802
        self, request: compactions.CompactRequest, _: Context
    ) -> AsyncIterator[compactions.CompactResponse]:
        """Move conversations to the archive."""
        command = self._command(request)
        pace = Pace()
        async with aclosing(self._writer.stream(command)) as events:
            async for event in events:
                if pace.allows(event):
                    yield _response(event)

    async def Rollback(  # noqa: N802
        self, _request: compactions.RollbackRequest, _: Context
    ) -> compactions.RollbackResponse:
        """Undo the most recent compaction."""
        done = await self._writer.call(protocol.Rollback())
        assert isinstance(done.result, RolledBack)
        return compactions.RollbackResponse(
            compaction=compaction_to_proto(done.result.report),
            repeated_answer=done.result.repeated,
            index_generation=done.generation,
        )

    async def ListCompactions(  # noqa: N802
        self, request: compactions.ListCompactionsRequest, _: Context
    ) -> compactions.ListCompactionsResponse:
        """Return a page of the compactions."""
        found, token = page(
            await self._past(),
            lambda report: f"{_LAST - report.number:011}",
            of="ListCompactions",
            size=request.page_size,
            token=request.page_token,
        )
        return compactions.ListCompactionsResponse(
            compactions=[compaction_to_proto(report) for report in found], next_page_token=token
        )

    def _command(self, request: compactions.CompactRequest) -> protocol.Compact:
        checks.at_most_characters("idempotency_key", request.idempotency_key, MAX_KEY)
        older_than = self._defaults.older_than_ms
        if request.HasField("older_than"):
            older_than = microseconds("older_than", request.older_than) // 1_000
        if older_than < 0:
            raise InvalidInput(
                "older_than",
                "`older_than` is negative. Give the least age of a conversation that moves.",
                reason="OUT_OF_RANGE",
            )
        return protocol.Compact(
            older_than_ms=older_than,
            dry_run=request.dry_run,
            idempotency_key=request.idempotency_key or None,
            enrichment=self._defaults.enrichment,
            model=self._defaults.model,
        )


def past_compactions(store: Store) -> list[CompactionReport]:
    """All compactions that *store* knows of."""
    with store.view() as view:
        return [record.report for record in view.compactions()]


def _response(event: Progress | Done) -> compactions.CompactResponse:
    if isinstance(event, Progress):
        if event.compaction is None:
            return compactions.CompactResponse()
        return progress_to_proto(event.compaction)
    assert isinstance(event.result, Compacted)
    return compactions.CompactResponse(
        done=True,
        compaction=compaction_to_proto(event.result.report),
        repeated_answer=event.result.repeated,
        index_generation=event.generation,
    )
