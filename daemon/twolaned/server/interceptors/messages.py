"""The messages of one call: parsed here, and waited for no longer than a client deserves.

A client that stops reading leaves a stream stuck in the middle of a message, and one that stops
sending leaves an upload open. Either would hold its place for good, so both are cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from twolaned.model.errors import InvalidInput, TwolaneError

T = TypeVar("T")
Context = aio.ServicerContext[Any, Any]
# Only the stubs make this class generic.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class ClientStalled(TwolaneError):
    """A client that neither reads nor sends."""


def parser(handler: Handler, patience: float | None) -> Callable[[Any], Any]:
    """What makes the request, or the iterator of requests, of *handler* from bytes.

    The next request of a stream may take *patience* seconds, None for any time.
    """
    deserialize = handler.request_deserializer

    def parse(data: bytes) -> Any:
        if deserialize is None:
            return data
        try:
            return deserialize(data)
        except (DecodeError, ValueError) as e:
            raise InvalidInput(
                "request",
                "The request is not a message of the kind that this method takes.",
                reason="MALFORMED_REQUEST",
            ) from e

    async def parse_each(stream: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        messages = aiter(stream)
        while (data := await _sent(anext(messages, None), patience)) is not None:
            yield parse(data)

    return parse_each if handler.request_streaming else parse


async def open_answers(context: Context) -> None:
    """Send the headers of a stream, to their end even if the call is cancelled meanwhile.

    gRPC would send them with the first message, and could not end a call that is stuck in it.
    """
    sending = asyncio.ensure_future(context.send_initial_metadata(()))
    try:
        await asyncio.shield(sending)
    except asyncio.CancelledError:
        await asyncio.wait({sending})
        raise


async def written(context: Context, message: Any, patience: float) -> None:
    """Send *message*. Raises ClientStalled if it is not taken within *patience* seconds."""
    try:
        async with asyncio.timeout(patience):
            await context.write(message)
    except TimeoutError as e:
        raise ClientStalled(
            f"The client did not read for {patience:g} s, and the call was ended. Read the answers"
            " as they come.",
            reason="CLIENT_NOT_READING",
            seconds=f"{patience:g}",
        ) from e


async def _sent(message: Awaitable[T], patience: float | None) -> T:
    try:
        async with asyncio.timeout(patience):
            return await message
    except TimeoutError as e:
        raise ClientStalled(
            f"The client sent nothing for {patience:g} s, and the call was ended. Nothing of it is"
            " kept. Try again.",
            reason="CLIENT_SILENT",
            seconds=f"{patience:g}",
        ) from e
