from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.world import DAY, NOW, make_document, make_row
from twolaned.model.query import RankingDate
from twolaned.model.row import Quality, Row, RowKind, Tier
from twolaned.search.paths import path_matcher
from twolaned.search.projects import Project
from twolaned.search.row_filter import ALL_ROWS, RowFilter, SourceNames, folded
from twolaned.search.row_table import RowTable, Tally

ROOTS = ("/home/a/shop", "/home/a/shop/docs", "/home/b:c", "/")
WORDS = ("work", "Work", "play", "", None)


def allowed(table: RowTable, **conditions: Any) -> list[int]:
    return np.flatnonzero(table.allowed(RowFilter(**conditions))).tolist()


def table_of(*rows: Row) -> RowTable:
    return RowTable.empty().with_rows(rows)


def test_scopes_and_tiers() -> None:
    """Kinds and tiers limit on their own and together."""
    table = table_of(
        make_row(1),
        make_row(2, tier=Tier.COLD),
        make_document(3, "/r", "a.md"),
        make_row(4, kind=RowKind.DIGEST),
    )

    assert [1, 2, 3, 4] == allowed(table)
    assert [1, 2] == allowed(table, kinds=frozenset({RowKind.CONVERSATION}))
    assert [1, 3] == allowed(table, tiers=frozenset({Tier.HOT, Tier.DOCUMENT}))
    assert [3] == allowed(table, roots=frozenset({"/r"}))


def test_sources_by_name_and_by_folder() -> None:
    """Upper and lower case are the same; all groups must be met."""
    table = table_of(
        make_row(1, source="ChatGPT"), make_row(2, source="grok"), make_document(3, "/r", "a")
    )
    names = SourceNames(frozenset({"chatgpt", "documents"}), frozenset())

    assert [1, 3] == allowed(table, sources=(names,))
    assert [3] == allowed(table, sources=(SourceNames(frozenset({"r-1"}), frozenset({"/r"})),))
    assert [] == allowed(table, sources=(names, SourceNames(frozenset({"grok"}), frozenset())))


def test_what_save_was_given() -> None:
    """Absent never matches; a decision must hold all the words, in one statement."""
    table = table_of(
        make_row(1, domain="Work", intent="fix", topics=("Queues", "jobs")),
        make_row(2, domain="work", decisions=("Use one queue.", "Never retry writes.")),
        make_row(3),
    )

    assert [1, 2] == allowed(table, domain="work")
    assert [1] == allowed(table, intent="fix")
    assert [1] == allowed(table, topic="queues")
    assert [2] == allowed(table, decision="retry never")
    assert [] == allowed(table, decision="queue retry")
    assert [2] == allowed(table, domain="work", decision="queue")


def test_a_client_is_a_rows_or_its_sources() -> None:
    """Conversations that were saved for a client, and documents of the client's folder."""
    table = table_of(make_row(1, client="Acme"), make_document(2, "/acme", "a"), make_row(3))

    assert [1, 2] == allowed(table, client="acme", client_roots=frozenset({"/acme"}))


def test_quality_is_of_conversations() -> None:
    """A document has no rating, and so never matches one."""
    table = table_of(make_row(1, quality=Quality.HIGH), make_row(2), make_document(3, "/r", "a"))

    assert [1] == allowed(table, qualities=frozenset({Quality.HIGH}))
    assert [2] == allowed(table, qualities=frozenset({Quality.UNRATED}))


def test_dates_are_a_rows_own_else_those_of_indexing() -> None:
    """The beginning is included and the end is not."""
    table = table_of(
        make_row(1, occurred_at=100), make_row(2, indexed_at=100), make_row(3, occurred_at=200)
    )

    assert [1, 2] == allowed(table, since=100, before=200)
    assert [3] == allowed(table, since=200)


def test_a_project_narrows_documents_only() -> None:
    """Conversations stay, unless the caller asks for a wall."""
    shop = Project(frozenset({"/home/a/shop"}), frozenset({"shop"}), True)
    table = table_of(
        make_document(1, "/home/a", "shop/README.md"),
        make_document(2, "/home/a/shop/docs", "a/b.md"),
        make_document(3, "/home/a", "other/README.md"),
        make_row(4, kind=RowKind.DOCUMENT, source="claude-ai", project="shop"),
        make_row(5, cwd="/home/a/shop/src", project="shop"),
        make_row(6, cwd="/home/b/shop", project="shop"),
        make_row(7),
        make_row(8, project="shop"),
        make_row(9, kind=RowKind.DIGEST),
    )

    assert [1, 2, 4, 5, 6, 7, 8, 9] == allowed(table, project=shop)
    assert [1, 2, 5] == allowed(table, project=shop, strict_project=True)


