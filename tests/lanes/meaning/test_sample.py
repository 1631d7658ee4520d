"""What a sample says of a space."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from bench.vectors.data import unit
from twolaned.lanes.meaning.sample import Centre, landmark, mean_unrelated_cosine, sample_positions


@pytest.mark.parametrize(
    ("count", "base", "expected"),
    [(0, 2, 0), (1, 2, 1), (2, 2, 2), (3, 2, 2), (1023, 2, 512), (1024, 4, 1024), (4095, 4, 1024)],
)
def test_a_landmark_is_the_largest_power_up_to_the_count(
    count: int, base: int, expected: int
) -> None:
    """Samples are taken at landmarks, so that batches do not matter."""
    assert expected == landmark(count, base)


@pytest.mark.parametrize("count", [0, 1, 7, 100, 101, 99_999])
def test_a_sample_is_spread_evenly_and_bounded(count: int) -> None:
    """It begins at the first position, never has more than its size, and reaches to the end."""
    found = sample_positions(count, 100)

    assert len(found) <= 100
    assert len(set(np.diff(found).tolist())) <= 1
    assert count == 0 or (found[0] == 0 and count - found[-1] <= max(1, count // 50))


def test_unrelated_texts_are_those_of_different_rows() -> None:
    """The mean equals that over all pairs of different rows, one by one."""
    rng = np.random.default_rng(5)
    units = unit(rng.standard_normal((60, 8), dtype=np.float32) + np.float32(0.5))
    rows = rng.integers(0, 15, 60).astype(np.uint32)
    pairs = [
        float(units[i].astype(np.float64) @ units[j])
        for i, j in combinations(range(60), 2)
        if rows[i] != rows[j]
    ]

    assert mean_unrelated_cosine(units, rows) == pytest.approx(np.mean(pairs), abs=1e-6)


def test_one_row_has_no_unrelated_texts() -> None:
    """Then the mean is 0, as it is without vectors."""
    units = unit(np.ones((5, 4), np.float32))

    assert 0.0 == mean_unrelated_cosine(units, np.zeros(5, np.uint32))
    assert 0.0 == mean_unrelated_cosine(units[:0], np.zeros(0, np.uint32))


def test_the_centre_is_mean_and_deviation_by_dimension() -> None:
    """In float32, from sums in float64."""
    units = np.array([[0, 1], [2, 1], [4, 1]], np.float32)

    centre = Centre.of(units)

    np.testing.assert_allclose(centre.mean, [2, 1])
    np.testing.assert_allclose(centre.deviation, [np.sqrt(8 / 3), 0])
