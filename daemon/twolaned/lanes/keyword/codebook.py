"""One byte for a posting: how often its term occurs, exactly, and a bound of what that is worth.

A code stands for one tf and a class of passages of about one length. Codes ascend with the largest
impact that such a posting can have, so that comparing codes compares bounds. tf that are frequent
get more codes than others, and so closer bounds.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import MOST_OCCURRENCES, Bm25
from twolaned.lanes.keyword.impacts import impacts

CODES = 256
CLASSES = 32
"""Classes of lengths, with about as many passages each. A power of two."""


class Codebook:
    """The codes of a segment's postings.

    *tf* (uint8 [256]) and *bounds* (float32 [256], ascending) are what each code stands for. Codes
    that are not used have the bound infinity.
    """

    __slots__ = ("bounds", "ladder", "tf")

    def __init__(self, tf: NDArray[np.uint8], bounds: NDArray[np.float32]) -> None:
        self.tf = tf
        self.bounds = bounds
        self.ladder: list[float] = bounds.tolist()
        """*bounds* for bisection."""


class Encoder:
    """Gives the postings of passages with *lengths* their codes.

    *counts* (int64 [256]) says how many postings have each tf; none may have one with 0.
    """

    def __init__(self, lengths: NDArray[np.uint16], counts: NDArray[np.int64], bm25: Bm25) -> None:
        places = np.arange(CLASSES) * len(lengths) // CLASSES
        shortest = np.sort(lengths)[places] if len(lengths) else np.zeros(CLASSES, np.uint16)
        classes = shortest.searchsorted(lengths, "right") - 1
        self._classes = classes.astype(np.uint8)
        # A class's first norm is its smallest, so that no impact in it is larger.
        norms = bm25.norms(shortest)
        shares = _shares(counts, norms)
        tf = np.repeat(np.array(list(shares), np.uint8), list(shares.values()))
        groups = [np.arange(0, CLASSES, CLASSES // count) for count in shares.values()]
        first = np.concatenate([np.empty(0, np.int64), *groups])
        bound = impacts(tf, norms[first])
        order = np.argsort(bound, kind="stable")
        self.book = Codebook(np.zeros(CODES, np.uint8), np.full(CODES, np.inf, np.float32))
        self.book.tf[: len(tf)] = tf[order]
        self.book.bounds[: len(tf)] = bound[order]
        self.book.ladder = self.book.bounds.tolist()
        self._table = np.zeros((MOST_OCCURRENCES + 1, CLASSES), np.uint8)
        for code, place in enumerate(order.tolist()):
            width = CLASSES // shares[int(tf[place])]
            self._table[tf[place], first[place] : first[place] + width] = code

    def encode(self, tf: NDArray[np.uint8], passages: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The codes of postings."""
        places = tf.astype(np.uint16)
        places *= np.uint16(CLASSES)
        places += self._classes[passages]
        codes: NDArray[np.uint8] = self._table.reshape(-1)[places]
        return codes


def _shares(counts: NDArray[np.int64], norms: NDArray[np.float32]) -> dict[int, int]:
    """How many codes each tf that occurs gets: 1, 2, 4, to `CLASSES`.

    The next go to where they make the bounds of most postings closer.
    """
    shares = dict.fromkeys(np.flatnonzero(counts[1:] > 0) + 1, 1)
    left = CODES - len(shares)
    ends = norms[[0, -1]].astype(np.float64)
    heap = []
    for tf in shares:
        spread = float(np.ptp(tf / (tf + ends)))
        heap.append((-spread * int(counts[tf]), tf))
    heapq.heapify(heap)
    while heap:
        gain, tf = heapq.heappop(heap)
        if shares[tf] <= left and gain < 0:
            left -= shares[tf]
            shares[tf] *= 2
            if shares[tf] < CLASSES:
                heapq.heappush(heap, (gain / 4, tf))
    return {int(tf): count for tf, count in shares.items()}
