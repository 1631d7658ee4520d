"""What the interceptor does around calls of all four shapes, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from tests.support.details import details, failure
from tests.support.sockets import served
from twolaned.model import errors
from twolaned.server.interceptors import CallInterceptor, Gate
from twolaned.server.recent_errors import RecentErrors
from twolaned.services.call import Call, current_call

SERVICE = "twolane.v1.TestService"
SHAPES = ("UnaryUnary", "UnaryStream", "StreamUnary", "StreamStream")
SECRET = "secret detail in /home/ada"

ERRORS: dict[str, tuple[Exception, grpc.StatusCode]] = {
    "invalid": (
        errors.InvalidInput("query", "Too long.", reason="TOO_LONG", limit="8"),
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    "not found": (errors.NotFound("No.", id="x"), grpc.StatusCode.NOT_FOUND),
    "exists": (errors.AlreadyExists("It is there."), grpc.StatusCode.ALREADY_EXISTS),
    "nothing": (errors.NothingImported("Nothing."), grpc.StatusCode.INVALID_ARGUMENT),
    "unavailable": (errors.Unavailable("Wait.", retry_after=2.5), grpc.StatusCode.UNAVAILABLE),
    "full": (errors.DiskFull("Full."), grpc.StatusCode.RESOURCE_EXHAUSTED),
    "corrupt": (
        errors.StoreCorrupt("Damaged. Run `twolane doctor`."),
        grpc.StatusCode.DATA_LOSS,
    ),
    "store": (errors.StoreTooNew("Too new."), grpc.StatusCode.FAILED_PRECONDITION),
    "ours": (errors.TwolaneError("Our fault."), grpc.StatusCode.INTERNAL),
    "bug": (ValueError(SECRET), grpc.StatusCode.INTERNAL),
    "key": (KeyError(SECRET), grpc.StatusCode.INTERNAL),
}


class House:
    """A service of four shapes. The request's text says what becomes of the call."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.entered = asyncio.Event()
        self.left = asyncio.Event()
        self.go = asyncio.Event()
        self.calls: list[Call | None] = []
        self.channel: aio.Channel
        self.errors = RecentErrors()
        self.interceptor = CallInterceptor(Gate(calls=2, queued=1, bulk=1), self.errors)

    async def answer(self, text: str) -> StringValue:
        self.begun.append(text)
        self.calls.append(current_call.get())
        if text in ERRORS:
            raise ERRORS[text][0]
        if text == "wait":
            self.entered.set()
            try:
                await self.go.wait()
            finally:
                self.left.set()
        return StringValue(value=text.upper())

    async def unary_unary(self, request: StringValue, _: Any) -> StringValue:
        return await self.answer(request.value)

    async def unary_stream(self, request: StringValue, _: Any) -> AsyncIterator[StringValue]:
        yield StringValue(value="first")
        yield await self.answer(request.value)

    async def stream_unary(self, requests: AsyncIterator[StringValue], _: Any) -> StringValue:
        return await self.answer("".join([r.value async for r in requests]))

    async def stream_stream(
        self, requests: AsyncIterator[StringValue], _: Any
    ) -> AsyncIterator[StringValue]:
        async for request in requests:
            yield await self.answer(request.value)

    def register(self, server: aio.Server) -> None:
        codec = {
            "request_deserializer": StringValue.FromString,
            "response_serializer": StringValue.SerializeToString,
        }
        handlers = {
            "UnaryUnary": grpc.unary_unary_rpc_method_handler(self.unary_unary, **codec),
            "UnaryStream": grpc.unary_stream_rpc_method_handler(self.unary_stream, **codec),
            "StreamUnary": grpc.stream_unary_rpc_method_handler(self.stream_unary, **codec),
            "StreamStream": grpc.stream_stream_rpc_method_handler(self.stream_stream, **codec),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)

    def call(self, shape: str, data: bytes, **options: Any) -> Any:
        """Begin a call with *data* as its one request; the answers are text."""
        method = f"/{SERVICE}/{shape}"
        decode = lambda raw: StringValue.FromString(raw).value  # noqa: E731
        make = {
            "UnaryUnary": self.channel.unary_unary,
            "UnaryStream": self.channel.unary_stream,
            "StreamUnary": self.channel.stream_unary,
            "StreamStream": self.channel.stream_stream,
        }[shape]
        call: Any = make(method, response_deserializer=decode)  # type: ignore[operator]
        return call(data if shape.startswith("Unary") else iter([data]), **options)

    async def answers(self, shape: str, text: str, **options: Any) -> list[str]:
        call = self.call(shape, StringValue(value=text).SerializeToString(), **options)
        if shape.endswith("Unary"):
            return [await call]
        return [answer async for answer in call]

    async def failure(self, shape: str, text: str, **options: Any) -> aio.AioRpcError:
        return await failure(self.answers(shape, text, **options))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    async with served(house.register, interceptors=[house.interceptor]) as channel:
        house.channel = channel
        yield house


