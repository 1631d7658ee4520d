"""What is kept in memory of every row, so that filters, scores and folding ask no disk."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from twolaned.model.query import RankingDate
from twolaned.model.row import Row, RowKind, Tier
from twolaned.search.columns import Columns, decoded_id
from twolaned.search.paths import path_matcher
from twolaned.search.profiles import Profile
from twolaned.search.row_filter import ALL_ROWS, RowFilter
from twolaned.search.row_writer import retiered, write_rows

Mask = NDArray[np.bool_]
Numbers = NDArray[np.uint32]

KEPT_MASKS = 8
"""Filters whose masks a table remembers."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Live rows of one kind, tier and source. *newest_at* is UTC milliseconds."""

    kind: RowKind
    tier: Tier
    source: str
    rows: int
    newest_at: int


class RowTable:
    """The live rows of one index generation, by row number. Immutable; safe in any thread.

    About 40 bytes a row and its id. Tables made from one another share their columns; a new
    generation costs one copy of the mask of what is live.
    """

    __slots__ = ("_columns", "_lock", "_masks", "live", "rows")

    def __init__(self, columns: Columns, live: Mask) -> None:
        self._columns = columns
        self._masks: OrderedDict[RowFilter, Mask] = OrderedDict()
        self._lock = Lock()
        self.live = live
        """By row number, up to the highest one."""
        self.rows = int(np.count_nonzero(live))
        """How many rows are live."""

    @classmethod
    def empty(cls) -> RowTable:
        """A table without rows."""
        return cls(Columns(), np.zeros(0, np.bool_))

    def with_rows(self, rows: Iterable[Row]) -> RowTable:
        """This table and *rows*, of which only the head is needed, in any order."""
        new = list(rows)
        if not new:
            return self
        columns = write_rows(self._columns, new)
        numbers = [row.number for row in new]
        live = np.zeros(max(len(self.live), max(numbers) + 1), np.bool_)
        live[: len(self.live)] = self.live
        live[numbers] = True
        return RowTable(columns, live)

    def without(self, numbers: Sequence[int]) -> RowTable:
        """This table without the row versions *numbers*; unknown ones do not matter."""
        live = self.live.copy()
        live[[number for number in numbers if number < len(live)]] = False
        return RowTable(self._columns, live)

    def with_tiers(self, numbers: Sequence[int], tier: Tier) -> RowTable:
        """This table with the row versions *numbers* in *tier*; unknown ones do not matter."""
        return RowTable(retiered(self._columns, numbers, tier), self.live)

    def allowed(self, conditions: RowFilter) -> Mask:
        """By row number, which live rows meet *conditions*. Not to be written to."""
        if conditions == ALL_ROWS:
            return self.live
        with self._lock:
            mask = self._masks.get(conditions)
        if mask is None:
            mask = self._judge(conditions)
            with self._lock:
                self._masks[conditions] = mask
                if len(self._masks) > KEPT_MASKS:
                    self._masks.popitem(last=False)
        return mask

    def count(self, conditions: RowFilter) -> int:
        """How many live rows meet *conditions*."""
        return int(np.count_nonzero(self.allowed(conditions)))

    def _judge(self, conditions: RowFilter) -> Mask:
        columns, size = self._columns, len(self.live)
        shared = replace(conditions, paths=(), topic=None, decision=None, since=None, before=None)
        mask = self.live.copy()
        if shared != ALL_ROWS:
            profiles = columns.profiles
            count = len(profiles)
            fits = columns.profile_masks.mask(
                shared, range(count), count, lambda code: profiles[code].meets(shared)
            )
            # Codes of rows that came later may be newer than `fits`; those rows are not live here.
            mask &= fits.take(columns.profile[:size], mode="clip")
        if conditions.since is not None:
            mask &= columns.own_time[:size] >= conditions.since
        if conditions.before is not None:
            mask &= columns.own_time[:size] < conditions.before
        if conditions.paths:
            mask &= self._on_paths(conditions.paths)
        if conditions.topic is not None:
            about = [n for n, topics in columns.topics if conditions.topic in topics]
            mask &= self._mask_of(about)
        if conditions.decision is not None:
            words = conditions.decision.split()
            holding = [n for n, text in columns.decisions if _holds_in_one(text, words)]
            mask &= self._mask_of(holding)
        return mask

    def _on_paths(self, paths: tuple[str, ...]) -> Mask:
        columns, size = self._columns, len(self.live)
        found = np.zeros(size, np.bool_)
        for said in paths:
            matches = path_matcher(said)

            def holds(number: int, matches=matches) -> bool:  # type: ignore[no-untyped-def]
                path = columns.path(number)
                return path is not None and bool(matches(path))

            found |= columns.path_masks.mask(said, columns.order, columns.capacity, holds)[:size]
        return found

    def _mask_of(self, numbers: list[int]) -> Mask:
        mask = np.zeros(max([len(self.live), *(n + 1 for n in numbers)]), np.bool_)
        mask[numbers] = True
        return mask[: len(self.live)]

    def newest(self, allowed: Mask, n: int) -> Numbers:
        """The *n* newest rows of *allowed* by their own time, else by when they were indexed.

        Newest first; those of the same millisecond in order of their ids.
        """
        numbers = np.flatnonzero(allowed[: len(self.live)])
        times = self._columns.own_time[numbers]
        if len(numbers) > n > 0:
            border = np.partition(times, len(times) - n)[len(times) - n]
            numbers, times = numbers[times >= border], times[times >= border]
        by_age = zip((-times).tolist(), numbers.tolist(), strict=True)
        ordered = sorted((age, self.id_key(number), number) for age, number in by_age)
        return np.array([number for *_, number in ordered[:n]], np.uint32)

    def id_key(self, number: int) -> bytes:
        """A row's id in UTF-8, which sorts as the id does."""
        return self._columns.row_id(number)

    def id(self, number: int) -> str:
        """A row's id."""
        return decoded_id(self.id_key(number))

    def dates(self, numbers: Numbers, by: RankingDate) -> NDArray[np.int64]:
        """UTC milliseconds: when each row was indexed, or its own time where it has one."""
        columns = self._columns
        return (columns.own_time if by is RankingDate.OCCURRED else columns.indexed_at)[numbers]

    def text_hashes(self, numbers: Sequence[int]) -> list[int]:
        """Equal for conversations with the same text; 0 for rows that do not fold by it."""
        hashes: list[int] = self._columns.text_hash[numbers].tolist()
        return hashes

    @property
    def knows_copies(self) -> bool:
        """Whether any row is said to be a copy of another."""
        return bool(self._columns.copy_of)

    def original(self, number: int) -> bytes:
        """The id of the row that a row is, over any number of steps, a copy of; else its own."""
        copies, row_id = self._columns.copy_of, self.id_key(number)
        seen = {row_id}
        while (target := copies.get(row_id)) is not None and target not in seen:
            seen.add(target)
            row_id = target
        return row_id

    def profiles(self, numbers: Numbers | Sequence[int]) -> list[Profile]:
        """What each row shares with others."""
        profiles = self._columns.profiles
        return [profiles[code] for code in self._columns.profile[numbers].tolist()]

    def generated(self, numbers: Sequence[int]) -> list[bool]:
        """Which rows a tool wrote; never digests."""
        return [profile.generated for profile in self.profiles(numbers)]

    def tallies(self) -> list[Tally]:
        """How many rows there are of each kind, tier and source."""
        numbers = np.flatnonzero(self.live)
        codes, times = self._columns.profile[numbers], self._columns.own_time[numbers]
        order = np.argsort(codes, kind="stable")
        distinct, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
        newest = np.maximum.reduceat(times[order], starts) if len(starts) else times
        found: dict[tuple[RowKind, Tier, str], tuple[int, int]] = {}
        for code, count, at in zip(
            distinct.tolist(), counts.tolist(), newest.tolist(), strict=True
        ):
            profile = self._columns.profiles[code]
            key = (profile.kind, profile.tier, profile.source)
            rows, latest = found.get(key, (0, at))
            found[key] = (rows + count, max(latest, at))
        return [Tally(*key, rows, latest) for key, (rows, latest) in sorted(found.items())]


def _holds_in_one(decisions: str, words: list[str]) -> bool:
    """Whether one of the *decisions*, a line each, contains all *words*."""
    return any(all(word in line for word in words) for line in decisions.split("\n"))
