"""What a vector belongs to, and why there may be none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class InputType(StrEnum):
    """What a text is to the model: the same text has another vector as a question."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, order=True)
class VectorSpace:
    """Vectors of one space can be compared with each other and with no others."""

    provider: str
    model: str
    dimensions: int

    def __post_init__(self) -> None:
        if not self.provider or "/" in self.provider or not self.model or self.dimensions < 1:
            raise ValueError(f"{self.provider!r}, {self.model!r}, {self.dimensions} name no space")

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimensions}"

    @classmethod
    def parse(cls, text: str) -> VectorSpace:
        """The space that ``str`` wrote as *text*. Raises ValueError."""
        provider, _, rest = text.partition("/")
        model, _, dimensions = rest.rpartition("/")
        return cls(provider, model, int(dimensions))


class FailureReason(StrEnum):
    """Why a search goes without meaning, or a passage without a vector."""

    TIMEOUT = "timeout"
    PROVIDER_ERROR = "provider_error"
    PROVIDER_UNREACHABLE = "provider_unreachable"
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"
    CIRCUIT_OPEN = "circuit_open"
    SPACE_INCOMPLETE = "space_incomplete"


@dataclass(frozen=True, slots=True)
class EmbeddingFailure:
    """A text that has no vector now.

    *message* is one sentence for a person; it holds no key and nothing of the text.
    *retry_after* is in seconds, None where nothing is known.
    """

    reason: FailureReason
    message: str
    retry_after: float | None = None
