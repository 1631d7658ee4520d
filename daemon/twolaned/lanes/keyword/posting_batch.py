"""The postings of a batch of passages, and how they travel in the commit log.

The bytes are little-endian: a header (magic, version, numbers of passages, terms and postings),
then lengths (u16), terms (u32), each term's number of postings (u32), the postings' passages (u16
where there are at most 65,536 passages, else u32) and their tf (u8).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.store.faults import corrupt

_HEADER = struct.Struct("<4sHxxIIQ")
_MAGIC = b"TLpb"
_VERSION = 1
_NARROW = 1 << 16
_COUNTED = 4 << 20
"""Postings that are counted at once."""


@dataclass(frozen=True, slots=True)
class PostingBatch:
    """The postings of n passages, term-major.

    *terms* (uint32 [t]) are distinct and ascending. The postings of ``terms[i]`` are
    ``offsets[i]`` to ``offsets[i + 1]`` (int64 [t + 1]) of *passages* (uint32, ascending within a
    term) and *tf* (uint8, 1 to 255). *lengths* (uint16 [n]) are each passage's number of terms.
    """

    terms: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    passages: NDArray[np.uint32]
    tf: NDArray[np.uint8]
    lengths: NDArray[np.uint16]

    @classmethod
    def empty(cls) -> PostingBatch:
        """No passages."""
        return cls(
            np.empty(0, np.uint32),
            np.zeros(1, np.int64),
            np.empty(0, np.uint32),
            np.empty(0, np.uint8),
            np.empty(0, np.uint16),
        )

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """In how many passages each of *terms* occurs."""
        return np.diff(self.offsets)

    def of_terms(self, first: int, last: int) -> PostingBatch:
        """The postings of the terms from *first* to before *last*, of the same passages."""
        start, end = self.terms.searchsorted([first, last]).tolist()
        offsets = self.offsets[start : end + 1]
        part = slice(int(offsets[0]), int(offsets[-1]))
        return PostingBatch(
            self.terms[start:end],
            offsets - offsets[0],
            self.passages[part],
            self.tf[part],
            self.lengths,
        )

    def tf_counts(self) -> NDArray[np.int64]:
        """How many postings have each tf (int64 [256])."""
        counts = np.zeros(256, np.int64)
        for first in range(0, len(self.tf), _COUNTED):
            counts += np.bincount(self.tf[first : first + _COUNTED], minlength=256)
        return counts

    def to_bytes(self) -> bytes:
        """This batch as `from_bytes` reads it."""
        passages = "<u2" if len(self.lengths) <= _NARROW else "<u4"
        header = _HEADER.pack(
            _MAGIC, _VERSION, len(self.lengths), len(self.terms), len(self.passages)
        )
        return b"".join(
            (
                header,
                self.lengths.astype("<u2").tobytes(),
                self.terms.astype("<u4").tobytes(),
                self.frequencies.astype("<u4").tobytes(),
                self.passages.astype(passages).tobytes(),
                self.tf.tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> PostingBatch:
        """The batch that `to_bytes` wrote. Raises StoreCorrupt where *data* is anything else."""
        view = memoryview(data)
        if len(view) < _HEADER.size:
            raise corrupt("postings cut off in their header")
        magic, version, count, terms, postings = _HEADER.unpack_from(view)
        if magic != _MAGIC or version != _VERSION:
            raise corrupt(f"postings of another kind (version {version})")
        layout = [
            ("<u2", count),
            ("<u4", terms),
            ("<u4", terms),
            ("<u2" if count <= _NARROW else "<u4", postings),
            ("<u1", postings),
        ]
        size = _HEADER.size + sum(np.dtype(kind).itemsize * items for kind, items in layout)
        if size != len(view):
            raise corrupt(f"postings of {len(view)} bytes instead of {size}")
        arrays: list[NDArray[Any]] = []
        at = _HEADER.size
        for kind, items in layout:
            arrays.append(np.frombuffer(view, kind, items, at))
            at += arrays[-1].nbytes
        lengths, numbers, frequencies, passages, tf = arrays
        batch = cls(
            numbers.astype(np.uint32),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(frequencies, dtype=np.int64)]),
            passages.astype(np.uint32),
            tf.astype(np.uint8),
            lengths.astype(np.uint16),
        )
        _check(batch)
        return batch


def _check(batch: PostingBatch) -> None:
    postings = len(batch.passages)
    if batch.offsets[-1] != postings or not bool((batch.frequencies > 0).all()):
        raise corrupt("postings that their terms do not cover")
    if not bool((batch.terms[1:] > batch.terms[:-1]).all()):
        raise corrupt("postings whose terms are out of order")
    if postings and (int(batch.passages.max()) >= len(batch.lengths) or not batch.tf.all()):
        raise corrupt("impossible postings")
    ascending = batch.passages[1:] > batch.passages[:-1]
    ascending[batch.offsets[1:-1] - 1] = True
    if not bool(ascending.all()):
        raise corrupt("postings whose passages are out of order")
