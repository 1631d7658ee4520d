from __future__ import annotations

import pytest

from twolaned.embedding.ollama_models import (
    asked_dimensions,
    family,
    is_local_model,
    ollama_space,
    prefixed,
)
from twolaned.model.embedding import InputType, VectorSpace
from twolaned.model.errors import ConfigError


@pytest.mark.parametrize(
    "name",
    [
        "gpt-oss:120b-cloud",
        "glm-4.6:cloud",
        "Kimi-K2:1T-Cloud",
        "someone/embedder:latest-cloud",
        "embedder-cloud",
        " embedder:cloud ",
        "gpt-oss:20b:cloud",
    ],
)
def test_a_cloud_model_says_so_in_its_name(name: str) -> None:
    """Whatever the server says of it."""
    assert not is_local_model(name)
    assert not is_local_model(name, {"remote_host": ""})


@pytest.mark.parametrize("name", ["nomic-embed-text", "cloudy:latest", "cloud:7b", "a/cloud/b:1"])
def test_a_model_that_only_sounds_like_it_is_local(name: str) -> None:
    """The word counts at the end only."""
    assert is_local_model(name)
    assert is_local_model(name, {"model_info": {}})


@pytest.mark.parametrize(
    "shown",
    [
        {"remote_host": "https://ollama.com:443"},
        {"remote_model": "gpt-oss:120b"},
        {"remote_host": "https://ollama.com:443", "remote_model": "gpt-oss:120b"},
    ],
)
def test_the_server_knows_which_models_run_elsewhere(shown: dict[str, object]) -> None:
    """Either field is enough."""
    assert not is_local_model("nomic-embed-text", shown)


def test_empty_fields_are_those_of_a_local_model() -> None:
    """Some versions of the server write them for every model."""
    assert is_local_model("nomic-embed-text", {"remote_host": "", "remote_model": None})


def test_a_family_has_no_namespace_and_no_tag() -> None:
    """What is known of a model holds for all its tags."""
    assert "nomic-embed-text" == family("someone/Nomic-Embed-Text:v1.5")


def test_the_size_of_a_known_model_need_not_be_set() -> None:
    """An unknown one's must, and the error names the key."""
    assert VectorSpace("ollama", "nomic-embed-text", 768) == ollama_space("", None)
    assert VectorSpace("ollama", "mxbai-embed-large:335m", 1024) == ollama_space(
        "mxbai-embed-large:335m", None
    )
    assert VectorSpace("ollama", "my-model", 300) == ollama_space("my-model", 300)
    with pytest.raises(ConfigError, match=r"Set embedding\.output_dimension"):
        ollama_space("my-model", None)


def test_the_models_own_size_is_not_asked_for() -> None:
    """Only another one is."""
    assert None is asked_dimensions(ollama_space("", None))
    assert 256 == asked_dimensions(ollama_space("", 256))
    assert 300 == asked_dimensions(ollama_space("my-model", 300))


def test_models_without_a_prefix_get_the_text_alone() -> None:
    """A prefix that a model does not know would only be noise."""
    assert ["a"] == prefixed("bge-m3", ["a"], InputType.QUERY)
    assert ["a"] == prefixed("mxbai-embed-large", ["a"], InputType.DOCUMENT)
    assert ["search_query: a"] == prefixed("nomic-embed-text:v1.5", ["a"], InputType.QUERY)
