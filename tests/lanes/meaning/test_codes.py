"""Codes: what their distance is, and that it does not depend on how they came about."""

from __future__ import annotations

import numpy as np
import pytest

from bench.vectors.data import unit
from twolaned.lanes.meaning.codes import COARSE_WORDS, Codec, CodeTable, usual_bits
from twolaned.lanes.meaning.sample import Centre
from twolaned.lanes.meaning.scan import scan

SHAPES = [(512, 1), (384, 2), (256, 2), (128, 2), (100, 2), (64, 1), (768, 1), (3, 2), (1024, 1)]


def vectors(count: int, dimensions: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return unit(rng.standard_normal((count, dimensions), dtype=np.float32))


def table_of(units: np.ndarray, bits: int, step: int) -> CodeTable:
    table = CodeTable.empty(Codec(Centre.of(units), bits))
    for start in range(0, len(units), step):
        table = table.extended(units[start : start + step])
    return table


def differing(codec: Codec, first: np.ndarray, second: np.ndarray) -> int:
    """Bits by which two codes differ, bit by bit."""
    a, b = codec.encode(np.stack([first, second])).view(np.uint8)
    return int((np.unpackbits(a) != np.unpackbits(b)).sum())


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
def test_coarse_and_fine_distance_add_up_to_the_whole(dimensions: int, bits: int) -> None:
    """Together they count the bits in which two codes differ."""
    units = vectors(70, dimensions)
    table = table_of(units, bits, 13)
    at = np.array([0, 69, 3, 3, 41])
    code = table.codec.encode(units[5:6])[0]

    found = table.fine_distances(at, code) + table.coarse_distances(at, code)

    assert [differing(table.codec, units[5], units[i]) for i in at] == found.tolist()


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
def test_the_scan_gives_every_coarse_distance(dimensions: int, bits: int) -> None:
    """It equals looking the codes up one by one, over several blocks."""
    units = vectors(70_000 if dimensions == 64 else 700, dimensions)
    table = table_of(units, bits, 9_999)
    code = table.codec.encode(units[9:10])[0]

    expected = table.coarse_distances(np.arange(len(units)), code)

    np.testing.assert_array_equal(expected, scan(table, code))


@pytest.mark.parametrize(("dimensions", "bits"), [(512, 1), (256, 2), (128, 2)])
def test_a_coarse_distance_fits_a_byte(dimensions: int, bits: int) -> None:
    """Opposite vectors are the farthest, not the nearest."""
    units = vectors(50, dimensions)
    table = table_of(np.concatenate([units, -units]), bits, 50)
    codes = table.codec.encode(np.concatenate([units, -units]))

    distances = [int(table.coarse_distances(np.array([i + 50]), codes[i])[0]) for i in range(50)]

    assert COARSE_WORDS * 64 - 1 >= max(distances) >= min(distances) > 100


@pytest.mark.parametrize(("dimensions", "bits"), [(512, 1), (256, 2)])
def test_near_vectors_have_near_codes(dimensions: int, bits: int) -> None:
    """The distance grows with the angle."""
    start, away = vectors(2, dimensions, seed=4)
    steps = unit(np.stack([start + t * away for t in (0, 0.2, 0.5, 1, 3)]).astype(np.float32))
    codec = Codec(Centre.of(vectors(500, dimensions)), bits)

    distances = [differing(codec, start, step) for step in steps]

    assert sorted(set(distances)) == distances
    assert 0 == distances[0]


def test_a_code_takes_eight_bytes_a_word() -> None:
    """64 bytes a vector at 512 dimensions of one bit and at 256 of two."""
    assert 64 * 70 == table_of(vectors(70, 512), 1, 70).nbytes
    assert 64 * 70 == table_of(vectors(70, 256), 2, 70).nbytes


def test_small_spaces_have_two_bits() -> None:
    """Up to 384 dimensions."""
    assert [2, 2, 1, 1] == [usual_bits(d) for d in (256, 384, 512, 768)]


def test_tables_of_one_another_do_not_disturb_each_other() -> None:
    """Two tables made from the same one have their own codes."""
    units = vectors(30, 512)
    start = table_of(units[:10], 1, 10)
    first, second = start.extended(units[10:20]), start.extended(units[20:30])
    code = start.codec.encode(units[:1])[0]
    at = np.arange(20)

    for table, tail in ((first, units[10:20]), (second, units[20:30])):
        again = CodeTable.empty(start.codec).extended(np.concatenate([units[:10], tail]))
        np.testing.assert_array_equal(
            again.fine_distances(at, code), table.fine_distances(at, code)
        )
        np.testing.assert_array_equal(
            again.coarse_distances(at, code), table.coarse_distances(at, code)
        )
