"""`python -m bench.keyword.commit`: what a durable commit of a few passages costs.

The text is the source of Python's own library. A part of it is sealed first, so that most terms are
known; each commit then has passages that the store has not seen, and one LMDB commit of a value of
4 KB runs right before it. "all" is a row with its text in one commit, as a saved note is;
"postings" has the row's text on disk already and makes it findable: postings, new terms, log and
manifest. Wall time, and not bound to a core: on one core alone the disk waits for the scheduler.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import lmdb
import numpy as np

from bench.keyword.ingest import passages
from twolaned.ingest.saved import SavedNote, draft_saved
from twolaned.lanes.keyword.postings import invert
from twolaned.model.row import Tier
from twolaned.store import Store
from twolaned.store.records import RowRecord
from twolaned.writer.committer import Committer, Publication, StagedRow, now_ms, passage_texts
from twolaned.writer.folding import TermFolding
from twolaned.writer.maintenance import seal_segment

BENCH = Path(__file__).resolve().parent.parent
SIZES = ((1, 300), (10, 150), (100, 60))
"""Passages in a commit, and how often."""
VALUE = bytes(4096)


@dataclass
class Series:
    """Figures of commits of one kind: ms, and bytes."""

    plain: list[float] = field(default_factory=list)
    prepared: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    postings: list[int] = field(default_factory=list)
    text: list[int] = field(default_factory=list)
    terms: list[int] = field(default_factory=list)


class Disk:
    """Bytes that this process has told the system to write."""

    def __init__(self) -> None:
        self._file = Path("/proc/self/io")

    def written(self) -> int:
        return int(self._file.read_text().split("wchar:")[1].split()[0])


def staged(committer: Committer, text: str, name: str) -> StagedRow:
    """A row whose body is *text*."""
    draft, _ = draft_saved(SavedNote(source="bench", summary=name, content=text))
    body = draft.body.encode()
    record = RowRecord.of(draft, body, tier=Tier.HOT, indexed_at=now_ms())
    return StagedRow(committer.next_number(), draft, record, body)


def fill(committer: Committer, texts: Sequence[str], passages_a_row: int = 200) -> None:
    """Put *texts* into one segment."""
    rows = [
        staged(committer, "".join(texts[at : at + passages_a_row]), f"part {at}")
        for at in range(0, len(texts), passages_a_row)
    ]
    tokens = committer.tokenizer.tokenize(
        [text for row in rows for text in passage_texts(row.draft, row.body)]
    )
    numbers = np.repeat(
        np.array([row.number for row in rows], np.uint32),
        [len(row.draft.passages) for row in rows],
    )
    average = float(tokens.lengths.mean())
    committer.fix_average(average)
    segment = seal_segment(committer.store, invert(tokens), numbers, average)
    committer.publish(Publication(rows=rows, segments_added=(segment,)))


def commit(committer: Committer, text: str, name: str, apart: bool, into: Series) -> None:
    """Add a row to the index and note what that cost. *apart*: its text goes first, unmeasured."""
    row = staged(committer, text, name)
    if apart:
        committer.stage([row])
        row = StagedRow(row.number, row.draft, row.record, row.body, written=True)
    begun = time.perf_counter()
    tokens = committer.tokenizer.tokenize(passage_texts(row.draft, row.body))
    postings = invert(tokens).to_bytes()
    count = len(row.draft.passages)
    publication = Publication(
        rows=[row],
        postings=postings,
        passage_rows=np.full(count, row.number, "<u4").tobytes(),
        logged=count,
    )
    into.prepared.append((time.perf_counter() - begun) * 1e3)
    into.terms.append(len(committer.vocabulary.pending))
    disk = Disk()
    before, begun = disk.written(), time.perf_counter()
    committer.publish(publication)
    into.took.append((time.perf_counter() - begun) * 1e3)
    into.written.append(disk.written() - before)
    into.postings.append(len(postings))
    into.text.append(len(row.body))


def plain(env: lmdb.Environment, number: int) -> float:
    """Milliseconds of a durable commit of 4 KB."""
    begun = time.perf_counter()
    with env.begin(write=True) as txn:
        txn.put(number.to_bytes(8, "big"), VALUE)
    return (time.perf_counter() - begun) * 1e3


def measure(
    committer: Committer, env: lmdb.Environment, left: Iterator[str], size: int, times: int
) -> Iterator[tuple[str, Series]]:
    """Commits with *size* passages of text each, of both kinds in turn."""
    kinds = {"all": Series(), "postings": Series()}
    for number in range(times):
        for name, series in kinds.items():
            text = "".join(islice(left, size))
            series.plain.append(plain(env, time.monotonic_ns()))
            label = f"{size} {number} {name}"
            commit(committer, text, label, name == "postings", series)
    yield from kinds.items()


def fold(store: Store, upto: int) -> str:
    """Give the terms of the commits their lasting place, and tell what that cost."""
    with store.view() as view:
        count = len(view.fresh_terms(upto))
    folding, disk, took = TermFolding(store), Disk(), []
    before = disk.written()
    while True:
        begun = time.perf_counter()
        if not folding.step(upto):
            break
        took.append((time.perf_counter() - begun) * 1e3)
    written = (disk.written() - before) / 1e6
    return (
        f"Later, {count:,} new terms move to their place: {len(took)} steps of"
        f" {np.median(took):.1f} ms, {max(took):.1f} ms at the most; {written:.1f} MB written"
    )


def row_of(size: int, name: str, series: Series) -> str:
    """A line of the table."""

    def spread(values: Sequence[float]) -> str:
        return f"{np.median(values):.2f} / {np.percentile(values, 95):.2f}"

    kept = np.array(series.postings) * 2 + (64 << 10)
    if name == "all":
        kept += np.array(series.text)
    within = float(np.mean(np.array(series.written) <= kept))
    sizes = (f"{np.median(v) / 1024:.0f}" for v in (series.postings, series.text, series.written))
    cells = (
        str(size),
        name,
        spread(series.plain),
        spread(series.took),
        spread(series.prepared),
        f"{np.median(series.terms):.0f}",
        *sizes,
        f"{np.median(kept) / 1024:.0f}",
        f"{within:.0%}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.keyword.commit", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=60, help="of text at the most")
    parser.add_argument("--data", type=Path, default=BENCH / "data")
    given = parser.parse_args()
    given.data.mkdir(exist_ok=True)
    texts = passages(given.megabytes << 20)
    used = sum(2 * size * times for size, times in SIZES)
    # Shuffled, so that what comes last is like what came first.
    texts = [texts[place] for place in np.random.default_rng(4).permutation(len(texts))]
    with tempfile.TemporaryDirectory(dir=given.data) as folder:
        env = lmdb.open(f"{folder}/plain", map_size=1 << 30)
        store = Store.open(Path(folder) / "store", write=True)
        committer = Committer(store, lambda _: None)
        fill(committer, texts[:-used])
        print(f"{len(texts) - used:,} passages sealed, {committer.vocabulary.next_term:,} terms\n")
        head = (
            "Passages", "Commit of", "LMDB, 4 KB: ms", "commit: ms", "tokenize, invert: ms",
            "new terms", "postings KiB", "text KiB", "written KiB", "bound KiB", "within",
        )  # fmt: skip
        print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        left = iter(texts[-used:])
        for size, times in SIZES:
            for name, series in measure(committer, env, left, size, times):
                print(row_of(size, name, series), flush=True)
        print(f"\n* {fold(store, committer.generation)}")
        store.close()
        env.close()


if __name__ == "__main__":
    main()
