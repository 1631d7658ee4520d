from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any, get_args

import pytest

from tests.support_http.voyage_api import KEY
from twolaned.embedding import factory
from twolaned.embedding.builtin import SPACE as BUILTIN
from twolaned.embedding.cache import LruCache
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.factory import (
    Embedders,
    EmbeddingPlan,
    ProviderName,
    off_because,
)
from twolaned.embedding.key import ApiKey
from twolaned.model.embedding import FailureReason, VectorSpace
from twolaned.model.errors import ConfigError
from twolaned.model.source import Extraction

NOMIC = VectorSpace("ollama", "nomic-embed-text", 768)


def plan(provider: ProviderName = "auto", **named: Any) -> EmbeddingPlan:
    return EmbeddingPlan(provider=provider, **named)


def space_of(embedder: Embedder | None) -> VectorSpace | None:
    return None if embedder is None else embedder.space


def spaces(given: EmbeddingPlan) -> tuple[VectorSpace | None, VectorSpace | None]:
    """Where ordinary and local texts go."""
    embedders = Embedders(given, LruCache(10))
    ordinary, local = (embedders.for_extraction(e) for e in (Extraction.DEFAULT, Extraction.LOCAL))
    return space_of(ordinary), space_of(local)


@pytest.mark.parametrize(
    ("given", "ordinary", "local"),
    [
        (plan(), None, NOMIC),
        (plan("voyage"), None, NOMIC),
        (plan(key=ApiKey(KEY)), VectorSpace("voyage", "voyage-3-lite", 512), NOMIC),
        (
            plan("voyage", key=ApiKey(KEY), base_url="https://ai.mongodb.com/v1"),
            VectorSpace("voyage", "voyage-4-lite", 512),
            NOMIC,
        ),
        (
            plan("voyage", key=ApiKey(KEY), model="voyage-3-large", output_dimension=256),
            VectorSpace("voyage", "voyage-3-large", 256),
            NOMIC,
        ),
        (plan("ollama"), NOMIC, NOMIC),
        (
            plan("ollama", base_url="http://gpu.lan", model="mxbai-embed-large"),
            VectorSpace("ollama", "mxbai-embed-large", 1024),
            NOMIC,
        ),
        (
            plan("voyage", key=ApiKey(KEY), local_model="all-minilm"),
            VectorSpace("voyage", "voyage-3-lite", 512),
            VectorSpace("ollama", "all-minilm", 384),
        ),
        (plan("builtin"), BUILTIN, BUILTIN),
        (plan("builtin", key=ApiKey(KEY)), BUILTIN, BUILTIN),
        (plan("off", key=ApiKey(KEY)), None, None),
    ],
)
async def test_who_embeds_what(
    given: EmbeddingPlan, ordinary: VectorSpace | None, local: VectorSpace | None
) -> None:
    """Local texts have a local provider whatever the other one is, unless all is off."""
    assert (ordinary, local) == spaces(given)


@pytest.mark.parametrize("name", get_args(ProviderName))
def test_why_ordinary_texts_have_no_vectors(name: ProviderName) -> None:
    """Without a key, or because it is off; else there is nothing to say."""
    without, with_key = (off_because(plan(name, key=key)) for key in (None, ApiKey(KEY)))

    assert (name in ("auto", "voyage", "off")) == bool(without)
    assert (name == "off") == bool(with_key)
    assert ("VOYAGE_API_KEY" in without) == (name in ("auto", "voyage"))


async def test_one_provider_for_both_is_one_embedder() -> None:
    """The built-in model is loaded once."""
    embedders = Embedders(plan("builtin"), LruCache(10))

    ordinary, local = (embedders.for_extraction(e) for e in Extraction)

    assert ordinary is local
    assert (ordinary,) == embedders.all


async def test_an_earlier_space_can_still_be_asked() -> None:
    """While the new one is built; its embedder is made once, and not without a key."""
    old = VectorSpace("voyage", "voyage-3", 1024)
    embedders = Embedders(plan("voyage", key=ApiKey(KEY)), LruCache(10))

    first = embedders.for_space(old)
    assert first is not None
    assert old == first.space
    assert embedders.for_space(old) is first
    assert embedders.for_space(first.space) is first
    assert 3 == len(embedders.all)

    keyless = Embedders(plan("builtin"), LruCache(10))
    assert None is keyless.for_space(old)
    assert BUILTIN == space_of(keyless.for_space(BUILTIN))
    assert NOMIC == space_of(keyless.for_space(NOMIC))
    assert None is keyless.for_space(VectorSpace("builtin", "another", 384))
    assert None is Embedders(plan("off"), LruCache(10)).for_space(BUILTIN)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (plan("voyage", key=ApiKey(KEY), base_url="http://ai.mongodb.com"), "base_url"),
        (plan("voyage", key=ApiKey(KEY), output_dimension=300), "output_dimension"),
        (plan("ollama", model="unheard-of"), "output_dimension"),
        (plan("auto", ollama_host="ftp://here"), "Ollama host"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_start(given: EmbeddingPlan, words: str) -> None:
    """With the key that is wrong, and without the secret one."""
    with pytest.raises(ConfigError, match=words) as caught:
        Embedders(given, LruCache(10))

    assert KEY not in str(caught.value)


def test_a_plan_does_not_show_the_key() -> None:
    """It may stand in a log."""
    assert KEY not in repr(plan(key=ApiKey(KEY)))


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """The client libraries cost hundreds of milliseconds and tens of megabytes each."""
    code = (
        "import sys, asyncio, twolaned.embedding as e\n"
        "async def main():\n"
        "    plan = e.EmbeddingPlan(provider='voyage', key=e.ApiKey('k'))\n"
        "    await e.Embedders(plan, e.LruCache(1)).aclose()\n"
        "    await e.Embedders(e.EmbeddingPlan(provider='builtin'), e.LruCache(1)).aclose()\n"
        "asyncio.run(main())\n"
        "heavy = {'voyageai', 'ollama', 'aiohttp', 'httpx', 'onnxruntime', 'tokenizers'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == shown.stdout.strip()


@pytest.mark.parametrize(
    ("provider", "module", "extra"),
    [
        ("voyage", "voyage_client", "voyage"),
        ("ollama", "ollama_client", "ollama"),
        ("builtin", "builtin_model", "builtin"),
    ],
)
async def test_a_package_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, provider: ProviderName, module: str, extra: str
) -> None:
    """The sentence names what to install, and nothing else breaks."""

    def missing(name: str) -> object:
        if name == f"twolaned.embedding.{module}":
            raise ModuleNotFoundError(name)
        return import_module(name)

    monkeypatch.setattr(f"twolaned.embedding.{provider}.import_module", missing)
    embedders = Embedders(plan(provider, key=ApiKey(KEY)), LruCache(10))
    embedder = embedders.for_extraction(Extraction.DEFAULT)
    assert embedder is not None

    failure = await embedder.warm()
    await embedders.aclose()

    assert failure is not None
    assert FailureReason.PROVIDER_ERROR == failure.reason
    assert f"twolane[{extra}]" in failure.message
    assert failure == embedder.state.last_failure


def test_every_exported_name_is_there() -> None:
    """The room's public names are those of its list."""
    room = import_module("twolaned.embedding")

    assert sorted(room.__all__) == room.__all__
    assert [] == [name for name in room.__all__ if not hasattr(room, name)]
    assert factory.Embedders is room.Embedders
