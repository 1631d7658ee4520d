"""`python -m bench.serve`: measures a real daemon and prints Markdown; figures to bench/out."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shlex
import tempfile
import time
from pathlib import Path

from bench.corpus.build import CorpusBuilder
from bench.serve.daemon import default_command
from bench.serve.measure import Plan, measure
from bench.serve.report import markdown

BENCH = Path(__file__).resolve().parent.parent


def corpus(conversations: int, seed: int) -> Path:
    """The corpus of that size and seed, made once and kept in bench/data."""
    folder = BENCH / "data" / f"corpus-{conversations}-{seed}"
    if not (folder / "corpus.json").exists():
        builder = CorpusBuilder(folder, seed=seed, form="mixed")
        builder.build(conversations, conversations // 20, 100)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.serve", description=__doc__)
    parser.add_argument("--conversations", type=int, default=7_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=5, help="of all questions, after a warm-up")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--idle", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--daemon", help="the command that starts the daemon")
    parser.add_argument("--out", type=Path, default=BENCH / "out" / "serve.json")
    given = parser.parse_args()
    first = corpus(given.conversations, given.seed)
    plan = Plan(
        corpus=first,
        second=corpus(given.conversations, given.seed + 1),
        questions=json.loads((first / "queries.json").read_text(encoding="utf-8")),
        inputs=json.loads((first / "corpus.json").read_text(encoding="utf-8"))["inputs"],
        command=shlex.split(given.daemon) if given.daemon else default_command(),
        rounds=given.rounds,
        clients=given.clients,
        idle_seconds=given.idle,
    )
    load = os.getloadavg()
    # A short path: a socket's may have about a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="tl") as folder:
        figures = asyncio.run(measure(plan, Path(folder)))
    figures["machine"] = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load_before": load,
        "conversations": given.conversations,
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(markdown(figures))


if __name__ == "__main__":
    main()
