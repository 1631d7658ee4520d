"""Made-up unit vectors that lie as embeddings of text do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

CLUSTERS = 2_000
_COMMON, _CLUSTER, _OWN = 0.25, 0.35, 0.40
"""Shares of a vector's squared length: what all have in common, its cluster, itself. Two vectors
of different clusters then have a cosine of about a quarter."""
_DECAY = -0.45
"""The exponent by which variance falls from one direction to the next."""
_BATCH = 20_000


class Texts:
    """Draws the vectors of made-up texts: 2,000 clusters of uneven size in directions of uneven
    variance, turned so that no direction is a dimension."""

    def __init__(self, dimensions: int, seed: int = 7) -> None:
        rng = np.random.default_rng(seed)
        spectrum = np.arange(1, dimensions + 1) ** _DECAY
        spectrum /= np.sqrt((spectrum**2).sum())
        turn = np.linalg.qr(rng.standard_normal((dimensions, dimensions)))[0]
        self._shape = (spectrum[:, np.newaxis] * turn.T).astype(np.float32)
        common = rng.standard_normal(dimensions)
        self._common = (common * np.sqrt(_COMMON) / np.linalg.norm(common)).astype(np.float32)
        self._centres = self._noise(rng, CLUSTERS, _CLUSTER)
        self._weights = np.arange(1, CLUSTERS + 1) ** -0.6
        self._weights /= self._weights.sum()

    def draw(self, count: int, seed: int) -> Floats:
        """*count* unit vectors, the same for the same *seed*."""
        rng = np.random.default_rng(seed)
        clusters = rng.choice(CLUSTERS, count, p=self._weights)
        vectors = self._common + self._centres[clusters] + self._noise(rng, count, _OWN)
        return unit(vectors)

    def _noise(self, rng: np.random.Generator, count: int, share: float) -> Floats:
        dimensions = len(self._shape)
        noise = rng.standard_normal((count, dimensions), dtype=np.float32)
        shaped: Floats = noise @ self._shape * np.float32(np.sqrt(share))
        return shaped


def with_near_copies(vectors: Floats, share: float, seed: int) -> Floats:
    """*vectors* with a *share* of them made copies of a few, some of them slightly changed."""
    rng = np.random.default_rng(seed)
    count, dimensions = vectors.shape
    templates = vectors[rng.choice(count, max(1, count // 250), replace=False)]
    weights = np.arange(1, len(templates) + 1) ** -0.8
    places = rng.choice(count, int(count * share), replace=False)
    chosen = templates[rng.choice(len(templates), len(places), p=weights / weights.sum())]
    change = rng.choice([0.0, 0.01, 0.04, 0.2], (len(places), 1)).astype(np.float32)
    noise = rng.standard_normal((len(places), dimensions), dtype=np.float32)
    result = vectors.copy()
    result[places] = unit(chosen + change * noise / np.float32(np.sqrt(dimensions)))
    return result


def unit(vectors: Floats) -> Floats:
    """*vectors* at length 1."""
    lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / lengths).astype(np.float32)


def stored(folder: Path, dimensions: int, count: int) -> Path:
    """A file of *count* vectors in NumPy's format, made where it is not there yet."""
    path = folder / f"vectors-{dimensions}-{count}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        texts, draft = Texts(dimensions), path.with_suffix(".draft")
        shape = (count, dimensions)
        array = np.lib.format.open_memmap(str(draft), "w+", np.dtype(np.float32), shape)
        for start in range(0, count, _BATCH):
            size = min(_BATCH, count - start)
            array[start : start + size] = texts.draw(size, seed=1_000 + start)
        array.flush()
        draft.rename(path)
    return path
