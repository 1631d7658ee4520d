"""`python -m bench.vectors`: near vectors by the meaning lane and by others, on one core.

Prints Markdown; figures and a plot go to bench/out. Libraries that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bench.vectors.contestants import CONTESTANTS, SLOW_TO_BUILD
from bench.vectors.data import Texts, stored
from bench.vectors.report import markdown, plot
from bench.vectors.trial import Task

BENCH = Path(__file__).resolve().parent.parent
_TUNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_SINGLE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "LANCE_CPU", "RAYON")}


def attempt(task: Task) -> dict[str, Any]:
    """Run one trial in a new process with one thread and nothing tuned by hand."""
    environment = {k: v for k, v in os.environ.items() if k not in _TUNED} | _SINGLE
    done = subprocess.run(
        [sys.executable, "-m", "bench.vectors.trial"],
        input=json.dumps(asdict(task)), capture_output=True, text=True, check=False,
        env=environment, cwd=BENCH.parent,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        return {**asdict(task), "missing": last}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def sets(given: argparse.Namespace) -> list[tuple[str, Path, Path, int]]:
    """The data sets to run on: name, vectors, questions, how many of the vectors."""
    if given.vectors:
        count = len(np.load(given.vectors, mmap_mode="r"))
        return [(given.vectors.stem, given.vectors, given.questions, count)]
    largest = stored(given.data, given.dimensions, max(given.count))
    asked = given.data / f"questions-{given.dimensions}.npy"
    np.save(asked, Texts(given.dimensions).draw(200, seed=99))
    return [(f"{n:,} × {given.dimensions}", largest, asked, n) for n in given.count]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description=__doc__)
    parser.add_argument("--count", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--vectors", type=Path, help="unit vectors of your own, a .npy file")
    parser.add_argument("--questions", type=Path, help="questions to them, a .npy file")
    parser.add_argument("--only", nargs="+", metavar="PREFIX", help="of contestants' names")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--data", type=Path, default=BENCH / "data")
    parser.add_argument("--out", type=Path, default=BENCH / "out" / "vectors.json")
    given = parser.parse_args()
    if bool(given.vectors) != bool(given.questions):
        parser.error("--vectors and --questions go together")
    figures = []
    for name, vectors, questions, count in sets(given):
        for contestant in CONTESTANTS:
            if given.only and not contestant.startswith(tuple(given.only)):
                continue
            if count > 200_000 and contestant.startswith(SLOW_TO_BUILD):
                continue
            task = Task(
                contestant, str(vectors.resolve()), str(questions.resolve()), count,
                given.rounds, given.core, str(given.data),
            )  # fmt: skip
            load = os.getloadavg()[0]
            figures.append({"data": name, "load": load, **attempt(task)})
            print(f"{name}: {contestant}", file=sys.stderr)
    machine = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1))
    given.out.with_suffix(".svg").write_text(plot(figures))
    print(markdown(figures, given.rounds))


if __name__ == "__main__":
    main()
