"""What is read from."""

from __future__ import annotations

from typing import Protocol


class Readable(Protocol):
    """Anything that gives bytes in order."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most *size*; none at the end."""
