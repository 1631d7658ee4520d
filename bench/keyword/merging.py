"""`python -m bench.keyword.merging`: what a merge of two segments costs in time, memory and disk.

The second segment is a tenth of the first, and 5 % of the rows are dead.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bench.keyword import ours
from bench.keyword.data import stored
from twolaned.lanes.keyword.builder import build_from_parts
from twolaned.lanes.keyword.postings import merged_parts
from twolaned.lanes.keyword.segment import Segment
from twolaned.store.arrays import ArrayBundle, write_arrays

BENCH = Path(__file__).resolve().parent.parent


class Watch:
    """The most memory of this process that no file backs, in MB, looked at now and then."""

    def __init__(self) -> None:
        self.most = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.02):
            status = Path("/proc/self/status").read_text()
            kilobytes = int(status.split("RssAnon:")[1].split()[0])
            self.most = max(self.most, kilobytes / 1024)


def prepare(data: Path, work: Path, count: int) -> None:
    """Write the two segments."""
    corpus = stored(data, count)
    cut = count * 10 // 11
    for name, first, last in (("first", 0, cut), ("second", cut, count)):
        size = ours.write_segment(work / name, corpus, first, last, ours.bm25_of(corpus))
        print(f"* The {name} segment: {size / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.keyword.merging", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--data", type=Path, default=BENCH / "data")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {given.core})
    with tempfile.TemporaryDirectory(dir=given.data) as folder:
        work = Path(folder)
        # In a process of its own, whose memory does not count.
        child = get_context("spawn").Process(target=prepare, args=(given.data, work, given.count))
        child.start()
        child.join()
        bundles = [ArrayBundle(work / name) for name in ("first", "second")]
        segments = [Segment(bundle.arrays) for bundle in bundles]
        alive = np.random.default_rng(3).random(given.count) >= 0.05
        order = np.flatnonzero(alive)
        with Watch() as watch:
            started = time.process_time()
            arrays = build_from_parts(
                merged_parts(segments, order),
                np.concatenate([segment.lengths for segment in segments])[order],
                np.sum([segment.tf_counts() for segment in segments], axis=0),
                order.astype(np.uint32),
                bm25=segments[0].constants,
            )
            built = time.process_time() - started
            size = write_arrays(work / "merged", arrays)
            whole = time.process_time() - started
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"* Merged: {built:.1f} s of CPU, {whole:.1f} s with writing; {size / 1e6:.0f} MB")
    print(f"* Memory: {watch.most:.0f} MB, {most:.0f} MB with the files that were read")


if __name__ == "__main__":
    main()
