"""Which statements are about the same thing, and which of them holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from twolaned.lanes.keyword.analyzer import analyze, fold

ALIKE: Final = 0.4
"""The share of two statements' terms that they have in common to be about one subject."""
COVERED: Final = 0.6
"""The share of the shorter one's terms, where a statement says of itself that it changes things."""
SHARED: Final = 2
"""The fewest terms in common."""

_CHANGE = re.compile(
    r"\b(?:instead|no longer|supersedes?d?|replac\w+|switch\w*|mov(?:e|ed|ing)|migrat\w+|drop\w*"
    r"|revert\w*|chang\w+|not .{0,40} any ?more|anymore|rather than|abandon\w+|now)\b"
)
_EMPTY = frozenset(
    term
    for word in (
        "decide decided decision decisions agreed agree chose choose chosen picked selected settled"
        " opted went go going with switch switched move moved migrate drop dropped replace replaced"
        " reject rejected adopt adopted use uses used using keep stay we will let now no longer"
        " instead rather than must cannot should always never prefer avoid do not don have has need"
        " because since therefore so final finally all any our the only be is are it i a an of to"
        " for in on at by and or as this that from was were from team"
    ).split()
    for term in analyze(word)
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as it is compared. *order* tells the later one: a time, and a place in its row.

    *row* is where it stands; *subject* the label in front of it.
    """

    text: str
    kind: str
    row: str
    order: tuple[int, int]
    subject: str = ""
    struck: bool = False


@dataclass(frozen=True, slots=True)
class Contest:
    """Of two claims on one subject, by index: *earlier* gives way to *later*.

    Where *undecided*, neither is known to be the later one.
    """

    earlier: int
    later: int
    undecided: bool = False


def same_words(one: str, other: str) -> bool:
    """Whether two statements say the same in the same words, marks and case aside."""
    return _plain(one) == _plain(other)


def contests(claims: Sequence[Claim]) -> list[Contest]:
    """All pairs of *claims* that are about one subject and differ."""
    found = []
    for first, one in enumerate(claims):
        for second in range(first + 1, len(claims)):
            other = claims[second]
            if not _on_one_subject(one, other):
                continue
            (earlier, a), (later, b) = sorted(
                ((first, one), (second, other)),
                key=lambda pair: (not pair[1].struck, pair[1].order),
            )
            timeless = a.order[0] == b.order[0] and a.row != b.row and not a.struck
            found.append(Contest(earlier, later, undecided=timeless))
    return found


def _on_one_subject(one: Claim, other: Claim) -> bool:
    if one.kind != other.kind or same_words(one.text, other.text):
        return False
    if one.subject and other.subject:
        return fold(one.subject) == fold(other.subject)
    a, b = _terms(one.text), _terms(other.text)
    common = len(a & b)
    if common < SHARED:
        return False
    if common / len(a | b) >= ALIKE:
        return True
    later = max(one, other, key=lambda claim: claim.order)
    return bool(_CHANGE.search(fold(later.text))) and common / min(len(a), len(b)) >= COVERED


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(analyze(text)) - _EMPTY


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))
