"""Reading the details of a failed call."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import aio
from grpc_status import rpc_status


async def failure(call: Awaitable[Any]) -> aio.AioRpcError:
    """The error that *call* ends with."""
    with pytest.raises(aio.AioRpcError) as caught:
        await call
    return caught.value


async def collected(stream: Any) -> list[Any]:
    """All messages of *stream*."""
    return [message async for message in stream]


def details(error: grpc.RpcError) -> dict[str, Any]:
    """The details of *error* by the name of their type."""
    status = rpc_status.from_call(error)
    assert status is not None, "no details"
    found = {}
    for detail in status.details:
        name = detail.type_url.rpartition(".")[2]
        message = getattr(error_details_pb2, name)()
        assert detail.Unpack(message)
        found[name] = message
    return found


def violated(error: aio.AioRpcError) -> str:
    """The field that *error* names."""
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    (violation,) = details(error)["BadRequest"].field_violations
    return str(violation.field)


def reason(error: aio.AioRpcError) -> str:
    """The stable word of *error*."""
    return str(details(error)["ErrorInfo"].reason)
