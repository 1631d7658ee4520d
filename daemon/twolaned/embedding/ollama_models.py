"""What is known of Ollama's models: where they run, their size, and what they want to be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twolaned.model.embedding import InputType, VectorSpace
from twolaned.model.errors import ConfigError

NAME = "ollama"
DEFAULT_MODEL = "nomic-embed-text"

DIMENSIONS = {
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "embeddinggemma": 768,
    "all-minilm": 384,
    "bge-m3": 1024,
}
"""The size of a model's vectors, by its name without a tag."""

PREFIXES: dict[str, dict[InputType, str]] = {
    "nomic-embed-text": {
        InputType.QUERY: "search_query: ",
        InputType.DOCUMENT: "search_document: ",
    },
    "mxbai-embed-large": {
        InputType.QUERY: "Represent this sentence for searching relevant passages: ",
    },
    "embeddinggemma": {
        InputType.QUERY: "task: search result | query: ",
        InputType.DOCUMENT: "title: none | text: ",
    },
}
"""What stands before a text, from each model's card. Ollama itself adds nothing.

A change here makes other vectors of the same texts, so it needs a new version of the cache's keys.
"""


def family(model: str) -> str:
    """*model* without a namespace and a tag."""
    return model.rpartition("/")[2].partition(":")[0].lower()


def ollama_space(model: str, dimensions: int | None) -> VectorSpace:
    """The space of *model* (empty: the default one) in *dimensions* (None: the model's own size).

    Raises ConfigError where the size is not known.
    """
    model = model or DEFAULT_MODEL
    size = dimensions or DIMENSIONS.get(family(model))
    if size is None:
        raise ConfigError(
            f"How many dimensions the vectors of {model} have is not known. "
            "Set embedding.output_dimension.",
            key="embedding.output_dimension",
        )
    return VectorSpace(NAME, model, size)


def asked_dimensions(space: VectorSpace) -> int | None:
    """The size to ask for: None where it is the model's own."""
    return None if DIMENSIONS.get(family(space.model)) == space.dimensions else space.dimensions


def prefixed(model: str, texts: Sequence[str], input_type: InputType) -> list[str]:
    """*texts* as *model* was trained to read them."""
    prefix = PREFIXES.get(family(model), {}).get(input_type, "")
    return [prefix + text for text in texts]


def is_local_model(model: str, shown: Mapping[str, object] | None = None) -> bool:
    """Whether *model* runs where its Ollama server runs.

    A cloud model says so in its name. Under another name it is known by *shown*, what ``/api/show``
    answers: ``remote_host`` and ``remote_model`` say where it really runs.
    """
    name = model.strip().lower()
    if name.endswith((":cloud", "-cloud")):
        return False
    return not (shown and (shown.get("remote_host") or shown.get("remote_model")))
