"""Patterns with the syntax of a .gitignore, judged one entry of a folder at a time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "digit": "0-9", "lower": "a-z",
    "upper": "A-Z", "space": r" \t\n\r\f\v", "xdigit": "0-9a-fA-F", "punct": r"!-\/:-@\[-`{-~",
}  # fmt: skip
_CLASS = re.compile(r"\[:([a-z]+):\]")
_BELOW = "(?P<ps_d>/)"
_STAR = re.compile(
    r"\[\^/\]\*((?:\\.|\[\^/\](?!\*)|(?!\[\^/\])[^/()|\\])+)(?=\[\^/\]\*)", re.DOTALL
)
"""A star and what follows it up to the next star of the same name."""
_ANY_FOLDER = r".+/\Z"
_ANYWHERE = "^(?:.+/)?"


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one file of rules, in order.

    Whoever asks has walked down to the entry, so a pattern counts only where it names the entry
    itself: what lies in a folder that was left out is never asked about, and what lies in one that
    was brought back is not brought back with it.
    """

    rules: tuple[tuple[re.Pattern[str], bool], ...] = ()
    by_name: re.Pattern[str] | None = None
    """Finds the last part of a path that a pattern without folders may match."""
    by_path: re.Pattern[str] | None = None
    """Finds a path that another pattern may match."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> Patterns:
        """The patterns in *lines*. One that can match nothing is passed over, as git does."""
        expressions = [found for line in lines if (found := _expression(line)) is not None]
        names = [e.removeprefix(_ANYWHERE) for e, _ in expressions if _judges_names(e)]
        paths = [e for e, _ in expressions if not _judges_names(e)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return cls(
                tuple((re.compile(e, re.DOTALL), include) for e, include in expressions),
                _any_of(names),
                _any_of(paths),
            )

    def verdict(self, path: str) -> bool | None:
        """Whether the last pattern that matches *path* takes it; None where none matches.

        *path* is relative to the folder of the rules; a folder's ends with a slash.
        """
        name = path[path.rfind("/", 0, -1) + 1 :]
        if not (
            (self.by_name is not None and self.by_name.match(name))
            or (self.by_path is not None and self.by_path.match(path))
        ):
            return None
        for expression, include in reversed(self.rules):
            if expression.match(path):
                return include
        return None


def _expression(line: str) -> tuple[str, bool] | None:
    line = _CLASS.sub(lambda match: _CLASSES.get(match[1], match[0]), line)
    bare = line.rstrip()
    if bare.endswith("/**"):  # all that lies in the folder, not the folder
        line = f"{bare}/*"
    try:
        expression, include = GitIgnoreSpecPattern.pattern_to_regex(line)
        if expression is None or include is None:
            return None
        if expression == _BELOW:
            expression = _ANY_FOLDER
        expression = expression.replace(_BELOW, r"/\Z").replace("|$)", r"|\Z)")
        # The first place where a star can end is as good as any later one as long as another star
        # follows; trying them all would take for ever on names that are made to.
        expression = _STAR.sub(r"(?>[^/]*?\1)", expression)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(expression)
    except (ValueError, re.error):
        return None
    return expression, include


def _judges_names(expression: str) -> bool:
    """Whether *expression* looks at the last part of a path only."""
    rest = expression.removeprefix(_ANYWHERE)
    if rest == expression:
        return False
    return "/" not in rest.replace("[^/]", "").replace(r"/\Z", "")


def _any_of(expressions: list[str]) -> re.Pattern[str] | None:
    if not expressions:
        return None
    return re.compile("|".join(f"(?:{e})" for e in expressions), re.DOTALL)
