"""From the configuration to who makes vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from twolaned.config.settings import EmbeddingSettings
from twolaned.embedding import off_because
from twolaned.embedding.plan import KEY_FILE, plan_of
from twolaned.model.errors import ConfigError


def test_none_is_off(tmp_path: Path) -> None:
    """Whatever keys there are."""
    assert plan_of(EmbeddingSettings(), {"VOYAGE_API_KEY": "k"}, tmp_path) is None


@pytest.mark.parametrize("provider", ["auto", "voyage"])
def test_the_key_comes_from_the_environment_or_the_data_folder(
    tmp_path: Path, provider: str
) -> None:
    """The environment first; without either, a sentence says what is missing."""
    settings = EmbeddingSettings(provider=provider)  # type: ignore[arg-type]
    without = plan_of(settings, {}, tmp_path)
    file = tmp_path / KEY_FILE
    file.write_text("from-file")
    file.chmod(0o600)
    filed = plan_of(settings, {}, tmp_path)
    given = plan_of(settings, {"VOYAGE_API_KEY": "given"}, tmp_path)

    assert without is not None
    assert "VOYAGE_API_KEY" in off_because(without)
    assert filed is not None
    assert filed.key is not None
    assert given is not None
    assert given.key is not None
    assert ("from-file", "given") == (filed.key.reveal(), given.key.reveal())


def test_a_provider_that_needs_no_key_reads_none(tmp_path: Path) -> None:
    """A key that cannot be used does not stop it."""
    (tmp_path / KEY_FILE).write_text("others may read this")
    (tmp_path / KEY_FILE).chmod(0o644)
    settings = EmbeddingSettings(
        provider="ollama", model="m", base_url="http://127.0.0.1:1", local_model="l",
        ollama_host="h", output_dimension=7,
    )  # fmt: skip
    plan = plan_of(settings, {}, tmp_path)

    assert plan is not None
    assert ("ollama", "m", "http://127.0.0.1:1", "l", "h", 7, None) == (
        plan.provider,
        plan.model,
        plan.base_url,
        plan.local_model,
        plan.ollama_host,
        plan.output_dimension,
        plan.key,
    )
    with pytest.raises(ConfigError):
        plan_of(EmbeddingSettings(provider="auto"), {}, tmp_path)
