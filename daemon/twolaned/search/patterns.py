"""Words and phrases as they must, or must not, stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from twolaned.lanes.keyword.analyzer import analyze, analyze_query, fold
from twolaned.lanes.keyword.characters import SIGNS, Kind, case_folded, runs, without_marks
from twolaned.search.words import WORD_CHARACTER

_borders = re.compile(WORD_CHARACTER)
_word_rest = re.compile(rf"{WORD_CHARACTER}*")
_not_ascii = re.compile("[^\x00-\x7f]+")
_SIGNS = re.compile(f"[{re.escape(SIGNS)}]")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Folded text that begins and ends at word borders; with *prefix*, its last word may go on.

    The border of a script without spaces is no word border: such text matches anywhere. So does
    the side of a pattern where no letter or digit stands, as behind ``C++``.
    """

    text: str
    prefix: bool = False

    @classmethod
    def of(cls, text: str, *, prefix: bool = False) -> Pattern | None:
        """The pattern of *text* as typed; None if there is no letter or digit to look for."""
        folded = fold(text).strip()
        return cls(folded, prefix) if runs(folded) else None

    def terms(self) -> set[str]:
        """Terms that every text has in which this occurs; none where that cannot be told.

        Of a word its own term, not those of its parts: they depend on upper and lower case.
        """
        found: set[str] = set()
        stretches = runs(self.text)
        for place, (kind, run) in enumerate(stretches):
            if kind is Kind.WORD:
                words = [word for word in _SIGNS.split(run) if word]
                if self.prefix and place == len(stretches) - 1:
                    words = words[:-1]
                found.update(term for word in words for term in analyze(word)[:1])
            elif len(run) >= int(kind) - 1:
                found.update(analyze_query(run))
        return found

    def occurs_in(self, folded: str) -> bool:
        """Whether the text, given as `fold_quickly` returns it, holds this."""
        return next(self._found(folded), None) is not None

    def spans(self, folded: str) -> list[tuple[int, int]]:
        """The characters of *folded* where this stands; a prefix reaches to its word's end."""
        spans: list[tuple[int, int]] = []
        for start, end in self._found(folded):
            if not spans or start >= spans[-1][1]:
                rest = _word_rest.match(folded, end) if self.prefix else None
                spans.append((start, end if rest is None else rest.end()))
        return spans

    def _found(self, folded: str) -> Iterator[tuple[int, int]]:
        """Where the words stand with their borders.

        The borders are looked at by hand: a lookbehind would keep the search from skipping to the
        first word's letters, which makes it a hundred times slower.
        """
        words, left, right = _compiled(self)
        match = words.search(folded)
        while match is not None:
            start, end = match.span()
            starts_well = not left or start == 0 or not _borders.match(folded, start - 1)
            if starts_well and not (right and _borders.match(folded, end)):
                yield start, end
            match = words.search(folded, start + 1)


def fold_quickly(text: str) -> str:
    """*text* folded for patterns. White space need not be collapsed: they match any amount."""
    if text.isascii():
        return text.lower()
    # What lies between ASCII characters folds by itself, and mostly comes again and again.
    return _not_ascii.sub(_fold_run, text).lower()


def _fold_run(match: re.Match[str]) -> str:
    return _folded_run(match[0])


@lru_cache(maxsize=1 << 14)
def _folded_run(run: str) -> str:
    return " " if run.isspace() else case_folded(without_marks(run))


@lru_cache(maxsize=256)
def _compiled(pattern: Pattern) -> tuple[re.Pattern[str], bool, bool]:
    """The words, and whether a border must stand to their left and to their right."""
    words = re.compile(r"\s+".join(map(re.escape, pattern.text.split())))
    left = _borders.match(pattern.text[0]) is not None
    right = not pattern.prefix and _borders.match(pattern.text[-1]) is not None
    return words, left, right
