"""What happens to a ranking before it is cut: copies become one, reports stand behind."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import chain

from twolaned.search.row_table import RowTable

Group = tuple[int, ...]
"""Places in a ranking: the best row, then the copies that it stands for."""


def fold(marks: Sequence[Collection[Hashable]]) -> list[Group]:
    """Fold each row of a ranking into the best one that shares a mark with it.

    *marks* holds for each row, best first, what its copies have in common with it. Sharing passes
    on: two rows that each share a mark with a third are copies of one another.
    """
    # The usual case at once: nothing in common.
    if len(set(chain.from_iterable(marks))) == sum(map(len, marks)):
        return [(place,) for place in range(len(marks))]
    group = list(range(len(marks)))

    def first(place: int) -> int:
        while group[place] != place:
            group[place] = group[group[place]]
            place = group[place]
        return place

    seen: dict[Hashable, int] = {}
    for place, own in enumerate(marks):
        for mark in own:
            other = first(seen.setdefault(mark, place))
            mine = first(place)
            group[max(mine, other)] = min(mine, other)
    members: dict[int, list[int]] = {}
    for place in range(len(marks)):
        members.setdefault(first(place), []).append(place)
    return [tuple(places) for places in members.values()]


def copy_marks(rows: Sequence[int], table: RowTable) -> list[tuple[Hashable, ...]]:
    """What near-identical copies among *rows* have in common: an original, or their text."""
    marks: list[tuple[Hashable, ...]] = [(h,) if h else () for h in table.text_hashes(rows)]
    if table.knows_copies:
        marks = [(*own, table.original(row)) for own, row in zip(marks, rows, strict=True)]
    return marks


def reports_last(groups: Sequence[Group], generated: Sequence[bool]) -> Sequence[Group]:
    """*groups* with those of *generated* rows behind all others, each half in its order.

    *generated* runs over the places of the ranking.
    """
    return sorted(groups, key=lambda g: generated[g[0]]) if any(generated) else groups
