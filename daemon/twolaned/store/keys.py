"""Keys of the main environment. Numbers are big-endian, so that LMDB keeps them in order."""

from __future__ import annotations

import hashlib
import struct

from twolaned.store.layout import MAX_KEY

_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")
_DIGEST = 16


def row_key(number: int) -> bytes:
    """The key of a row version."""
    return _U32.pack(number)


def row_number(key: bytes | memoryview) -> int:
    """The row version that `row_key` made *key* of."""
    return int(_U32.unpack(key)[0])


def text_key(text: str) -> bytes:
    """A key for any text: its UTF-8, its tail replaced by a digest where that is too long.

    The first bytes stay as they are, so that a scan by prefix finds long texts too. LMDB has no
    empty key, so the empty text has a key of its own.
    """
    data = text.encode("utf-8", "surrogatepass") or b"\x00"
    if len(data) <= MAX_KEY:
        return data
    digest = hashlib.blake2b(data, digest_size=_DIGEST).digest()
    return data[: MAX_KEY - _DIGEST] + digest


def file_key(source_id: str, path: str) -> bytes:
    """The key of a file of a source; with an empty *path*, the prefix of all of them."""
    source = hashlib.blake2b(source_id.encode(), digest_size=_DIGEST).digest()
    return source + (text_key(path) if path else b"")[: MAX_KEY - _DIGEST]


def saved_key(source: str, key: str) -> bytes:
    """The key of what *source* saved under the idempotency *key*."""
    digest = hashlib.blake2b(digest_size=2 * _DIGEST)
    name = source.encode("utf-8", "surrogatepass")
    digest.update(len(name).to_bytes(8, "little") + name)
    digest.update(key.encode("utf-8", "surrogatepass"))
    return digest.digest()


def vector_key(file: str, start: int) -> bytes:
    """The key of the run of vectors that begins at the row position *start* of *file*."""
    return file.encode() + b"/" + _U64.pack(start)


def hash_key(value: int) -> bytes:
    """The key of a 64-bit hash."""
    return _U64.pack(value)
