"""Vectors that the fake providers make: the same text has the same one, others are far away."""

from __future__ import annotations

import hashlib

import numpy as np


def raw_vector(text: str, dimensions: int) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    numbers = np.random.default_rng(seed).standard_normal(dimensions)
    return [float(x) for x in numbers.astype(np.float32)]


def unit_vector(text: str, dimensions: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    raw = np.array(raw_vector(text, dimensions), np.float32)
    return (raw / np.linalg.norm(raw.astype(np.float64))).astype(np.float32)
