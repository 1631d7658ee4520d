"""Builds a corpus: exports, documents, questions and what is known about them."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.corpus.draws import Batch, Draws
from bench.corpus.exports import ChatgptExport, ClaudeCodeSessions, Talk, talk_id
from bench.corpus.prose import Prose
from bench.corpus.questions import Answer, questions
from bench.corpus.vocabulary import SIZE, Language, languages

FORMATS = ("chatgpt", "claude-code", "mixed")

_BATCH = 500
_EPOCH = 1_700_000_000
_YEARS = 3 * 365 * 86_400
_KEPT = 4_000


@dataclass(frozen=True)
class Summary:
    """What a corpus holds. *characters* are those of all messages and documents."""

    seed: int
    format: str
    conversations: int
    messages: int
    documents: int
    characters: int
    inputs: list[str]
    folders: list[str]


class CorpusBuilder:
    """Writes one corpus into a folder."""

    def __init__(self, out: Path, *, seed: int, form: str) -> None:
        self._out = out
        self._seed = seed
        self._form = form
        self._languages = languages()
        self._draws = Draws(seed, SIZE)
        self._random = random.Random(seed)
        self._prose = Prose(seed, self._languages[0])
        self._counts = np.zeros(SIZE, np.int64)
        self._answers: list[Answer] = []
        self._messages = self._characters = 0

    def build(self, conversations: int, documents: int, questions_each: int) -> Summary:
        """Write everything and return what it is; it is also written to ``corpus.json``."""
        self._out.mkdir(parents=True, exist_ok=True)
        chatgpt = ChatgptExport(self._out / "chatgpt-export.zip")
        sessions = ClaudeCodeSessions(self._out / "claude-code")
        split = {"chatgpt": 10, "claude-code": 0, "mixed": 6}[self._form]
        for number, start in enumerate(range(0, conversations, _BATCH)):
            batch = self._draws.batch(number, min(_BATCH, conversations - start))
            talks = self._talks(batch, start)
            chatgpt.add(t for i, t in enumerate(talks) if i % 10 < split)
            sessions.add(t for i, t in enumerate(talks) if i % 10 >= split)
        chatgpt.close()
        inputs = [name for name in ("chatgpt-export.zip", "claude-code") if self._has(name)]
        self._write_documents(documents)
        self._write_questions(questions_each)
        summary = Summary(
            self._seed, self._form, conversations, self._messages, documents, self._characters,
            inputs, ["documents"] if documents else [],
        )  # fmt: skip
        (self._out / "corpus.json").write_text(
            json.dumps(asdict(summary), indent=1), encoding="utf-8"
        )
        return summary

    def _has(self, name: str) -> bool:
        if name == "chatgpt-export.zip" and self._form == "claude-code":
            (self._out / name).unlink()
        return (self._out / name).exists()

    def _talks(self, batch: Batch, start: int) -> list[Talk]:
        talks = []
        for index in range(len(batch.first) - 1):
            ident = talk_id(self._seed, start + index)
            language = self._language()
            texts: list[str] = []
            for message in range(int(batch.first[index]), int(batch.first[index + 1])):
                ranks = batch.words[batch.starts[message] : batch.starts[message + 1]].tolist()
                write = self._prose.assistant if len(texts) % 2 else self._prose.human
                texts.append(write(ranks, language))
                if language.code == "en" and len(texts) % 2 == 0:
                    self._keep(Answer(ident, ranks, texts[-1]))
            self._messages += len(texts)
            self._characters += sum(map(len, texts))
            at = _EPOCH + self._random.randrange(_YEARS)
            talks.append(Talk(ident, texts[0][:60], at, texts))
        self._counts += np.bincount(batch.words, minlength=SIZE)
        return talks

    def _language(self) -> Language:
        (language,) = self._random.choices(self._languages, [x.share for x in self._languages])
        return language

    def _keep(self, answer: Answer) -> None:
        """Keep a fair sample of the answers for the questions."""
        if len(self._answers) < _KEPT:
            self._answers.append(answer)
        elif self._random.random() < _KEPT * 2 / max(1, self._messages):
            self._answers[self._random.randrange(_KEPT)] = answer

    def _write_documents(self, count: int) -> None:
        if not count:
            return
        batch = self._draws.batch(1 << 20, count)
        for index in range(count):
            folder = self._out / "documents" / f"area{index % 12:02}"
            folder.mkdir(parents=True, exist_ok=True)
            if index % 4 == 3:
                file, text = folder / f"module{index:05}.py", self._prose.code_file(80)
            else:
                a, b = int(batch.first[index]), int(batch.first[index + 1])
                ranks = batch.words[batch.starts[a] : batch.starts[b]].tolist()
                body = self._prose.assistant(ranks, self._languages[0])
                file, text = folder / f"note{index:05}.md", f"# Note {index}\n\n{body}\n"
            file.write_text(text, encoding="utf-8")
            self._characters += len(text)

    def _write_questions(self, each: int) -> None:
        made = questions(
            self._answers, self._counts, self._languages[0], each=each, seed=self._seed
        )
        (self._out / "queries.json").write_text(
            json.dumps([asdict(q) for q in made], indent=1), encoding="utf-8"
        )
