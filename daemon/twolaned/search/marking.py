"""Where a query's words stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from twolaned.lanes.keyword.analyzer import analyze
from twolaned.lanes.keyword.characters import SIGNS
from twolaned.search.folded_text import FoldedText
from twolaned.search.patterns import Pattern
from twolaned.search.words import WORD_CHARACTER, is_unspaced

_WORD = re.compile(f"{WORD_CHARACTER}+")

LONGEST_WORD = 256
"""Characters. What is longer is data and not a word that a person searched for."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters *start* to *end* of a text, and which parts of the query they match."""

    start: int
    end: int
    parts: frozenset[str]


class Marker:
    """Marks words whose analysed terms are among *terms*, words that begin with one of *prefixes*,
    and *patterns*. Terms and prefixes are folded.
    """

    def __init__(
        self, terms: Iterable[str], prefixes: Iterable[str] = (), patterns: Iterable[Pattern] = ()
    ) -> None:
        found, begun = frozenset(filter(None, terms)), frozenset(filter(None, prefixes))
        self._grams = sorted(t for t in found | begun if all(map(is_unspaced, t)))
        signed = [t for t in found if t[-1] in SIGNS]
        self._terms = found.difference(self._grams, signed)
        self._prefixes = begun.difference(self._grams)
        self._patterns = (*patterns, *map(Pattern, signed))
        self._heads = {h for t in self._terms for h in heads(t)} | self._prefixes

    def marks(self, text: str) -> list[Mark]:
        """All marks in *text*, in order of their starts. They may overlap."""
        folded = FoldedText(text)
        found = [*self._words(folded), *self._unspaced(folded)]
        for pattern in self._patterns:
            part = frozenset({pattern.text})
            spans = pattern.spans(folded.folded)
            found.extend(Mark(*folded.original(*span), part) for span in spans)
        return sorted(found, key=lambda mark: (mark.start, -mark.end))

    def _words(self, folded: FoldedText) -> Iterator[Mark]:
        text = folded.folded
        ends: dict[int, int] = {}
        for head in self._heads:
            at = text.find(head)
            while at >= 0:
                start = _word_start(text, at)
                word = _WORD.match(text, start)
                after = at + 1
                if word is not None and word.end() > at:
                    ends[start] = after = word.end()
                at = text.find(head, after)
        for start, end in ends.items():
            place = folded.original(start, end)
            parts = self._matched(folded.text[slice(*place)], text[start:end])
            if parts:
                yield Mark(*place, parts)

    def _matched(self, word: str, folded: str) -> frozenset[str]:
        """The query's parts that *word*, in its own spelling, matches."""
        if len(word) > LONGEST_WORD:
            return frozenset()
        terms = _terms(word)
        parts = self._terms & terms
        for prefix in self._prefixes:
            if folded.startswith(prefix) or any(term.startswith(prefix) for term in terms):
                parts |= {f"{prefix}*"}
        return parts

    def _unspaced(self, folded: FoldedText) -> Iterator[Mark]:
        text = folded.folded
        for gram in self._grams:
            at = text.find(gram)
            while at >= 0:
                yield Mark(*folded.original(at, at + len(gram)), frozenset({gram}))
                at = text.find(gram, at + 1)


def _word_start(text: str, at: int) -> int:
    while at > 0 and _WORD.match(text[at - 1]):
        at -= 1
    return at


def heads(term: str) -> list[str]:
    """What a word with *term* among its terms holds somewhere, folded.

    Stemming changes the ends of words; of short words also a second letter, as of ``dying``.
    """
    if len(term) > 3:
        return [term[:3]]
    if len(term) > 1 and term[1] in "iy":
        return [term[0] + "i", term[0] + "y"]
    return [term[:2]]


@lru_cache(maxsize=8192)
def _terms(word: str) -> frozenset[str]:
    return frozenset(analyze(word))
