"""Judged sets: texts, questions, and which texts answer them.

A set is a folder with ``corpus.jsonl`` (id, text, maybe title, group), ``queries.jsonl`` (id, text,
maybe category, group), ``qrels.tsv`` (query, text, grade) and ``meta.json``.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Text:
    """A text of a set; a question with a group is asked of texts of its group only."""

    id: str
    text: str
    title: str = ""
    group: str = ""


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    category: str = ""
    group: str = ""


@dataclass(frozen=True)
class JudgedSet:
    name: str
    texts: list[Text]
    questions: list[Question]
    grades: dict[str, dict[str, int]]
    """By question, then by text."""
    fields: list[str]
    """What of a text is indexed."""
    left_out: frozenset[str] = field(default_factory=frozenset)
    """Categories of questions that are not scored."""

    def headline(self) -> list[Question]:
        """The questions that are scored."""
        return [q for q in self.questions if q.category not in self.left_out]

    def indexed(self, text: Text) -> Text:
        """*text* with the fields that are indexed."""
        title = text.title if "title" in self.fields else ""
        return Text(text.id, text.text if "text" in self.fields else "", title, text.group)


def load(folder: Path) -> JudgedSet:
    """Read the set in *folder*."""
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    return JudgedSet(
        name=folder.name,
        texts=[_taken(Text, line) for line in _lines(folder / "corpus.jsonl")],
        questions=[_taken(Question, line) for line in _lines(folder / "queries.jsonl")],
        grades=_grades(folder / "qrels.tsv"),
        fields=meta["index_fields"],
        left_out=frozenset(meta.get("exclude_categories", ())),
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _taken(kind: Any, line: dict[str, Any]) -> Any:
    return kind(**{k: line[k] for k in kind.__dataclass_fields__ if line.get(k)})


def _grades(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as lines:
        for question, text, grade in csv.reader(lines, delimiter="\t"):
            if grade != "score":
                grades[question][text] = int(grade)
    return grades
