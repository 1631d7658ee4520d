"""What a posting can be worth at most, in one byte, whatever the weight of its term.

A posting's impact is tf / (tf + norm), from 0 to 1; its share of a score is the impact times the
term's weight. Bounds are rounded up, so that nothing is missed that is chosen by them (MaxScore:
Turtle and Flood 1995, Query evaluation: strategies and optimizations; quantised: Anh and Moffat
2002, Impact transformation).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import LONGEST_PASSAGE, Bm25

STEPS = np.float32(255)
"""A bound of this many steps is an impact of 1."""
ABOVE = 1.00001
"""Rounding of float32 sums stays below this factor."""


def impacts(tf: NDArray[np.uint8], norms: NDArray[np.float32]) -> NDArray[np.float32]:
    """The impact of postings with *tf* occurrences in passages with *norms*."""
    impact = tf.astype(np.float32)
    impact /= impact + norms
    return impact


def bounds(impact: NDArray[np.float32]) -> NDArray[np.uint8]:
    """*impact* in steps, rounded up."""
    steps = impact * STEPS
    steps += np.float32(1e-3)
    np.ceil(steps, out=steps)
    rounded: NDArray[np.uint8] = np.minimum(steps, STEPS).astype(np.uint8)
    return rounded


def looseness(built: Bm25, now: Bm25) -> float:
    """A factor that makes bounds hold for the constants *now* that were made with others.

    Norms are linear in the length, so the quotient of two is largest at one end.
    """
    ends = np.array([0, LONGEST_PASSAGE], np.uint16)
    quotients = built.norms(ends).astype(np.float64) / now.norms(ends)
    return max(1.0, float(quotients.max()) * ABOVE)
