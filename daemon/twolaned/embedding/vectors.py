"""Checking what came back, and bringing it to length 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.embedding.error import EmbeddingError
from twolaned.model.embedding import FailureReason

_SHORTEST = 1e-6
"""A vector shorter than this points nowhere."""


def unit_vectors(
    raw: Sequence[Sequence[float]] | NDArray[np.float32],
    *,
    count: int,
    dimensions: int,
    provider: str,
) -> NDArray[np.float32]:
    """*raw* as float32 of shape (*count*, *dimensions*), each vector of length 1.

    Raises EmbeddingError for another number of vectors or dimensions, and for a vector that is
    zero or holds a number that is not finite. *provider* is its name for people.
    """
    if len(raw) != count:
        raise _wrong(provider, f"{len(raw)} vectors for {count} texts")
    try:
        vectors = np.array(raw, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(provider, "something that is no vector") from None
    if vectors.ndim != 2 or vectors.shape[1] != dimensions:
        got = vectors.shape[1] if vectors.ndim == 2 else "no"
        raise _wrong(
            provider,
            f"vectors of {got} dimensions where {dimensions} are set in embedding.output_dimension",
        )
    # In float64, so that large numbers do not overflow when they are squared.
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    if not (np.isfinite(lengths) & (lengths > _SHORTEST)).all():
        raise _wrong(provider, "a vector that points nowhere", isolate=True)
    unit: NDArray[np.float32] = (vectors / lengths[:, None]).astype(np.float32)
    return unit


def _wrong(provider: str, what: str, *, isolate: bool = False) -> EmbeddingError:
    return EmbeddingError(
        FailureReason.PROVIDER_ERROR,
        f"{provider} answered with {what}.",
        transient=False,
        isolate=isolate,
    )
