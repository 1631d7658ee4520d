"""Where a text may be cut, and what stands beside a word."""

from __future__ import annotations

import re
import unicodedata

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1100-\u11ff"  # Hangul, as single letters
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"  # radicals, Han numerals and marks
    "\u3040-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\uff66-\uffdc"  # kana and Hangul of half width
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # kana and Han beyond the first plane
)
"""Scripts whose words touch, as the inside of a regular expression's character class.

Korean has spaces but joins particles to its words, so it is treated in the same way.
"""

_unspaced = re.compile(f"[{UNSPACED}]")

MARKS = "".join(
    character
    for character in map(chr, range(0x300, 0x1F000))
    if unicodedata.category(character)[0] == "M" and not _unspaced.match(character)
)
"""Marks that belong to the letter before them, of scripts that separate words."""

WORD_CHARACTER = rf"(?:[^\W{UNSPACED}]|[{MARKS}])"
"""A regular expression for a letter, digit, mark or underscore of a script that separates words."""

LOOK_FOR_SPACE = 80
"""Characters. How far a cut may move to reach white space."""

_word = re.compile(WORD_CHARACTER)
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


def is_unspaced(character: str) -> bool:
    """Whether *character* is of a script that writes words without spaces between them."""
    return _unspaced.match(character) is not None


def is_word_border(text: str, at: int) -> bool:
    """Whether no word of *text* goes on across the character index *at*."""
    if at <= 0 or at >= len(text):
        return True
    return _word.match(text, at - 1) is None or _word.match(text, at) is None


def is_grapheme_border(text: str, at: int) -> bool:
    """Whether what a person sees as one character is not split at the character index *at*.

    Covers combining marks, joined emoji, skin tones, flags and CR LF: what occurs in chats, not
    all of Unicode's text segmentation (UAX 29).
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if before == _JOINER or after == _JOINER or unicodedata.category(after)[0] == "M":
        return False
    if ord(after) in _SKIN_TONES:
        return False
    if ord(after) in _FLAG_LETTERS:
        start = at
        while start > 0 and ord(text[start - 1]) in _FLAG_LETTERS:
            start -= 1
        return (at - start) % 2 == 0
    return True


def _is_gap(text: str, at: int) -> bool:
    """Whether white space or the border of an unspaced character is at *at*."""
    before, after = text[at - 1], text[at]
    if before.isspace() or after.isspace():
        return is_grapheme_border(text, at)
    return (is_unspaced(before) or is_unspaced(after)) and is_grapheme_border(text, at)


def cut_before(text: str, at: int) -> int:
    """The best place to end a cut of *text* that may reach to the character index *at*.

    White space near by is best, then a word border, then the border of a character as a person
    sees it. Greater than 0 if *at* is, so that cutting makes progress.
    """
    if at >= len(text):
        return len(text)
    low = max(at - LOOK_FOR_SPACE, 0)
    near = range(at, low, -1)
    around = text[low : at + 1]
    if around.isascii() and at > 0:
        space = max(around.rfind(" "), around.rfind("\n"))
        usual = min(low + space + 1, at)
        if space >= 0 and is_grapheme_border(text, usual):
            return usual
    for fits in (_is_gap, lambda t, i: is_word_border(t, i) and is_grapheme_border(t, i)):
        for place in near:
            if fits(text, place):
                return place
    return next((place for place in near if is_grapheme_border(text, place)), at)


def cut_after(text: str, at: int) -> int:
    """The best place to begin a cut of *text* at or behind the character index *at*."""
    if at <= 0:
        return 0
    near = range(at, min(at + LOOK_FOR_SPACE, len(text)))
    around = text[at - 1 : near.stop]
    if around.isascii():
        space = min((i for i in (around.find(" "), around.find("\n")) if i >= 0), default=-1)
        usual = max(at - 1 + space, at)
        if space >= 0 and is_grapheme_border(text, usual):
            return usual
    for fits in (_is_gap, lambda t, i: is_word_border(t, i) and is_grapheme_border(t, i)):
        for place in near:
            if fits(text, place):
                return place
    return next((place for place in near if is_grapheme_border(text, place)), min(at, len(text)))
