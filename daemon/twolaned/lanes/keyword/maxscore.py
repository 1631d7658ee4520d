"""The best passages of a large segment, without looking at most of them.

Lists are taken in order of what they can add at the most. Once the rest cannot lift a new passage
over the threshold, only known candidates are completed (MaxScore: Turtle and Flood 1995). Inside a
list the bounds choose the postings that are scored at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.candidates import Candidates
from twolaned.lanes.keyword.columns import SLIM, WIDE
from twolaned.lanes.keyword.completion import MANY, complete_best, complete_by
from twolaned.lanes.keyword.group import Group
from twolaned.lanes.keyword.posting_list import PostingList
from twolaned.lanes.keyword.threshold import Threshold
from twolaned.lanes.keyword.windows import beyond

SHORT = 2_048
"""Postings up to which a list is scored whole."""
LONG = 8_192
"""Postings from which on windows help to choose."""
AHEAD = 4_096
"""Postings from which on it pays to complete the best candidates early."""
EARLY = 3
"""How often that is done."""


class MaxScore:
    """One search of one segment. *rows* are the rows by passage, None where each has one."""

    def __init__(
        self,
        lists: Sequence[PostingList],
        group: Group | None,
        norms: NDArray[np.float32],
        rows: NDArray[np.uint32] | None,
        threshold: Threshold,
    ) -> None:
        self.lists = sorted(lists, key=lambda postings: -postings.top)
        self.group = group
        self.rows = rows
        self.threshold = threshold
        self.found = Candidates.none(norms)
        self._of_group = group.top if group else 0.0
        self._rest = [self._of_group]
        self._ahead = [0]
        for postings in reversed(self.lists):
            self._rest.append(self._rest[-1] + postings.top)
            self._ahead.append(self._ahead[-1] + postings.count)
        self._rest.reverse()
        self._ahead.reverse()
        self._early = 0

    def search(self) -> Candidates:
        """All passages that reach the threshold, with their exact scores."""
        done = self._begin()
        while done < len(self.lists) and self._rest[done] >= self.threshold.value:
            self.found.admit(self.lists[done], self._choose(done))
            done += 1
            self._learn(done)
        self._complete(done)
        if self.group and self.group.top >= self.threshold.value:
            self._look_beyond(self.group)
        if len(self.found) > self.threshold.n:
            self.threshold.look_at(self.found.scores, self.found.passages, self.rows)
        self.found.keep(self.found.scores >= self.threshold.value)
        return self.found

    def _begin(self) -> int:
        """Score the first lists whole, as many as are short together."""
        count = total = 0
        for postings in self.lists:
            total += postings.count
            if total > SHORT:
                break
            count += 1
        if count > 1:
            self.found.admit_whole(self.lists[:count])
            self._learn(count)
            return count
        return 0

    def _choose(self, at: int) -> NDArray[np.int64] | None:
        """The postings whose passages may reach the threshold if no earlier list has them."""
        postings, rest = self.lists[at], self._rest[at + 1]
        threshold, norms = self.threshold, self.found.norms
        if postings.count <= SHORT:
            return None
        if threshold.value == 0 and rest < postings.top and postings.mark:
            best = (postings.codes >= postings.mark).nonzero()[0]
            passages = postings.ids.at(best)
            threshold.look_at(postings.shares(best, passages, norms), passages, self.rows)
        chosen = None
        if threshold.value > rest:
            least = postings.first_code((threshold.value - rest) / postings.scale)
            chosen = (postings.codes >= least).nonzero()[0]
        count = postings.count if chosen is None else len(chosen)
        if self.group and threshold.value > 0 and count > LONG:
            return self._choose_by_windows(postings, chosen, self.group, rest)
        return chosen

    def _choose_by_windows(
        self, postings: PostingList, chosen: NDArray[np.int64] | None, group: Group, rest: float
    ) -> NDArray[np.int64]:
        limit = np.float32(self.threshold.value - (rest - self._of_group))
        passages = postings.ids.all() if chosen is None else postings.ids.at(chosen)
        own = postings.bounds(chosen)
        bound = group.wide().take(passages // np.uint32(WIDE), mode="clip")
        bound += own
        kept = (bound >= limit).nonzero()[0]
        if len(kept) * len(group) > MANY:
            bound = group.slim().take(passages[kept] // np.uint32(SLIM), mode="clip")
            bound += own[kept]
            kept = kept[bound >= limit]
        return kept if chosen is None else chosen[kept]

    def _learn(self, done: int) -> None:
        """Raise the threshold by what is known after *done* lists, and drop the hopeless."""
        found, threshold = self.found, self.threshold
        last = done == len(self.lists)
        if len(found) < threshold.n or (last and not self.group):
            return
        if (last or self._ahead[done] > AHEAD) and self._early < EARLY:
            self._early += 1
            complete_best(found, self.lists[done:], self.group, self.rows, threshold)
        else:
            threshold.look_at(found.scores, found.passages, self.rows)
        if len(found) > 4 * threshold.n and threshold.value > self._rest[done]:
            kept = np.flatnonzero(found.scores >= threshold.value - self._rest[done])
            if len(kept) < len(found) // 2:
                found.keep(kept)

    def _complete(self, done: int) -> None:
        """Give the candidates all that lists after *done* and the group add to them."""
        found, threshold = self.found, self.threshold
        is_sorted = False
        for at in range(done, len(self.lists) + 1):
            kept = found.scores >= threshold.value - self._rest[at]
            if not kept.all():
                found.keep(kept)
            if at == len(self.lists) or not len(found):
                break
            if len(found) > 512 and not is_sorted:
                found.sort()
                is_sorted = True
            found.add(self.lists[at])
            if len(found) > threshold.n:
                threshold.look_at(found.scores, found.passages, self.rows)
        if self.group and len(found):
            complete_by(self.group, found, self.rows, threshold)

    def _look_beyond(self, group: Group) -> None:
        """Add passages that no list led to but that the group alone lifts over the threshold."""
        found = self.found
        passages = beyond(group, found, not self.lists, self.rows, self.threshold)
        for postings in self.lists:
            # Whoever holds a term of a list is a candidate already, or hopeless.
            ids = postings.ids.all()
            places = ids.searchsorted(passages)
            passages = passages[ids.take(places, mode="clip") != passages]
        if len(passages):
            scores = group.exact(passages, found.norms)
            if len(found):
                passages = np.concatenate((found.passages, passages))
                scores = np.concatenate((found.scores, scores))
            self.found = Candidates(found.norms, passages, scores)
            self.threshold.look_at(scores, passages, self.rows)
