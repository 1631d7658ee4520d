"""`python -m bench.keyword`: BM25 by the keyword lane and by other engines, on one core.

Prints Markdown; figures and a plot go to bench/out. Engines that are not installed (dependency
group "bench") are left out.
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

from bench.keyword.contestants import CONTESTANTS
from bench.keyword.data import questions, stored
from bench.keyword.report import markdown, plot
from bench.keyword.trial import Task

BENCH = Path(__file__).resolve().parent.parent
_SINGLE = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "LANCE_CPU")
}


def attempt(task: Task) -> dict[str, Any]:
    """Run one trial in a new process with one thread."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.keyword.trial"],
        input=json.dumps(asdict(task)), capture_output=True, text=True, check=False,
        env=os.environ | _SINGLE, cwd=BENCH.parent,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        return {**asdict(task), "missing": last}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.keyword", description=__doc__)
    parser.add_argument("--count", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--only", nargs="+", metavar="PREFIX", help="of contestants' names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--data", type=Path, default=BENCH / "data")
    parser.add_argument("--out", type=Path, default=BENCH / "out" / "keyword.json")
    given = parser.parse_args()
    largest = max(given.count)
    corpus = stored(given.data, largest)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    figures = []
    for count in given.count:
        asked = given.data / f"keyword-questions-{count}.json"
        if not asked.exists():
            asked.write_text(json.dumps(questions(corpus.front(count))))
        for contestant in CONTESTANTS:
            if given.only and not contestant.startswith(tuple(given.only)):
                continue
            task = Task(contestant, count, largest, given.rounds, given.core, str(given.data))
            figures.append({"load": os.getloadavg()[0], **attempt(task)})
            print(f"{count:,}: {contestant}", file=sys.stderr)
            machine = {
                "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "python": platform.python_version(),
                "numpy": np.__version__,
                "system": platform.platform(),
            }
            given.out.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1))
    plot(figures, given.out.with_suffix(".png"))
    print(markdown(figures))


if __name__ == "__main__":
    main()
