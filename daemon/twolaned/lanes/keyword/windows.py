"""Passages that very frequent terms alone lift over the threshold, found window by window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.candidates import Candidates
from twolaned.lanes.keyword.columns import SLIM, WIDE
from twolaned.lanes.keyword.distinct import distinct
from twolaned.lanes.keyword.group import Group
from twolaned.lanes.keyword.impacts import ABOVE
from twolaned.lanes.keyword.scratch import positions
from twolaned.lanes.keyword.threshold import Threshold

Rows = NDArray[np.uint32] | None

FIRST = 1024
"""Windows that are looked at first, the most promising ones."""
STEP = 8_192
"""Windows that are looked at at once."""
LEAST = 1e-9
"""Every score that counts is above."""


def beyond(
    group: Group, known: Candidates, alone: bool, rows: Rows, threshold: Threshold
) -> NDArray[np.uint32]:
    """The passages besides the *known* that may reach the threshold by *group* alone.

    *alone* says that the query has no other terms, *rows* is the row by passage.
    """
    norms = known.norms
    if alone or threshold.value < 0.5 * group.top:
        champions = _champions(group)
        scores = group.exact(champions, norms)
        threshold.look_at(scores, champions, rows)
        if alone and len(group) == 1 and threshold.value > scores[-1] > 0:
            return champions
        if group.top < threshold.value:
            return champions[:0]
    windows, bounds = _windows(group, threshold)
    position = positions(len(norms))
    position[known.passages] = 1
    try:
        return _passages(group, known, windows, bounds, rows, threshold, position)
    finally:
        position[known.passages] = 0


def _champions(group: Group) -> NDArray[np.uint32]:
    champions = group.columns.champions[group.rows]
    return champions[0] if len(group) == 1 else distinct(champions.ravel())


def _windows(group: Group, threshold: Threshold) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The small windows that may reach the threshold, and the most that their passages can get."""
    each = WIDE // SLIM
    limit = np.float32(threshold.value)
    wide = np.flatnonzero(group.wide() >= limit)
    if group.slim_known or len(wide) * 4 > len(group.wide()):
        bounds = group.slim()
        windows = np.flatnonzero(bounds >= limit)
        return windows, bounds[windows]
    bounds = group.slim_of(wide)
    kept = np.flatnonzero(bounds >= limit)
    return wide[kept // each] * each + kept % each, bounds[kept]


def _passages(
    group: Group,
    known: Candidates,
    windows: NDArray[np.int64],
    bounds: NDArray[np.float32],
    rows: Rows,
    threshold: Threshold,
    position: NDArray[np.int32],
) -> NDArray[np.uint32]:
    norms = known.norms
    head = len(group) if len(group) < 3 else len(group) // 3
    passages = np.empty(0, np.uint32)
    scores = np.empty(0, np.float64)
    first = len(windows) > 4 * FIRST
    while len(windows):
        if first:
            best = np.argpartition(bounds, len(bounds) - FIRST)[len(bounds) - FIRST :]
            current, bound, first = windows[best], bounds[best], False
            others = np.ones(len(windows), np.bool_)
            others[best] = False
            windows, bounds = windows[others], bounds[others]
        else:
            current, windows = windows[:STEP], windows[STEP:]
            bound, bounds = bounds[:STEP], bounds[STEP:]
        score = group.about_windows(current, norms, head)
        # What the columns behind the head add at the most.
        rest = bound * np.float32(ABOVE) - group.slim_head(current, head)
        least = np.float32(threshold.value) - rest
        hit = (score.reshape(-1, SLIM) >= least[:, None]).ravel().nonzero()[0]
        found = (current[hit // SLIM] * SLIM + hit % SLIM).astype(np.uint32)
        fresh = position.take(found, mode="clip") == 0
        found, score = found[fresh], score[hit[fresh]]
        if head < len(group) and len(found):
            score = score + group.about(found, norms, head)
        kept = score >= np.float32(max(threshold.value, LEAST))
        if not kept.any():
            continue
        passages = np.concatenate((passages, found[kept]))
        scores = np.concatenate((scores, score[kept]))
        before = threshold.value
        threshold.look_at(
            np.concatenate((known.scores, scores)),
            np.concatenate((known.passages, passages)),
            rows,
        )
        if threshold.value > before:
            limit = threshold.value
            reach = bounds >= np.float32(limit)
            windows, bounds = windows[reach], bounds[reach]
            kept = scores >= limit
            passages, scores = passages[kept], scores[kept]
    return passages
