"""English stems (Snowball's English stemmer, M. F. Porter, snowballstem.org)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import Stemmer


class _Stemmers(threading.local):
    """A stemmer for each thread: one must not be used by two at once."""

    def __init__(self) -> None:
        # Words are remembered with their terms, so the stemmer need not remember them too.
        self.english = Stemmer.Stemmer("english", 0)


_stemmers = _Stemmers()


def stem(word: str) -> str:
    """The stem of *word*, which is in lower case."""
    found: str = _stemmers.english.stemWord(word)
    return found


def stems(words: Sequence[str]) -> list[str]:
    """The stems of *words*, in their order."""
    found: list[str] = _stemmers.english.stemWords(words)
    return found
