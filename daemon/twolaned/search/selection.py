"""All rows that meet conditions, for what is done to rows as such: export, deletion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from twolaned.ingest.archived import export_line
from twolaned.model.query import Filters, SearchQuery
from twolaned.model.row import Tier
from twolaned.search.evidence import find_row
from twolaned.search.query import ParsedQuery
from twolaned.search.row_filter import Conditions
from twolaned.search.snapshot import IndexSnapshot

AT_ONCE = 64
"""Rows that are read in one transaction, which keeps it short."""


def selected(snapshot: IndexSnapshot, filters: Filters) -> list[str]:
    """The ids of all live rows that meet *filters*, in ascending order."""
    query = SearchQuery(query="", filters=filters)
    conditions = Conditions(query, ParsedQuery(), snapshot.sources).of(frozenset(Tier))
    numbers = np.flatnonzero(snapshot.rows.allowed(conditions))
    return sorted(snapshot.rows.id(number) for number in numbers.tolist())


def named(snapshot: IndexSnapshot, ids_or_keys: Iterable[str]) -> list[str]:
    """The ids of the rows with these ids or evidence keys, each once. Raises NotFound."""
    with snapshot.view() as view:
        return list(dict.fromkeys(find_row(view, name).id for name in ids_or_keys))


def export_lines(snapshot: IndexSnapshot, ids: list[str]) -> Iterator[bytes]:
    """The rows *ids* as lines of our export, in that order; those that have gone are left out."""
    for start in range(0, len(ids), AT_ONCE):
        lines = []
        with snapshot.view() as view:
            for row_id in ids[start : start + AT_ONCE]:
                number = view.number(row_id)
                row = None if number is None else view.row(number)
                if row is not None:
                    body = view.body_bytes(row.number).decode()
                    lines.append(export_line(row, body, view.messages(row.number)))
        yield from lines
