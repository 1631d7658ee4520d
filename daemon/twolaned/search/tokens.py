"""About how many tokens of a language model a text has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ASCII = 1 / 4
"""Tokens a character. English prose and code run at about four characters a token."""
TWO_BYTES = 1 / 2
"""Latin with accents, Greek, Cyrillic, Hebrew, Arabic."""
THREE_BYTES = 1.0
"""Chinese, Japanese, Korean, Thai: about a token a character."""
FOUR_BYTES = 2.0
"""Emoji and rare Han."""


def _weights() -> NDArray[np.float64]:
    weights = np.zeros(256)
    weights[:0x80] = ASCII
    weights[0xC0:0xE0] = TWO_BYTES
    weights[0xE0:0xF0] = THREE_BYTES
    weights[0xF0:] = FOUR_BYTES
    return weights


_WEIGHTS = _weights()


def token_weights(data: bytes) -> NDArray[np.float64]:
    """What each byte of UTF-8 adds to the estimate: a character's tokens stand at its first."""
    return _WEIGHTS[np.frombuffer(data, np.uint8)]


def estimate_tokens(data: bytes) -> int:
    """About how many tokens the UTF-8 text *data* has: within a third for the usual tokenizers."""
    return round(float(token_weights(data).sum()))


def estimate_from_sample(content_bytes: int, sample: bytes) -> int:
    """About how many tokens a text of *content_bytes* has, whose script *sample* shows."""
    if not content_bytes:
        return 0
    rate = ASCII if sample.isascii() else float(token_weights(sample).mean())
    return max(1, round(content_bytes * rate))
