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
from numpy.typing import NDArray

from bench.vectors.contestants import CONTESTANTS, Floats, N

WARM_UP = 5
_SECONDS = 120.0
"""A slow contestant is asked fewer questions, so that its trial takes about this long."""
_FEWEST = 20
_BLOCK = 20_000
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Task:
    """What a trial is given, as JSON on its standard input."""

    contestant: str
    vectors: str
    questions: str
    count: int
    rounds: int
    core: int
    scratch: str


def truth(vectors: Floats, questions: Floats, allowed: NDArray[np.bool_] | None) -> Floats:
    """Each question's cosine with its N-th best allowed vector, exactly."""
    best = np.full((len(questions), N), -np.inf, np.float32)
    for start in range(0, len(vectors), _BLOCK):
        scores = questions @ vectors[start : start + _BLOCK].T
        if allowed is not None:
            scores[:, ~allowed[start : start + _BLOCK]] = -np.inf
        both = np.concatenate([best, scores], axis=1)
        best = np.partition(both, both.shape[1] - N, axis=1)[:, -N:]
    least: Floats = best.min(axis=1)
    return least


def run(task: Task) -> dict[str, Any]:
    """Build, ask every question in rounds, and compare with the truth. Times are in ms."""
    vectors = np.load(task.vectors, mmap_mode="r")[: task.count]
    questions = np.load(task.questions)
    with tempfile.TemporaryDirectory(dir=task.scratch) as folder:
        started = time.process_time()
        built = CONTESTANTS[task.contestant](vectors, Path(folder))
        build = time.process_time() - started
        least = truth(vectors, questions, built.allowed)
        started = time.perf_counter()
        for question in questions[:WARM_UP]:
            built.search(question)
        each = (time.perf_counter() - started) / WARM_UP
        questions = questions[: max(_FEWEST, int(_SECONDS / (each * task.rounds)))]
        cpu, wall = np.empty((2, task.rounds, len(questions)))
        found = []
        for turn in range(task.rounds):
            for i, question in enumerate(questions):
                before = time.perf_counter(), time.process_time()
                numbers = built.search(question)
                cpu[turn, i] = time.process_time() - before[1]
                wall[turn, i] = time.perf_counter() - before[0]
                if not turn:
                    scores = vectors[np.sort(numbers.astype(np.int64))] @ question
                    reached = np.count_nonzero(scores >= least[i] - _ROUNDING)
                    found.append(min(N, int(reached)) / N)
        memory = resident()
    quiet = cpu.min(axis=0) * 1e3
    return {
        "questions_asked": len(questions),
        "build_cpu_s": build,
        "cpu_p50": float(np.median(cpu) * 1e3),
        "cpu_p95": float(np.quantile(cpu, 0.95) * 1e3),
        "quiet_cpu_p50": float(np.median(quiet)),
        "quiet_cpu_p95": float(np.quantile(quiet, 0.95)),
        "wall_p50": float(np.median(wall) * 1e3),
        "wall_p95": float(np.quantile(wall, 0.95) * 1e3),
        "cpu_share": float(cpu.sum() / wall.sum()),
        "recall": float(np.mean(found)),
        "worst": float(min(found)),
        **memory,
    }


def resident() -> dict[str, int]:
    """Anonymous and file-backed memory in MB, where the system tells."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    fields = dict(line.split(":", 1) for line in lines if line.startswith("Rss"))
    return {name: int(value.split()[0]) // 1024 for name, value in fields.items()}


def main() -> None:
    task = Task(**json.load(sys.stdin))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {task.core})
    try:
        result = run(task)
    except ImportError as e:
        result = {"missing": str(e)}
    print(json.dumps({**asdict(task), **result}))


if __name__ == "__main__":
    main()
