"""From settings to embedders."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from twolaned.embedding import builtin, ollama_models, voyage
from twolaned.embedding.builtin import BuiltinProvider
from twolaned.embedding.cache import CacheBackend
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.endpoint import ollama_endpoint
from twolaned.embedding.gate import PrivacyGate
from twolaned.embedding.key import ApiKey
from twolaned.embedding.ollama import OllamaProvider
from twolaned.embedding.ollama_models import ollama_space
from twolaned.embedding.provider import Provider
from twolaned.embedding.voyage import VoyageProvider, voyage_space
from twolaned.model.embedding import VectorSpace
from twolaned.model.source import Extraction

ProviderName = Literal["auto", "voyage", "ollama", "builtin", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingPlan:
    """Who is to make vectors. Empty texts and None take the defaults.

    *provider* ``auto`` is Voyage where there is a *key*. *model*, *base_url* and
    *output_dimension* are its. Texts of local sources go to *provider* if it is local, else to
    *local_model* of the Ollama server at *ollama_host*.
    """

    provider: ProviderName = "auto"
    model: str = ""
    base_url: str = ""
    output_dimension: int | None = None
    key: ApiKey | None = None
    ollama_host: str = ""
    local_model: str = ""
    context: ssl.SSLContext | None = None
    """Certificates for Voyage; None takes the system's."""


def off_because(plan: EmbeddingPlan) -> str:
    """A sentence that says why ordinary texts get no vectors; empty where they do."""
    if plan.provider == "off":
        return "Search by meaning is switched off."
    if plan.provider in ("auto", "voyage") and plan.key is None:
        return "There is no Voyage key: set VOYAGE_API_KEY, or choose another embedding.provider."
    return ""


def build_gate(plan: EmbeddingPlan) -> PrivacyGate:
    """The providers of *plan*; nothing is imported or opened yet.

    With *provider* ``off`` there are none at all. Raises ConfigError.
    """
    if plan.provider == "off":
        return PrivacyGate(None, None)
    default = _default_provider(plan)
    if default is not None and default.is_local:
        return PrivacyGate(default, default)
    space = ollama_space(plan.local_model, None)
    return PrivacyGate(default, OllamaProvider(space, ollama_endpoint(plan.ollama_host)))


def provider_for_space(plan: EmbeddingPlan, space: VectorSpace) -> Provider | None:
    """A provider that embeds questions in *space*, such as that of an earlier model.

    None where *plan* has no key for it. Raises ConfigError.
    """
    if space.provider == voyage.NAME:
        return None if plan.key is None else _voyage(plan, space, plan.key)
    if space.provider == ollama_models.NAME:
        url = plan.base_url if plan.provider == "ollama" else ""
        return OllamaProvider(space, ollama_endpoint(url or plan.ollama_host))
    return BuiltinProvider() if space == builtin.SPACE else None


class Embedders:
    """The embedders of a plan: who embeds a text, and who a question in a space."""

    def __init__(self, plan: EmbeddingPlan, backend: CacheBackend) -> None:
        """Raises ConfigError."""
        self._plan = plan
        self._backend = backend
        self._gate = build_gate(plan)
        # By provider: two of them may make vectors in one space, on this machine and elsewhere.
        self._embedders = {p: Embedder(p, backend) for p in self._gate.providers}

    def for_extraction(self, extraction: Extraction) -> Embedder | None:
        """Who may embed a text of a source with *extraction*; None if nobody.

        Raises PrivacyViolation if the one for local texts turned out not to be local.
        """
        provider = self._gate.provider_for(extraction)
        return None if provider is None else self._embedders[provider]

    def for_space(self, space: VectorSpace) -> Embedder | None:
        """Who can embed a question in *space*; None where that is switched off or lacks a key.

        The model need not be the configured one: while a new space is built, questions are asked
        in the old one. Raises ConfigError.
        """
        if self._plan.provider == "off":
            return None
        for embedder in self.all:
            if embedder.space == space:
                return embedder
        provider = provider_for_space(self._plan, space)
        if provider is None:
            return None
        self._embedders[provider] = Embedder(provider, self._backend)
        return self._embedders[provider]

    @property
    def all(self) -> Sequence[Embedder]:
        """All embedders, the configured ones first."""
        return tuple(self._embedders.values())

    async def aclose(self) -> None:
        """Close all of them."""
        for embedder in self.all:
            await embedder.aclose()


def _default_provider(plan: EmbeddingPlan) -> Provider | None:
    match plan.provider:
        case "builtin":
            return BuiltinProvider()
        case "ollama":
            space = ollama_space(plan.model, plan.output_dimension)
            return OllamaProvider(space, ollama_endpoint(plan.base_url or plan.ollama_host))
        case "auto" | "voyage" if plan.key is not None:
            space = voyage_space(plan.model, plan.output_dimension, provided=bool(plan.base_url))
            return _voyage(plan, space, plan.key)
    return None


def _voyage(plan: EmbeddingPlan, space: VectorSpace, key: ApiKey) -> VoyageProvider:
    url = "" if plan.provider == "ollama" else plan.base_url
    return VoyageProvider(space, key, base_url=url, context=plan.context)
