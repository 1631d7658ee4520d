"""Moving the terms of small commits to where all others are."""

from __future__ import annotations

from twolaned.store import Store

TERMS_AT_ONCE = 1_000
"""Neighbours, which share pages, so that a transaction takes a few milliseconds."""


class TermFolding:
    """Moves the terms of commits whose postings are sealed, a range of the alphabet at a time.

    A crash leaves terms in both places, with the same numbers.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._left: list[tuple[bytes, int]] = []
        self._upto = 0

    def step(self, sealed_seq: int) -> bool:
        """Move some terms of the commits up to *sealed_seq*. Returns whether it did any work.

        Raises DiskFull; the next call tries again.
        """
        if not self._left:
            if sealed_seq <= self._upto:
                return False
            with self._store.view() as view:
                self._left = sorted(view.fresh_terms(sealed_seq), reverse=True)
            self._upto = sealed_seq
            if not self._left:
                return False
        some = self._left[-TERMS_AT_ONCE:]
        with self._store.change() as change:
            change.place_terms(reversed(some))
            if len(some) == len(self._left):
                change.drop_fresh_terms(self._upto)
        del self._left[-len(some) :]
        return True
