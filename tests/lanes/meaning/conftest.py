from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.vectors.data import Texts, with_near_copies
from twolaned.lanes.meaning import VectorIndex

Floats = NDArray[np.float32]


def numbers(count: int) -> NDArray[np.uint32]:
    return np.arange(count, dtype=np.uint32)


def index_of(vectors: Floats, passages_a_row: int = 1, **options: int) -> VectorIndex:
    """An index in memory whose rows have *passages_a_row* vectors each."""
    row, passage = np.divmod(numbers(len(vectors)), np.uint32(passages_a_row))
    return VectorIndex.empty("test", vectors.shape[1], **options).with_rows(row, passage, vectors)


@pytest.fixture(scope="session")
def clustered() -> Floats:
    """30,000 vectors of 512 dimensions."""
    return Texts(512).draw(30_000, seed=1)


@pytest.fixture(scope="session")
def questions() -> Floats:
    """60 questions to the `clustered` vectors."""
    return Texts(512).draw(60, seed=2)


@pytest.fixture(scope="session")
def copies(clustered: Floats) -> Floats:
    """The `clustered` vectors, more than half of them copies of a few."""
    return with_near_copies(clustered, 0.6, seed=3)
