"""The best passages of a small segment: a rounded score of every passage, then the exact ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.candidates import Candidates
from twolaned.lanes.keyword.columns import WIDE
from twolaned.lanes.keyword.group import Group
from twolaned.lanes.keyword.posting_list import PostingList
from twolaned.lanes.keyword.threshold import Threshold

SMALL = 20_000
"""Passages up to which a segment is small."""


def score_every(
    lists: Sequence[PostingList],
    group: Group,
    norms: NDArray[np.float32],
    table: NDArray[np.float32],
    rows: NDArray[np.uint32] | None,
    threshold: Threshold,
) -> Candidates:
    """All passages that reach the threshold, with their exact scores.

    *table* (float32 [columns, passages]) are the impacts of the columns, *rows* is the row by
    passage, or None where each has one.
    """
    total = (group.weights @ table.take(group.rows, axis=0)).astype(np.float64)
    sparse = None
    if lists:
        shares = [postings.all_shares(norms) for postings in lists]
        passages = np.concatenate([postings.ids.all() for postings in lists])
        sparse = np.bincount(passages, np.concatenate(shares), len(norms))
        total += sparse
    # The best of each window are fewer to sort, and the best of all are among them.
    best = total.reshape(-1, WIDE).argmax(1)
    best += np.arange(0, len(total), WIDE)
    threshold.look_at(total[best], best.astype(np.uint32), rows)
    found = (total >= threshold.value).nonzero()[0].astype(np.uint32)
    if len(found) > 4 * threshold.n:
        threshold.look_at(total[found], found, rows)
        found = found[total[found] >= threshold.value]
    scores = group.exact(found, norms)
    if sparse is not None:
        scores += sparse[found]
    return Candidates(norms, found, scores)
