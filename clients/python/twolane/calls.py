"""What the two clients share: who calls, how long a call may take, how a stream ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from twolane.connection import version
from twolane.errors import DaemonFailed

LIBRARY = "twolane-python"
"""The name under which the library's calls stand in the daemon's log."""

SEARCH = 10.0
"""Seconds for a search: the meaning lane has 1.5, the rest is for a busy machine."""
OPEN = 10.0
"""Seconds to open a page of a row."""
SAVE = 30.0
"""Seconds to save: it waits for the writer to make it durable."""
SOURCE = 15.0
"""Seconds to list or add a source."""
REMOVE = 120.0
"""Seconds to remove a source, which removes its documents."""
STATUS = 5.0
"""Seconds for the daemon's state."""
IMPORT = math.inf
"""An import or a scan takes as long as it takes; it streams progress."""
COMPACT = math.inf
"""A compaction streams progress too; a model that writes digests may take its time."""
BACKUP = math.inf
"""A backup streams progress too, and takes as long as its disk does."""

_T = TypeVar("_T")

Metadata = tuple[tuple[str, str], ...]


def metadata(name: str) -> Metadata:
    """Return what every call carries beside its request."""
    return (("x-client", f"{name}/{version()}"),)


def seconds(given: float | None, of_client: float | None, default: float) -> float | None:
    """Return the time for a call: its own, else the client's, else the default; None is no end."""
    value = given if given is not None else of_client if of_client is not None else default
    return None if math.isinf(value) else value


def last(answers: Sequence[_T], is_last: Callable[[_T], bool]) -> _T:
    """Return the last of *answers*. Raises DaemonFailed if the stream ended before it."""
    if not answers or not is_last(answers[-1]):
        raise DaemonFailed("The daemon ended the answer before it was complete.")
    return answers[-1]


class Guarded(Generic[_T], Iterator[_T]):
    """An iterator whose failure is kept: gRPC only reports that the call's requests ended."""

    def __init__(self, items: Iterator[_T]) -> None:
        self._items = items
        self._error: Exception | None = None

    def __next__(self) -> _T:
        try:
            return next(self._items)
        except StopIteration:
            raise
        except Exception as error:
            self._error = error
            raise

    def reraise(self) -> None:
        """Raise what the iterator failed with, if it did."""
        if self._error is not None:
            raise self._error
