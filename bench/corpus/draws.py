"""Random draws of whole batches at once: lengths, topics and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOPICS = 2_000
TERMS_PER_TOPIC = 300

QUESTION_WORDS = 38.0
"""Words of an average human message."""
ANSWER_WORDS = 215.0
"""Words of an average answer."""
MEAN_PAIRS = 8.2
"""Question and answer pairs of an average conversation: with the above about 14 passages of 700 to
1,400 characters."""


@dataclass(frozen=True)
class Batch:
    """Conversations as word ranks: message *m* has ``words[starts[m]:starts[m + 1]]``, and
    conversation *c* has messages ``first[c]`` to ``first[c + 1]``, human and assistant in turn."""

    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    first: NDArray[np.int64]


class Draws:
    """Draws batches of conversations from one seed."""

    def __init__(self, seed: int, vocabulary: int) -> None:
        self._seed = seed
        rng = np.random.default_rng(seed)
        p = (np.arange(1, vocabulary + 1) + 2.7) ** -1.05
        self._words = _cumulative(p)
        # Topics are made of words from the middle ranks: function words belong to all of them.
        q = p**0.55
        q[:200] = 0
        self._topics = np.searchsorted(
            _cumulative(q), rng.random((TOPICS, TERMS_PER_TOPIC))
        ).astype(np.int32)
        self._topic_terms = _cumulative((np.arange(TERMS_PER_TOPIC) + 1.0) ** -0.8)
        self._topic_shares = _cumulative((np.arange(TOPICS) + 21.0) ** -0.7)

    def batch(self, number: int, conversations: int) -> Batch:
        """Batch *number* of *conversations*; the same number gives the same batch."""
        rng = np.random.default_rng((self._seed, number))
        pairs = np.clip(rng.lognormal(np.log(MEAN_PAIRS) - 0.405, 0.9, conversations), 1, 120)
        first = _offsets(2 * pairs.astype(np.int64))
        messages = int(first[-1])
        mean = np.where(np.arange(messages) % 2, ANSWER_WORDS, QUESTION_WORDS)
        lengths = np.clip(rng.gamma(1.6, mean / 1.6), 4, 1_500).astype(np.int64)
        starts = _offsets(lengths)
        owner = np.repeat(np.arange(conversations), np.diff(first))
        return Batch(self._draw_words(rng, owner, lengths, starts), starts, first)

    def _draw_words(
        self,
        rng: np.random.Generator,
        owner: NDArray[np.int64],
        lengths: NDArray[np.int64],
        starts: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        total = int(starts[-1])
        words = _pick(self._words, rng.random(total)).astype(np.int32)
        message = np.repeat(np.arange(len(lengths)), lengths)
        source = rng.random(total)
        # Three in ten words come from the conversation's two topics.
        conversations = int(owner[-1]) + 1
        main, side = _pick(self._topic_shares, rng.random((2, conversations)))
        where = np.nonzero(source < 0.30)[0]
        of = owner[message[where]]
        topic = np.where(rng.random(len(where)) < 0.8, main[of], side[of])
        words[where] = self._topics[topic, _pick(self._topic_terms, rng.random(len(where)))]
        # One in twelve repeats an earlier word of the same message.
        at = np.arange(total) - starts[message]
        where = np.nonzero((source > 0.92) & (at > 0))[0]
        back = (rng.random(len(where)) * at[where]).astype(np.int64)
        words[where] = words[starts[message[where]] + back]
        return words


def _cumulative(weights: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    return np.cumsum(weights / weights.sum())


def _pick(cumulative: NDArray[np.floating[Any]], at: NDArray[np.floating[Any]]) -> NDArray[np.intp]:
    return np.minimum(np.searchsorted(cumulative, at), len(cumulative) - 1)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
