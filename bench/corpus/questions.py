"""Questions about a corpus, of four kinds, from texts that are in it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.corpus.vocabulary import Language

KINDS = ("rare", "question", "common", "phrase")

FUNCTION_WORDS = 110
"""Ranks below this are function words."""


@dataclass(frozen=True)
class Answer:
    """An English answer of the corpus: its conversation's id, its word ranks, and its text."""

    origin: str
    ranks: list[int]
    text: str


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the id of the conversation that it was made from."""

    kind: str
    query: str
    origin: str


def questions(
    answers: list[Answer],
    counts: NDArray[np.int64],
    english: Language,
    *,
    each: int,
    seed: int,
) -> list[Question]:
    """*each* questions of every kind.

    *counts* says how often each word occurs in the corpus. Rare words occur at most once in two
    hundred answers or so; a question is a few content words among function words; a common query is
    one frequent content word; a phrase is four to eight words in a row of one sentence, in quotes.
    """
    draw = random.Random(seed)
    rare_limit = max(8, int(counts.sum() / 200 / 200))
    found: list[Question] = []
    common = [int(r) for r in np.argsort(-counts)[:700] if r >= FUNCTION_WORDS][:400]
    words = english.words
    while len(found) < each * len(KINDS):
        kind = KINDS[len(found) // each]
        answer = draw.choice(answers)
        ranks = answer.ranks
        rare = [r for r in dict.fromkeys(ranks) if 2 <= counts[r] <= rare_limit]
        content = [r for r in dict.fromkeys(ranks) if r >= FUNCTION_WORDS]
        query = ""
        if kind == "rare" and len(rare) >= 2:
            query = " ".join(words[r] for r in draw.sample(rare, min(len(rare), 3)))
        elif kind == "question" and len(content) >= 5:
            chosen = draw.sample(content, draw.randint(2, 5))
            filler = draw.choices(range(FUNCTION_WORDS), k=draw.randint(3, 7))
            mixed = draw.sample(chosen + filler, len(chosen) + len(filler))
            query = "how " + " ".join(words[r] for r in mixed) + "?"
        elif kind == "common":
            query = words[draw.choice(common)]
        elif kind == "phrase":
            query = _phrase(answer.text, draw)
        if query:
            found.append(Question(kind, query, answer.origin))
    return found


def _phrase(text: str, draw: random.Random) -> str:
    words = draw.choice(text.split(". ")).split()
    count = draw.randint(4, 8)
    if len(words) <= count or not all(word.isalpha() for word in words):
        return ""
    start = draw.randrange(len(words) - count)
    return '"' + " ".join(words[start : start + count]) + '"'
