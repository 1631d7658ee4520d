"""A few bits for each vector, whose Hamming distance follows the angle between vectors.

With one bit a dimension it says whether the number is above the dimension's mean. With two bits (a
thermometer code) it says whether it is above ``mean - 0.6 deviation`` and ``mean + 0.6 deviation``;
spaces of few dimensions need that to tell near from far.

The first four words of a code are scanned for every vector and lie in a column each; the others are
only looked at where the first are near, and lie side by side.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.column import Column
from twolaned.lanes.meaning.sample import Centre
from twolaned.lanes.meaning.vectors import Floats, Positions

Words = NDArray[np.uint64]

COARSE_WORDS: Final = 4
TWO_BITS_UP_TO: Final = 384
"""Dimensions of the widest space whose code has two bits a dimension by itself."""

_STEP = np.float32(0.6)
_BLOCK = 4096
_COARSE_DIMENSIONS = 32 * COARSE_WORDS
_SPARE_BIT = np.uint64(1 << 63)


def usual_bits(dimensions: int) -> int:
    """How many bits a dimension a space of *dimensions* gets."""
    return 2 if dimensions <= TWO_BITS_UP_TO else 1


class Codec:
    """Makes the codes of one space from unit vectors."""

    def __init__(self, centre: Centre, bits: int) -> None:
        self.centre = centre
        self.bits = bits
        low, high = (centre.mean + step * centre.deviation for step in (-_STEP, _STEP))
        head = slice(0, _COARSE_DIMENSIONS)
        tail = slice(_COARSE_DIMENSIONS, len(low))
        # Two bits each of the first dimensions come first: the coarse words are a code themselves.
        self._parts: list[tuple[slice, Floats]] = (
            [(slice(None), centre.mean)]
            if bits == 1
            else [(part, level[part]) for part in (head, tail) for level in (low, high)]
        )
        self.words = -(-len(centre.mean) * bits // 64)

    def encode(self, units: Floats) -> Words:
        """The codes (uint64 [n, words]) of *units* (float32 [n, dimensions])."""
        bits = np.concatenate([units[:, part] > level for part, level in self._parts], axis=1)
        code = np.zeros((len(units), self.words * 8), np.uint8)
        packed = np.packbits(bits, axis=1, bitorder="little")
        code[:, : packed.shape[1]] = packed
        words: Words = code.view(np.uint64)
        if self.words >= COARSE_WORDS:
            # 255 bits, so that a coarse distance fits a byte.
            words[:, COARSE_WORDS - 1] &= ~_SPARE_BIT
        return words


class CodeTable:
    """The codes of a space's vectors by position. Immutable."""

    __slots__ = ("coarse", "codec", "fine")

    def __init__(self, codec: Codec, coarse: tuple[Column[np.uint64], ...],
                 fine: Column[np.uint64]) -> None:  # fmt: skip
        self.codec = codec
        self.coarse = coarse
        """The first words, a column each."""
        self.fine = fine
        """The other words, side by side."""

    @classmethod
    def empty(cls, codec: Codec) -> CodeTable:
        """A table without vectors."""
        words = min(codec.words, COARSE_WORDS)
        columns = tuple(Column.empty(np.uint64) for _ in range(words))
        return cls(codec, columns, Column.empty(np.uint64, codec.words - words))

    def __len__(self) -> int:
        return len(self.fine)

    @property
    def nbytes(self) -> int:
        """Bytes of all codes."""
        return len(self) * self.codec.words * 8

    def extended(self, units: Floats) -> CodeTable:
        """This table and the codes of *units* behind it."""
        code = self.codec.encode(units)
        split = len(self.coarse)
        coarse = (c.extended(code[:, i]) for i, c in enumerate(self.coarse))
        return CodeTable(self.codec, tuple(coarse), self.fine.extended(code[:, split:]))

    def fine_distances(self, positions: Positions, code: Words) -> NDArray[np.uint16]:
        """How many bits of the fine words at *positions* differ from those of *code*."""
        result = np.zeros(len(positions), np.uint16)
        words = code[len(self.coarse) :]
        if not len(words):
            return result
        # Broadcasting over rows so short costs more than repeating the words.
        repeated = np.tile(words, (min(len(positions), _BLOCK), 1))
        for start in range(0, len(positions), _BLOCK):
            part = slice(start, start + _BLOCK)
            found = np.take(self.fine.values, positions[part], axis=0)
            np.bitwise_xor(found, repeated[: len(found)], out=found)
            result[part] = _row_sums(np.bitwise_count(found))
        return result

    def coarse_distances(self, positions: Positions, code: Words) -> NDArray[np.uint8]:
        """How many bits of the coarse words at *positions* differ from those of *code*."""
        result = np.zeros(len(positions), np.uint8)
        for column, word in zip(self.coarse, code, strict=False):
            result += np.bitwise_count(column.values[positions] ^ word)
        return result


def _row_sums(counts: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """The sum of each row of *counts*: faster by columns, since the rows are short."""
    total = counts[:, 0].astype(np.uint16)
    for column in range(1, counts.shape[1]):
        total += counts[:, column]
    return total
