"""`python -m bench.keyword.ingest`: how fast real text becomes a segment on disk, on one core.

The text is the source of Python's own library, in passages of about 1,050 characters.
"""

from __future__ import annotations

import argparse
import os
import resource
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.postings import invert
from twolaned.lanes.keyword.segment import build_segment
from twolaned.lanes.keyword.tokenizer import BatchTokenizer, TokenBatch
from twolaned.store.arrays import write_arrays

PASSAGE = 1_050
BATCH = 2_000
"""Passages that are tokenized at once."""


class Terms:
    """Terms and their numbers, in memory."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def ids(self, terms: Sequence[str], /) -> list[int]:
        return [self.numbers.setdefault(term, len(self.numbers)) for term in terms]


def passages(most: int) -> list[str]:
    """About *most* bytes of text."""
    found: list[str] = []
    size = 0
    for file in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        text = file.read_text("utf-8", errors="replace")
        found += [text[at : at + PASSAGE] for at in range(0, len(text), PASSAGE)]
        size += len(text)
        if size > most:
            break
    return found


def ingest(texts: Sequence[str], tokenizer: BatchTokenizer, folder: Path) -> dict[str, float]:
    """CPU seconds of each step."""
    marks = [time.process_time()]
    batches = [tokenizer.tokenize(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    tokens = TokenBatch(
        np.concatenate([batch.term_ids for batch in batches]),
        np.concatenate([batch.lengths for batch in batches]),
    )
    marks.append(time.process_time())
    postings = invert(tokens)
    marks.append(time.process_time())
    rows = np.arange(len(texts), dtype=np.uint32)
    bm25 = Bm25(average_length=float(tokens.lengths.mean()))
    write_arrays(folder, build_segment(postings, rows, bm25=bm25))
    marks.append(time.process_time())
    tokenized, inverted, written = np.diff(marks).tolist()
    return {"tokenize": tokenized, "invert": inverted, "write": written}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.keyword.ingest", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {given.core})
    texts = passages(given.megabytes << 20)
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts):,} passages, {size:.1f} MB\n")
    print("| Vocabulary | tokenize s | invert s | write s | MB/s | passages/s |")
    print("| --- | --- | --- | --- | --- | --- |")
    # Without bounds, so that the second time everything is remembered.
    tokenizer = BatchTokenizer(Terms(), kept_pieces=1 << 30, kept_bytes=1 << 40)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "warm"):
            took = ingest(texts, tokenizer, Path(folder) / name)
            total = sum(took.values())
            steps = " | ".join(f"{seconds:.2f}" for seconds in took.values())
            print(f"| {name} | {steps} | {size / total:.1f} | {len(texts) / total:,.0f} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nMost memory: {peak:.0f} MB")


if __name__ == "__main__":
    main()