def request_id(metadata: Any) -> str:
    return str(dict(metadata)["x-request-id"])


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_answer_passes(house: House, shape: str) -> None:
    """Without an error the interceptor is not to be seen."""
    wanted = ["first", "HELLO"] if shape == "UnaryStream" else ["HELLO"]

    assert wanted == await house.answers(shape, "hello")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_becomes_a_status(house: House, shape: str, name: str) -> None:
    """Each kind has its code, and details that a program can read."""
    raised, code = ERRORS[name]

    error = await house.failure(shape, name)

    found = details(error)
    info = found["ErrorInfo"]
    assert (code, "twolane.dev") == (error.code(), info.domain)
    assert request_id(error.trailing_metadata())
    if isinstance(raised, errors.TwolaneError):
        assert raised.message == error.details()
        assert (raised.reason, raised.metadata) == (info.reason, dict(info.metadata))
    else:
        assert ("internal error", "INTERNAL") == (error.details(), info.reason)
    assert (name == "invalid") is ("BadRequest" in found)
    assert (name == "unavailable") is ("RetryInfo" in found)


async def test_the_details_name_field_and_delay(house: House) -> None:
    """A client can mark the field and knows how long to wait."""
    invalid = details(await house.failure("UnaryUnary", "invalid"))
    unavailable = details(await house.failure("UnaryUnary", "unavailable"))

    (violation,) = invalid["BadRequest"].field_violations
    assert ("query", "Too long.") == (violation.field, violation.description)
    assert {"field": "query", "limit": "8"} == dict(invalid["ErrorInfo"].metadata)
    assert 2.5 == unavailable["RetryInfo"].retry_delay.ToNanoseconds() / 1e9


