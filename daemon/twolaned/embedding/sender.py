"""The one caller of a provider: admits, bounds in time, and keeps the ledger."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.gate import PrivacyGate
from twolaned.embedding.provider import Provider
from twolaned.embedding.state import ProviderLedger
from twolaned.model.embedding import EmbeddingFailure, FailureReason, InputType
from twolaned.model.source import Extraction

log = logging.getLogger(__name__)

BLANK = EmbeddingFailure(FailureReason.PROVIDER_ERROR, "An empty text has no vector.")


def sendable(text: str) -> str:
    """*text* as it can be written in UTF-8: half a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class Sender:
    """Sends texts to *provider* and writes into *ledger* how it went."""

    def __init__(self, provider: Provider, ledger: ProviderLedger) -> None:
        self.provider = provider
        self.ledger = ledger

    async def send(
        self,
        texts: Sequence[str],
        input_type: InputType,
        extraction: Extraction,
        *,
        seconds: float,
    ) -> NDArray[np.float32]:
        """The vectors of *texts*. Raises EmbeddingError, after *seconds* at the latest.

        Raises PrivacyViolation, with nothing sent, where the provider may not see them.
        """
        PrivacyGate.admit(self.provider, extraction)
        self.ledger.sent(len(texts))
        try:
            vectors = await self._bounded(texts, input_type, seconds)
        except EmbeddingError as e:
            self.ledger.failed(e.failure)
            raise
        self.ledger.succeeded()
        return vectors

    async def _bounded(
        self, texts: Sequence[str], input_type: InputType, seconds: float
    ) -> NDArray[np.float32]:
        name = self.provider.space.provider.capitalize()
        try:
            async with asyncio.timeout(seconds):
                return await self.provider.embed(texts, input_type)
        except TimeoutError:
            raise EmbeddingError(
                FailureReason.TIMEOUT, f"{name} did not answer within {seconds:g} s."
            ) from None
        except EmbeddingError:
            raise
        except Exception as e:  # noqa: BLE001
            # A client library's surprise must not end a search. Its message stays out of the log:
            # it may hold the text.
            frames = "".join(traceback.format_tb(e.__traceback__))
            log.error("%s failed unforeseen: %s\n%s", name, type(e).__name__, frames)  # noqa: TRY400
            raise EmbeddingError(
                FailureReason.PROVIDER_ERROR,
                f"{name} failed in a way that was not foreseen ({type(e).__name__}).",
                transient=False,
            ) from None
