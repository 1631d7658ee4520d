from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.world import make_document, make_row
from twolaned.model.row import RowKind
from twolaned.search.folding import copy_marks, fold, reports_last
from twolaned.search.row_table import RowTable


def test_copies_fold_into_the_best_one() -> None:
    """Also where they only share a mark with a third."""
    groups = fold([["a", 1], ["b", 2], ["c", 1], ["b", 3], ["d", 3]])

    assert [(0, 2), (1, 3, 4)] == groups


@given(st.lists(st.frozensets(st.integers(0, 12), min_size=1, max_size=3), max_size=20))
@settings(max_examples=200, deadline=None)
def test_folding_keeps_every_row_once(marks: list[frozenset[int]]) -> None:
    """In order of the best of each group, and no two groups share a mark."""
    groups = fold(marks)
    members = [set(group) for group in groups]

    assert sorted(p for m in members for p in m) == list(range(len(marks)))
    assert [group[0] for group in groups] == sorted(min(m) for m in members)
    held = [frozenset().union(*(marks[p] for p in m)) for m in members]
    assert all(a.isdisjoint(b) for i, a in enumerate(held) for b in held[:i])


def test_conversations_with_the_same_text_are_copies() -> None:
    """Documents with the same text are different files, and empty rows are not alike."""
    table = RowTable.empty().with_rows(
        [
            make_row(1, body="same"),
            make_row(2, body="same", source="claude-ai"),
            make_document(3, "/r", "LICENSE", body="same"),
            make_document(4, "/r", "b/LICENSE", body="same"),
            make_row(5, body=""),
            make_row(6, body=""),
        ]
    )

    assert [(0, 1), (2,), (3,), (4,), (5,)] == fold(copy_marks([1, 2, 3, 4, 5, 6], table))


def test_a_chain_of_copies_leads_to_its_original() -> None:
    """Over rows that are not in the ranking, and once around a ring."""
    table = RowTable.empty().with_rows(
        [
            make_row(1, id="a"),
            make_row(2, id="b", copy_of="a"),
            make_row(3, id="c", copy_of="b"),
            make_row(4, id="x", copy_of="y"),
            make_row(5, id="y", copy_of="x"),
        ]
    )

    assert [(0, 1)] == fold(copy_marks([3, 1], table))
    assert table.original(3) == b"a"
    assert {table.original(4), table.original(5)} <= {b"x", b"y"}


def test_a_new_version_that_is_no_copy_stands_alone() -> None:
    """What a row is a copy of is told by its live version."""
    table = RowTable.empty().with_rows([make_row(1, id="a"), make_row(2, id="b", copy_of="a")])
    later = table.without([2]).with_rows([make_row(3, id="b")])

    assert b"b" == later.original(3)


def test_reports_stand_behind_first_hand_material() -> None:
    """Each group keeps its order; a digest is never a report."""
    table = RowTable.empty().with_rows(
        [
            make_document(1, "/r", "a", generated=True),
            make_document(2, "/r", "b"),
            make_document(3, "/r", "c", generated=True),
            make_row(4, kind=RowKind.DIGEST, generated=True),
        ]
    )
    groups = [(0,), (1,), (2,), (3,)]

    assert [(1,), (3,), (0,), (2,)] == list(reports_last(groups, table.generated([1, 2, 3, 4])))