@pytest.mark.parametrize("shape", SHAPES)
async def test_nothing_internal_reaches_a_client(
    house: House, shape: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The text of an error that nobody meant stands in the log alone, with the request's id."""
    error = await house.failure(shape, "bug", metadata=(("x-request-id", "abc-1"),))

    assert SECRET not in repr(error)
    assert SECRET in caplog.text
    assert "abc-1" in caplog.text
    assert "abc-1" in house.errors.newest_first()[0].message


@pytest.mark.parametrize("shape", SHAPES)
async def test_bytes_that_are_no_message_are_the_callers_fault(house: House, shape: str) -> None:
    """Malformed requests are INVALID_ARGUMENT and nothing is run."""
    call = house.call(shape, b"\x0a\xff\xff")
    with pytest.raises(aio.AioRpcError) as caught:
        await consume(call, shape)

    assert grpc.StatusCode.INVALID_ARGUMENT == caught.value.code()
    assert "MALFORMED_REQUEST" == details(caught.value)["ErrorInfo"].reason
    assert [] == house.begun


async def test_fields_that_are_not_known_are_no_fault(house: House) -> None:
    """A newer client may say more than this daemon understands."""
    data = StringValue(value="hello").SerializeToString() + b"\x78\x01"

    assert "HELLO" == await house.call("UnaryUnary", data)


async def test_a_method_that_there_is_not_says_so(house: House) -> None:
    """Even then the call has an id."""
    error = await failure(house.channel.unary_unary(f"/{SERVICE}/Missing")(b""))

    assert grpc.StatusCode.UNIMPLEMENTED == error.code()
    assert f"/{SERVICE}/Missing" in (error.details() or "")
    assert request_id(error.trailing_metadata())


async def test_the_callers_id_comes_back(house: House) -> None:
    """A good id is kept, a bad one is replaced; success carries it too."""
    call = house.call("UnaryUnary", b"", metadata=(("x-request-id", "my.id-7"),))
    await call
    assert "my.id-7" == request_id(await call.trailing_metadata())

    for bad in ("", "two words", "x" * 129):
        call = house.call("UnaryUnary", b"", metadata=(("x-request-id", bad),))
        await call
        assert re.fullmatch("[0-9a-f]{32}", request_id(await call.trailing_metadata()))


@pytest.mark.parametrize("shape", SHAPES)
async def test_every_shape_of_call_carries_its_id(house: House, shape: str) -> None:
    """Also when all went well."""
    call = house.call(shape, b"", metadata=(("x-request-id", shape),))
    await consume(call, shape)

    assert shape == request_id(await call.trailing_metadata())


async def test_a_handlers_own_abort_keeps_its_code_and_the_id(house: House) -> None:
    """Health answers NOT_FOUND by itself for a service it does not know."""
    stub = health_pb2_grpc.HealthStub(house.channel)

    error = await failure(stub.Check(health_pb2.HealthCheckRequest(service="none")))

    assert grpc.StatusCode.NOT_FOUND == error.code()
    assert request_id(error.trailing_metadata())


async def test_a_handler_that_writes_by_itself_is_served(house: House) -> None:
    """Health's Watch writes its answers instead of yielding them."""
    stub = health_pb2_grpc.HealthStub(house.channel)

    watch = stub.Watch(health_pb2.HealthCheckRequest())

    assert health_pb2.HealthCheckResponse.SERVING == (await watch.read()).status
    watch.cancel()


async def test_the_handler_knows_its_call(house: House) -> None:
    """Method, id, client and arrival are at hand for whatever works for the call."""
    metadata = (("x-request-id", "r1"), ("x-client", "vscode/1.2"))
    await house.answers("UnaryUnary", "hello", metadata=metadata)

    (call,) = house.calls
    assert call is not None
    assert (f"/{SERVICE}/UnaryUnary", "r1", "vscode/1.2") == (
        call.method,
        call.request_id,
        call.client,
    )
    assert 0 <= call.seconds() < 10


async def test_every_call_has_a_line_in_the_log(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """At debug level: method, code, duration, id, client."""
    caplog.set_level(logging.DEBUG, "twolaned.server.interceptors.calls")
    metadata = (("x-request-id", "r2"), ("x-client", "cli/1"))
    await house.answers("UnaryUnary", "hello", metadata=metadata)
    await house.failure("UnaryStream", "not found", metadata=metadata)

    lines = [r.getMessage() for r in caplog.records if r.levelno == logging.DEBUG]
    assert re.fullmatch(rf"/{SERVICE}/UnaryUnary OK [\d.]+ ms, request r2, client cli/1", lines[0])
    assert "UnaryStream NOT_FOUND" in lines[1]


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_cancelled_call_stops_at_once(house: House, shape: str) -> None:
    """The handler is unwound, and the log says why."""
    call = house.call(shape, StringValue(value="wait").SerializeToString())
    reading = asyncio.ensure_future(consume(call, shape))
    await asyncio.wait_for(house.entered.wait(), 20)
    with logged(f"{shape} CANCELLED") as seen:
        call.cancel()
        await asyncio.wait_for(house.left.wait(), 20)
        await asyncio.wait_for(seen.wait(), 20)
    with pytest.raises((asyncio.CancelledError, aio.AioRpcError)):
        await reading


async def consume(call: Any, shape: str) -> None:
    if shape.endswith("Unary"):
        await call
    else:
        _ = [answer async for answer in call]


async def test_a_deadline_stops_the_handler(house: House) -> None:
    """When the caller's time is up, nothing goes on."""
    error = await house.failure("UnaryUnary", "wait", timeout=0.2)
    await asyncio.wait_for(house.left.wait(), 20)

    assert grpc.StatusCode.DEADLINE_EXCEEDED == error.code()


@contextlib.contextmanager
def logged(text: str) -> Iterator[asyncio.Event]:
    """An event that is set when the interceptor logs a line with *text*."""
    seen = asyncio.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if text in record.getMessage():
                seen.set()

    logger = logging.getLogger("twolaned.server.interceptors.calls")
    handler, level = Handler(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield seen
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


async def test_a_call_whose_time_is_up_in_the_queue_is_never_begun(house: House) -> None:
    """Whoever has stopped waiting costs nothing."""
    calls = [asyncio.ensure_future(house.answers("UnaryUnary", "wait")) for _ in range(2)]
    while house.begun != ["wait", "wait"]:
        await asyncio.wait_for(house.entered.wait(), 20)
        house.entered.clear()
    with logged("CANCELLED") as seen:
        error = await house.failure("UnaryUnary", "late", timeout=0.2)
        await asyncio.wait_for(seen.wait(), 20)
    house.go.set()
    await asyncio.gather(*calls)
    await house.answers("UnaryUnary", "next")

    assert grpc.StatusCode.DEADLINE_EXCEEDED == error.code()
    assert ["wait", "wait", "next"] == house.begun


async def test_a_call_that_arrives_too_late_is_not_begun() -> None:
    """gRPC may hand over a call whose deadline passes at that moment."""
    aborted: list[grpc.StatusCode] = []
    begun: list[object] = []

    class Late:
        """The context of a call that nobody waits for any more."""

        def set_trailing_metadata(self, _: object) -> None:
            pass

        def time_remaining(self) -> float:
            return -0.001

        async def abort(self, code: grpc.StatusCode, *_: object) -> None:
            aborted.append(code)
            raise aio.AbortError

    async def found(_: object) -> Any:
        return grpc.unary_unary_rpc_method_handler(lambda request, _: begun.append(request))

    interceptor = CallInterceptor(Gate(calls=1, queued=1, bulk=1), RecentErrors())
    details: Any = SimpleNamespace(method=f"/{SERVICE}/UnaryUnary", invocation_metadata=())
    handler: Any = await interceptor.intercept_service(found, details)
    with pytest.raises(aio.AbortError):
        await handler.unary_unary(b"", Late())

    assert ([grpc.StatusCode.DEADLINE_EXCEEDED], []) == (aborted, begun)


async def test_too_many_calls_are_refused_and_told_when_to_come_back(house: House) -> None:
    """Two run, one waits, the fourth is refused; when they are done, all goes on."""
    calls = [asyncio.ensure_future(house.answers("UnaryUnary", "wait")) for _ in range(3)]
    await asyncio.wait_for(house.entered.wait(), 20)
    error = None
    while error is None:  # until the three have arrived, this one takes a place itself
        try:
            await house.answers("UnaryUnary", "more", timeout=0.2)
        except aio.AioRpcError as e:
            error = e if e.code() is not grpc.StatusCode.DEADLINE_EXCEEDED else None

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.code()
    found = details(error)
    assert "TOO_MANY_CALLS" == found["ErrorInfo"].reason
    assert found["RetryInfo"].retry_delay.ToNanoseconds() > 0
    stub = health_pb2_grpc.HealthStub(house.channel)
    assert await stub.Check(health_pb2.HealthCheckRequest())  # health is never kept waiting
    house.go.set()
    assert [["WAIT"]] * 3 == await asyncio.gather(*calls)
    assert ["HELLO"] == await house.answers("UnaryUnary", "hello")


async def test_when_stopping_new_calls_are_refused_and_watchers_are_let_go(house: House) -> None:
    """Running calls may finish; one that only watches would never end by itself."""
    running = asyncio.ensure_future(house.answers("UnaryUnary", "wait"))
    await asyncio.wait_for(house.entered.wait(), 20)
    watch = health_pb2_grpc.HealthStub(house.channel).Watch(health_pb2.HealthCheckRequest())
    await watch.read()

    drained = asyncio.create_task(house.interceptor.drain(20))
    await asyncio.sleep(0)

    error = await house.failure("UnaryUnary", "hello")
    assert (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN") == (
        error.code(),
        details(error)["ErrorInfo"].reason,
    )
    assert (await failure(watch.read())).code() is grpc.StatusCode.UNAVAILABLE
    assert not drained.done()
    house.go.set()
    assert ["WAIT"] == await running
    await drained


async def test_draining_takes_no_longer_than_its_grace(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """A call that does not end is said, and no longer waited for."""
    running = asyncio.ensure_future(house.answers("UnaryUnary", "wait"))
    await asyncio.wait_for(house.entered.wait(), 20)

    await house.interceptor.drain(0.01)

    assert "1 calls did not finish" in caplog.text
    house.go.set()
    await running
