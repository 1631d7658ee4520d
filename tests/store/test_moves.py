"""Moves of rows between tiers: they count while their compaction does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.test_store import draft, put
from twolaned.model.compaction import CompactionReport
from twolaned.model.row import Tier
from twolaned.store import Store
from twolaned.store.compactions import CompactionRecord, KeptDigest, Move
from twolaned.store.manifest import Manifest


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path, write=True)
    put(opened, 0, draft())
    with opened.change() as change:
        change.stage_moves([0], Move(Tier.COLD, 7))
    yield opened
    opened.close()


def activate(store: Store, *compactions: int) -> None:
    with store.change() as change:
        change.put_manifest(Manifest(compactions=compactions))


def tiers(store: Store) -> set[Tier]:
    """The row's tier by every way of asking."""
    with store.view() as view:
        found = [view.record(0), view.row(0), view.head(0), *view.heads(), *view.many([0])]
        return {row.tier for row in found if row is not None}


def test_a_move_counts_while_its_compaction_does(store: Store) -> None:
    """Neither before nor after, nor because another one does."""
    assert {Tier.HOT} == tiers(store)
    activate(store, 6, 8)
    assert {Tier.HOT} == tiers(store)
    activate(store, 7)
    assert {Tier.COLD} == tiers(store)
    activate(store)
    assert {Tier.HOT} == tiers(store)


def test_a_transaction_reads_its_own_manifest(store: Store) -> None:
    """What it publishes holds for what it reads next."""
    with store.change() as change:
        assert change.record(0).tier is Tier.HOT  # type: ignore[union-attr]
        change.put_manifest(Manifest(compactions=(7,)))
        assert change.record(0).tier is Tier.COLD  # type: ignore[union-attr]


def test_unfinished_moves_are_known(store: Store) -> None:
    """So that they are looked for only if there may be some."""
    with store.view() as view:
        assert (7, [(0, Move(Tier.COLD, 7))]) == (view.moving, view.moves(0, 10))
        assert [] == view.moves(1, 10)
    with store.change() as change:
        change.drop_moves([0, 1])
        change.set_moving(None)
    with store.view() as view:
        assert (None, []) == (view.moving, view.moves(0, 10))


def test_a_dropped_row_takes_its_move_along(store: Store) -> None:
    """Its number is never used again, but its place on disk is."""
    with store.change() as change:
        change.drop_row(0)
    with store.view() as view:
        assert [] == view.moves(0, 10)


def test_compactions_come_back_latest_first(store: Store) -> None:
    """With the digests that a rollback needs."""
    kept = KeptDigest(draft(extra={"provider": "extractive"}), 5)
    records = [
        CompactionRecord(n, CompactionReport(number=n, conversations=n), (kept,) * (n == 300))
        for n in (1, 2, 300)
    ]
    with store.change() as change:
        for record in records:
            change.put_compaction(record)
    with store.view() as view:
        assert records[::-1] == list(view.compactions())
        assert records[1] == view.compaction(2)
        assert view.compaction(3) is None
