"""The one interceptor, over all four shapes of a call.

It parses requests itself: gRPC would send a client the text of whatever a deserializer or a
handler raises. Answers of a stream are written one by one, so that a cancelled call unwinds its
handler at once and in order.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeAlias

import grpc
from grpc import aio

from twolaned.model.errors import StoreError, TwolaneError, Unavailable
from twolaned.server.interceptors.gate import WATCHING, Gate
from twolaned.server.interceptors.messages import (
    ClientStalled,
    Context,
    Handler,
    open_answers,
    parser,
    written,
)
from twolaned.server.interceptors.statuses import (
    Unauthenticated,
    code_of,
    internal_status,
    status_of,
)
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.tcp import shows
from twolaned.services.call import Call, current_call

log = logging.getLogger(__name__)

REQUEST_ID = "x-request-id"
CLIENT = "x-client"
AUTHORIZATION = "authorization"
MAX_CLIENT = 100
"""Characters of a client's name in the log."""

_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_API = "/twolane.v1."
_UNIX = "unix:"

PATIENCE = 60.0
"""Seconds for which a client may neither read nor send."""
ABORT_PATIENCE = 1.0
"""Seconds for which an end may wait behind messages that a client does not read."""

Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]"


class CallInterceptor(aio.ServerInterceptor):
    """Gives each call an id, a place behind *gate* and a line in the log, and errors a status.

    Where there is a *token*, whoever does not come over the Unix socket must show it. A client
    that neither reads nor sends for *patience* seconds is cut off.
    """

    def __init__(
        self,
        gate: Gate,
        errors: RecentErrors,
        token: str | None = None,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._gate = gate
        self._errors = errors
        self._token = token
        self._patience = patience
        self._stopping = False
        self._watchers: set[asyncio.Task[Any]] = set()
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def drain(self, grace: float) -> None:
        """Refuse new calls, and wait at most *grace* seconds for the running ones to finish.

        Those that only watch, and would never end by themselves, are ended.
        """
        self._stopping = True
        for task in self._watchers:
            task.cancel()
        try:
            async with asyncio.timeout(grace):
                await self._idle.wait()
        except TimeoutError:
            log.warning("%d calls did not finish within %.1f s", self._running, grace)

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Wrap the handler of one call."""
        handler = await continuation(handler_call_details)
        metadata = {key: str(value) for key, value in handler_call_details.invocation_metadata}
        call = _begun(handler_call_details.method, metadata)
        # Judged here, so that the token is in no object that might be logged.
        trusted = self._token is None or shows(self._token, metadata.get(AUTHORIZATION, ""))
        return self._wrapped(handler or _UNKNOWN_METHOD, call, trusted=trusted)

    def _wrapped(self, handler: Handler, call: Call, *, trusted: bool) -> Handler:
        behaviour = _behaviour(handler)
        # Reflection panels stay open, and cost nothing while they are silent.
        parse = parser(handler, self._patience if call.method.startswith(_API) else None)

        async def answer(request: Any, context: Context) -> Any:
            async with self._answering(call, context, trusted=trusted):
                return await behaviour(parse(request), context)

        async def answer_stream(request: Any, context: Context) -> None:
            async with self._answering(call, context, trusted=trusted):
                answers = behaviour(parse(request), context)
                if inspect.isawaitable(answers):  # it writes its answers itself
                    await open_answers(context)
                    await answers
                    return
                async with aclosing(answers):
                    is_open = False
                    async for message in answers:
                        if not is_open:
                            await open_answers(context)
                            is_open = True
                        await written(context, message, self._patience)

        make = _MAKERS[bool(handler.request_streaming), bool(handler.response_streaming)]
        function = answer_stream if handler.response_streaming else answer
        return make(function, response_serializer=handler.response_serializer)  # type: ignore[no-any-return]

    @asynccontextmanager
    async def _answering(
        self, call: Call, context: Context, *, trusted: bool
    ) -> AsyncIterator[None]:
        """Around the handler: everything that it raises becomes a status."""
        current_call.set(call)
        metadata = ((REQUEST_ID, call.request_id),)
        context.set_trailing_metadata(metadata)
        code = grpc.StatusCode.OK
        self._running += 1
        self._idle.clear()
        try:
            self._admit(call, context, trusted=trusted)
            async with self._gate.place(call.method):
                yield
        except aio.AbortError:
            code = _code(context)
            raise
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            if asyncio.current_task() in self._watchers and self._stopping:
                await _abort(context, status_of(_stopping()), metadata)
            raise
        except _DeadlineExpired:
            code = grpc.StatusCode.DEADLINE_EXCEEDED
            await context.abort(code, "The deadline had passed before the call began.", metadata)
        except TwolaneError as e:
            code = code_of(e)
            self._report(call, e, code)
            await _abort(context, status_of(e), metadata)
        except Exception:
            code = grpc.StatusCode.INTERNAL
            log.exception("%s failed, request %s", call.method, call.request_id)
            self._errors.add(call.method, f"An internal error; the log has {call.request_id}.")
            await _abort(context, internal_status(), metadata)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()
            self._watchers.discard(_task())
            _log_access(call, code)

    def _admit(self, call: Call, context: Context, *, trusted: bool) -> None:
        if not trusted and not context.peer().startswith(_UNIX):
            raise Unauthenticated(
                "Calls over TCP need the metadata `authorization: Bearer TOKEN`. The token lies in"
                " the file that `server.token_file` names, by default `token` in the data folder."
            )
        if self._stopping:
            raise _stopping()
        remaining: float | None = context.time_remaining()
        if remaining is not None and remaining <= 0:
            raise _DeadlineExpired
        if call.method in WATCHING or not call.method.startswith(_API):
            self._watchers.add(_task())

    def _report(self, call: Call, error: TwolaneError, code: grpc.StatusCode) -> None:
        if isinstance(error, StoreError) or code is grpc.StatusCode.INTERNAL:
            log.error("%s: %s, request %s", call.method, error, call.request_id, exc_info=error)
            self._errors.add(call.method, error.message)
        elif isinstance(error, Unavailable | ClientStalled):
            log.warning("%s: %s, request %s", call.method, error, call.request_id)


class _DeadlineExpired(Exception):
    """The caller has stopped waiting."""


_MAKERS: dict[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


def _behaviour(handler: Handler) -> Callable[[Any, Context], Any]:
    function: Any = (
        handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    )
    return function  # type: ignore[no-any-return]


def _begun(method: str, metadata: Mapping[str, str]) -> Call:
    """The call of *method* that *metadata* came with."""
    request_id = metadata.get(REQUEST_ID, "")
    if not _ID.fullmatch(request_id):
        request_id = uuid.uuid4().hex
    return Call(method, request_id, metadata.get(CLIENT, "")[:MAX_CLIENT])


async def _unknown_method(_: Any, context: Context) -> None:
    call = current_call.get()
    assert call is not None, "the interceptor has said what call it is"
    await context.abort(
        grpc.StatusCode.UNIMPLEMENTED,
        f"This daemon has no method {call.method}. Is it older than the client?",
    )


_UNKNOWN_METHOD: Handler = grpc.stream_stream_rpc_method_handler(_unknown_method)
"""Takes and gives any number of messages, so that it fits whatever the client believes."""


async def _abort(
    context: Context, status: grpc.Status, metadata: tuple[tuple[str, str], ...]
) -> None:
    try:
        async with asyncio.timeout(ABORT_PATIENCE):
            await context.abort(status.code, status.details, (*status.trailing_metadata, *metadata))
    except TimeoutError:
        # It is on its way behind what the client does not read; nobody here need wait.
        raise aio.AbortError from None


def _stopping() -> Unavailable:
    return Unavailable(
        "The daemon is stopping. Try again when it has started anew.", reason="SHUTTING_DOWN"
    )


def _task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None, "a call has a task"
    return task


def _code(context: Context) -> grpc.StatusCode:
    """The code that a handler has set by itself."""
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code
    return next((c for c in grpc.StatusCode if c.value[0] == code), grpc.StatusCode.UNKNOWN)


def _log_access(call: Call, code: grpc.StatusCode) -> None:
    log.debug(
        "%s %s %.1f ms, request %s, client %s",
        call.method,
        code.name,
        call.seconds() * 1e3,
        call.request_id,
        call.client or "-",
    )
