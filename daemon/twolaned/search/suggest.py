"""Completing what a person types, from the titles in the index. No lane is asked.

Each title stands in a sorted array under each of its first words, so that a prefix is a range of
it. What is new is gathered beside it and sorted in now and then, in steps that let others run.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.analyzer import fold
from twolaned.search.snapshot import IndexSnapshot

STARTS = 12
"""Words of a title at which a completion may begin."""
KEY = 32
"""Bytes of a title, from a word on, that are sorted; longer prefixes are compared with titles."""
STEP = 512
"""Rows whose titles are read at a time."""
RECENT = 4_096
"""Entries that may always lie beside the large array; more while they are an eighth of it."""
WEIGHED = 8_192
"""Entries with the prefix that are weighed; of more, every so many."""
READ = 256
"""Titles that are read, at most, to find enough that differ."""
SHORTEST_WORD = 3

_WORD = re.compile(r"\w[\w'’.-]*\w|\w")
_NO_WORD = -1
_PAST = b"\xff"
"""Sorts behind every byte of UTF-8."""


class SuggestionKind(StrEnum):
    """What a suggestion completes to."""

    WORD = "word"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One completion: *text* is the whole query, *row_id* the row whose title it is."""

    text: str
    kind: SuggestionKind
    row_id: str = ""


