"""What a character is to the analyzer, and what of it counts when texts are compared."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from itertools import groupby


class Kind(IntEnum):
    """How a character takes part in words."""

    GAP = 0
    """Ends a word: white space, punctuation, symbols."""
    WORD = 1
    """Of a script that sets words apart, a digit, an underscore, or one of `SIGNS`."""
    PAIRS = 2
    """Of a script whose words touch and are found by pairs of characters: Chinese and the like."""
    TRIPLES = 3
    """Of a script whose words touch and are found by threes: Thai, Lao, Khmer, Burmese."""


SIGNS = "+#"
"""What may belong to the word before it, as in C++ and C#."""

_PAIRS = re.compile(
    "["
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul, whose particles join words
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\u3031-\u3035\u3040-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # kana and Han beyond the first plane
    "]"
)
_TRIPLES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")

# Marks that a reader may leave out. A mark that belongs to a letter, as in Indic scripts or the
# voicing marks of kana, is not here.
_OPTIONAL = re.compile(
    "["
    "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # combining diacritics
    "\u0483-\u0489"  # Cyrillic numerals and breathings
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # invisible
    "\ufe00-\ufe0f\U000e0001-\U000e007f\U000e0100-\U000e01ef"  # variants
    "]+"
)

# Letters that Unicode does not take apart though a reader without them types the plain one.
_PLAIN = str.maketrans(
    {
        "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H", "ı": "i", "ł": "l", "Ł": "L",
        "ø": "o", "Ø": "O", "ŧ": "t", "Ŧ": "T", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe",
        "þ": "th", "Þ": "Th", "ẞ": "ss",
    }
)  # fmt: skip
_STROKED = re.compile("[đĐðÐħĦıłŁøØŧŦæÆœŒþÞẞ]")


def kind_of(character: str) -> Kind:
    """The kind of a character of a text without optional marks."""
    if character == "_" or character in SIGNS:
        return Kind.WORD
    if not (character.isalnum() or unicodedata.category(character)[0] == "M"):
        return Kind.GAP
    if _PAIRS.match(character):
        return Kind.PAIRS
    return Kind.TRIPLES if _TRIPLES.match(character) else Kind.WORD


_kind_of = lru_cache(maxsize=8192)(kind_of)


def runs(text: str) -> list[tuple[Kind, str]]:
    """The longest stretches of one kind in *text*, in order, without the gaps.

    A stretch without a letter or digit, such as of marks alone, counts as a gap.
    """
    found = ((kind, "".join(group)) for kind, group in groupby(text, _kind_of) if kind)
    return [run for run in found if any(map(str.isalnum, run[1]))]


def without_marks(text: str) -> str:
    """*text* in Unicode's form NFKC, without optional marks and invisible characters.

    Case is kept. Splitting *text* at ASCII characters and joining the results changes nothing.
    """
    if text.isascii():
        return text
    text = _OPTIONAL.sub("", unicodedata.normalize("NFKD", text))
    if _STROKED.search(text):
        text = text.translate(_PLAIN)
    return unicodedata.normalize("NFC", text)


def case_folded(text: str) -> str:
    """*text*, which is without marks, as it is compared regardless of case."""
    if text.isascii():
        return text.lower()
    return without_marks(text.casefold())
