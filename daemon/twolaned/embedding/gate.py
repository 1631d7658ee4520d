"""The one place that decides which provider may see a text.

A text of a source with ``extraction = "local"`` is never sent to a provider that is not local, on
any path: ingest, a change of model, a digest. Whoever makes vectors takes its provider from here,
and asks again at the last moment before sending, since a provider can turn out not to be local.
"""

from __future__ import annotations

from collections.abc import Iterable

from twolaned.embedding.provider import Provider
from twolaned.model.errors import TwolaneError
from twolaned.model.source import Extraction


class PrivacyViolation(TwolaneError):
    """A local text was on its way to a provider that is not local. Nothing was sent."""

    reason = "LOCAL_TEXT"


class PrivacyGate:
    """Knows the provider for ordinary texts and the one for local ones; either may be None."""

    def __init__(self, default: Provider | None, local: Provider | None) -> None:
        self._default = default
        self._local = local

    @property
    def providers(self) -> tuple[Provider, ...]:
        """All providers, each once."""
        given = [p for p in (self._default, self._local) if p is not None]
        return tuple(dict.fromkeys(given))

    def provider_for(self, extraction: Extraction) -> Provider | None:
        """Who may embed a text of a source with *extraction*; None if nobody is configured.

        Raises PrivacyViolation if the provider for local texts is not local.
        """
        provider = self._default if extraction is Extraction.DEFAULT else self._local
        if provider is not None:
            self.admit(provider, extraction)
        return provider

    @staticmethod
    def admit(provider: Provider, extraction: Extraction) -> None:
        """Raise PrivacyViolation unless *provider* may see a text of *extraction*."""
        if extraction is not Extraction.DEFAULT and not provider.is_local:
            raise PrivacyViolation(
                f'Text of a source with extraction = "{extraction}" stays on this machine, and '
                f"{provider.space.provider} with {provider.space.model} does not run here.",
                provider=provider.space.provider,
                model=provider.space.model,
            )

    @staticmethod
    def strictest(extractions: Iterable[Extraction]) -> Extraction:
        """How a text made out of several must be treated, such as a digest."""
        return (
            Extraction.DEFAULT
            if all(e is Extraction.DEFAULT for e in extractions)
            else Extraction.LOCAL
        )
