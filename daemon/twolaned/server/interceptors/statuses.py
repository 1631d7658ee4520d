"""From a domain error to a gRPC status with its details (AIP-193)."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from twolaned.model.errors import (
    AlreadyExists,
    DiskFull,
    InvalidInput,
    NotFound,
    NothingImported,
    StoreCorrupt,
    StoreError,
    TwolaneError,
    Unavailable,
)
from twolaned.server.interceptors.messages import ClientStalled

DOMAIN = "twolane.dev"
INTERNAL = "internal error"
"""All that a client hears of an error that nobody meant; the log knows the rest."""

MAX_MESSAGE = 1_000
"""Bytes. A status travels in trailing metadata, of which a client takes in 8 KiB."""
MAX_VALUE = 256
"""Bytes of a variable of the message."""


class Overloaded(Unavailable):
    """Too many calls at once."""

    reason = "TOO_MANY_CALLS"


class Unauthenticated(TwolaneError):
    """A call that does not show the token it needs."""

    reason = "TOKEN_REQUIRED"


_CODES: tuple[tuple[type[TwolaneError], grpc.StatusCode], ...] = (
    (InvalidInput, grpc.StatusCode.INVALID_ARGUMENT),
    (NothingImported, grpc.StatusCode.INVALID_ARGUMENT),
    (NotFound, grpc.StatusCode.NOT_FOUND),
    (AlreadyExists, grpc.StatusCode.ALREADY_EXISTS),
    (Unauthenticated, grpc.StatusCode.UNAUTHENTICATED),
    (Overloaded, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (ClientStalled, grpc.StatusCode.DEADLINE_EXCEEDED),
    (Unavailable, grpc.StatusCode.UNAVAILABLE),
    (DiskFull, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (StoreCorrupt, grpc.StatusCode.DATA_LOSS),
    (StoreError, grpc.StatusCode.FAILED_PRECONDITION),
)
"""The first class that an error is of decides."""


def code_of(error: TwolaneError) -> grpc.StatusCode:
    """The status code that says what kind of error *error* is."""
    return next(
        (code for kind, code in _CODES if isinstance(error, kind)), grpc.StatusCode.INTERNAL
    )


def status_of(error: TwolaneError) -> grpc.Status:
    """The status of *error*: its code, its sentence and its details."""
    message = shortened(error.message, MAX_MESSAGE)
    metadata = {name: shortened(value, MAX_VALUE) for name, value in error.metadata.items()}
    details: list[Message] = [ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)]
    if isinstance(error, InvalidInput):
        violation = BadRequest.FieldViolation(field=error.field, description=message)
        details.append(BadRequest(field_violations=[violation]))
    if isinstance(error, Unavailable):
        delay = Duration()
        delay.FromNanoseconds(int(error.retry_after * 1e9))
        details.append(RetryInfo(retry_delay=delay))
    return _status(code_of(error), message, details)


def internal_status() -> grpc.Status:
    """The status of an error that nobody meant. It says nothing of what went wrong."""
    return _status(
        grpc.StatusCode.INTERNAL, INTERNAL, [ErrorInfo(reason="INTERNAL", domain=DOMAIN)]
    )


def shortened(text: str, limit: int) -> str:
    """*text* in at most *limit* bytes of UTF-8, with an ellipsis where something was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    return data[: limit - 3].decode("utf-8", "ignore") + "…"


def _status(code: grpc.StatusCode, message: str, details: Sequence[Message]) -> grpc.Status:
    status = Status(code=code.value[0], message=message)
    for detail in details:
        status.details.add().Pack(detail)
    made: grpc.Status = rpc_status.to_status(status)
    return made
