"""From the configuration to an embedding plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from twolaned.config.settings import EmbeddingSettings
from twolaned.embedding.factory import EmbeddingPlan
from twolaned.embedding.key import load_key

KEY_FILE = "voyage.key"
"""Below the data folder."""


def plan_of(
    settings: EmbeddingSettings, env: Mapping[str, str], data: Path
) -> EmbeddingPlan | None:
    """Who makes vectors by *settings*; None where search by meaning is switched off.

    The key comes from *env* or from a file below *data*, and only where it is needed. Raises
    ConfigError for a key that cannot be used.
    """
    if settings.provider == "off":
        return None
    needs_key = settings.provider in ("auto", "voyage")
    return EmbeddingPlan(
        provider=settings.provider,
        model=settings.model,
        base_url=settings.base_url,
        output_dimension=settings.output_dimension,
        key=load_key(env, data / KEY_FILE) if needs_key else None,
        ollama_host=settings.ollama_host,
        local_model=settings.local_model,
    )
