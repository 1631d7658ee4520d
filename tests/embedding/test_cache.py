from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.embedding.cache import (
    KEY_BYTES,
    LruCache,
    VectorCache,
    cache_key,
    decode_vector,
    encode_vector,
)
from twolaned.model.embedding import InputType, VectorSpace
from twolaned.model.errors import DiskFull

SPACE = VectorSpace("voyage", "voyage-3-lite", 4)
VECTOR = np.array([0.5, -0.5, 0.5, -0.5], np.float32)

fields = st.tuples(
    st.text("abc-1", min_size=1, max_size=4),
    st.text("abc-1/", min_size=1, max_size=4),
    st.integers(1, 4_096),
    st.sampled_from(InputType),
    st.text(max_size=6),
)


def key_of(given: tuple[str, str, int, InputType, str]) -> bytes:
    provider, model, dimensions, input_type, text = given
    return cache_key(VectorSpace(provider, model, dimensions), input_type, text)


@settings(max_examples=200, deadline=None)
@given(fields, fields)
def test_keys_are_equal_only_for_equal_fields(
    one: tuple[str, str, int, InputType, str], other: tuple[str, str, int, InputType, str]
) -> None:
    """Provider, model, size, input type and text all count, and where one ends."""
    assert (one == other) == (key_of(one) == key_of(other))


def test_letters_do_not_move_between_fields() -> None:
    """What ends one field cannot begin the next."""
    spaces = (VectorSpace("ab", "c", 1), VectorSpace("a", "bc", 1), VectorSpace("a", "b", 11))
    keys = {cache_key(space, InputType.QUERY, "1") for space in spaces}
    keys.add(cache_key(VectorSpace("a", "b", 1), InputType.QUERY, "11"))

    assert 4 == len(keys)


def test_a_key_stays_what_it_is() -> None:
    """Keys are on disk: another one for the same text would send everything again."""
    key = cache_key(VectorSpace("voyage", "voyage-3-lite", 512), InputType.QUERY, "naïve 北京")

    assert KEY_BYTES == len(key)
    assert "d9556c8c025a5550debfd10f345cd5b1e2538cd527632321efe6b0facc67f522" == key.hex()


def test_half_a_surrogate_pair_has_a_key() -> None:
    """No text breaks the cache."""
    assert cache_key(SPACE, InputType.QUERY, "\ud800") != cache_key(SPACE, InputType.QUERY, "?")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_a_vector_comes_back_bit_for_bit(numbers: list[float]) -> None:
    """Negative zeros included, and it cannot be written to."""
    vector = np.array(numbers, np.float32)

    back = decode_vector(encode_vector(vector), len(numbers))

    assert vector.tobytes() == back.tobytes()
    assert np.float32 == back.dtype
    assert not back.flags.writeable


@pytest.mark.parametrize(
    "damage",
    [
        lambda value: value[:0],
        lambda value: value[:-1],
        lambda value: value + b"\0",
        lambda value: b"\x02" + value[1:],
        lambda value: value[:1] + b"f8" + value[3:],
        lambda value: value[:3] + (5).to_bytes(2, "little") + value[5:],
        lambda value: value[:5] + b"\x00\x00\xc0\x7f" + value[9:],
    ],
)
def test_damaged_bytes_are_no_vector(damage: object) -> None:
    """Cut, grown, of another version, type or size, or not a number."""
    assert callable(damage)
    with pytest.raises(ValueError, match=r"no vector|not finite"):
        decode_vector(damage(encode_vector(VECTOR)), 4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=60), st.integers(1, 5))
def test_the_least_recently_used_goes_first(uses: list[tuple[bool, int]], capacity: int) -> None:
    """It behaves as a list that each use moves to the end."""
    cache = LruCache(capacity)
    model: dict[bytes, bytes] = {}
    for puts, number in uses:
        key = bytes([number])
        if puts:
            cache.put_many([(key, key * 2)])
            model.pop(key, None)
            model[key] = key * 2
            if len(model) > capacity:
                del model[next(iter(model))]
        else:
            assert [model.get(key)] == cache.get_many([key])
            if key in model:
                model[key] = model.pop(key)

    assert len(model) == len(cache)
    assert list(model.values()) == cache.get_many(list(model))


class Failing:
    """A backend on a full disk."""

    def get_many(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:  # noqa: ARG002
        raise OSError("the disk does not answer")

    def put_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:  # noqa: ARG002
        raise DiskFull("the disk is full")


def test_a_backend_that_fails_costs_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is said once, not for every text."""
    cache = VectorCache(Failing(), SPACE)

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert [None, None] == cache.get_many([b"a", b"b"])
            cache.put_many([(b"a", VECTOR)])

    assert 1 == len(caplog.records)
    assert "the disk does not answer" in caplog.text


def test_a_damaged_value_is_a_miss(caplog: pytest.LogCaptureFixture) -> None:
    """The vector is made again and written over it."""
    backend = LruCache(10)
    cache = VectorCache(backend, SPACE)
    backend.put_many([(b"a", b"rubbish")])

    assert [None] == cache.get_many([b"a"])
    cache.put_many([(b"a", VECTOR)])
    (back,) = cache.get_many([b"a"])

    assert back is not None
    assert VECTOR.tobytes() == back.tobytes()
    assert "no vector" in caplog.text
