"""Giving candidates what they lack of their scores, and forgetting those that cannot win."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.candidates import Candidates
from twolaned.lanes.keyword.columns import SLIM, WIDE
from twolaned.lanes.keyword.group import Group
from twolaned.lanes.keyword.posting_list import PostingList
from twolaned.lanes.keyword.threshold import Threshold

Rows = NDArray[np.uint32] | None

SOME = 2_048
"""Cells of columns from which on large windows are worth their cost."""
MORE = 16_384
"""Cells from which on columns are added in steps."""
MANY = 65_536
"""Cells from which on small windows are worth their cost."""


def complete_best(
    found: Candidates,
    lists: Sequence[PostingList],
    group: Group | None,
    rows: Rows,
    threshold: Threshold,
) -> None:
    """Learn from the whole scores of the candidates that are best so far.

    *lists* and *group* are what is not in their scores yet, *rows* is the row by passage.
    """
    count = len(found)
    most = (2 if rows is None else 3) * threshold.n
    if count > most:
        best = found.subset(np.argpartition(found.scores, count - most)[count - most :])
    else:
        best = found.subset(np.arange(count))
    for postings in lists:
        best.add(postings)
    if group:
        best.scores += group.about(best.passages, best.norms)
    threshold.look_at(best.scores, best.passages, rows)


def complete_by(group: Group, found: Candidates, rows: Rows, threshold: Threshold) -> None:
    """Add the *group* to the scores of all candidates that reach the threshold with it."""
    if len(found) * len(group) > SOME:
        wide = group.wide().take(found.passages // np.uint32(WIDE), mode="clip")
        found.keep((found.scores + wide >= threshold.value).nonzero()[0])
        if len(found) * len(group) > MANY:
            slim = group.slim().take(found.passages // np.uint32(SLIM), mode="clip")
            found.keep((found.scores + slim >= threshold.value).nonzero()[0])
    if len(found) * len(group) > MORE:
        total = _in_steps(group, found, threshold)
    else:
        total = found.scores + group.about(found.passages, found.norms)
    threshold.look_at(total, found.passages, rows)
    found.keep((total >= threshold.value).nonzero()[0])
    if len(found):
        found.scores += group.exact(found.passages, found.norms)


def _in_steps(group: Group, found: Candidates, threshold: Threshold) -> NDArray[np.float64]:
    """Scores with all of the group; who drops out on the way is forgotten."""
    found.sort()
    total = found.scores
    count = len(group)
    third = max(1, count // 3)
    for first, last in ((0, third), (third, 2 * third), (2 * third, count)):
        if first >= min(last, count):
            continue
        total = total + group.about(found.passages, found.norms, first, last)
        kept = (total + sum(group.tops[last:]) >= threshold.value).nonzero()[0]
        found.keep(kept)
        total = total[kept]
    return total
