"""Passages of term numbers whose frequencies fall off as in real text, and questions to them.

Frequencies follow Zipf and Mandelbrot; passages have topics, and repeat words of their own. Smaller
corpora are the front of larger ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 600_000
TOPICS = 3_000
TOPIC_TERMS = 400
CHUNK = 100_000
QUESTIONS = 50
"""Of each kind."""
SEED = 20

KINDS = ("rare", "question", "common", "phrase")
"""2 to 4 rare terms; 2 to 4 terms of middling frequency with 4 to 8 of the 60 commonest, as if
there were no stop words; one common term; 4 to 8 neighbouring words of a passage."""


@dataclass(frozen=True)
class Corpus:
    """*tokens* are the terms (int32) of all passages, *lengths* how many each has."""

    tokens: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    def front(self, count: int) -> Corpus:
        end = int(self.lengths[:count].sum(dtype=np.int64))
        return Corpus(self.tokens[:end], self.lengths[:count])


def stored(folder: Path, count: int) -> Corpus:
    """*count* passages, drawn once and kept in *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens, lengths = folder / "keyword-tokens.npy", folder / "keyword-lengths.npy"
    if not lengths.exists() or len(np.load(lengths, mmap_mode="r")) < count:
        drawn = draw(count)
        np.save(tokens, drawn.tokens)
        np.save(lengths, drawn.lengths)
    return Corpus(np.load(tokens, mmap_mode="r"), np.load(lengths)).front(count)


def draw(count: int) -> Corpus:
    """*count* passages of 40 to 300 terms."""
    # Topics first, from a generator of their own, so that every size has the same.
    topics = _Topics(np.random.default_rng(SEED))
    # And whole chunks, so that a smaller corpus is the front of a larger one.
    parts = [
        topics.chunk(np.random.default_rng([SEED, first])).front(min(CHUNK, count - first))
        for first in range(0, count, CHUNK)
    ]
    return Corpus(
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )


class _Topics:
    def __init__(self, generator: np.random.Generator) -> None:
        share = (np.arange(VOCABULARY) + 3.7) ** -1.05
        self.background = _running(share)
        middling = share**0.55
        middling[:150] = 0
        drawn = _running(middling).searchsorted(generator.random((TOPICS, TOPIC_TERMS)))
        self.terms = drawn.astype(np.int32)
        self.within = _running((np.arange(TOPIC_TERMS) + 1.0) ** -0.8)
        self.popular = _running((np.arange(TOPICS) + 21.0) ** -0.7)

    def chunk(self, generator: np.random.Generator) -> Corpus:
        count = CHUNK
        drawn = generator.gamma(4.5, 25.5, count)
        lengths = np.clip(drawn + 38, 40, 300).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        total = int(starts[-1])
        passage = np.repeat(np.arange(count), lengths)
        place = np.arange(total) - starts[passage]
        tokens = self.background.searchsorted(generator.random(total)).astype(np.int32)
        first, second = self.popular.searchsorted(generator.random((2, count)))
        source = generator.random(total)
        topical = np.flatnonzero(source < 0.3)
        main = generator.random(len(topical)) < 0.8
        topic = np.where(main, first[passage[topical]], second[passage[topical]])
        tokens[topical] = self.terms[
            topic, self.within.searchsorted(generator.random(len(topical)))
        ]
        repeated = np.flatnonzero((source > 0.92) & (place > 0))
        back = (generator.random(len(repeated)) * place[repeated]).astype(np.int64)
        tokens[repeated] = tokens[starts[passage[repeated]] + back]
        return Corpus(tokens, lengths)


def _running(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    running = np.cumsum(shares / shares.sum())
    running[-1] = 1.0
    return running


def frequencies(corpus: Corpus) -> NDArray[np.int64]:
    """In how many passages each term occurs."""
    found = np.zeros(VOCABULARY, np.int64)
    starts = corpus.starts
    for first in range(0, len(corpus.lengths), CHUNK // 2):
        last = min(first + CHUNK // 2, len(corpus.lengths))
        passage = np.repeat(np.arange(last - first), corpus.lengths[first:last])
        pairs = passage * VOCABULARY + corpus.tokens[starts[first] : starts[last]]
        found += np.bincount(np.unique(pairs) % VOCABULARY, minlength=VOCABULARY)
    return found


def questions(corpus: Corpus) -> list[tuple[str, list[int]]]:
    """`QUESTIONS` questions of each kind, as kind and distinct terms."""
    generator = np.random.default_rng(SEED + 1)
    df = frequencies(corpus)
    starts, count = corpus.starts, len(corpus.lengths)
    ordered = np.argsort(-df, kind="stable")
    asked: list[tuple[str, list[int]]] = []

    def passage() -> NDArray[np.int32]:
        at = int(generator.integers(count))
        return np.asarray(corpus.tokens[starts[at] : starts[at + 1]])

    def some(most: float, size: int) -> list[int]:
        while True:
            terms = np.unique(passage())
            terms = terms[(df[terms] >= 2) & (df[terms] <= most)]
            if len(terms) >= size:
                return [int(t) for t in generator.choice(terms, size, replace=False)]

    for _ in range(QUESTIONS):
        size = int(generator.integers(2, 5))
        asked.append(("rare", some(max(8, count * 0.005), size)))
    for _ in range(QUESTIONS):
        size, common = int(generator.integers(2, 5)), int(generator.integers(4, 9))
        terms = some(max(20, count * 0.03), size)
        terms += generator.choice(ordered[:60], common, replace=False).tolist()
        asked.append(("question", list(dict.fromkeys(terms))))
    for term in generator.choice(ordered[5:300], QUESTIONS, replace=False).tolist():
        asked.append(("common", [term]))
    for _ in range(QUESTIONS):
        words = passage()
        size = int(generator.integers(4, 9))
        at = int(generator.integers(0, len(words) - size))
        asked.append(("phrase", list(dict.fromkeys(words[at : at + size].tolist()))))
    return asked


def words() -> list[str]:
    """Each term as a word of its own, shorter for frequent terms."""
    syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
    found = []
    for term in range(VOCABULARY):
        left, word = term + len(syllables), ""
        while left:
            left, digit = divmod(left, len(syllables))
            word += syllables[digit]
        found.append(word)
    return found
