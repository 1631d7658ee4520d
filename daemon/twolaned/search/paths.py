"""What a ``path:`` condition means."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Callable

_WILDCARDS = re.compile(r"[*?\[]")


def path_matcher(said: str) -> Callable[[str], bool]:
    """Return whether an absolute path meets *said*. Upper and lower case are the same.

    Text without wildcards must occur in the path. A pattern must match the path from the start of
    one of its names to the end of one, so that ``docs/*.md`` finds the files of any such folder and
    ``src/*`` everything below it: ``*``, ``?`` and ``[…]`` stay within a name, ``**`` stands for
    any number of names. One that begins with ``/`` begins where the path does.
    """
    wanted = _normalised(said)
    if _WILDCARDS.search(wanted) is None:
        return lambda path: wanted in _normalised(path)
    steps = [_name_matcher(name) for name in wanted.strip("/").split("/")]
    absolute = wanted.startswith("/")
    return lambda path: _walk(steps, _normalised(path).strip("/").split("/"), absolute)


def _name_matcher(pattern: str) -> Callable[[str], object] | None:
    """What one name must match, or None where any number of names may stand."""
    return None if pattern == "**" else re.compile(fnmatch.translate(pattern)).match


def _walk(steps: list[Callable[[str], object] | None], names: list[str], absolute: bool) -> bool:
    """Whether *steps* lead through *names* in a row; *absolute* ones begin at the first."""
    reached = {0} if absolute else set(range(len(names) + 1))
    for step in steps:
        if step is None:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {i + 1 for i in reached if i < len(names) and step(names[i])}
        if not reached:
            return False
    return True


def _normalised(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
