"""How many good matches are still to come."""

from __future__ import annotations

import numpy as np
import pytest

from twolaned.lanes.meaning.outlook import Line, above


def test_a_line_is_that_of_least_squares() -> None:
    """Fed in pieces, it equals numpy's fit of all points."""
    rng = np.random.default_rng(1)
    x = rng.uniform(100, 200, 900)
    y = 1.4 - 0.005 * x + rng.normal(0, 0.02, 900)
    line = Line()
    for part in np.split(np.arange(900), [1, 300, 650]):
        line.add(x[part], y[part])

    start, slope, left = line.fit()

    assert (slope, start) == pytest.approx(np.polyfit(x, y, 1))
    assert left == pytest.approx(0.02, rel=0.1)


def test_a_few_points_far_off_the_line_are_not_drowned() -> None:
    """Where 95 of 100 points hug the line, the deviation is nearer to that of the other five."""
    rng = np.random.default_rng(2)
    x = rng.uniform(100, 200, 10_000)
    off = np.where(rng.random(10_000) < 0.05, 0.05, 0.002)
    line = Line()
    line.add(x, -0.005 * x + off * rng.standard_normal(10_000))

    assert 0.025 < line.fit()[2] < 0.06


def test_no_points_and_equal_points_make_a_flat_line() -> None:
    """Neither divides by zero."""
    line = Line()
    assert (0.0, 0.0, 0.0) == line.fit()
    line.add(np.array([5, 5]), np.array([1.0, 3.0]))
    assert line.fit() == pytest.approx((2.0, 0.0, (1 / 15) ** (1 / 6)))


def test_the_chance_is_that_of_the_normal_distribution() -> None:
    """At the mean one half; two deviations below the threshold 2.3 in a hundred; far off none."""
    chances = above(1.0, np.array([1.0, 0.8, 0.0, 9.0]), 0.1)

    assert chances == pytest.approx([0.5, 0.02275, 0.0, 1.0], abs=1e-4)


def test_the_expected_number_is_what_comes() -> None:
    """Over many draws, values beyond the threshold are as many as were expected."""
    rng = np.random.default_rng(3)
    means = np.linspace(0, 0.5, 50)
    expected = 1_000 * above(0.6, means, 0.1).sum()

    found = (means + 0.1 * rng.standard_normal((1_000, 50)) > 0.6).sum()

    assert found == pytest.approx(expected, rel=0.05)
