from __future__ import annotations

from collections.abc import Iterable
from random import Random

from tests.compaction.examples import DAY, MARCH, row
from twolaned.compaction.plan import Period, Plan, Planner
from twolaned.model.row import Row, RowKind, Tier

LOCAL = {"extraction": "local"}


def plan(rows: Iterable[Row], *, cutoff: int = 100, digests: bool = True) -> Plan:
    planner = Planner(cutoff)
    for each in rows:
        planner.look_at(each)
    return planner.plan(digests=digests)


def test_only_old_hot_conversations_are_due() -> None:
    """The limit itself is not old, and nothing but a hot conversation moves."""
    rows = [
        row(1, indexed_at=99),
        row(2, indexed_at=100),
        row(3, tier=Tier.COLD),
        row(4, kind=RowKind.DOCUMENT, tier=Tier.DOCUMENT),
        row(5, kind=RowKind.DIGEST, tier=Tier.DIGEST),
    ]

    assert ((1,), 10) == (plan(rows).due, plan(rows).content_bytes)


def test_a_digest_covers_all_that_is_archived_of_its_week() -> None:
    """What moved earlier belongs to it, what stays current does not."""
    rows = [
        row(1),
        row(2, tier=Tier.COLD),
        row(3, indexed_at=500),
        row(4, occurred_at=MARCH + 7 * DAY),
    ]

    assert (
        Period("2026-W13", local=False, numbers=(1, 2)),
        Period("2026-W14", local=False, numbers=(4,)),
    ) == plan(rows).periods


def test_local_material_has_a_digest_of_its_own() -> None:
    """Otherwise its words would lie beside those that may leave the machine."""
    periods = plan([row(1), row(2, extra=LOCAL)]).periods

    assert [("2026-W13", (1,)), ("2026-W13-local", (2,))] == [(p.id, p.numbers) for p in periods]


def test_an_archived_week_gets_its_digest_once() -> None:
    """Turning enrichment on later catches up; after that the week is left alone."""
    cold = row(1, tier=Tier.COLD)
    digest = row(2, id="2026-W13", kind=RowKind.DIGEST, tier=Tier.DIGEST)

    assert ["2026-W13"] == [p.id for p in plan([cold]).periods]
    assert () == plan([cold, digest]).periods
    assert ["2026-W13"] == [p.id for p in plan([cold, digest, row(3)]).periods]


def test_without_digests_rows_move_all_the_same() -> None:
    """Enrichment is off by default."""
    assert Plan((1,), 10, ()) == plan([row(1)], digests=False)


def test_the_order_of_rows_does_not_matter() -> None:
    """A dry run and a run may come upon them differently."""
    rows = [row(n, occurred_at=MARCH + n * DAY, indexed_at=n * 30) for n in range(20)]
    shuffled = rows.copy()
    Random(1).shuffle(shuffled)

    assert plan(rows) == plan(shuffled)


def test_a_conversation_without_a_date_belongs_to_the_week_it_was_indexed() -> None:
    """Something must be said of it somewhere."""
    undated = row(1, occurred_at=None, indexed_at=MARCH - DAY * 14)

    assert ["2026-W11"] == [p.id for p in plan([undated], cutoff=MARCH).periods]
