"""`twolane.v1.ContextService`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from grpc import aio

from twolane.v1 import context_service_pb2 as context_pb
from twolane.v1 import context_service_pb2_grpc as context_grpc
from twolaned.services.call import arrival
from twolaned.services.convert_pack import pack_request_from_proto, pack_to_proto
from twolaned.services.packs import Packs

Context = aio.ServicerContext[Any, Any]


class ContextService(context_grpc.ContextServiceServicer):
    """Packs what the index holds on a task."""

    def __init__(self, packs: Packs) -> None:
        self._packs = packs

    async def ContextPack(  # noqa: N802
        self, request: context_pb.ContextPackRequest, context: Context
    ) -> AsyncIterator[context_pb.ContextPackResponse]:
        """Build a pack. A client that hangs up cancels the embedding of its task."""
        packs = self._packs.packs(
            pack_request_from_proto(request),
            arrival(),
            partial=request.partial,
            remaining=context.time_remaining(),
        )
        async with aclosing(packs):
            async for pack in packs:
                yield pack_to_proto(pack)
