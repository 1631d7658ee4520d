"""Required and excluded parts of a query. They judge a whole row, and bind every lane."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from twolaned.model.result import LaneHits
from twolaned.search.fusion import only
from twolaned.search.patterns import Pattern, fold_quickly
from twolaned.search.ports import StoreView

KEPT_PATTERNS = 16
"""Patterns whose verdicts are remembered."""
DEEPER = 4
"""How many times as many hits are asked for when too many of them fell through."""

_UNKNOWN, _HOLDS, _LACKS = np.int8(0), np.int8(1), np.int8(2)


class Verdicts:
    """Remembers which row versions hold which patterns: a version's text never changes.

    A byte a row and pattern. Safe from any thread: a verdict that is lost is found again.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Pattern, NDArray[np.int8]] = OrderedDict()
        self._lock = Lock()

    def of(self, pattern: Pattern, size: int) -> NDArray[np.int8]:
        """The verdicts on *pattern* by row number, for at least the numbers below *size*."""
        with self._lock:
            known = self._kept.pop(pattern, None)
            if known is None or len(known) < size:
                grown = np.zeros(size + size // 4 + 64, np.int8)
                if known is not None:
                    grown[: len(known)] = known
                known = grown
            self._kept[pattern] = known
            if len(self._kept) > KEPT_PATTERNS:
                self._kept.popitem(last=False)
            return known


@dataclass(frozen=True, slots=True)
class _Part:
    pattern: Pattern
    wanted: np.int8
    verdicts: NDArray[np.int8]
    may_hold: NDArray[np.bool_] | None


class Judge:
    """Whether rows hold all *required* patterns and none of the *excluded*, by title and body.

    *may_hold* says by row number which rows may hold an excluded pattern at all, None where that
    is not known. *size* is above every row number that will be asked for.
    """

    def __init__(
        self,
        required: Sequence[Pattern],
        excluded: Sequence[Pattern],
        *,
        view: StoreView,
        verdicts: Verdicts,
        size: int,
        may_hold: Callable[[Pattern], NDArray[np.bool_] | None] = lambda _: None,
    ) -> None:
        # What is cheap to refute first: a long pattern is rare.
        ordered = sorted(required, key=lambda p: -len(p.text))
        self._parts = [_Part(p, _HOLDS, verdicts.of(p, size), None) for p in ordered]
        self._parts += [_Part(p, _LACKS, verdicts.of(p, size), may_hold(p)) for p in excluded]
        self._view = view

    @property
    def has_work(self) -> bool:
        """Whether there is anything to judge by."""
        return bool(self._parts)

    def passes(self, number: int) -> bool:
        """Whether the row version *number* meets every part. A row that is gone does not."""
        texts: tuple[str, str] | None = None
        for part in self._parts:
            verdict = part.verdicts[number]
            if part.may_hold is not None and not part.may_hold[number]:
                verdict = _LACKS
            elif verdict == _UNKNOWN:
                texts = texts or _texts(self._view, number)
                if texts is None:
                    return False
                verdict = _HOLDS if any(map(part.pattern.occurs_in, texts)) else _LACKS
                part.verdicts[number] = verdict
            if verdict != part.wanted:
                return False
        return True

    def proven(self, ask: Callable[[int], LaneHits], n: int) -> LaneHits:
        """The first *n* hits of *ask* that pass, where *ask* returns so many of them in order.

        Exact: asks for more until *n* have passed or the hits end. Texts are read in the order of
        the hits, so that of a common phrase only few are.
        """
        if not self.has_work:
            return ask(n)
        asked = n
        while True:
            hits = ask(asked)
            kept = np.fromiter(
                (self.passes(number) for number in hits.rows.tolist()), np.bool_, len(hits.rows)
            )
            if hits.exhausted or np.count_nonzero(kept) >= n:
                passed = only(hits, kept)
                return only(passed, np.arange(len(passed.rows)) < n)
            asked *= DEEPER


def _texts(view: StoreView, number: int) -> tuple[str, str] | None:
    """A row's folded title and body, None where it is gone."""
    record = view.record(number)
    if record is None:
        return None
    return fold_quickly(record.title), fold_quickly(view.body_bytes(number).decode())
