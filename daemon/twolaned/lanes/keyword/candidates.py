"""Passages that may be among the best, and what they have of the score so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.impacts import impacts
from twolaned.lanes.keyword.posting_list import Norms, Passages, Places, PostingList
from twolaned.lanes.keyword.scratch import numbers, positions

GATHERED = 12
"""Looking one candidate up costs about as much as passing so many postings."""


class Candidates:
    """Distinct *passages* and their *scores* so far.

    Shares are float32 and their sum is a float64, which is exact: the same terms give the same
    score in whichever order they are added up.
    """

    __slots__ = ("norms", "passages", "scores")

    def __init__(self, norms: Norms, passages: Passages, scores: NDArray[np.float64]) -> None:
        self.norms = norms
        self.passages = passages
        self.scores = scores

    @classmethod
    def none(cls, norms: Norms) -> Candidates:
        """No candidates yet."""
        return cls(norms, np.empty(0, np.uint32), np.empty(0))

    def __len__(self) -> int:
        return len(self.passages)

    def subset(self, places: Places | NDArray[np.bool_]) -> Candidates:
        """A copy of some candidates."""
        return Candidates(self.norms, self.passages[places], self.scores[places])

    def keep(self, places: Places | NDArray[np.bool_]) -> None:
        """Forget all others."""
        self.passages = self.passages[places]
        self.scores = self.scores[places]

    def sort(self) -> None:
        """Put them in order of passage, in which lookups are fast."""
        self.keep(np.argsort(self.passages))

    def add(self, postings: PostingList) -> None:
        """Add a term's shares to these candidates, which are looked up in its postings."""
        ids = postings.ids.all()
        places = ids.searchsorted(self.passages)
        found = (ids.take(places, mode="clip") == self.passages).nonzero()[0]
        if len(found):
            shares = postings.shares(places[found], self.passages[found], self.norms)
            self.scores[found] += shares

    def admit_whole(self, lists: Sequence[PostingList]) -> None:
        """Take all passages of some short lists, the first ones of a search."""
        passages = np.concatenate([postings.ids.all() for postings in lists])
        codes = np.concatenate([postings.codes for postings in lists])
        shares = impacts(lists[0].book.tf.take(codes), self.norms.take(passages, mode="clip"))
        shares *= np.repeat(
            np.array([postings.weight for postings in lists], np.float32),
            [postings.count for postings in lists],
        )
        order = passages.argsort(kind="stable")
        passages = passages[order]
        starts = np.ones(len(passages), np.bool_)
        np.not_equal(passages[1:], passages[:-1], out=starts[1:])
        firsts = starts.nonzero()[0]
        self.passages = passages[firsts]
        self.scores = np.add.reduceat(shares.astype(np.float64)[order], firsts)

    def admit(self, postings: PostingList, chosen: Places | None) -> None:
        """Add a term's shares, and its postings at *chosen* as new candidates; None is all."""
        if not len(self.passages):
            if chosen is None:
                self.passages = postings.ids.all()
                self.scores = postings.all_shares(self.norms).astype(np.float64)
            else:
                self.passages = postings.ids.at(chosen)
                shares = postings.shares(chosen, self.passages, self.norms)
                self.scores = shares.astype(np.float64)
            return
        position = positions(len(self.norms))
        position[self.passages] = numbers(len(self.passages))
        try:
            fresh = self._add_and_find_new(postings, chosen, position)
        finally:
            position[self.passages] = 0
        if len(fresh):
            passages = postings.ids.at(fresh)
            shares = postings.shares(fresh, passages, self.norms)
            self.passages = np.concatenate((self.passages, passages))
            self.scores = np.concatenate((self.scores, shares))

    def _add_and_find_new(
        self, postings: PostingList, chosen: Places | None, position: NDArray[np.int32]
    ) -> Places:
        if len(self.passages) * GATHERED <= postings.count and chosen is not None:
            self.add(postings)
            fresh = position.take(postings.ids.at(chosen), mode="clip") == 0
            new: Places = chosen[fresh]
            return new
        ids = postings.ids.all()
        at = position.take(ids, mode="clip")
        old = at.nonzero()[0]
        if len(old):
            self.scores[at[old] - 1] += postings.shares(old, ids[old], self.norms)
        every: Places = (at == 0).nonzero()[0] if chosen is None else chosen[at[chosen] == 0]
        return every
