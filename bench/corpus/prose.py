"""Turns word ranks into messages: sentences, paragraphs, lists and code blocks."""

from __future__ import annotations

import random

from bench.corpus.vocabulary import Language

_CODE = (
    "def {0}_{1}({2}, {3}=None):\n    {4} = {2}.{5}({3})\n    return {6}({4}, key={7!r})",
    "class {0}{1}:\n    {2}: int = 0\n\n    def {3}(self) -> str:\n        return self.{4}.{5}()",
    "const {0}{1} = await {2}.{3}({{ {4}: '{5}' }});\nif (!{0}{1}) throw new Error('{6} {7}');",
    "SELECT {0}, count(*) AS {1} FROM {2}_{3} WHERE {4} = '{5}' GROUP BY {0} ORDER BY {6}",
    "$ {0} --{1} {2}/{3}.{4} --{5}={6}\nerror: {7}: no such file or directory",
    "{0}:\n  {1}: {2}\n  {3}:\n    - {4}\n    - {5}-{6}",
)


class Prose:
    """Writes messages. One instance writes one conversation after the other from one seed."""

    def __init__(self, seed: int, english: Language) -> None:
        self._random = random.Random(seed)
        self._names = english.words[150:40_000]

    def human(self, ranks: list[int], language: Language) -> str:
        """A message as a person types it: a few sentences, the last one often a question."""
        sentences = self._sentences(ranks, language)
        if language.space and self._random.random() < 0.6:
            sentences[-1] = sentences[-1][:-1] + "?"
        return language.space.join(sentences)

    def assistant(self, ranks: list[int], language: Language) -> str:
        """An answer: paragraphs, sometimes a heading, a list or a code block."""
        sentences = self._sentences(ranks, language)
        blocks: list[str] = []
        while sentences:
            count = self._random.randint(2, 5)
            taken, sentences = sentences[:count], sentences[count:]
            kind = self._random.random()
            if kind < 0.12 and len(taken) > 2:
                blocks.append("\n".join(f"- {sentence}" for sentence in taken))
            elif kind < 0.18:
                blocks.append(f"## {taken[0][:-1]}\n\n{language.space.join(taken)}")
            else:
                blocks.append(language.space.join(taken))
            if self._random.random() < 0.06:
                blocks.append(self._code())
        return "\n\n".join(blocks)

    def code_file(self, lines: int) -> str:
        """A source file of about *lines* lines."""
        return "\n\n\n".join(self._snippet() for _ in range(max(1, lines // 3))) + "\n"

    def _sentences(self, ranks: list[int], language: Language) -> list[str]:
        words, space, sentences, at = language.words, language.space, [], 0
        size = len(words)
        while at < len(ranks):
            end = at + self._random.randint(6, 19)
            sentence = space.join([words[r % size] for r in ranks[at:end]])
            sentences.append(sentence[:1].upper() + sentence[1:] + language.stop)
            at = end
        return sentences

    def _code(self) -> str:
        return f"```\n{self._snippet()}\n```"

    def _snippet(self) -> str:
        return self._random.choice(_CODE).format(*self._random.choices(self._names, k=8))
