"""Power cuts: kill -9 during compaction or rollback leaves the store before it or after it."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.writer.archive import DAY, old_chat, opened
from tests.writer.harness import WriterProcess
from twolaned.model.compaction import Enrichment
from twolaned.search.live import LiveIndex
from twolaned.store import Store
from twolaned.writer.protocol import Compact, Compacted, Done, Rollback, RolledBack, Save

pytestmark = pytest.mark.slow

ROUNDS = 30
CHATS = 3_000
HOT = {"hot": CHATS}
COLD = {"cold": CHATS}
DIGESTED = {"cold": CHATS, "digest": 3}
LONGEST = 0.5
"""Seconds until a kill at the most; compacting with digests takes about as long."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with opened(tmp_path / "data") as archive:
        for start in range(0, CHATS, 500):
            archive.add(*map(old_chat, range(start, start + 500)), indexed_at=5)
    return tmp_path / "data"


def state(data: Path) -> tuple[dict[str, int], int]:
    """The tiers, as the store and as a fresh index have them, and how many compactions count."""
    store = Store.open(data)
    try:
        live = LiveIndex(store)
        with store.view() as view:
            tiers = dict(Counter(str(head.tier) for head in view.heads()))
            active = len(view.manifest.compactions)
            kept = [r for r in view.compactions() if r.report.rolled_back_at is None]
        seen: Counter[str] = Counter()
        for tally in live.snapshot.rows.tallies():
            seen[str(tally.tier)] += tally.rows
        assert tiers == seen
        assert len(kept) == active
        return tiers, active
    finally:
        store.close()


def test_a_power_cut_leaves_it_before_or_after(data: Path) -> None:
    """Whatever it was doing, and what was acknowledged stands."""
    random = Random(7)
    ends: Counter[str] = Counter()
    tiers, active = state(data)
    assert (HOT, 0) == (tiers, active)
    for number in range(ROUNDS):
        # Digests take most of the time; without them the moves get their share of the kills.
        enrichment = Enrichment.EXTRACTIVE if number % 2 else Enrichment.OFF
        before, command = (
            tiers,
            Rollback() if active else Compact(older_than_ms=0, enrichment=enrichment),
        )
        after = HOT if active else DIGESTED if number % 2 else COLD
        acknowledged = run_until_killed(data, command, random.uniform(0, LONGEST))
        tiers, active = state(data)
        assert tiers in (before, after), number
        assert tiers == after or not acknowledged, number
        ends[f"{type(command).__name__} {'after' if tiers == after else 'before'}"] += 1
    assert len(ends) >= 3, ends

    writer = WriterProcess(data)
    try:
        if active:
            assert isinstance(writer.call(Rollback()), Done)
        done = writer.call(Compact(older_than_ms=0, enrichment=Enrichment.EXTRACTIVE))
    finally:
        assert writer.close() == 0
    assert isinstance(done, Done)
    assert isinstance(done.result, Compacted)
    assert (DIGESTED, 1) == state(data)


def run_until_killed(data: Path, command: Compact | Rollback, seconds: float) -> bool:
    """Send *command*, kill the writer after *seconds*; return whether it was acknowledged."""
    writer = WriterProcess(data)
    writer.send(command)
    killer = threading.Timer(seconds, writer.process.kill)
    killer.start()
    acknowledged = any(
        isinstance(event.body, Done) and isinstance(event.body.result, Compacted | RolledBack)
        for event in writer.events()
    )
    killer.join()
    writer.kill()
    return acknowledged


def test_a_save_does_not_wait_for_a_compaction(data: Path) -> None:
    """It is answered before the compaction has ended, and stays hot."""
    writer = WriterProcess(data)
    compacting = writer.send(Compact(older_than_ms=DAY, enrichment=Enrichment.EXTRACTIVE))
    saving = writer.send(Save(source="notes", summary="The ferry sails again."))
    ended: list[int] = []
    while len(ended) < 2:
        event = writer.next_event()
        assert event is not None
        if isinstance(event.body, Done):
            ended.append(event.request)
    assert writer.close() == 0

    assert [saving, compacting] == ended
    assert {"hot": 1, **DIGESTED} == state(data)[0]
