"""Cutting many texts into calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twolaned.embedding.provider import BatchLimits


def batches(texts: Sequence[str], limits: BatchLimits) -> Iterator[range]:
    """Ranges of *texts* that together are all of them, each within *limits*.

    A text that is over the limit of bytes by itself makes a batch of its own.
    """
    start = size = 0
    for end, text in enumerate(texts):
        added = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if end > start and (end - start == limits.texts or size + added > limits.bytes):
            yield range(start, end)
            start, size = end, 0
        size += added
    if start < len(texts):
        yield range(start, len(texts))
