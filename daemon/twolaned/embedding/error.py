"""The one error of the embedding room."""

from __future__ import annotations

from twolaned.model.embedding import EmbeddingFailure, FailureReason
from twolaned.model.errors import TwolaneError


class EmbeddingError(TwolaneError):
    """A provider made no vectors.

    *transient* says that trying again may help, *isolate* that the cause may be one text of the
    batch, which smaller batches would single out.
    """

    def __init__(
        self,
        reason: FailureReason,
        message: str,
        *,
        retry_after: float | None = None,
        transient: bool = True,
        isolate: bool = False,
    ) -> None:
        super().__init__(message, reason=f"EMBEDDING_{reason.name}")
        self.failure = EmbeddingFailure(reason, message, retry_after)
        self.transient = transient
        self.isolate = isolate


class MissingPackage(EmbeddingError):
    """A provider whose client library is not installed. *extra* is the one that brings it."""

    def __init__(self, provider: str, extra: str) -> None:
        super().__init__(
            FailureReason.PROVIDER_ERROR,
            f"{provider} needs a package that is not installed: "
            f"run `pip install 'twolane[{extra}]'` and start again.",
            transient=False,
        )
