"""Vectors that were made before: their keys, their bytes, and where they are kept."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.model.embedding import InputType, VectorSpace
from twolaned.model.errors import TwolaneError

log = logging.getLogger(__name__)

KEY_BYTES = 32
_KEY_VERSION = b"1"
"""Another version for whatever makes other vectors of the same texts, such as new prefixes."""

_HEADER = b"\x01f4"
"""Version 1, float32. The number of dimensions follows as two bytes, little-endian."""
_HEADER_BYTES = len(_HEADER) + 2


def cache_key(space: VectorSpace, input_type: InputType, text: str) -> bytes:
    """32 bytes that stand for *text* as an *input_type* in *space*.

    Each field goes in with its length, so that no two sets of fields are the same bytes.
    """
    key = hashlib.blake2b(digest_size=KEY_BYTES)
    for field in (
        _KEY_VERSION,
        space.provider.encode(),
        space.model.encode(),
        str(space.dimensions).encode(),
        input_type.value.encode(),
        text.encode("utf-8", "surrogatepass"),
    ):
        key.update(len(field).to_bytes(8, "little"))
        key.update(field)
    return key.digest()


def encode_vector(vector: NDArray[np.float32]) -> bytes:
    """*vector*, of shape (dimensions,), as bytes."""
    return _HEADER + len(vector).to_bytes(2, "little") + vector.astype("<f4").tobytes()


def decode_vector(value: bytes, dimensions: int) -> NDArray[np.float32]:
    """The vector in *value*, read-only. Raises ValueError unless it is one of *dimensions*."""
    header = _HEADER + dimensions.to_bytes(2, "little")
    if value[:_HEADER_BYTES] != header or len(value) != _HEADER_BYTES + 4 * dimensions:
        raise ValueError(f"{len(value)} bytes are no vector of {dimensions} dimensions")
    vector = np.frombuffer(bytes(value), "<f4", offset=_HEADER_BYTES).astype(np.float32, copy=False)
    if not np.isfinite(vector).all():
        raise ValueError("a number of the vector is not finite")
    return vector


class CacheBackend(Protocol):
    """Where vectors are kept. Both calls come from an event loop and return soon.

    They raise TwolaneError or OSError where they fail; the vectors are then made again.
    """

    def get_many(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:
        """The values of *keys*, in their order."""
        ...

    def put_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep *items*, or hand them to whoever does."""
        ...


class LruCache:
    """A backend in memory that keeps the *capacity* values that were used last."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of *keys*, in their order."""
        with self._lock:
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
            return [self._values.get(key) for key in keys]

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep *items* and forget what was unused the longest."""
        with self._lock:
            for key, value in items:
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._capacity:
                self._values.popitem(last=False)


class VectorCache:
    """The vectors of one space in *backend*. A cache that fails costs time, never an answer."""

    def __init__(self, backend: CacheBackend, space: VectorSpace) -> None:
        self._backend = backend
        self._dimensions = space.dimensions
        self._failing = False

    def get_many(self, keys: Sequence[bytes]) -> list[NDArray[np.float32] | None]:
        """The vectors of *keys*, in their order; None where there is none that can be read."""
        try:
            values = self._backend.get_many(keys)
        except (TwolaneError, OSError) as e:
            self._report("read", e)
            return [None] * len(keys)
        return [None if value is None else self._decoded(value) for value in values]

    def put_many(self, items: Sequence[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Keep *items*."""
        try:
            self._backend.put_many([(key, encode_vector(vector)) for key, vector in items])
        except (TwolaneError, OSError) as e:
            self._report("written", e)
        else:
            self._failing = False

    def _decoded(self, value: bytes) -> NDArray[np.float32] | None:
        try:
            return decode_vector(value, self._dimensions)
        except ValueError as e:
            self._report("read", e)
            return None

    def _report(self, what: str, e: Exception) -> None:
        """Log the first of several failures."""
        if not self._failing:
            log.warning("the cache of vectors cannot be %s: %s", what, e)
        self._failing = True