class _Entries(NamedTuple):
    """Sorted *keys* of shape (n,), the row and the first word, or -1, of each."""

    keys: NDArray[np.bytes_]
    rows: NDArray[np.int32]
    words: NDArray[np.int32]

    @classmethod
    def of(cls, entries: list[tuple[bytes, int, int]]) -> _Entries:
        keys, rows, words = zip(*entries, strict=True) if entries else ((), (), ())
        return cls(
            np.array(keys, f"S{KEY}"), np.array(rows, np.int32), np.array(words, np.int32)
        ).sorted()

    def sorted(self) -> _Entries:
        order = np.argsort(self.keys, kind="stable")  # merges what is in order already
        return self._at(order)

    def with_prefix(self, wanted: bytes) -> _Entries:
        """Those whose key begins with *wanted*."""
        # Of another width than the keys, a needle would have all of them copied.
        low, high = np.array([wanted[:KEY], (wanted + _PAST)[:KEY]], self.keys.dtype)
        side = "left" if len(wanted) < KEY else "right"
        first, last = self.keys.searchsorted(low), self.keys.searchsorted(high, side)  # type: ignore[call-overload]
        step = -(-(last - first) // WEIGHED) or 1
        return self._at(slice(first, last, step))

    def among(self, live: NDArray[np.bool_]) -> _Entries:
        """Those of rows that are *live*, by number."""
        kept = self.rows < len(live)
        kept[kept] = live[self.rows[kept]]
        return self._at(kept)

    def and_(self, other: _Entries) -> _Entries:
        """Both together, sorted."""
        if not len(other.keys):
            return self
        return _Entries(
            np.concatenate((self.keys, other.keys)),
            np.concatenate((self.rows, other.rows)),
            np.concatenate((self.words, other.words)),
        ).sorted()

    def _at(self, places: slice | NDArray[np.bool_] | NDArray[np.intp]) -> _Entries:
        return _Entries(self.keys[places], self.rows[places], self.words[places])


class Suggester:
    """Completes prefixes from the titles of live rows; safe in any thread.

    It knows the rows that `follow` has shown it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts = _Entries.of([]), _Entries.of([])
        """The large part and the recent one, replaced together."""
        self._word_ids: dict[str, int] = {}
        self._words: list[str] = []
        self._known = 0

    def is_behind(self, snapshot: IndexSnapshot) -> bool:
        """Whether *snapshot* has rows that are not known yet."""
        return self._known != len(snapshot.rows.live)

    def follow(self, snapshot: IndexSnapshot) -> None:
        """Read the titles of the next `STEP` rows of *snapshot* that are not known. Blocks."""
        with self._lock:
            live = snapshot.rows.live
            if len(live) < self._known:  # numbered anew
                self._parts, self._known = (_Entries.of([]), _Entries.of([])), 0
            end = min(self._known + STEP, len(live))
            added: list[tuple[bytes, int, int]] = []
            with snapshot.view() as view:
                for number in (live[self._known : end].nonzero()[0] + self._known).tolist():
                    row = view.head(number)
                    if row is not None:
                        added += self._entries(number, row.title)
            large, recent = self._parts[0], self._parts[1].and_(_Entries.of(added))
            if len(recent.keys) > max(RECENT, len(large.keys) // 8):
                large, recent = large.among(live).and_(recent), _Entries.of([])
            self._parts, self._known = (large, recent), end

    def suggest(self, snapshot: IndexSnapshot, prefix: str, limit: int) -> list[Suggestion]:
        """At most *limit* completions of *prefix*: first words, then titles, the newest first."""
        wanted = fold(prefix)
        if not wanted:
            return []
        ends_open = prefix[-1:].isspace()
        head, _, last = ("", "", wanted) if ends_open else wanted.rpartition(" ")
        met = self._met(snapshot, wanted)
        by_last = self._met(snapshot, last) if head else met
        found = [] if ends_open else self._completed(by_last, prefix, last, limit // 2)
        titles = self._titles(snapshot, met, wanted, limit - len(found))
        if not titles and head:
            # What came before may be words of any title; its last word still completes.
            titles = self._titles(snapshot, by_last, last, limit - len(found))
        return found + titles

    def _entries(self, number: int, title: str) -> Iterator[tuple[bytes, int, int]]:
        folded = fold(title)
        for match in list(_WORD.finditer(folded))[:STARTS]:
            word, word_id = match[0], _NO_WORD
            if len(word) >= SHORTEST_WORD:
                word_id = self._word_ids.setdefault(word, len(self._words))
                if word_id == len(self._words):
                    self._words.append(word)
            # A title may go on for long, but only its first letters are sorted.
            key = folded[match.start() : match.start() + KEY].encode("utf-8", "replace")[:KEY]
            yield key, number, word_id

    def _met(self, snapshot: IndexSnapshot, wanted: str) -> _Entries:
        key = wanted.encode("utf-8", "replace")
        large, recent = (part.with_prefix(key).among(snapshot.rows.live) for part in self._parts)
        return large.and_(recent)

    def _completed(self, met: _Entries, prefix: str, last: str, limit: int) -> list[Suggestion]:
        """*prefix* with its *last* word completed to the words that most titles have."""
        words = met.words[met.words != self._word_ids.get(last, _NO_WORD)]
        ids, first, counts = np.unique(
            words[words != _NO_WORD], return_index=True, return_counts=True
        )
        order = np.lexsort((first, -counts))
        kept = prefix[: len(prefix) - len(prefix.split()[-1])]
        best = [self._words[word] for word in ids[order[: limit + 1]].tolist()]
        # A word longer than a key may only begin like the last one.
        texts = [f"{kept}{word}" for word in best if word.startswith(last)]
        return [Suggestion(text, SuggestionKind.WORD) for text in texts[:limit]]

    def _titles(
        self, snapshot: IndexSnapshot, met: _Entries, wanted: str, limit: int
    ) -> list[Suggestion]:
        """The newest titles that have *wanted* at the start of a word."""
        numbers = np.unique(met.rows)[::-1][:READ].tolist()
        is_long = len(wanted.encode("utf-8", "replace")) > KEY
        found: dict[str, int] = {}
        with snapshot.view() as view:
            for number in numbers:
                if len(found) >= limit:
                    break
                row = view.head(number)
                if row is not None and (not is_long or _begins(row.title, wanted)):
                    found.setdefault(row.title, number)
        return [
            Suggestion(title, SuggestionKind.TITLE, snapshot.rows.id(number))
            for title, number in found.items()
        ]


def _begins(title: str, wanted: str) -> bool:
    """Whether *wanted* stands in *title* where a word begins."""
    folded = fold(title)
    return any(folded.startswith(wanted, match.start()) for match in _WORD.finditer(folded))
