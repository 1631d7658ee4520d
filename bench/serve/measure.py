"""The course of the benchmark: import, search, save, idle, and all of it while an import runs."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lmdb
import numpy as np

from bench.serve.client import Sample, run_apart
from bench.serve.daemon import Daemon, channel, running
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import admin_service_pb2_grpc as admin_grpc
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import archive_service_pb2_grpc as archive_grpc
from twolane.v1 import common_pb2 as common
from twolane.v1 import source_service_pb2 as source
from twolane.v1 import source_service_pb2_grpc as source_grpc

Figures = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured. *corpus* and *second* are folders that `bench.corpus` made."""

    corpus: Path
    second: Path
    questions: list[dict[str, str]]
    command: list[str]
    rounds: int = 5
    calls: int = 200
    clients: int = 16
    crowd_seconds: float = 10.0
    idle_seconds: float = 60.0
    inputs: list[str] = field(default_factory=list)


async def measure(plan: Plan, folder: Path) -> Figures:
    """Run everything on an empty *folder* and return the figures."""
    figures: Figures = {"commit_ms": spread(commits(folder))}
    async with running(folder, plan.command) as daemon:
        figures["empty_first_answer_s"] = daemon.first_answer
        figures["import"] = await import_all(daemon, plan.corpus, plan.inputs)
        figures["import"]["peak_memory"] = daemon.peak_memory()
        figures["searches"] = await searches(daemon, plan)
    async with running(folder, plan.command) as daemon:
        figures["first_answer_s"] = daemon.first_answer
        figures["after_restart"] = await searches(daemon, plan)
        figures["crowd"] = await crowd(daemon, plan)
        figures["idle"] = await idle(daemon, plan.idle_seconds)
        figures["status"] = await status(daemon)
        figures["disk"] = daemon.disk()
        figures["during_import"] = await during_import(daemon, plan)
    return figures


async def searches(daemon: Daemon, plan: Plan) -> Figures:
    """Latencies of every call, on a daemon that has nothing else to do."""
    settings = {"questions": plan.questions, "rounds": plan.rounds}
    samples = await run_apart(daemon.socket, "latency", settings)
    samples += await run_apart(daemon.socket, "first", {**settings, "rounds": 1})
    samples += await run_apart(daemon.socket, "calls", call_settings(plan, "still"))
    return by_kind(samples)


async def crowd(daemon: Daemon, plan: Plan) -> Figures:
    """Throughput and latency with many clients at once."""
    settings = {
        "questions": plan.questions,
        "clients": plan.clients,
        "seconds": plan.crowd_seconds,
    }
    samples = await run_apart(daemon.socket, "crowd", settings)
    took = max(at + ms / 1e3 for _, at, ms in samples) - min(at for _, at, _ in samples)
    return {
        "clients": plan.clients,
        "searches_per_s": len(samples) / took,
        **spread(ms for *_, ms in samples),
    }


async def idle(daemon: Daemon, seconds: float) -> Figures:
    """CPU and memory of both processes while nobody asks for anything."""
    await asyncio.sleep(2)
    before = daemon.cpu_seconds()
    await asyncio.sleep(seconds)
    after = daemon.cpu_seconds()
    return {
        "seconds": seconds,
        "cpu_ms": {role: (after[role] - before[role]) * 1e3 for role in after},
        "anonymous_memory": daemon.anonymous_memory(),
    }


async def during_import(daemon: Daemon, plan: Plan) -> Figures:
    """The same calls while a second corpus is imported; only what fell into the import counts."""
    start = time.monotonic()
    work = asyncio.create_task(import_all(daemon, plan.second, plan.inputs))
    samples: list[Sample] = []
    rounds = 0
    while not work.done() and rounds < 20:
        rounds += 1
        settings = {"questions": plan.questions, "rounds": 1}
        samples += await run_apart(daemon.socket, "latency", settings)
        samples += await run_apart(daemon.socket, "calls", call_settings(plan, f"busy {rounds}"))
    imported = await work
    end = start + imported["seconds"]
    inside = [s for s in samples if start <= s[1] and s[1] + s[2] / 1e3 <= end]
    return {
        "import": imported,
        "anonymous_memory": daemon.anonymous_memory(),
        "peak_memory": daemon.peak_memory(),
        "disk": daemon.disk(),
        **by_kind(inside),
    }


