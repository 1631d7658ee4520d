"""What a task is after, from its words.

The cues stand in ``intent_words.toml``, a table a language. All languages are tried: a task mixes
them, and a cue of one is seldom a word of another.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

from twolaned.context.pack import Intent
from twolaned.lanes.keyword.analyzer import fold
from twolaned.search.words import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")
_BEGINNING = re.compile(r"(?:\A|[.!?;:\n])\W*")
"""What stands before the first word of a sentence; one line feed, once it is found."""
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")


def intent_of(task: str) -> Intent:
    """The intent of *task*. What stands in quotes or backticks is named, not asked.

    Who sets out to make something asks for neither, whatever the thing is called.
    """
    text = fold(_QUOTED.sub(" ", task).replace("’", "'"))
    cues = _cues()
    text = _BEGINNING.sub("\n", cues["polite"].sub(" ", text))
    if cues["making"].search(text):
        return Intent.BLENDED
    now, why = bool(cues["current"].search(text)), bool(cues["reasoning"].search(text))
    if not now and not why:
        why = bool(cues["weak_reasoning"].search(text))
        now = not why and bool(cues["weak_current"].search(text))
    if now == why:
        return Intent.BLENDED
    return Intent.CURRENT_TRUTH if now else Intent.REASONING_ARCHIVE


@lru_cache(maxsize=1)
def _cues() -> dict[str, re.Pattern[str]]:
    text = files(__package__).joinpath("intent_words.toml").read_text(encoding="utf-8")
    languages = tomllib.loads(text).values()
    found = {
        kind: _any_of(cue for language in languages for cue in language.get(kind, ()))
        for kind in ("current", "reasoning", "weak_current", "weak_reasoning")
    }
    # Only what a task begins with says that something is to be made: "the add button" does not.
    for kind in ("making", "polite"):
        words = (word for language in languages for word in language.get(kind, ()))
        found[kind] = re.compile(rf"\A(?:\W*(?:{_any_of(words).pattern}))+")
    return found


def _any_of(cues: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of *cues*, at word borders where their script has any.

    A cue that begins with ``^`` stands at the beginning of a sentence.
    """
    parts = []
    for cue in sorted({fold(cue) for cue in cues}, key=lambda c: (-len(c), c)):
        said = re.escape(cue.removeprefix("^")).replace(r"\ ", r"\s+")
        said = said if _UNSPACED.search(cue) else rf"(?<![\w'])(?:{said})(?!\w)"
        parts.append(rf"(?<=\n){said}" if cue.startswith("^") else said)
    return re.compile("|".join(parts) or r"(?!)")
