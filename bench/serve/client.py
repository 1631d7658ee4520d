"""The measuring client, run as a process of its own: `python -m bench.serve.client SOCKET TASK`.

Reads the task's settings as JSON from standard input and writes its samples as JSON. A sample is
(kind, start, milliseconds); starts are seconds of the system's monotonic clock, which all processes
share.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1 import health_pb2, health_pb2_grpc

from bench.serve.daemon import channel
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import archive_service_pb2_grpc as archive_grpc
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import search_service_pb2_grpc as search_grpc

Sample = tuple[str, float, float]
Settings = dict[str, Any]


class Client:
    """One connection and the calls that are measured. *ids* collects what searches returned."""

    def __init__(self, socket: Path) -> None:
        self._channel = channel(socket)
        self._search = search_grpc.SearchServiceStub(self._channel)
        self._archive = archive_grpc.ArchiveServiceStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)
        self.ids: set[str] = set()

    async def search(self, query: str) -> None:
        """One search to its last message."""
        async for answer in self._search.Search(search.SearchRequest(query=query)):
            self.ids.update(result.id for result in answer.results)

    async def first_message(self, query: str) -> None:
        """One search with a partial answer, to its first message."""
        call = self._search.Search(search.SearchRequest(query=query, partial=True))
        await call.read()
        call.cancel()

    async def save(self, text: str) -> None:
        """Keep one note of *text*."""
        await self._archive.Save(
            archive.SaveRequest(
                source="bench", summary=text[:200], content=text, occurred_at=Timestamp(seconds=1)
            )
        )

    async def open(self, row: str) -> None:
        """Open one row in full, its first page."""
        await self._search.OpenEvidence(search.OpenEvidenceRequest(id=row))

    async def ping(self) -> None:
        """Ask for the health of the whole daemon: what a call costs at the least."""
        await self._health.Check(health_pb2.HealthCheckRequest())

    async def close(self) -> None:
        """Close the connection."""
        await self._channel.close()


async def timed(kind: str, call: Awaitable[None]) -> Sample:
    """Await *call* and say how long it took."""
    start = time.monotonic()
    await call
    return kind, start, (time.monotonic() - start) * 1e3


async def latency(socket: Path, given: Settings) -> list[Sample]:
    """Searches one after the other: *rounds* times each of *questions*, in a random order."""
    client = Client(socket)
    samples = []
    for number in range(given["rounds"] + 1):
        questions = random.Random(number).sample(given["questions"], len(given["questions"]))
        for question in questions:
            sample = await timed(question["kind"], client.search(question["query"]))
            if number:
                samples.append(sample)
    await client.close()
    return samples


async def once(socket: Path, given: Settings) -> list[Sample]:
    """Searches one after the other, each of *questions* once and for the first time."""
    client = Client(socket)
    samples = [await timed(q["kind"], client.search(q["query"])) for q in given["questions"]]
    await client.close()
    return samples


async def first(socket: Path, given: Settings) -> list[Sample]:
    """The time to the first message of a search that asks for a partial answer."""
    client = Client(socket)
    queries = [q["query"] for q in given["questions"]] * given["rounds"]
    samples = [await timed("first message", client.first_message(q)) for q in queries]
    await client.close()
    return samples


async def calls(socket: Path, given: Settings) -> list[Sample]:
    """Pings, saves and openings of rows, *count* of each, one after the other."""
    client = Client(socket)
    for question in given["questions"][:40]:
        await client.search(question["query"])
    rows = sorted(client.ids)
    samples = []
    for number in range(given["count"]):
        samples.append(await timed("ping", client.ping()))
        text = f"Note {number} {given['mark']}. " + given["text"]
        samples.append(await timed("save", client.save(text)))
        samples.append(await timed("open", client.open(rows[number % len(rows)])))
    await client.close()
    return samples


async def crowd(socket: Path, given: Settings) -> list[Sample]:
    """*clients* connections that search without pause for *seconds*."""
    end = time.monotonic() + given["seconds"]

    async def one(number: int) -> list[Sample]:
        client, draw, samples = Client(socket), random.Random(number), []
        while time.monotonic() < end:
            question = draw.choice(given["questions"])
            samples.append(await timed("crowd", client.search(question["query"])))
        await client.close()
        return samples

    groups = await asyncio.gather(*(one(n) for n in range(given["clients"])))
    return [sample for group in groups for sample in group]


TASKS: dict[str, Callable[[Path, Settings], Awaitable[list[Sample]]]] = {
    "latency": latency,
    "once": once,
    "first": first,
    "calls": calls,
    "crowd": crowd,
}


async def run_apart(socket: Path, task: str, settings: Settings) -> list[Sample]:
    """Run *task* in a process of its own and return its samples."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.serve.client", str(socket), task,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate(json.dumps(settings).encode())
    if process.returncode:
        raise RuntimeError(f"the client for {task} ended with status {process.returncode}")
    return [tuple(sample) for sample in json.loads(out)]


def main() -> None:
    """Run one task."""
    socket, task = Path(sys.argv[1]), sys.argv[2]
    settings = json.load(sys.stdin)
    gc.freeze()
    json.dump(uvloop.run(TASKS[task](socket, settings)), sys.stdout)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
