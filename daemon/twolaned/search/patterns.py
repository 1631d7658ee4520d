"""Words and phrases as they must, or must not, stand in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from twolaned.lanes.keyword.analyzer import analyze, analyze_query, fold
from twolaned.lanes.keyword.characters import SIGNS, Kind, runs
from twolaned.search.words import WORD_CHARACTER

_borders = re.compile(WORD_CHARACTER)
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
        return _compiled(self).search(folded) is not None

    def spans(self, folded: str) -> list[tuple[int, int]]:
        """The characters of *folded* where this stands; a prefix reaches to its word's end."""
        return [match.span() for match in _compiled(self).finditer(folded)]


def fold_quickly(text: str) -> str:
    """*text* folded for patterns. White space need not be collapsed: they match any amount."""
    return text.lower() if text.isascii() else fold(text)


@lru_cache(maxsize=256)
def _compiled(pattern: Pattern) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, pattern.text.split()))
    left = rf"(?<!{WORD_CHARACTER})" if _borders.match(pattern.text[0]) else ""
    if pattern.prefix:
        right = rf"{WORD_CHARACTER}*"
    else:
        right = rf"(?!{WORD_CHARACTER})" if _borders.match(pattern.text[-1]) else ""
    return re.compile(f"{left}{words}{right}")
