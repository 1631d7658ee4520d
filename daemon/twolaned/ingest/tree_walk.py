"""Finding the line of a conversation that was shown, in the tree of all that was ever written."""

from __future__ import annotations

from collections.abc import Mapping


def main_line(
    parents: Mapping[str, str | None], times: Mapping[str, int | None], current: str
) -> tuple[list[str], bool]:
    """The keys from the root to the message that was shown last, and whether a circle was met.

    *parents* holds every key, oldest first where times do not tell. Without a *current* key the
    newest leaf counts; a leaf without a time takes that of its nearest ancestor that has one.
    """
    cycle = False
    if current not in parents:
        current, cycle = _newest_leaf(parents, times)
    line: list[str] = []
    seen: set[str] = set()
    at: str | None = current
    while at is not None and at in parents:
        if at in seen:
            cycle = True
            break
        seen.add(at)
        line.append(at)
        at = parents[at]
    line.reverse()
    return line, cycle


def _newest_leaf(
    parents: Mapping[str, str | None], times: Mapping[str, int | None]
) -> tuple[str, bool]:
    inner = set(parents.values())
    leaves = [key for key in parents if key not in inner]
    cycle = not leaves and bool(parents)
    best, best_time = "", -1
    known: dict[str, int] = {}
    for key in leaves or parents:
        time = _time_of(key, parents, times, known)
        if time >= best_time:
            best, best_time = key, time
    return best, cycle


def _time_of(
    key: str,
    parents: Mapping[str, str | None],
    times: Mapping[str, int | None],
    known: dict[str, int],
) -> int:
    """The time of *key* or of its nearest ancestor that has one; 0 where none has."""
    path: list[str] = []
    passed: set[str] = set()
    at: str | None = key
    found = 0
    while at is not None and at in parents and at not in passed:
        if at in known:
            found = known[at]
            break
        passed.add(at)
        path.append(at)
        time = times.get(at)
        if time is not None:
            found = time
            break
        at = parents[at]
    known.update(dict.fromkeys(path, found))
    return found
