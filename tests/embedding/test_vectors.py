from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.vectors import unit_vectors


def checked(raw: object, *, count: int = 2, dimensions: int = 3) -> NDArray[np.float32]:
    return unit_vectors(raw, count=count, dimensions=dimensions, provider="P")  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.integers(1, 8)),
        elements=st.floats(-(2.0**100), 2.0**100, width=32),
    )
)
def test_every_vector_that_points_somewhere_gets_length_one(raw: NDArray[np.float32]) -> None:
    """Its direction stays, however large or small its numbers are; any other is an error."""
    lengths = np.linalg.norm(raw.astype(np.float64), axis=1)
    count, dimensions = raw.shape
    if (lengths <= 1e-6).any():
        with pytest.raises(EmbeddingError):
            checked(raw.tolist(), count=count, dimensions=dimensions)
        return

    vectors = checked(raw.tolist(), count=count, dimensions=dimensions)

    assert np.float32 == vectors.dtype
    assert np.allclose(1.0, np.linalg.norm(vectors, axis=1), atol=1e-5)
    assert np.allclose(raw / lengths[:, None], vectors, atol=1e-6)


@pytest.mark.parametrize(
    ("raw", "what", "isolate"),
    [
        ([[1.0, 0.0, 0.0]], "1 vectors for 2 texts", False),
        ([], "0 vectors for 2 texts", False),
        ([[1.0, 0.0], [0.0, 1.0]], "vectors of 2 dimensions where 3", False),
        ([[1.0, 0.0, 0.0], [0.0, 1.0]], "no vector", False),
        ([1.0, 2.0], "vectors of no dimensions", False),
        (["ab", "cd"], "no vector", False),
        ([[None] * 3] * 2, "points nowhere", True),
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], "points nowhere", True),
        ([[1.0, 0.0, 0.0], [float("nan"), 0.0, 0.0]], "points nowhere", True),
        ([[1.0, 0.0, 0.0], [float("inf"), 0.0, 0.0]], "points nowhere", True),
    ],
)
def test_what_is_no_vector_is_refused(raw: object, what: str, isolate: bool) -> None:
    """A text that makes no vector may be singled out; a wrong shape is nobody's in particular."""
    with pytest.raises(EmbeddingError, match=what) as caught:
        checked(raw)

    assert isolate == caught.value.isolate
    assert not caught.value.transient
