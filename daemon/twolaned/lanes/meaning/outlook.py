"""How many good matches are still to come, told from those that were already compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_SIXTH = 15.0
"""The sixth moment of the normal distribution with deviation 1."""
_STEPS = np.linspace(-4.0, 8.0, 769)
_TAIL = np.array([0.5 * math.erfc(z / math.sqrt(2.0)) for z in _STEPS])


class Line:
    """A straight line of least squares through points that come bit by bit."""

    def __init__(self) -> None:
        self._x: Doubles = np.empty(0)
        self._y: Doubles = np.empty(0)
        self._fit: tuple[float, float, float] | None = (0.0, 0.0, 0.0)

    def add(self, x: NDArray[np.number], y: NDArray[np.number]) -> None:
        """Take in points."""
        if not len(x):
            return
        self._fit = None
        self._x = np.concatenate([self._x, x])
        self._y = np.concatenate([self._y, y])

    def fit(self) -> tuple[float, float, float]:
        """Intercept, slope, and how far points lie from the line, as a standard deviation.

        It is taken from the sixth moment: where many near copies hug the line, the few other points
        decide what is still to come, and their distance would drown in a mean of squares.
        """
        if self._fit is None:
            self._fit = self._fitted()
        return self._fit

    def _fitted(self) -> tuple[float, float, float]:
        x, y = float(self._x.mean()), float(self._y.mean())
        along = self._x - x
        spread = float(along @ along)
        slope = float(along @ (self._y - y)) / spread if spread > 0 else 0.0
        squares = np.square(self._y - y - slope * along)
        sixth = float(squares * squares @ squares) / len(squares)
        return y - slope * x, slope, (sixth / _SIXTH) ** (1 / 6)


def above(threshold: float, means: NDArray[np.floating[Any]], deviation: float) -> Doubles:
    """The chance of each of some values, normal around *means*, to exceed *threshold*."""
    z = (threshold - means) / max(deviation, 1e-9)
    chances: Doubles = np.interp(z, _STEPS, _TAIL, right=0.0)
    return chances
