"""Single flight: who asks for what is already under way waits for that."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Flight(Generic[K, V]):
    """One call for several keys. Its *task* returns each key's value, or raises."""

    __slots__ = ("keys", "task", "waiters")

    def __init__(self, keys: tuple[K, ...], task: asyncio.Task[Mapping[K, V]]) -> None:
        self.keys = keys
        self.task = task
        self.waiters = 0


class Flights(Generic[K, V]):
    """All calls under way. A call lives as long as somebody waits for it."""

    def __init__(self) -> None:
        self._by_key: dict[K, Flight[K, V]] = {}
        self._tasks: set[asyncio.Task[Mapping[K, V]]] = set()
        self._kept = 0

    @property
    def under_way(self) -> int:
        """How many calls there are."""
        return len(self._tasks)

    @property
    def kept(self) -> int:
        """How many of them go on with nobody waiting."""
        return self._kept

    def find(self, key: K) -> Flight[K, V] | None:
        """The call that will have the value of *key*, if there is one."""
        flight = self._by_key.get(key)
        return None if flight is None or flight.task.done() else flight

    def start(self, keys: Iterable[K], call: Coroutine[Any, Any, Mapping[K, V]]) -> Flight[K, V]:
        """Start *call* for *keys*. Whoever starts it joins it before the next await."""
        task = asyncio.get_running_loop().create_task(call)
        flight = Flight(tuple(keys), task)
        self._by_key.update(dict.fromkeys(flight.keys, flight))
        self._tasks.add(task)

        def ended(task: asyncio.Task[Mapping[K, V]]) -> None:
            self._tasks.discard(task)
            self._forget(flight)
            if not task.cancelled():
                task.exception()  # whoever waited has it; without waiters it is of no use

        task.add_done_callback(ended)
        return flight

    @contextmanager
    def joined(self, flights: Iterable[Flight[K, V]]) -> Iterator[None]:
        """Wait for *flights* inside; the last one to leave an unfinished call cancels it."""
        joined = tuple(flights)
        for flight in joined:
            flight.waiters += 1
        try:
            yield
        finally:
            for flight in joined:
                self._leave(flight)

    def keep(self, flight: Flight[K, V], seconds: float, *, at_most: int) -> None:
        """Let *flight* go on for *seconds* with nobody waiting, unless *at_most* already do."""
        if self._kept >= at_most or flight.task.done():
            return
        self._kept += 1
        flight.waiters += 1
        released = False

        def release(_: object = None) -> None:
            nonlocal released
            if not released:
                released = True
                timer.cancel()
                self._kept -= 1
                self._leave(flight)

        timer = asyncio.get_running_loop().call_later(seconds, release)
        flight.task.add_done_callback(release)

    async def aclose(self) -> None:
        """Cancel all calls and wait until they are gone."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _leave(self, flight: Flight[K, V]) -> None:
        flight.waiters -= 1
        if flight.waiters == 0 and not flight.task.done():
            # Nobody may join a call that is about to end without a value.
            self._forget(flight)
            flight.task.cancel()

    def _forget(self, flight: Flight[K, V]) -> None:
        for key in flight.keys:
            if self._by_key.get(key) is flight:
                del self._by_key[key]
