from __future__ import annotations

import asyncio
import random

import pytest

from twolaned.embedding.flights import Flight, Flights


class Call:
    """A call that ends when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.cancelled = False
        self.begun = asyncio.Event()

    async def run(self, *keys: str) -> dict[str, str]:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return {key: key.upper() for key in keys}


async def wait_for(flights: Flights[str, str], flight: Flight[str, str]) -> str:
    with flights.joined((flight,)):
        await asyncio.wait({flight.task})
    return flight.task.result()["a"]


async def test_everybody_gets_the_value_of_one_call() -> None:
    """Whoever finds it under way waits for it; then it is forgotten."""
    flights: Flights[str, str] = Flights()
    call = Call()
    flight = flights.start(["a", "b"], call.run("a", "b"))
    waiters = [asyncio.create_task(wait_for(flights, flight)) for _ in range(3)]
    await call.begun.wait()
    assert (flight, flight, None) == (flights.find("a"), flights.find("b"), flights.find("c"))

    call.go.set()

    assert ["A"] * 3 == await asyncio.gather(*waiters)
    assert (None, 0) == (flights.find("a"), flights.under_way)


async def test_only_the_last_to_leave_cancels() -> None:
    """The others still get their value."""
    flights: Flights[str, str] = Flights()
    call = Call()
    flight = flights.start(["a"], call.run("a"))
    first, second, third = (asyncio.create_task(wait_for(flights, flight)) for _ in range(3))
    await call.begun.wait()

    first.cancel()
    second.cancel()
    await asyncio.wait({first, second})
    assert flights.find("a") is flight
    assert not call.cancelled

    third.cancel()
    await asyncio.wait({third, flight.task})
    assert call.cancelled


async def test_nobody_joins_a_call_that_is_being_cancelled() -> None:
    """Its key is free at once, though the call takes a moment to end."""
    flights: Flights[str, str] = Flights()
    call = Call()
    flight = flights.start(["a"], call.run("a"))
    with flights.joined((flight,)):
        await call.begun.wait()

    assert (None, 1, False) == (flights.find("a"), flights.under_way, flight.task.done())
    await asyncio.wait({flight.task})


async def test_a_new_call_for_a_key_outlives_the_end_of_the_old() -> None:
    """What the old call does in the end does not touch the new one."""
    flights: Flights[str, str] = Flights()
    old, new = Call(), Call()
    first = flights.start(["a"], old.run("a"))
    with flights.joined((first,)):
        await old.begun.wait()
    second = flights.start(["a"], new.run("a"))
    with flights.joined((second,)):
        await asyncio.wait({first.task})

        assert flights.find("a") is second
        new.go.set()
        await asyncio.wait({second.task})
    assert {"a": "A"} == second.task.result()


async def test_a_kept_call_goes_on_for_a_while() -> None:
    """It ends with its value, or by time."""
    flights: Flights[str, str] = Flights()
    call, slow = Call(), Call()
    one = flights.start(["a"], call.run("a"))
    with flights.joined((one,)):
        flights.keep(one, 60.0, at_most=8)
    two = flights.start(["b"], slow.run("b"))
    with flights.joined((two,)):
        flights.keep(two, 0.02, at_most=8)
    assert 2 == flights.kept

    call.go.set()
    await asyncio.wait({one.task, two.task}, timeout=5)

    assert {"a": "A"} == one.task.result()
    assert two.task.cancelled()
    assert (0, 0) == (flights.kept, flights.under_way)


async def test_not_too_many_calls_are_kept() -> None:
    """One more ends when it is left."""
    flights: Flights[str, str] = Flights()
    calls = [Call() for _ in range(3)]
    made = []
    for number, call in enumerate(calls):
        flight = flights.start([str(number)], call.run())
        made.append(flight)
        with flights.joined((flight,)):
            await call.begun.wait()
            flights.keep(flight, 60.0, at_most=2)

    await asyncio.wait({made[2].task})

    assert (2, True) == (flights.kept, calls[2].cancelled)
    await flights.aclose()
    assert [True] * 3 == [call.cancelled for call in calls]
    assert (0, 0) == (flights.kept, flights.under_way)


async def test_a_failure_that_nobody_waited_for_is_no_noise() -> None:
    """A kept call may fail; the loop does not complain of an exception that nobody took."""
    flights: Flights[str, str] = Flights()
    complaints: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))

    async def fail() -> dict[str, str]:
        raise RuntimeError("broken")

    try:
        flight = flights.start(["a"], fail())
        with flights.joined((flight,)):
            flights.keep(flight, 60.0, at_most=8)
        await asyncio.wait({flight.task})
        del flight
        await flights.aclose()
    finally:
        loop.set_exception_handler(None)

    assert [] == complaints


@pytest.mark.parametrize("seed", range(20))
async def test_under_any_coming_and_going(seed: int) -> None:
    """A key has one call, besides one that is ending; who waits has a value; nothing is left."""
    draw = random.Random(seed)
    flights: Flights[str, str] = Flights()
    running: dict[str, int] = {}
    cancelled = 0

    async def call(key: str, steps: int) -> dict[str, str]:
        nonlocal cancelled
        running[key] = running.get(key, 0) + 1
        try:
            for _ in range(steps):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            cancelled += 1
            raise
        finally:
            running[key] -= 1
        return {key: key.upper()}

    async def wait(key: str, steps: int) -> str:
        flight = flights.find(key)
        if flight is None:
            flight = flights.start([key], call(key, steps))
        with flights.joined((flight,)):
            await asyncio.wait({flight.task})
        return flight.task.result()[key]

    patient: list[tuple[str, asyncio.Task[str]]] = []
    hasty: list[tuple[str, asyncio.Task[str]]] = []
    for _ in range(60):
        key = draw.choice("abc")
        task = asyncio.create_task(wait(key, draw.randrange(6)))
        (patient if draw.random() < 0.5 else hasty).append((key, task))
        if hasty and draw.random() < 0.6:
            draw.choice(hasty)[1].cancel()
        for _ in range(draw.randrange(3)):
            await asyncio.sleep(0)
            assert max(running.values(), default=0) <= 2
    values = await asyncio.gather(*(task for _, task in patient))
    await asyncio.wait([task for _, task in hasty])

    assert [key.upper() for key, _ in patient] == values
    assert 0 == flights.under_way
    assert {0} == set(running.values())