def test_paths_are_judged_whole() -> None:
    """Across the border between folder and name, and of ids that do not hold the path."""
    table = table_of(
        make_document(1, "/r", "docs/a.md"),
        make_document(2, "/r:x", "docs/b.txt"),
        replace(make_document(3, "/r", "moved"), path="/elsewhere/docs/c.md"),
        make_row(4, cwd="/r/docs"),
        replace(make_document(5, "/r", "none"), path=None),
    )

    assert [1] == allowed(table, paths=("docs/a",))
    assert [1, 2, 3] == allowed(table, paths=("DOCS/",))
    assert [1, 3] == allowed(table, paths=("*.md",))
    assert [2, 3] == allowed(table, paths=("r:x", "elsewhere"))


def test_newest_first_and_then_by_id() -> None:
    """Of rows of the same millisecond at the border, those with the smallest ids."""
    table = table_of(
        make_row(1, id="c", occurred_at=5),
        make_row(2, id="a", occurred_at=5),
        make_row(3, id="b", occurred_at=5),
        make_row(4, id="d", occurred_at=9),
    )

    assert [4, 2, 3] == table.newest(table.live, 3).tolist()
    assert [4, 2, 3, 1] == table.newest(table.live, 9).tolist()
    assert [] == table.newest(table.live & False, 9).tolist()


def test_dates_to_rank_by() -> None:
    """When it was indexed, or the row's own time where it has one."""
    table = table_of(make_row(1, occurred_at=NOW - DAY), make_row(2))
    rows = np.array([1, 2], np.uint32)

    assert [NOW, NOW] == table.dates(rows, RankingDate.INDEXED).tolist()
    assert [NOW - DAY, NOW] == table.dates(rows, RankingDate.OCCURRED).tolist()


def test_tallies_count_live_rows() -> None:
    """By kind, tier and source, with the newest time of each."""
    table = table_of(
        make_row(1, occurred_at=5), make_row(2, occurred_at=9, cwd="/x"), make_row(3),
        make_row(4, tier=Tier.COLD, occurred_at=1),
    ).without([3])  # fmt: skip

    assert [
        Tally(RowKind.CONVERSATION, Tier.COLD, "chatgpt", 1, 1),
        Tally(RowKind.CONVERSATION, Tier.HOT, "chatgpt", 2, 9),
    ] == table.tallies()
    assert [] == RowTable.empty().tallies()


def test_a_table_never_changes() -> None:
    """Neither by what is made of it, nor by what is made of that."""
    first = table_of(make_row(2, domain="a"))
    second = first.with_rows([make_row(1, domain="b"), make_row(5, domain="c")])
    other = first.with_rows([make_row(5, domain="d")])
    third = second.without([2, 99])
    again = third.with_rows([make_row(2, domain="e")])

    assert [2] == allowed(first)
    assert ([1], [5]) == (allowed(second, domain="b"), allowed(second, domain="c"))
    assert ([], [5]) == (allowed(other, domain="c"), allowed(other, domain="d"))
    assert [1, 5] == allowed(third)
    assert ([2], [2]) == (allowed(second, domain="a"), allowed(again, domain="e"))
    assert (1, 3, 2) == (first.rows, second.rows, third.rows)


word = st.sampled_from(WORDS)


@st.composite
def rows(draw: st.DrawFn, number: int) -> Row:
    common: dict[str, Any] = {
        "domain": draw(word), "intent": draw(word), "client": draw(word),
        "topics": tuple(draw(st.lists(st.sampled_from(["Work", "play"]), max_size=2))),
        "decisions": tuple(draw(st.lists(st.sampled_from(["work more", "Play less"]), max_size=2))),
        "occurred_at": draw(st.one_of(st.none(), st.integers(0, 10))),
        "indexed_at": draw(st.integers(0, 10)),
        "quality": draw(st.sampled_from(Quality)),
    }  # fmt: skip
    if draw(st.booleans()):
        root = draw(st.sampled_from(ROOTS))
        path = draw(st.sampled_from(["a.md", "docs/a.md", "docs/B.py", "x:y/z"]))
        row = make_document(number, root.rstrip("/"), path, **common)
        return replace(row, id=f"{row.id}#{number}") if draw(st.booleans()) else row
    return make_row(
        number,
        source=draw(st.sampled_from(["grok", "chatgpt"])),
        tier=draw(st.sampled_from([Tier.HOT, Tier.COLD])),
        cwd=draw(st.sampled_from([None, "/home/a/shop/docs", "/tmp"])),
        **common,
    )


