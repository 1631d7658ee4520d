"""How a client calls, and the calls that are about the daemon itself and what it keeps."""

# ruff: noqa: ASYNC109  a call's timeout is its deadline, and the daemon is told of it

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

import grpc
from grpc import aio

from twolane import calls
from twolane._status import error_from
from twolane.v1 import admin_service_pb2, admin_service_pb2_grpc

_Q = TypeVar("_Q")
_A = TypeVar("_A")


class Administration:
    """The part of `twolane.client.Client` that asks and tells the daemon of itself."""

    _timeout: float | None
    _metadata: calls.Metadata
    _admin: admin_service_pb2_grpc.AdminServiceStub

    def status(self, *, timeout: float | None = None) -> admin_service_pb2.StatusResponse:
        """Return how the daemon is."""
        request = admin_service_pb2.StatusRequest()
        return self._unary(self._admin.Status, request, timeout, calls.STATUS)

    def watch_status(
        self, *, timeout: float | None = None
    ) -> Iterator[admin_service_pb2.StatusResponse]:
        """Yield how the daemon is, now and whenever it has changed, until you stop."""
        request = admin_service_pb2.WatchStatusRequest()
        for reply in self._stream(self._admin.WatchStatus, request, timeout):
            yield reply.status

    def backup(
        self, path: str | os.PathLike[str], *, timeout: float | None = None
    ) -> Iterator[admin_service_pb2.BackupResponse]:
        """Copy the archive to the new folder *path*; yield progress, last with ``done``.

        Leaving the loop early ends the copying, and nothing of it stays.
        """
        request = admin_service_pb2.BackupRequest(path=os.path.abspath(path))  # noqa: PTH100
        return self._stream(self._admin.Backup, request, timeout, calls.BACKUP)

    def shutdown(
        self, *, grace: float = 5.0, timeout: float | None = None
    ) -> admin_service_pb2.ShutdownResponse:
        """Stop the daemon; running calls get *grace* seconds. It is gone when its process is."""
        request = admin_service_pb2.ShutdownRequest()
        request.grace.FromMilliseconds(round(grace * 1000))
        return self._unary(self._admin.Shutdown, request, timeout, grace + calls.STATUS)

    def _seconds(self, timeout: float | None, default: float) -> float | None:
        return calls.seconds(timeout, self._timeout, default)

    def _unary(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Q, _A],
        request: _Q,
        timeout: float | None,
        default: float,
    ) -> _A:
        try:
            return method(request, timeout=self._seconds(timeout, default), metadata=self._metadata)
        except grpc.RpcError as call:
            raise error_from(call) from None

    def _stream(
        self,
        method: grpc.UnaryStreamMultiCallable[_Q, _A] | grpc.StreamStreamMultiCallable[_Q, _A],
        request: _Q | Iterator[_Q],
        timeout: float | None,
        default: float = math.inf,
    ) -> Iterator[_A]:
        call = method(
            request,  # type: ignore[arg-type]  # one or a stream, as the method wants it
            timeout=self._seconds(timeout, default),
            metadata=self._metadata,
        )
        try:
            yield from call
        except grpc.RpcError as error:
            raise error_from(error) from None
        finally:
            call.cancel()


class AsyncAdministration:
    """The same of `twolane.aio.AsyncClient`."""

    _timeout: float | None
    _metadata: calls.Metadata
    _admin: admin_service_pb2_grpc.AdminServiceAsyncStub

    async def status(self, *, timeout: float | None = None) -> admin_service_pb2.StatusResponse:
        """Return how the daemon is."""
        request = admin_service_pb2.StatusRequest()
        return await self._unary(self._admin.Status, request, timeout, calls.STATUS)

    async def watch_status(
        self, *, timeout: float | None = None
    ) -> AsyncIterator[admin_service_pb2.StatusResponse]:
        """Yield how the daemon is, now and whenever it has changed, until you stop."""
        request = admin_service_pb2.WatchStatusRequest()
        async for reply in self._stream(self._admin.WatchStatus, request, timeout):
            yield reply.status

    def backup(
        self, path: str | os.PathLike[str], *, timeout: float | None = None
    ) -> AsyncIterator[admin_service_pb2.BackupResponse]:
        """Copy the archive to the new folder *path*; yield progress, last with ``done``.

        Leaving the loop early ends the copying, and nothing of it stays.
        """
        request = admin_service_pb2.BackupRequest(path=os.path.abspath(path))  # noqa: PTH100
        return self._stream(self._admin.Backup, request, timeout, calls.BACKUP)

    async def shutdown(
        self, *, grace: float = 5.0, timeout: float | None = None
    ) -> admin_service_pb2.ShutdownResponse:
        """Stop the daemon; running calls get *grace* seconds. It is gone when its process is."""
        request = admin_service_pb2.ShutdownRequest()
        request.grace.FromMilliseconds(round(grace * 1000))
        return await self._unary(self._admin.Shutdown, request, timeout, grace + calls.STATUS)

    def _seconds(self, timeout: float | None, default: float) -> float | None:
        return calls.seconds(timeout, self._timeout, default)

    async def _unary(
        self,
        method: aio.UnaryUnaryMultiCallable[_Q, _A],
        request: _Q,
        timeout: float | None,
        default: float,
    ) -> _A:
        try:
            return await method(
                request, timeout=self._seconds(timeout, default), metadata=self._metadata
            )
        except grpc.RpcError as call:
            raise error_from(call) from None

    async def _stream(
        self,
        method: aio.UnaryStreamMultiCallable[_Q, _A] | aio.StreamStreamMultiCallable[_Q, _A],
        request: _Q | Iterator[_Q] | AsyncIterator[_Q],
        timeout: float | None,
        default: float = math.inf,
    ) -> AsyncIterator[_A]:
        call = method(
            request,  # type: ignore[arg-type]  # one or a stream, as the method wants it
            timeout=self._seconds(timeout, default),
            metadata=self._metadata,
        )
        try:
            async for answer in call:
                yield answer
        except grpc.RpcError as error:
            raise error_from(error) from None
        finally:
            call.cancel()
