"""Scores where a filter leaves few passages: all of these are candidates from the start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.candidates import GATHERED, Candidates
from twolaned.lanes.keyword.completion import complete_best, complete_by
from twolaned.lanes.keyword.group import Group
from twolaned.lanes.keyword.posting_list import PostingList
from twolaned.lanes.keyword.threshold import Threshold
from twolaned.lanes.keyword.view import View


def score_allowed(
    lists: Sequence[PostingList],
    group: Group | None,
    view: View,
    rows: NDArray[np.uint32] | None,
    threshold: Threshold,
) -> Candidates:
    """The passages of a narrow *view* that reach the threshold, with their exact scores."""
    assert view.passages is not None
    found = Candidates(view.norms, view.passages, np.zeros(len(view.passages)))
    for postings in lists:
        if len(found) * GATHERED <= postings.count:
            found.add(postings)
        else:
            ids = postings.ids.all()
            at = view.positions.take(ids, mode="clip")
            held = at.nonzero()[0]
            found.scores[at[held] - 1] += postings.shares(held, ids[held], view.norms)
    if group and len(found):
        complete_best(found, (), group, rows, threshold)
        complete_by(group, found, rows, threshold)
    elif not group:
        found.keep(found.scores.nonzero()[0])
        if len(found) > threshold.n:
            threshold.look_at(found.scores, found.passages, rows)
    return found
