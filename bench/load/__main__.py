"""`python -m bench.load`: 200 connections, mixed calls, 10 minutes; figures to bench/out."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from bench.serve.__main__ import corpus
from bench.serve.daemon import Daemon, channel, default_command, running
from bench.serve.measure import import_all, spread
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import admin_service_pb2_grpc as admin_grpc
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import archive_service_pb2_grpc as archive_grpc
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import search_service_pb2_grpc as search_grpc

OUT = Path(__file__).resolve().parent.parent / "out" / "load.json"
DOCUMENTED = {"RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "UNAVAILABLE"}
"""What a client under load must expect and may try again after."""
SAMPLE_SECONDS = 10.0
MIX = (("search", 70), ("suggest", 8), ("open", 10), ("save", 6), ("status", 3), ("leave", 3))


@dataclass
class Tally:
    """What happened so far."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    saved: list[str] = field(default_factory=list)


class Connection:
    """One client that calls, waits a little, and calls again."""

    def __init__(self, daemon: Daemon, questions: list[str], tally: Tally, seed: int) -> None:
        self._channel = channel(daemon.socket)
        self._questions = questions
        self._tally = tally
        self._random = random.Random(seed)
        self._id = ""

    async def run(self, until: float, pause: float) -> None:
        """Call until the time has come."""
        names, weights = zip(*MIX, strict=True)
        async with self._channel:
            while time.monotonic() < until:
                (name,) = self._random.choices(names, weights)
                begun = time.perf_counter()
                try:
                    await getattr(self, f"_{name}")()
                except aio.AioRpcError as error:
                    self._tally.errors[f"{name} {error.code().name}"] += 1
                took = (time.perf_counter() - begun) * 1_000
                self._tally.milliseconds.setdefault(name, []).append(took)
                await asyncio.sleep(self._random.expovariate(1 / pause))

    async def _search(self) -> None:
        request = search.SearchRequest(query=self._random.choice(self._questions))
        async for answer in search_grpc.SearchServiceStub(self._channel).Search(request):
            if answer.results:
                self._id = answer.results[0].id

    async def _leave(self) -> None:
        """Hang up in the middle."""
        request = search.SearchRequest(query=self._random.choice(self._questions), top_k=200)
        search_grpc.SearchServiceStub(self._channel).Search(request).cancel()

    async def _suggest(self) -> None:
        words = self._random.choice(self._questions)[: self._random.randint(1, 8)]
        request = search.SuggestRequest(prefix=words)
        await search_grpc.SearchServiceStub(self._channel).Suggest(request)

    async def _open(self) -> None:
        if self._id:
            request = search.OpenEvidenceRequest(id=self._id)
            await search_grpc.SearchServiceStub(self._channel).OpenEvidence(request)

    async def _save(self) -> None:
        text = (
            f"{self._random.choice(self._questions)} {uuid.UUID(int=self._random.getrandbits(128))}"
        )
        request = archive.SaveRequest(source="load", summary=text)
        saved = await archive_grpc.ArchiveServiceStub(self._channel).Save(request)
        self._tally.saved.append(saved.id)

    async def _status(self) -> None:
        await admin_grpc.AdminServiceStub(self._channel).Status(admin.StatusRequest())


async def load(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Load a daemon and return the figures."""
    data = corpus(arguments.conversations, 7)
    questions = [q["query"] for q in json.loads((data / "queries.json").read_text("utf-8"))]
    inputs = json.loads((data / "corpus.json").read_text("utf-8"))["inputs"]
    tally = Tally()
    samples: list[dict[str, float]] = []
    async with running(folder, default_command()) as daemon:
        await import_all(daemon, data, inputs)
        begun = time.monotonic()
        until = begun + arguments.minutes * 60
        clients = [
            Connection(daemon, questions, tally, seed).run(until, arguments.pause)
            for seed in range(arguments.connections)
        ]
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client)
            group.create_task(_sample(daemon, samples, begun, until))
        async with channel(daemon.socket) as wire:
            export = archive.ExportRequest(filters=search.Filters(sources=["load"]))
            parts = [p async for p in archive_grpc.ArchiveServiceStub(wire).Export(export)]
    return {
        "connections": arguments.connections,
        "minutes": arguments.minutes,
        "calls": sum(map(len, tally.milliseconds.values())),
        "latency": {name: spread(times) for name, times in tally.milliseconds.items()},
        "errors": dict(tally.errors),
        "undocumented": sorted(e for e in tally.errors if e.split()[1] not in DOCUMENTED),
        "saves_acknowledged": len(set(tally.saved)),
        "saves_found": parts[-1].rows,
        "samples": samples,
    }


async def _sample(
    daemon: Daemon, samples: list[dict[str, float]], begun: float, until: float
) -> None:
    while time.monotonic() < until:
        pids = daemon.processes()
        memory = daemon.anonymous_memory()
        samples.append(
            {
                "second": round(time.monotonic() - begun),
                **{f"{role}_mb": round(size / 1e6, 1) for role, size in memory.items()},
                **{
                    f"{role}_handles": len(list(Path(f"/proc/{pid}/fd").iterdir()))
                    for role, pid in pids.items()
                },
            }
        )
        await asyncio.sleep(min(SAMPLE_SECONDS, max(0.1, until - time.monotonic())))


def report(figures: dict[str, Any]) -> str:
    """The figures as Markdown."""
    size = f"{figures['connections']} connections, {figures['minutes']:g} minutes"
    rows = [
        f"{size}, {figures['calls']:,} calls.",
        "",
        "| Call | p50 ms | p95 ms | p99 ms |",
        "| --- | --- | --- | --- |",
    ]
    for name, found in figures["latency"].items():
        rows.append(f"| {name} | {found['p50']:.1f} | {found['p95']:.1f} | {found['p99']:.1f} |")
    rows += ["", f"Errors: {figures['errors'] or 'none'}."]
    rows += [f"Saves: {figures['saves_acknowledged']} told, {figures['saves_found']} found."]
    first, *_, last = figures["samples"]
    rows += ["", "| | after start | at the end |", "| --- | --- | --- |"]
    rows += [f"| {key} | {first[key]} | {last[key]} |" for key in first if key != "second"]
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--conversations", type=int, default=7_000)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two calls, mean")
    given = parser.parse_args()
    grpc.aio.init_grpc_aio()
    with tempfile.TemporaryDirectory(prefix="tl") as folder:
        figures = asyncio.run(load(Path(folder), given))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=1), "utf-8")
    print(report(figures))
    lost = figures["saves_acknowledged"] - figures["saves_found"]
    return 1 if figures["undocumented"] or lost > 0 else 0


if __name__ == "__main__":
    raise SystemExit(main())
