"""Vectors by position: their cosines, and what is not a vector."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lanes.meaning.conftest import numbers
from twolaned.lanes.meaning.reference import reference_cosine
from twolaned.lanes.meaning.vectors import Question, VectorTable


class Spaced:
    """A source whose vectors lie a few bytes apart, as in a file."""

    def __init__(self, vectors: np.ndarray) -> None:
        self._records = np.full((len(vectors), vectors.shape[1] + 1), np.nan, np.float32)
        self._records[:, :-1] = vectors

    def rows(self, count: int) -> np.ndarray:
        return self._records[:count, :-1]


def table_of(vectors: np.ndarray) -> VectorTable:
    table = VectorTable.empty(vectors.shape[1])
    return table.extended(numbers(len(vectors)), numbers(len(vectors)), Spaced(vectors))


@pytest.mark.parametrize("dimensions", [1, 7, 100, 512])
def test_cosines_are_exact_for_vectors_of_any_length(dimensions: int) -> None:
    """Both ways agree with float64: to rank by within 1e-5, to score within float32's rounding."""
    rng = np.random.default_rng(dimensions)
    vectors = rng.standard_normal((50, dimensions)).astype(np.float32)
    vectors *= np.exp(rng.uniform(-20, 20, (50, 1))).astype(np.float32)
    question = rng.standard_normal(dimensions) * 1e6
    table, asked = table_of(vectors), Question.of(question, dimensions)
    expected = [reference_cosine(v, question) for v in vectors]

    np.testing.assert_allclose(table.cosines(asked, np.arange(50)), expected, atol=1e-5)
    np.testing.assert_allclose(table.cosines_between(asked, 10, 30), expected[10:30], atol=1e-5)
    np.testing.assert_allclose(table.scores(asked, np.arange(50)), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("dimensions", [3, 61, 384, 512])
def test_equal_vectors_have_equal_scores(dimensions: int) -> None:
    """To the last bit, wherever they lie and with whatever others they are asked for."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((10_000, dimensions)).astype(np.float32)
    places = rng.choice(10_000, 500, replace=False)
    vectors[places] = vectors[0]
    table, asked = table_of(vectors), Question.of(rng.standard_normal(dimensions), dimensions)

    together = table.scores(asked, np.arange(10_000))[places]
    alone = table.scores(asked, places[7:8])

    assert {alone[0]} == set(together)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, -np.inf, 3e38, 1e-30])
def test_what_has_no_direction_has_no_length(bad: float) -> None:
    """Zeros, numbers that are not finite, and squares beyond float32's range."""
    vectors = np.ones((3, 4), np.float32)
    vectors[1] = bad

    table = table_of(vectors)

    assert [0.5, 0.0, 0.5] == table.inverse.values.tolist()
    np.testing.assert_array_equal(table.units(np.arange(3)), [[0.5] * 4, [0.0] * 4, [0.5] * 4])


def test_unit_vectors_are_handed_out_as_they_are() -> None:
    """Nothing is multiplied where lengths are 1 already."""
    vectors = np.eye(4, dtype=np.float32)
    np.testing.assert_array_equal(vectors, table_of(vectors).units(slice(0, 4)))


@pytest.mark.parametrize(
    "question",
    [np.zeros(4), np.array([1, np.nan, 0, 0]), np.array([1, np.inf, 0, 0]), np.ones(5),
     np.ones((1, 4)), np.ones(0)],
)  # fmt: skip
def test_a_question_must_have_a_direction_in_the_space(question: np.ndarray) -> None:
    """Anything else is an error, not an empty answer."""
    with pytest.raises(ValueError, match=r"direction|dimensions"):
        Question.of(question, 4)


def test_vectors_must_fit_their_rows() -> None:
    """Too few, too wide, unnamed, or from another place than those before."""
    table = table_of(np.ones((3, 4), np.float32))
    one = numbers(1)
    with pytest.raises(ValueError, match="source"):
        table.extended(one, one, Spaced(np.ones((3, 4), np.float32)))
    with pytest.raises(ValueError, match="source"):
        table.extended(one, one, Spaced(np.ones((4, 5), np.float32)))
    with pytest.raises(ValueError, match="passages"):
        table.extended(one, numbers(2), Spaced(np.ones((4, 4), np.float32)))
    with pytest.raises(ValueError, match="behind 3"):
        table.extended(one, one, np.ones((1, 4), np.float32))
    in_memory = VectorTable.empty(4).extended(one, one, np.ones((1, 4), np.float32))
    with pytest.raises(ValueError, match="source"):
        in_memory.extended(one, one, Spaced(np.ones((2, 4), np.float32)))
    with pytest.raises(ValueError, match="for 1 rows"):
        in_memory.extended(one, one, np.ones((2, 4), np.float32))
