"""`python -m bench.packs`: packs over the socket, for a repository of 5,000 files.

The archive is that of `bench.serve`. What is asked again finds its rows in memory, and with
`--provider builtin` its vector too. Figures go to bench/out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from bench.corpus.build import CorpusBuilder
from bench.serve.__main__ import corpus
from bench.serve.daemon import Daemon, channel, default_command, running
from bench.serve.measure import import_all, spread
from twolane.render import to_json
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import admin_service_pb2_grpc as admin_grpc
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import archive_service_pb2_grpc as archive_grpc
from twolane.v1 import context_service_pb2 as context
from twolane.v1 import context_service_pb2_grpc as context_grpc

BENCH = Path(__file__).resolve().parent.parent
SEED = 7
FORMS = (
    "What is the current {}?",
    "Why did we choose {}?",
    "Add a test for {}",
)
KINDS = ("rare", "question", "common")
TRACKERS = 50
"""Of the project's files, those that keep decisions; as many sessions are saved in it."""


def project(folder: Path, files: int, questions: list[str]) -> None:
    """Write a repository of *files* files; some keep decisions on what *questions* ask."""
    builder = CorpusBuilder(folder, seed=SEED + 2, form="claude-code")
    builder.build(50, files - TRACKERS, 1)
    documents = folder / "documents"
    for number in range(TRACKERS):
        said = questions[number::TRACKERS][:4]
        lines = [f"- 2025-0{n}-02: We use {q} instead of it." for n, q in enumerate(said, 1)]
        place = documents / f"area{number % 12:02}" / f"STATE-{number}.md"
        place.write_text("# State\n\n## Decisions\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    git = shutil.which("git")
    if git is None:
        raise SystemExit("git is needed to make the project.")
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run([git, *arguments], cwd=documents, check=True)


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run everything on an empty *folder* and return the figures."""
    data = corpus(given.conversations, SEED)
    asked = json.loads((data / "queries.json").read_text(encoding="utf-8"))
    queries = [q["query"] for q in asked if q["kind"] in KINDS]
    inputs = json.loads((data / "corpus.json").read_text(encoding="utf-8"))["inputs"]
    project(folder / "project", given.files, queries)
    if given.provider != "off":
        config = f'[embedding]\nprovider = "{given.provider}"\n'
        (folder / "config.toml").write_text(config, encoding="utf-8")
    cwd = str(folder / "project" / "documents")
    tasks = [FORMS[n % len(FORMS)].format(query) for n, query in enumerate(queries)]
    async with running(folder, default_command()) as daemon:
        await import_all(daemon, data, inputs)
        await import_all(daemon, folder / "project", [])
        await _save(daemon, cwd, queries)
        await _settled(daemon, given.provider)
        load = os.getloadavg()
        took, sizes, lanes = await _packs(daemon, tasks, cwd, given.rounds)
    return {
        "conversations": given.conversations,
        "files": given.files,
        "provider": given.provider,
        "load_before": load,
        "first": spread(took[: len(tasks)]),
        "again": spread(took[len(tasks) :]),
        "bytes": spread(sizes),
        "lanes": lanes,
    }


async def _save(daemon: Daemon, cwd: str, queries: list[str]) -> None:
    """Keep a few sessions of the project."""
    async with channel(daemon.socket) as wire:
        for query in queries[:TRACKERS]:
            text = f"We decided to keep {query}, because nothing else is as fast."
            await archive_grpc.ArchiveServiceStub(wire).Save(
                archive.SaveRequest(
                    source="bench", summary=text, cwd=cwd, occurred_at=Timestamp(seconds=1)
                )
            )


async def _settled(daemon: Daemon, provider: str) -> None:
    """Return when every passage that gets a vector has it."""
    async with channel(daemon.socket) as wire:
        while provider != "off":
            told = await admin_grpc.AdminServiceStub(wire).Status(admin.StatusRequest())
            if any(lane.message == "It answers." for lane in told.lanes if lane.lane == "meaning"):
                return
            await asyncio.sleep(1)


async def _packs(
    daemon: Daemon, tasks: list[str], cwd: str, rounds: int
) -> tuple[list[float], list[int], list[str]]:
    """Milliseconds and bytes of each pack, one after the other, and the lanes of the last one."""
    took: list[float] = []
    sizes: list[int] = []
    async with channel(daemon.socket) as wire:
        stub = context_grpc.ContextServiceStub(wire)
        for _ in range(rounds + 1):
            for task in tasks:
                request = context.ContextPackRequest(task=task, cwd=cwd)
                start = time.perf_counter()
                *_, pack = [pack async for pack in stub.ContextPack(request)]
                took.append((time.perf_counter() - start) * 1e3)
                sizes.append(len(to_json(pack).encode()))
    return took, sizes, list(pack.receipt.lanes)


def report(figures: dict[str, Any]) -> str:
    """The figures as Markdown."""
    head = (
        f"{figures['conversations']:,} conversations, {figures['files']:,} files,"
        f" lanes: {', '.join(figures['lanes'])}; packs of {figures['bytes']['p50']:,.0f} bytes;"
        f" load average before: {figures['load_before'][0]:.1f}."
    )
    rows = [
        head,
        "",
        "| Pack | p50 ms | p95 ms | p99 ms | samples |",
        "| --- |" + " --- |" * 4,
    ]
    for name in ("first", "again"):
        one = figures[name]
        times = " | ".join(f"{one[p]:.1f}" for p in ("p50", "p95", "p99"))
        rows.append(f"| asked {name} | {times} | {one['count']:,} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.packs", description=__doc__)
    parser.add_argument("--conversations", type=int, default=7_000)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3, help="of all tasks, after the first")
    parser.add_argument("--provider", choices=("off", "builtin"), default="off")
    given = parser.parse_args()
    # A short path: a socket's may have about a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="tl") as folder:
        figures = asyncio.run(measure(Path(folder), given))
    out = BENCH / "out" / f"packs-{given.provider}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(report(figures))


if __name__ == "__main__":
    main()
