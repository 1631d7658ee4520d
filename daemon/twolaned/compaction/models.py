"""The language model that the settings name."""

from __future__ import annotations

import os
from importlib import import_module
from typing import cast

from twolaned.compaction.enrichment import EnrichmentFailed, Model
from twolaned.embedding.endpoint import ollama_endpoint
from twolaned.model.compaction import Enrichment
from twolaned.model.errors import ConfigError


class _Unusable:
    """A model that fails for a reason known beforehand."""

    def __init__(self, why: str) -> None:
        self._why = why

    def answer(self, prompt: str, material: str, shape: dict[str, object]) -> str:  # noqa: ARG002
        raise EnrichmentFailed(self._why)


def model_for(enrichment: Enrichment, name: str, *, local: bool) -> Model | None:
    """The model that writes digests, on the server that ``OLLAMA_HOST`` names; None for none.

    With *local* only a model on this machine gets to see anything.
    """
    if enrichment is not Enrichment.OLLAMA:
        return None
    try:
        endpoint = ollama_endpoint(os.environ.get("OLLAMA_HOST") or "127.0.0.1")
        module = import_module("twolaned.compaction.ollama_model")
    except ConfigError as e:
        return _Unusable(e.message.rstrip("."))
    except ImportError:
        return _Unusable("a package is not installed: run `pip install 'twolane[ollama]'`")
    return cast("Model", module.OllamaModel(endpoint, name, local_only=local))
