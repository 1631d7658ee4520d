"""Writing rows into the columns of the row table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.model.row import Row, RowKind, Tier
from twolaned.search.columns import Columns, encoded_id
from twolaned.search.profiles import Profile, root_of
from twolaned.search.row_filter import folded


def write_rows(columns: Columns, rows: Sequence[Row]) -> Columns:
    """Return columns that hold *rows* too: *columns* itself, or a larger copy.

    A slot that was written before stays as it is for the tables that show it: then too the answer
    is a copy.
    """
    numbers = np.array([row.number for row in rows], np.int64)
    needed = int(numbers.max()) + 1
    if needed > columns.capacity:
        columns = columns.grown(max(needed, 2 * columns.capacity, 1024))
    elif columns.written[numbers].any():
        columns = columns.grown(columns.capacity)
    _write_shared(columns, rows, numbers)
    for row in rows:
        _write_particular(columns, row)
    columns.written[numbers] = True
    columns.order.extend(numbers.tolist())
    return columns


def retiered(columns: Columns, numbers: Sequence[int], tier: Tier) -> Columns:
    """Return a copy of *columns* in which the rows *numbers* are in *tier*."""
    columns = columns.grown(columns.capacity)
    places = np.array([n for n in numbers if n < columns.capacity], np.int64)
    known = {profile: code for code, profile in enumerate(columns.profiles)}
    codes, index = np.unique(columns.profile[places], return_inverse=True)
    moved = []
    for code in codes.tolist():
        profile = columns.profiles[code]._replace(tier=tier)
        if profile not in known:
            known[profile] = len(columns.profiles)
            columns.profiles.append(profile)
        moved.append(known[profile])
    columns.profile[places] = np.array(moved, np.uint32)[index]
    return columns


def _write_shared(columns: Columns, rows: Sequence[Row], numbers: NDArray[np.int64]) -> None:
    ids = [encoded_id(row.id) for row in rows]
    lengths = np.array([len(row_id) for row_id in ids], np.int64)
    columns.id_start[numbers] = len(columns.ids) + np.cumsum(lengths) - lengths
    columns.id_length[numbers] = lengths
    columns.ids += b"".join(ids)
    columns.indexed_at[numbers] = [row.indexed_at for row in rows]
    columns.own_time[numbers] = [
        row.indexed_at if row.occurred_at is None else row.occurred_at for row in rows
    ]
    columns.text_hash[numbers] = np.array([_text_hash(row) for row in rows], np.uint64)
    root = None
    codes = []
    for row in rows:
        root = _root(row, root)
        codes.append(_profile_code(columns, row, root))
    columns.profile[numbers] = codes


def _text_hash(row: Row) -> int:
    if row.kind is not RowKind.CONVERSATION or not row.content_bytes:
        return 0
    return int.from_bytes(row.text_hash[:8], "little")


def _root(row: Row, last: str | None) -> str | None:
    """A document's folder, which most often is that of the row before."""
    path = row.path
    if row.kind is not RowKind.DOCUMENT or path is None:
        return None
    if last is not None and row.id.startswith(f"{last}:") and path.startswith(f"{last}/"):
        return last
    return root_of(row.id, path)


def _profile_code(columns: Columns, row: Row, root: str | None) -> int:
    document = row.kind is RowKind.DOCUMENT and row.path is not None
    folder = row.path.rpartition("/")[0] if document and row.path is not None else row.cwd
    key = (
        row.kind, row.tier, row.quality, row.generated, row.source, row.project, row.client,
        row.domain, row.intent, root, folder,
    )  # fmt: skip
    code = columns.codes.get(key)
    if code is None:
        code = columns.codes[key] = len(columns.profiles)
        columns.profiles.append(Profile.of(row, root))
    return code


def _write_particular(columns: Columns, row: Row) -> None:
    """Write what few rows have."""
    if row.topics:
        columns.topics.append((row.number, frozenset(map(folded, row.topics))))
    if row.decisions:
        columns.decisions.append((row.number, "\n".join(map(folded, row.decisions))))
    row_id = encoded_id(row.id)
    if row.copy_of is not None:
        columns.copy_of[row_id] = encoded_id(row.copy_of)
    elif columns.copy_of:
        columns.copy_of.pop(row_id, None)
    if row.path is not None and columns.path(row.number) != row.path:
        columns.other_paths[row.number] = row.path
