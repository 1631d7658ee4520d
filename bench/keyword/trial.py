"""One contestant in a process of its own; the benchmark starts it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.keyword.contestants import CONTESTANTS
from bench.keyword.data import KINDS, stored

SECONDS = 60.0
"""A slow contestant is asked only every so many questions that a round takes about this long."""


@dataclass(frozen=True)
class Task:
    """What a trial is given, as JSON on its standard input."""

    contestant: str
    count: int
    stored: int
    rounds: int
    core: int
    data: str


def run(task: Task) -> dict[str, Any]:
    """Build and ask; times of questions are in ms, medians of rounds."""
    folder = Path(task.data)
    corpus = stored(folder, task.stored).front(task.count)
    asked = json.loads((folder / f"keyword-questions-{task.count}.json").read_text())
    with tempfile.TemporaryDirectory(dir=folder) as work:
        started = time.process_time()
        built = CONTESTANTS[task.contestant](corpus, Path(work))
        build = time.process_time() - started
        size = built.size
        if size is None:
            size = sum(f.stat().st_blocks * 512 for f in Path(work).rglob("*") if f.is_file())
        for _, terms in asked[::25]:
            built.ask(terms)
        started = time.perf_counter()
        for _, terms in asked[7::50]:
            built.ask(terms)
        seconds = (time.perf_counter() - started) / len(asked[7::50]) * len(asked)
        some = asked[:: max(1, round(seconds / SECONDS))]
        rounds = task.rounds if seconds < SECONDS else 1
        wall, cpu = (np.empty((rounds, len(some))) for _ in range(2))
        for number in range(rounds):
            for place, (_, terms) in enumerate(some):
                at, busy = time.perf_counter(), time.process_time()
                built.ask(terms)
                wall[number, place] = time.perf_counter() - at
                cpu[number, place] = time.process_time() - busy
    kinds = np.array([kind for kind, _ in some])
    wall, cpu = np.median(wall, 0) * 1e3, np.median(cpu, 0) * 1e3
    return {
        **asdict(task),
        "questions": len(some),
        "rounds": rounds,
        "build_cpu_s": build,
        "mb": size / 2**20,
        "wall": _figures(wall),
        "cpu": _figures(cpu),
        **{kind: _figures(cpu[kinds == kind]) for kind in KINDS},
    }


def _figures(times: Any) -> list[float]:
    return [float(np.percentile(times, share)) for share in (50, 95, 99)]


def main() -> None:
    task = Task(**json.loads(sys.stdin.read()))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {task.core})
    print(json.dumps(run(task)))


if __name__ == "__main__":
    main()
