"""Completing what a person types, from the titles in the index. No lane and no disk is asked."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from twolaned.lanes.keyword.analyzer import fold
from twolaned.search.snapshot import IndexSnapshot

STARTS = 12
"""Words of a title at which a completion may begin."""
RECENT = 512
"""New titles that are looked through one by one before they are sorted in with the others."""
LOOKED_AT = 2_000
"""Entries with the prefix that are weighed."""
SHORTEST_WORD = 3

_WORD = re.compile(r"\w[\w'’.-]*\w|\w")


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


@dataclass(frozen=True, slots=True, order=True)
class _Start:
    key: str
    number: int
    title: str


class Suggester:
    """Completes prefixes from the titles of live rows; safe in any thread.

    Follows the index by itself: titles of rows that came since the last call are read then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sorted: list[_Start] = []
        self._recent: list[_Start] = []
        self._known = 0
        self._generation = -1

    def suggest(self, snapshot: IndexSnapshot, prefix: str, limit: int) -> list[Suggestion]:
        """At most *limit* completions of *prefix*: first words, then titles, the newest first."""
        self._follow(snapshot)
        wanted = fold(prefix)
        if not wanted:
            return []
        ends_open = prefix[-1:].isspace()
        head, _, last = ("", "", wanted) if ends_open else wanted.rpartition(" ")
        found = self._words(snapshot, prefix, "" if ends_open else last, limit // 2)
        titles = self._titles(snapshot, wanted, limit - len(found))
        if not titles and head:
            # What came before may be words of any title; its last word still completes.
            titles = self._titles(snapshot, last, limit - len(found))
        return found + titles

    def _words(
        self, snapshot: IndexSnapshot, prefix: str, last: str, limit: int
    ) -> list[Suggestion]:
        if len(last) < 1 or limit < 1:
            return []
        counts: Counter[str] = Counter()
        for start in self._with_prefix(snapshot, last):
            word = _WORD.match(start.key)
            if word is not None and len(word[0]) >= SHORTEST_WORD and word[0] != last:
                counts[word[0]] += 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        kept = prefix[: len(prefix) - len(prefix.split()[-1])]
        return [Suggestion(f"{kept}{word}", SuggestionKind.WORD) for word, _ in ordered[:limit]]

    def _titles(self, snapshot: IndexSnapshot, wanted: str, limit: int) -> list[Suggestion]:
        newest = sorted(self._with_prefix(snapshot, wanted), key=lambda start: -start.number)
        titles: dict[str, _Start] = {}
        for start in newest:
            titles.setdefault(start.title, start)
            if len(titles) >= limit:
                break
        return [
            Suggestion(start.title, SuggestionKind.TITLE, snapshot.rows.id(start.number))
            for start in titles.values()
        ][: max(limit, 0)]

    def _with_prefix(self, snapshot: IndexSnapshot, wanted: str) -> Iterable[_Start]:
        live = snapshot.rows.live
        entries, recent = self._sorted, self._recent
        at = bisect_left(entries, wanted, key=lambda start: start.key)
        found: list[_Start] = []
        while at < len(entries) and entries[at].key.startswith(wanted):
            if entries[at].number < len(live) and live[entries[at].number]:
                found.append(entries[at])
                if len(found) >= LOOKED_AT:
                    break
            at += 1
        found += (
            start
            for start in recent
            if start.key.startswith(wanted) and start.number < len(live) and live[start.number]
        )
        return found

    def _follow(self, snapshot: IndexSnapshot) -> None:
        if snapshot.generation == self._generation:
            return
        with self._lock:
            if snapshot.generation <= self._generation:
                return
            live = snapshot.rows.live
            new = [n for n in live.nonzero()[0].tolist() if n >= self._known]
            added: list[_Start] = []
            with snapshot.view() as view:
                for number in new:
                    row = view.head(number)
                    if row is not None and row.title:
                        added += _starts(number, row.title)
            recent = [*self._recent, *added]
            if len(recent) > RECENT:
                kept = (s for s in self._sorted if s.number < len(live) and live[s.number])
                self._sorted, recent = sorted([*kept, *recent]), []
            self._recent = recent
            self._known = len(live)
            self._generation = snapshot.generation


def _starts(number: int, title: str) -> list[_Start]:
    """An entry for each word at which a completion to *title* may begin."""
    folded = fold(title)
    places = [match.start() for match in _WORD.finditer(folded)][:STARTS]
    return [_Start(folded[place:], number, title) for place in places]