@st.composite
def filters(draw: st.DrawFn) -> RowFilter:
    def maybe(strategy: st.SearchStrategy[Any], default: Any) -> Any:
        return draw(strategy) if draw(st.booleans()) else default

    low = st.sampled_from(["work", "play"])
    return RowFilter(
        tiers=maybe(st.frozensets(st.sampled_from(Tier), min_size=1), frozenset(Tier)),
        roots=maybe(st.frozensets(st.sampled_from(ROOTS)), None),
        sources=maybe(st.just((SourceNames(frozenset({"grok"}), frozenset({ROOTS[0]})),)), ()),
        paths=maybe(st.sampled_from([("docs",), ("*.md", "x:")]), ()),
        qualities=maybe(st.frozensets(st.sampled_from(Quality)), frozenset()),
        domain=maybe(low, None),
        topic=maybe(low, None),
        decision=maybe(low, None),
        client=maybe(low, None),
        since=maybe(st.integers(0, 10), None),
        before=maybe(st.integers(0, 10), None),
    )


def meets(row: Row, f: RowFilter) -> bool:
    """The conditions as they read, of one row."""
    root = next((r for r in sorted(ROOTS, key=len, reverse=True)
                 if row.path and row.id.startswith(f"{r.rstrip('/')}:")), None)  # fmt: skip
    at = row.indexed_at if row.occurred_at is None else row.occurred_at
    return (
        row.tier in f.tiers
        and (f.roots is None or (root is not None and root.rstrip("/") in f.roots))
        and all(row.source in s.names or root in s.roots for s in f.sources)
        and (not f.paths or any(row.path and path_matcher(p)(row.path) for p in f.paths))
        and (not f.qualities or (row.kind is RowKind.CONVERSATION and row.quality in f.qualities))
        and f.domain in (None, folded(row.domain or ""))
        and (f.client in (None, folded(row.client or "")) or root in f.client_roots)
        and (f.topic is None or f.topic in map(folded, row.topics))
        and (f.decision is None or any(f.decision in folded(d) for d in row.decisions))
        and (f.since is None or at >= f.since)
        and (f.before is None or at < f.before)
    )


@given(st.data(), st.lists(filters(), min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_masks_equal_judging_row_by_row(data: st.DataObject, asked: list[RowFilter]) -> None:
    """Through any history of rows that come and go, asked again and again."""
    table, live = RowTable.empty(), dict[int, Row]()
    numbers = iter(data.draw(st.permutations(range(12))))
    for _ in range(4):
        came = [data.draw(rows(next(numbers))) for _ in range(data.draw(st.integers(0, 3)))]
        gone = data.draw(st.lists(st.sampled_from(sorted(live)), unique=True)) if live else []
        table = table.with_rows(came).without(gone)
        live = {n: r for n, r in live.items() if n not in gone} | {r.number: r for r in came}
        for conditions in (*asked, ALL_ROWS):
            expected = sorted(n for n, row in live.items() if meets(row, conditions))
            assert expected == np.flatnonzero(table.allowed(conditions)).tolist()
            assert len(expected) == table.count(conditions)


@pytest.mark.slow
def test_100_000_rows_take_little_room_and_little_time() -> None:
    """A few megabytes; a new filter in a few milliseconds, one asked before in next to none."""
    rows = [
        make_row(n, id=f"claude-code:{n:08}-abcd-4ef0-9123-456789abcdef", cwd=f"/w/p{n % 300}",
                 occurred_at=NOW - n * 1000)
        for n in range(100_000)
    ]  # fmt: skip
    tracemalloc.start()
    table = RowTable.empty().with_rows(rows)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    names = SourceNames(frozenset({"chatgpt"}), frozenset())
    conditions = RowFilter(since=NOW - 10_000_000, sources=(names,))
    took = []
    for _ in range(2):
        started = time.perf_counter()
        table.allowed(conditions)
        took.append(time.perf_counter() - started)

    assert size < 16 << 20
    assert took[0] < 0.05
    assert took[1] < 0.001


@given(
    st.lists(st.sampled_from(["chatgpt", "grok"]), min_size=1, max_size=8),
    st.sets(st.integers(0, 12)),
    st.sampled_from([Tier.COLD, Tier.HOT]),
)
def test_rows_change_tier_without_being_written_anew(
    sources: list[str], moved: set[int], tier: Tier
) -> None:
    """The table is the one that those rows would have made; the one before stays as it was."""
    rows = [make_row(n, source=source) for n, source in enumerate(sources)]
    before = table_of(*rows)
    hot = allowed(before, tiers=frozenset({Tier.HOT}))
    after = before.with_tiers(sorted(moved), tier)
    expected = table_of(*(replace(r, tier=tier) if r.number in moved else r for r in rows))

    for tiers in (frozenset({Tier.HOT}), frozenset({Tier.COLD})):
        assert allowed(expected, tiers=tiers) == allowed(after, tiers=tiers)
    assert expected.tallies() == after.tallies()
    assert hot == allowed(before, tiers=frozenset({Tier.HOT}))
    assert after.with_tiers(sorted(moved), Tier.HOT).tallies() == before.tallies()
