"""Which number a term has."""

from __future__ import annotations

from collections.abc import Sequence

from twolaned.store import Store


class StoreVocabulary:
    """Gives terms their numbers: those of the store, and the next free ones to new terms.

    Numbers ascend from 0. New terms wait in `pending` until a commit has written them; until
    then no posting with their numbers is durable either.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.pending: dict[str, int] = {}
        with store.view() as view:
            self._next = max(view.manifest.next_term, view.next_term)

    @property
    def next_term(self) -> int:
        """The number that the next new term will have; none is given twice."""
        return self._next

    def ids(self, terms: Sequence[str]) -> list[int]:
        """The numbers of *terms*, in their order."""
        numbers = [self.pending.get(term) for term in terms]
        asked = sorted(
            {term for term, number in zip(terms, numbers, strict=True) if number is None}
        )
        if asked:
            # In order, so that each lookup finds its neighbours' pages at hand.
            with self._store.view() as view:
                found = dict(zip(asked, view.term_ids(asked), strict=True))
            for place, term in enumerate(terms):
                if numbers[place] is None:
                    known = found[term]
                    numbers[place] = self._pending_id(term) if known is None else known
        return [number for number in numbers if number is not None]

    def _pending_id(self, term: str) -> int:
        number = self.pending.get(term)
        if number is None:
            number = self.pending[term] = self._next
            self._next += 1
        return number

    def written(self, terms: dict[str, int]) -> None:
        """Forget that *terms* wait: a commit has written them."""
        for term in terms:
            self.pending.pop(term, None)
