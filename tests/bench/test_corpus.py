from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.rooms import ROOT

CONVERSATIONS = 40


def make(out: Path) -> Path:
    command = [sys.executable, "-m", "bench.corpus", "--out", str(out), "--questions", "10",
               "--conversations", str(CONVERSATIONS), "--documents", "8"]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("corpus"))


def chatgpt(corpus: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(corpus / "chatgpt-export.zip") as archive:
        return [talk for name in archive.namelist() for talk in json.loads(archive.read(name))]


def texts(corpus: Path) -> dict[str, str]:
    """The text of each conversation by id."""
    found = {
        talk["id"]: "\n".join(
            node["message"]["content"]["parts"][0]
            for node in talk["mapping"].values()
            if node["message"]
        )
        for talk in chatgpt(corpus)
    }
    for file in corpus.glob("claude-code/projects/*/*.jsonl"):
        found[file.stem] = "\n".join(
            content if isinstance(content, str) else content[0]["text"]
            for line in map(json.loads, file.read_text(encoding="utf-8").splitlines())
            if "message" in line
            for content in [line["message"]["content"]]
        )
    return found


def test_the_same_seed_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    """Two runs of a benchmark are about the same texts."""
    again = make(tmp_path)
    names = sorted(p.relative_to(corpus) for p in corpus.rglob("*") if p.is_file())

    assert names == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
    assert all((corpus / n).read_bytes() == (again / n).read_bytes() for n in names)


def test_all_conversations_are_written_once(corpus: Path) -> None:
    """The two formats share the conversations out and lose none."""
    assert CONVERSATIONS == len(texts(corpus))
    assert {"chatgpt-export.zip", "claude-code"} == set(
        json.loads((corpus / "corpus.json").read_text(encoding="utf-8"))["inputs"]
    )


def test_the_summary_counts_the_characters(corpus: Path) -> None:
    """Rates in MB/s are about what was really written."""
    summary = json.loads((corpus / "corpus.json").read_text(encoding="utf-8"))
    documents = sum(len(p.read_text(encoding="utf-8")) for p in (corpus / "documents").rglob("*.*"))
    newlines = summary["messages"] - CONVERSATIONS

    assert summary["characters"] == sum(map(len, texts(corpus).values())) - newlines + documents


def test_questions_are_about_the_corpus(corpus: Path) -> None:
    """There are ten of each kind, and the conversation that a question came from answers it."""
    questions = json.loads((corpus / "queries.json").read_text(encoding="utf-8"))
    by_id = texts(corpus)

    assert {"rare": 10, "question": 10, "common": 10, "phrase": 10} == Counter(
        q["kind"] for q in questions
    )
    for question in questions:
        text = by_id[question["origin"]].lower()
        if question["kind"] == "phrase":
            assert question["query"].strip('"').lower() in text
        if question["kind"] == "rare":
            assert all(word in re.split(r"\W+", text) for word in question["query"].split())