async def import_all(daemon: Daemon, corpus: Path, inputs: list[str]) -> Figures:
    """Import the exports of *corpus* and scan its documents; the totals and how long it took."""
    start = time.monotonic()
    totals: list[common.ImportTotals] = []
    async with channel(daemon.socket) as wire:
        for name in inputs:
            stub = archive_grpc.ArchiveServiceStub(wire)
            header = archive.ImportHeader(path=str(corpus / name))
            call = stub.Import(stream(archive.ImportRequest(header=header)))
            totals.append([answer async for answer in call][-1].totals)
        if (corpus / "documents").exists():
            folders = source_grpc.SourceServiceStub(wire)
            added = await folders.AddSource(
                source.AddSourceRequest(source=source.Source(path=str(corpus / "documents")))
            )
            scan = folders.ScanSources(source.ScanSourcesRequest(ids=[added.source.id]))
            totals.append([answer async for answer in scan][-1].totals)
    seconds = time.monotonic() - start
    size = sum(t.bytes_indexed for t in totals)
    passages = sum(t.passages for t in totals)
    return {
        "seconds": seconds,
        "rows": sum(t.rows_new for t in totals),
        "passages": passages,
        "text_bytes": size,
        "read_bytes": sum(t.bytes_seen for t in totals),
        "mb_per_s": size / seconds / 1e6,
        "passages_per_s": passages / seconds,
    }


async def stream(request: archive.ImportRequest) -> AsyncIterator[archive.ImportRequest]:
    """A request stream of one message."""
    yield request


async def status(daemon: Daemon) -> Figures:
    """What the daemon says of itself."""
    async with channel(daemon.socket) as wire:
        told = await admin_grpc.AdminServiceStub(wire).Status(admin.StatusRequest())
    return {
        "version": told.version,
        "passages": told.passages,
        "segments": told.segments,
        "memtable_passages": told.memtable_passages,
        "terms": told.terms,
    }


def call_settings(plan: Plan, mark: str) -> Figures:
    """Settings of the pings, saves and openings; *mark* makes the saved texts new."""
    text = " ".join(q["query"] for q in plan.questions)[:2_000]
    return {"questions": plan.questions, "count": plan.calls, "text": text, "mark": mark}


def commits(folder: Path, count: int = 200) -> list[float]:
    """Milliseconds of durable LMDB commits of one 4 KB value: what the disk costs in this run."""
    took = []
    with (
        tempfile.TemporaryDirectory(dir=folder) as path,
        contextlib.closing(lmdb.open(path, map_size=1 << 30)) as env,
    ):
        for number in range(count):
            start = time.perf_counter()
            with env.begin(write=True) as txn:
                txn.put(number.to_bytes(4, "big"), bytes(4096))
            took.append((time.perf_counter() - start) * 1e3)
    return took


def by_kind(samples: list[Sample]) -> Figures:
    """The spread of each kind, and of all searches together."""
    kinds = sorted({kind for kind, *_ in samples})
    figures = {kind: spread(ms for k, _, ms in samples if k == kind) for kind in kinds}
    others = ("ping", "save", "open", "first message")
    return figures | {"all searches": spread(ms for k, _, ms in samples if k not in others)}


def spread(milliseconds: Iterable[float]) -> Figures:
    """Percentiles and the number of samples."""
    values = np.array(list(milliseconds))
    if not len(values):
        return {"count": 0}
    p50, p95, p99 = np.percentile(values, (50, 95, 99))
    return {
        "count": len(values),
        "p50": float(p50),
        "p95": float(p95),
        "p99": float(p99),
        "max": float(values.max()),
    }
