"""`python -m bench.keyword.cases`: the keyword lane with more than one segment, and with filters.

Prints Markdown: ms of CPU of the questions of `bench.keyword`, medians of rounds; then what changes
to an index cost.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.keyword import ours
from bench.keyword.contestants import N
from bench.keyword.data import KINDS, Corpus, questions, stored
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.segment import Segment, build_segment

BENCH = Path(__file__).resolve().parent.parent
SAVES = 4_000
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)
NOTHING = np.empty(0, np.uint32), np.empty(0, np.int64)


def with_copies(
    index: KeywordIndex, corpus: Corpus, first: int, last: int, row: int
) -> KeywordIndex:
    """*index* and another segment, of some passages as rows from *row* on."""
    rows = np.arange(row, row + last - first, dtype=np.uint32)
    arrays = build_segment(ours.postings_of(corpus, first, last), rows, bm25=index.bm25)
    return index.with_segment(f"from {row}", Segment(arrays))


def single(corpus: Corpus) -> Iterator[PostingBatch]:
    """The first `SAVES` passages, one by one."""
    at = corpus.starts
    for place in range(SAVES):
        tokens = corpus.tokens[at[place] : at[place + 1]]
        yield ours.postings_of(Corpus(tokens, corpus.lengths[place : place + 1]), 0, 1)


def ask_all(
    index: KeywordIndex,
    asked: list[tuple[str, list[int]]],
    rounds: int,
    allowed: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The median ms of each question."""
    queries = [KeywordQuery(tuple(terms)) for _, terms in asked]
    times = np.empty((rounds, len(queries)))
    for query in queries[::9]:
        index.search(query, N, allowed)
    for number in range(rounds):
        for place, query in enumerate(queries):
            started = time.thread_time()
            index.search(query, N, allowed)
            times[number, place] = time.thread_time() - started
    median: NDArray[np.float64] = np.median(times, 0) * 1e3
    return median


def timed(work: Callable[[], KeywordIndex]) -> tuple[float, KeywordIndex]:
    started = time.thread_time()
    made = work()
    return (time.thread_time() - started) * 1e3, made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.keyword.cases", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--data", type=Path, default=BENCH / "data")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {given.core})
    count = given.count
    corpus = stored(given.data, count)
    kept = given.data / f"keyword-questions-{count}.json"
    if not kept.exists():
        kept.write_text(json.dumps(questions(corpus)))
    asked = json.loads(kept.read_text())
    print("| Case | p50 | p95 | p99 | " + " | ".join(KINDS) + " |")
    print("|" + " --- |" * (4 + len(KINDS)))
    with tempfile.TemporaryDirectory(dir=given.data) as work:
        folder = Path(work) / "segment"
        ours.write_segment(folder, corpus, 0, count, ours.bm25_of(corpus))
        empty = KeywordIndex.empty(ours.bm25_of(corpus))
        opened, base = timed(lambda: ours.with_segment(empty, folder))
        for name, index, allowed in cases(base, corpus, count):
            show(name, ask_all(index, asked, given.rounds, allowed), asked)
        saves, recent = [], base
        for number, postings in enumerate(single(corpus)):
            row = np.array([count + number], np.uint32)
            started = time.thread_time()
            recent = recent.with_run(number + 1, row, postings)
            saves.append((time.thread_time() - started) * 1e3)
        dead, _ = timed(lambda: base.with_dead(np.array([5], np.uint32), *NOTHING))
    print()
    print(f"* A segment more: {opened:.2f} ms")
    low, mid, high = np.mean(saves), np.percentile(saves, 99), max(saves)
    print(f"* A passage more, {SAVES:,} times: mean {low:.2f}, p99 {mid:.2f}, worst {high:.2f} ms")
    print(f"* A row less: {dead:.2f} ms")


def cases(
    base: KeywordIndex, corpus: Corpus, count: int
) -> Iterator[tuple[str, KeywordIndex, NDArray[np.bool_] | None]]:
    """Indexes with filters, by name."""
    generator = np.random.default_rng(5)
    yield "one segment", base, None
    half = count // 2
    three = with_copies(base, corpus, half, half + count // 10, count)
    three = with_copies(three, corpus, 0, count // 100, 2 * count)
    yield "three segments", three, None
    recent, row = three, 3 * count
    for number, postings in enumerate(single(corpus)):
        recent = recent.with_run(number + 1, np.array([row + number], np.uint32), postings)
    yield f"three segments and {SAVES:,} saved passages", recent, None
    gone = generator.choice(count, count // 100, replace=False).astype(np.uint32)
    yield "1 % of the rows dead", base.with_dead(np.sort(gone), *NOTHING), None
    for share in SHARES:
        yield f"a filter that leaves {share:.1%}", base, generator.random(count) < share


def show(name: str, times: NDArray[np.float64], asked: list[tuple[str, list[int]]]) -> None:
    kinds = np.array([kind for kind, _ in asked])
    shown = [f"{np.percentile(times, share):.3f}" for share in (50, 95, 99)]
    for kind in KINDS:
        of_kind = times[kinds == kind]
        shown.append(f"{np.median(of_kind):.3f} / {np.percentile(of_kind, 95):.3f}")
    print(f"| {name} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
