"""What every maker of vectors has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.model.embedding import InputType, VectorSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """What one call may hold, and what a provider bears."""

    texts: int
    bytes: int
    """UTF-8 bytes of all texts of a call. No tokenizer in use makes more tokens than bytes, so
    this also keeps a provider's limit of tokens. A longer text goes alone and is truncated."""
    calls: int = 1
    """Bulk calls at the same time."""
    seconds: float = 60.0
    """How long one bulk call may take."""


class Provider(Protocol):
    """Makes vectors of texts in one space. An instance belongs to one event loop."""

    @property
    def space(self) -> VectorSpace:
        """The space that its vectors belong to."""
        ...

    @property
    def is_local(self) -> bool:
        """True only if no text leaves this machine. May turn False, never back to True."""
        ...

    @property
    def limits(self) -> BatchLimits:
        """What one call of ``embed`` may hold."""
        ...

    async def warm(self) -> None:
        """Load what the first call would have to load. Sends nothing. Raises EmbeddingError."""
        ...

    async def embed(self, texts: Sequence[str], input_type: InputType) -> NDArray[np.float32]:
        """The vectors of *texts*, of shape (n, dimensions), each of length 1, in their order.

        Raises EmbeddingError. Cancelling closes the connection at once.
        """
        ...

    async def aclose(self) -> None:
        """Close connections and free what was loaded."""
        ...
