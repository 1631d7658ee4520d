"""From a gRPC status to an error of this package."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from twolane import errors

DOMAIN = "twolane.dev"
"""The domain of the daemon's own error details: an error without them is gRPC's."""

REQUEST_ID = "x-request-id"

_BY_CODE: dict[grpc.StatusCode, type[errors.TwolaneError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidRequest,
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidRequest,
    grpc.StatusCode.NOT_FOUND: errors.NotFound,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: errors.Refused,
    grpc.StatusCode.PERMISSION_DENIED: errors.Refused,
    grpc.StatusCode.UNAUTHENTICATED: errors.Refused,
    grpc.StatusCode.ABORTED: errors.TryAgain,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.TryAgain,
    grpc.StatusCode.UNAVAILABLE: errors.TryAgain,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    grpc.StatusCode.CANCELLED: errors.Cancelled,
    grpc.StatusCode.DATA_LOSS: errors.StoreDamaged,
}

_BY_REASON: dict[str, type[errors.TwolaneError]] = {
    "NOTHING_IMPORTED": errors.NothingImported,
    "CONFIG_INVALID": errors.ConfigError,
}

_SENTENCES = {
    grpc.StatusCode.UNAVAILABLE: "The daemon does not answer.",
    grpc.StatusCode.DEADLINE_EXCEEDED: "The time for the call was up; allow more, or try again.",
    grpc.StatusCode.CANCELLED: "The call was cancelled.",
    grpc.StatusCode.UNIMPLEMENTED: (
        "The running daemon does not know this call: it is older than this client."
        " Run `twolane daemon restart`."
    ),
    grpc.StatusCode.RESOURCE_EXHAUSTED: "The message is larger than the daemon accepts.",
}
"""What is said where gRPC itself, not the daemon, ended the call."""


def error_from(call: grpc.RpcError) -> errors.TwolaneError:
    """Return the error of this package that says what *call*, a failed call, ended with."""
    assert isinstance(call, grpc.Call | grpc.aio.AioRpcError), f"not a call's error: {call!r}"
    code = call.code() or grpc.StatusCode.UNKNOWN
    message = call.details() or ""
    info = error_details_pb2.ErrorInfo()
    violations: list[errors.Violation] = []
    retry_after: float | None = None
    for detail in _details(call):
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            detail.Unpack(info)
        elif detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            bad = error_details_pb2.BadRequest()
            detail.Unpack(bad)
            violations += [errors.Violation(v.field, v.description) for v in bad.field_violations]
        elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            retry = error_details_pb2.RetryInfo()
            detail.Unpack(retry)
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    ours = info.domain == DOMAIN
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(code, errors.DaemonFailed)
    if code is grpc.StatusCode.UNAVAILABLE and not ours:
        kind = errors.DaemonUnavailable
    if not ours:
        message = _SENTENCES.get(code, message or "The daemon failed.")
    return kind(
        message,
        code=code.name,
        reason=info.reason if ours else "",
        metadata=dict(info.metadata),
        violations=violations,
        retry_after=retry_after,
        request_id=_request_id(call),
    )


def _details(call: grpc.RpcError) -> Iterable:  # type: ignore[type-arg]
    try:
        status = rpc_status.from_call(call)
    except ValueError:  # a status of gRPC's own, such as a deadline, over the daemon's details
        return ()
    return status.details if status else ()


def _request_id(call: grpc.Call | grpc.aio.AioRpcError) -> str:
    for key, value in call.trailing_metadata() or ():
        if key == REQUEST_ID:
            return value.decode("ascii", "replace") if isinstance(value, bytes) else value
    return ""
