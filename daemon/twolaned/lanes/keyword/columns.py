"""Terms that very many passages hold: a column of tf over all passages instead of postings.

Beside each column stand the bounds of its impacts, the largest of every 8 and of every 64
passages, and the passages with the largest impacts, its champions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.impacts import impacts
from twolaned.lanes.keyword.posting_batch import PostingBatch

WIDE = 64
"""Passages of a large window."""
SLIM = 8
"""Passages of a small window."""
CHAMPIONS = 64
SHARE = 16
"""A term in more than one of so many passages gets a column."""
FEWEST_PASSAGES = 4_096
"""Smaller segments have no columns."""


def width_of(passages: int) -> int:
    """*passages*, rounded up to whole windows."""
    return -(-passages // WIDE) * WIDE


def dense_places(batch: PostingBatch) -> NDArray[np.int64]:
    """The places in *batch* of the terms that get a column."""
    count = len(batch.lengths)
    if count < FEWEST_PASSAGES:
        return np.empty(0, np.int64)
    return np.flatnonzero(batch.frequencies > count // SHARE)


def build_columns(
    batch: PostingBatch,
    places: NDArray[np.int64],
    steps: NDArray[np.uint8],
    norms: NDArray[np.float32],
) -> dict[str, NDArray[Any]]:
    """The arrays of the columns of the terms at *places*; *steps* are the postings' bounds."""
    width = width_of(len(batch.lengths))
    columns = np.zeros((len(places), width), np.uint8)
    slim = np.empty((len(places), width // SLIM), np.uint8)
    wide = np.empty((len(places), width // WIDE), np.uint8)
    champions = np.empty((len(places), CHAMPIONS), np.uint32)
    bound = np.empty(width, np.uint8)
    for row, place in enumerate(places.tolist()):
        part = slice(int(batch.offsets[place]), int(batch.offsets[place + 1]))
        passages, tf = batch.passages[part], batch.tf[part]
        columns[row, passages] = tf
        bound[:] = 0
        bound[passages] = steps[part]
        slim[row] = bound.reshape(-1, SLIM).max(1)
        wide[row] = slim[row].reshape(-1, WIDE // SLIM).max(1)
        impact = impacts(tf, norms[passages])
        best = np.argpartition(-impact, CHAMPIONS)[:CHAMPIONS]
        champions[row] = passages[best[np.argsort(-impact[best], kind="stable")]]
    return {
        "dense_terms": batch.terms[places],
        "columns": columns,
        "slim_bounds": slim,
        "wide_bounds": wide,
        "champions": champions,
    }


class Columns:
    """Read access to the arrays of `build_columns`."""

    __slots__ = ("champions", "flat", "row_of", "slim", "table", "wide", "width", "words")

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.row_of = {term: row for row, term in enumerate(arrays["dense_terms"].tolist())}
        """The column of each term."""
        self.table: NDArray[np.uint8] = arrays["columns"]
        self.width = self.table.shape[1]
        self.flat = self.table.reshape(-1)
        self.words: NDArray[np.uint64] = self.flat.view(np.uint64)
        """The columns, a small window an element."""
        self.slim: NDArray[np.uint8] = arrays["slim_bounds"]
        self.wide: NDArray[np.uint8] = arrays["wide_bounds"]
        self.champions: NDArray[np.uint32] = arrays["champions"]

    def postings(self, row: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The passages of a column and their tf."""
        column = self.table[row]
        passages = np.flatnonzero(column)
        return passages.astype(np.uint32), column[passages]
