"""`python -m bench.compaction`: what moving an archive costs, and what a save may wait for.

Made-up conversations of four messages in 52 weeks are compacted with extractive digests and rolled
back, in this process, on a temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random

from twolaned.ingest.drafts import draft_conversation
from twolaned.ingest.limits import IngestLimits
from twolaned.model.compaction import Enrichment
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.row import RowDraft
from twolaned.search.live import LiveIndex
from twolaned.store import Store
from twolaned.store.change import Change
from twolaned.writer.committer import Committer
from twolaned.writer.compact_job import compact_job
from twolaned.writer.context import Job, JobContext
from twolaned.writer.maintenance import Maintenance
from twolaned.writer.protocol import Compact
from twolaned.writer.rollback_job import rollback_job
from twolaned.writer.tombstones import Tombstones

WEEK = 7 * 86_400_000
BEGIN = 1_735_689_600_000
"""2025-01-01T00:00Z."""
SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo xu".split()


class TimedStore(Store):
    """Knows its longest write transaction, in seconds."""

    longest = 0.0

    @contextmanager
    def change(self) -> Iterator[Change]:
        began = time.perf_counter()
        with super().change() as change:
            yield change
        self.longest = max(self.longest, time.perf_counter() - began)


def chat(number: int, total: int) -> RowDraft:
    random = Random(number)
    at = BEGIN + number * 52 * WEEK // total

    def text() -> str:
        words = ("".join(random.choices(SYLLABLES, k=2)) for _ in range(40))
        return " ".join(words) + "."

    return draft_conversation(
        Conversation(
            id=f"bench:{number}",
            provider="bench",
            title=f"Chat {number}",
            title_from=TitleFrom.PROVIDER,
            messages=tuple(
                Message(role=role, kind=kind, text=text(), at=at + n)
                for n, (role, kind) in enumerate(
                    2 * [(Role.USER, MessageKind.HUMAN), (Role.ASSISTANT, MessageKind.ASSISTANT)]
                )
            ),
        )
    )


def timed(name: str, store: TimedStore, job: Job) -> None:
    """Run *job* and print its time, its longest step in the writer's loop and transaction."""
    store.longest = longest = 0.0
    began = time.perf_counter()
    ended = False
    while not ended:
        step_began = time.perf_counter()
        step = next(job, job)
        ended = step is job
        longest = max(longest, time.perf_counter() - step_began)
        if step is not None and step is not job:
            step.exception()
    took = time.perf_counter() - began
    print(
        f"| {name} | {took:.2f} s | {longest * 1e3:.1f} ms | {store.longest * 1e3:.1f} ms |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.compaction", description=__doc__)
    parser.add_argument("--conversations", type=int, default=20_000)
    total = parser.parse_args().conversations
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
        store = TimedStore.open(Path(folder), write=True)
        assert isinstance(store, TimedStore)
        committer = Committer(store, lambda _: None)
        context = JobContext(
            committer,
            executor,
            IngestLimits(),
            Maintenance(committer, executor),
            Tombstones(store),
        )
        batch = context.batch()
        for number in range(total):
            batch.add(chat(number, total))
        batch.publish_sealed(batch.start_seal().result())
        live = LiveIndex(store)
        print(f"{total:,} conversations\n")
        print("| What | Time | Longest step | Longest transaction |\n| --- | --- | --- | --- |")
        plain = Compact(older_than_ms=0)
        timed("compact", store, compact_job(context, plain, lambda _: None))
        began = time.perf_counter()
        live.refresh()
        refreshed = time.perf_counter() - began
        timed("rollback", store, rollback_job(context, lambda _: None))
        rich = Compact(older_than_ms=0, enrichment=Enrichment.EXTRACTIVE)
        timed("compact with digests", store, compact_job(context, rich, lambda _: None))
        print(f"\nThe serving process follows in {refreshed * 1e3:.1f} ms.")
        store.close()


if __name__ == "__main__":
    main()
